"""Share between adapters: the requested learner, labels, copies, and warnings."""

import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.choose.auto import AdversaryKind as AdversaryKind
from littlestone.choose.auto import Setting as Setting
from littlestone.choose.request import Request
from littlestone.concepts.hypotheses.weighted_vote import Releases
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.schema import LabelledSchema, Schema
from littlestone.errors import SnapshotError
from littlestone.learners import snapshots
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, PrivateRun, recipe_from_form
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.ledger import SEEDED
from littlestone.type_checks import shown

_MAGIC: Final = b"littlestone-classifier-2\n"
_TERMS: Final = ("setting", "adversary", "epsilon", "delta", "max_contributions")


def readable_times(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose times Python can read: it takes nanoseconds for whole numbers.

    >>> readable_times(np.array(["2026-01-01T09"], "M8[ns]")).tolist()
    [datetime.datetime(2026, 1, 1, 9, 0)]
    """
    fine = array.dtype.kind in "mM" and np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as")
    return array.astype(f"{array.dtype.kind}8[us]") if fine else array


def learner_for(model: Any, over: Any, rounds: int | None) -> PrivateLearner:
    """Return the recipe that the parameters of a classifier ask for.

    Args:
        model: The classifier. Its ``learner`` is the recipe, or names one for the other parameters.
        over: What such a recipe learns: the concepts, with the labels of ``declared_labels``.
        rounds: The rounds of such a recipe.
    """
    learner: PrivateLearner | str = model.learner
    given = over if isinstance(learner, str) else model.concepts
    if isinstance(learner, str) == (given is None):
        raise ValueError("exactly one of learner (a whole recipe) and concepts must be given")
    if isinstance(learner, str):
        terms = {name: getattr(model, name) for name in _TERMS}
        return Request(over=over, learner=learner, rounds=rounds, **terms).recipe()
    if model.rounds is not None:
        raise ValueError(
            f"rounds must be omitted if a learner is given, got rounds={model.rounds!r}"
        )
    budget = PrivacyGuarantee(epsilon=model.epsilon, delta=model.delta)
    if not learner.guarantee().within(budget):
        raise ValueError(
            f"the learner promises {learner.guarantee()}, which is more than "
            f"epsilon={model.epsilon!r}, delta={model.delta!r} allow"
        )
    return learner


def label_numbers(labels: Sequence[Any]) -> dict[Any, int]:
    """Return the number of each declared label: 0, 1, …"""
    try:
        numbers = {label: number for number, label in enumerate(labels)}
    except TypeError:
        raise ValueError(f"labels must be different values, got {shown(labels)}") from None
    if not 2 <= len(labels) == len(numbers) or any(label != label for label in numbers):
        raise ValueError(f"labels must be two or more different values, got {shown(labels)}")
    return numbers


def label_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Return the labels as an array, of their own type if numpy changes none of them.

    >>> label_array((0, 1)), label_array((0, "a")).tolist()
    (array([0, 1]), [0, 'a'])
    """
    objects = np.fromiter(labels, object, len(labels))
    try:
        array = np.array(list(labels))
    except ValueError:  # sequences of several lengths
        return objects
    converted = [(type(label), label) for label in array.tolist()]
    plain = [(type(label), label) for label in objects.tolist()]
    numbers = isinstance(labels, np.ndarray) or all(isinstance(one, np.generic) for one in labels)
    return array if array.ndim == 1 and (numbers or converted == plain) else objects


def declared_labels(
    labels: Sequence[Any] | None, over: Any, *, usual: Sequence[Any]
) -> tuple[Sequence[Any], Any]:
    """Return the labels, and what to learn over: a schema with labels if there are many.

    Args:
        labels: The declared labels; None for those of the schema, if it declares any, and the
            ``usual`` ones if not.
        over: A schema, a concept class, or its name.
        usual: Two labels.

    >>> schema = Schema.from_mapping({"delay": {"grid": [15]}})
    >>> declared_labels(("ok", "late", "cancelled"), schema, usual=(0, 1))[1].label_values
    ('ok', 'late', 'cancelled')
    """
    space = Request(over=over).space if isinstance(over, str | Mapping) else over
    domain = space if isinstance(space, Schema) else getattr(space, "domain", None)
    known = domain.labels if isinstance(domain, LabelledSchema) else None
    found = (usual if known is None else known) if labels is None else labels
    label_numbers(found)
    if known is not None and list(found) != list(known):
        raise ValueError(f"labels must be those of the schema, {known}, got {shown(found)}")
    if known is not None or len(found) == 2:
        return found, over
    if not isinstance(space, Schema):
        raise ValueError(
            f"concepts must be a schema for more than two labels, got {len(found)} labels"
        )
    return found, LabelledSchema(space.fields, _names(found))


def _names(labels: Sequence[Any]) -> tuple[str | int, ...]:
    """Return the names of the labels in rules: as they are, as text, or by number."""
    names = tuple(label if type(label) in (str, int) else str(label) for label in labels)
    return names if len({*map(str, names)}) == len(names) else tuple(range(len(labels)))


def label_number(numbers: dict[Any, int], label: Any) -> int:
    """Return the number of a declared label, or raise a ValueError.

    Labels are declared because a list of those that occurred would reveal whether anyone had the
    rarer one.
    """
    try:
        return numbers[label]
    except Exception:  # unknown, unhashable, or raised by the label itself
        declared = " or ".join(map(repr, numbers))
        raise ValueError(f"label must be {declared}, as declared, got {shown(label)}") from None


def with_form(run: PrivateRun, releases: Releases) -> bytes:
    """Return a snapshot after the form of its recipe, which may differ from later choices.

    Between them are the recent releases, for the steady rule.
    """
    form, known = canonical_form(run.recipe).encode(), json.dumps(releases.to_json()).encode()
    heads = len(form).to_bytes(8) + len(known).to_bytes(8)
    return _MAGIC + heads + form + known + run.snapshot()


def releases_from(data: Any) -> Releases:
    """Parse what ``Releases.to_json`` wrote."""
    return Releases((int(number), hypothesis_from_json(rule)) for number, rule in data)


def resumed(snapshot: bytes, chosen: PrivateLearner) -> tuple[PrivateLearner, bytes, Releases]:
    """Return the recipe that a snapshot belongs to, the snapshot of the run, and its releases.

    ``chosen`` is the recipe of the classifier's parameters. Another recipe is continued if it is
    for the same examples within the same budget.
    """
    form, known, saved = _parted(snapshot)
    try:
        releases = releases_from(json.loads(known))
    except (TypeError, ValueError):
        raise SnapshotError(
            "this snapshot is altered: its releases cannot be read; restore an unaltered copy"
        ) from None
    if canonical_form(chosen) == form:
        return chosen, saved, releases
    recipe = recipe_from_form(form)
    over, declared = recipe.concepts.domain, chosen.concepts.domain
    if isinstance(over, Schema) and isinstance(declared, Schema) and declared.refines(over):
        over = declared
    for name, one, other in (
        ("concepts", over, declared),
        ("rounds", recipe.rounds, chosen.rounds),
        ("max_contributions", recipe.max_contributions, chosen.max_contributions),
        ("epsilon and delta", recipe.per_example, chosen.per_example),
    ):
        if one != other:
            raise SnapshotError(
                f"this snapshot belongs to another recipe: its {name} are {one!s:.300}, and the "
                f"classifier's are {other!s:.300}"
            )
    return recipe, saved, releases


def _parted(snapshot: bytes) -> tuple[str, bytes, bytes]:
    """Return the form of the recipe, the recent releases, and the snapshot after them.

    The snapshot itself names its recipe, so an altered form gains nothing.
    """
    if not isinstance(snapshot, bytes) or not snapshot.startswith(_MAGIC):
        raise SnapshotError("snapshot must be what snapshot() of a classifier returned; it is not")
    sizes, rest = snapshot[len(_MAGIC) :][:16], snapshot[len(_MAGIC) + 16 :]
    middle = int.from_bytes(sizes[:8])
    end = middle + int.from_bytes(sizes[8:])
    if not rest[end:].startswith(snapshots.MAGIC):  # otherwise the error could quote secrets
        raise SnapshotError("this snapshot is truncated or altered; restore an unaltered copy")
    return rest[:middle].decode(errors="replace"), rest[middle:end], rest[end:]


def portable(run: PrivateRun) -> bytes:
    """Return what a copy or a pickle holds in place of the run; a run with secrets has none."""
    if run.private:
        raise TypeError(
            "a private classifier that has begun to learn cannot be copied or pickled: two copies "
            "would reuse the same noise. Save it with snapshot(), which may be continued once, by "
            "resume() on a fresh clone"
        )
    # Copies of a seeded run protect nothing; equal states give equal bytes.
    return snapshots.pack(replace(snapshots.unpack(run.snapshot()), number=0))


_DEEPEST: Final = 30


class PromiseWarning(UserWarning):
    """Something around a private classifier publishes what its promise does not cover."""


def warn_of_fitted_steps(
    model: Any, pipeline: type[Any], fitted_steps: Callable[[Any], Sequence[str]]
) -> None:
    """Find a pipeline that ends with ``model`` and is feeding it, and warn of what it learns.

    A pipeline passes rows and does not identify itself, so it is searched among the callers. Rows
    that were transformed before cannot be detected.
    ``fitted_steps`` returns what a pipeline learns.
    """
    frame = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame.f_back is None:
            return
        frame = frame.f_back
        caller = last = frame.f_locals.get("self")
        while isinstance(last, pipeline):
            last = list(dict(last.steps).values())[-1]
        if last is model and (found := fitted_steps(caller)):
            warnings.warn(
                f"the promise is void: the pipeline learns {', '.join(map(repr, found))} from the "
                f"same rows, without noise, and every prediction shows it. Only fixed maps of one "
                f"row may come before a private classifier",
                PromiseWarning,
                stacklevel=3,
            )
            return


class Fits:
    """The runs that an estimator and all its clones have started in this process.

    They may read the same rows, so their costs add up (F2): the sum is what is promised for the
    rules of all of them together, if their number was fixed beforehand, as in a search over a given
    grid. A pickled copy remembers the fits before it. It may be fitted where it is not counted, and
    an unknown cost is infinite.
    """

    def __init__(self, costs: Sequence[PrivacyGuarantee] = (), *, seeded: bool = False) -> None:
        self._costs: dict[Any, PrivacyGuarantee] = {object(): cost for cost in costs}
        self._elsewhere, self._seeded = False, seeded

    def __len__(self) -> int:
        return len(self._costs)

    def add(self, recipe: PrivateLearner, run: PrivateRun) -> None:
        """Count a run; a run continued from a snapshot is the same run."""
        self._costs[run.identity if run.private else object()] = recipe.guarantee()
        self._seeded |= not run.private

    def total(self) -> PrivacyGuarantee:
        """Return what all learned rules promise together, to one row."""
        return NOT_PRIVATE if self._elsewhere else basic_composition(self._costs.values())

    @property
    def promise(self) -> str:
        """Return the promise in words: none if a fit was seeded, for it published its rows."""
        if self._seeded:
            return SEEDED
        if self._elsewhere:
            return "unknown: a copy has left this process and may have been fitted elsewhere"
        if len(self) == 1:
            return str(self.total())
        return (
            f"{self.total()} for the rules of {len(self)} fits together; scores, and what was "
            f"chosen by them, are not covered"
        )

    def __copy__(self) -> "Fits":
        return self

    def __deepcopy__(self, memo: Any) -> "Fits":
        return self

    def __reduce__(self) -> tuple[Callable[..., "Fits"], tuple[list[PrivacyGuarantee]]]:
        self._elsewhere = True
        return partial(Fits, seeded=self._seeded), (list(self._costs.values()),)
