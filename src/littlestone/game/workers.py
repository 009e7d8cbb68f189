"""The tasks of a sweep run in this process, in processes beside it, or on a cluster.

Results come in the order of the tasks and depend on the tasks alone: whatever is random about a
task is part of its argument, never of the worker that takes it up.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeVar

from littlestone import require

ENGINES: Final = ("loky", "dask", "ray")
_GROUPS: Final = 50

Argument = TypeVar("Argument")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """How many tasks run at once, and where.

    ``loky`` starts processes on this machine. ``dask`` and ``ray`` use the existing cluster at
    ``cluster`` (all of it), or start a small one here; the cluster's workers need littlestone too.

    >>> Workers().each(abs, [3, -4])
    [3, 4]
    """

    jobs: int = 1
    engine: str = "loky"
    cluster: str | None = None

    def __post_init__(self) -> None:
        require.integer(jobs=self.jobs, at_least=1)
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")
        if self.cluster is not None and self.engine == "loky":
            raise ValueError(f"cluster belongs to engine dask or ray, got cluster={self.cluster!r}")

    @property
    def in_this_process(self) -> bool:
        """Whether tasks run one after the other, right here."""
        return self.engine == "loky" and self.jobs == 1

    def each(
        self,
        task: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """``task`` of every argument, in order; ``progress`` is told how many are done."""
        results: list[Result] = []
        with ExitStack() as resources:
            for result in self._results(task, arguments, resources):
                results.append(result)
                if progress is not None:
                    progress(len(results))
        return results

    def _results(
        self,
        task: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        resources: ExitStack,
    ) -> Iterator[Result]:
        if self.in_this_process:
            return map(task, arguments)
        joblib = _optional("joblib", "several jobs need")
        if self.engine == "dask":
            self._join_dask(resources)
        if self.engine == "ray":
            self._join_ray(resources)
        # A cluster that exists already has its own number of workers.
        jobs = self.jobs if self.cluster is None else -1
        resources.enter_context(joblib.parallel_config(backend=self.engine, n_jobs=jobs))
        calls = [joblib.delayed(task)(argument) for argument in arguments]
        if self.engine == "ray":  # gives a list only when all is done, so that it is asked often
            return _in_groups(resources.enter_context(joblib.Parallel()), calls)
        results = joblib.Parallel(return_as="generator")(calls)
        resources.enter_context(closing(results))
        taken: Iterator[Result] = results
        return taken

    def _join_dask(self, resources: ExitStack) -> None:
        distributed = _optional("distributed", "engine dask needs")
        address: Any = self.cluster
        if address is None:
            address = resources.enter_context(
                distributed.LocalCluster(
                    n_workers=self.jobs, threads_per_worker=1, dashboard_address=None
                )
            )
        resources.enter_context(distributed.Client(address))

    def _join_ray(self, resources: ExitStack) -> None:
        ray = _optional("ray", "engine ray needs")
        if self.cluster is None:
            ray.init(num_cpus=self.jobs, include_dashboard=False, log_to_driver=False)
        else:
            ray.init(address=self.cluster, log_to_driver=False)
        resources.callback(ray.shutdown)
        import_module("ray.util.joblib").register_ray()


def _in_groups(parallel: Any, calls: Sequence[Any]) -> Iterator[Any]:
    size = -(-len(calls) // _GROUPS)
    for start in range(0, len(calls), size):
        yield from parallel(calls[start : start + size])


def _optional(name: str, why: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = "ray" if name == "ray" else "'littlestone[sweeps]'"
        raise ValueError(f"{why} {name}: pip install {package}") from None
