"""Errors that a caller may want to tell apart; each carries its numbers as attributes."""

from importlib import import_module
from typing import Any, Final

_EXTRAS: Final = {
    "matplotlib": "plot",
    "scipy": "solver",
    "river": "integrations",
    "sklearn": "integrations",
    "joblib": "sweeps",
    "dask": "sweeps",
    "distributed": "sweeps",
    "psycopg": "fleet",
    "pyspark": "spark",
    "pyarrow": "parquet",
    "narwhals": "frames",
    "starlette": "serve",
    "uvicorn": "serve",
    "httptools": "serve",
    "uvloop": "serve",
    "msgspec": "serve",
}
"""The extra of this package that installs each optional dependency."""


class LittlestoneError(Exception):
    """The base of all errors of this library except bad arguments.

    A bad argument is a ``ValueError``; a call that does not match a signature is a ``TypeError``.
    """


class HaltedError(LittlestoneError):
    """A mechanism that has stopped after its first yes was called again."""


class RetiredError(LittlestoneError):
    """An object that holds noise was used after a fork, or after a step that failed."""


class BudgetExceededError(LittlestoneError):
    """A release would have cost more than the budget has left; nothing was spent."""

    def __init__(self, message: str, *, requested: object, spent: object, budget: object) -> None:
        super().__init__(message)
        self.requested = requested
        self.spent = spent
        self.budget = budget


class HorizonExceededError(LittlestoneError):
    """More rounds were played than the recipe promised privacy and accuracy for."""

    def __init__(self, *, rounds: int) -> None:
        super().__init__(
            f"all {rounds} rounds of this run are used up; nothing was learned from this example. "
            f"Start a new run with a larger rounds=, or wrap the learner in UnknownHorizon"
        )
        self.rounds = rounds


class SequenceGapError(LittlestoneError):
    """Events of a key are missing before this one; nothing was learned."""

    def __init__(self, *, expected: int, got: int) -> None:
        super().__init__(
            f"event {expected} of this key is missing: number {got} came instead, and nothing was "
            f"learned. Send the missing events first; numbers run from 1 without gaps"
        )
        self.expected = expected
        self.got = got


class NotRealizableError(LittlestoneError):
    """An adversary that promised a consistent concept contradicted itself."""

    def __init__(self, message: str, *, round_number: int) -> None:
        super().__init__(message)
        self.round_number = round_number


class SnapshotError(LittlestoneError):
    """A snapshot is damaged, belongs to another recipe, or was already continued."""


class TooFewExamplesError(LittlestoneError):
    """The requested accuracy needs more examples; nothing was spent."""

    def __init__(self, *, size: int, needed: int, error: float, failure_probability: float) -> None:
        super().__init__(
            f"{size} examples are too few: an error of at most {error:g} with probability "
            f"{1 - failure_probability:g} needs {needed}; nothing was spent"
        )
        self.size = size
        self.needed = needed
        self.error = error
        self.failure_probability = failure_probability


class StoreError(LittlestoneError):
    """The store cannot be used in this way; nothing was changed."""


class RollbackError(StoreError):
    """The store is an old copy: continuing it would reuse noise."""


class InUseError(StoreError):
    """Another process has the store open."""


class UnreachableError(StoreError):
    """The store cannot be reached at the moment: a server is down, or a disk is full."""


def missing_extra(problem: Exception, what: str) -> LittlestoneError | None:
    """Return the error that names the extra, or None if no extra installs a missing module.

    >>> print(missing_extra(ModuleNotFoundError(name="scipy.optimize"), "optimum"))
    optimum needs scipy: pip install 'littlestone[solver]'
    """
    package = str(getattr(problem, "name", "")).partition(".")[0]
    if not isinstance(problem, ModuleNotFoundError) or package not in _EXTRAS:
        return None
    return LittlestoneError(
        f"{what} needs {package}: pip install 'littlestone[{_EXTRAS[package]}]'"
    )


def optional(module: str, what: str) -> Any:
    """Import a module of an optional dependency.

    Raises:
        LittlestoneError: It is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as problem:
        raise missing_extra(problem, what) or problem from problem
