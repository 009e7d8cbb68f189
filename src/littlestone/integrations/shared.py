"""The adapters agree on which learner is taken, how labels are declared, what may be copied."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from littlestone.choose.request import Request
from littlestone.errors import SnapshotError
from littlestone.learners import snapshots
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, PrivateRun, recipe_from_form
from littlestone.privacy.guarantee import PrivacyGuarantee

Setting = Literal["agnostic", "realizable"]
AdversaryKind = Literal["oblivious", "adaptive"]
_MAGIC: Final = b"littlestone-classifier-1\n"


def learner_for(
    *, learner: PrivateLearner | str, concepts: Any, rounds: int | None, **asked: Any
) -> PrivateLearner:
    """The recipe that is asked for: ``learner`` itself, or what answers the request.

    >>> print(learner_for(
    ...     learner="auto", concepts="thresholds:64", rounds=10**4, epsilon=0.5, delta=1e-6,
    ... ).guarantee())
    ε = 0.5
    """
    if isinstance(learner, str):
        if concepts is None:
            raise ValueError("exactly one of learner (a whole recipe) and concepts must be given")
        return Request(over=concepts, learner=learner, rounds=rounds, **asked).recipe()
    if concepts is not None:
        raise ValueError("exactly one of learner (a whole recipe) and concepts must be given")
    if rounds is not None:
        raise ValueError(f"rounds belongs to the learner that is given, got rounds={rounds!r}")
    budget = PrivacyGuarantee(epsilon=asked["epsilon"], delta=asked["delta"])
    if not learner.guarantee().within(budget):
        raise ValueError(
            f"the learner promises {learner.guarantee()}, which is more than "
            f"epsilon={asked['epsilon']!r}, delta={asked['delta']!r} allow"
        )
    return learner


def label_numbers(labels: Sequence[Any]) -> dict[Any, int]:
    """The two declared labels as 0 and 1."""
    try:
        numbers = {label: number for number, label in enumerate(labels)}
    except TypeError:
        raise ValueError(f"labels must be two different values, got {labels!r}") from None
    if len(labels) != 2 or len(numbers) != 2 or any(label != label for label in numbers):
        raise ValueError(f"labels must be two different values, got {labels!r}")
    return numbers


def label_number(numbers: dict[Any, int], label: Any) -> int:
    """Which of the declared labels it is, or a refusal.

    Labels are declared because a list of those that occurred would tell whether anybody had the
    rarer one.
    """
    try:
        return numbers[label]
    except (KeyError, TypeError):
        declared = " or ".join(map(repr, numbers))
        raise ValueError(f"label must be {declared}, as declared, got {label!r}") from None


def with_form(run: PrivateRun) -> bytes:
    """A snapshot behind the form of its recipe, which may not be the practical one for ever."""
    form = canonical_form(run.recipe).encode()
    return _MAGIC + len(form).to_bytes(8) + form + run.snapshot()


def resumed(snapshot: bytes, chosen: PrivateLearner) -> tuple[PrivateLearner, bytes]:
    """Return the recipe that a snapshot belongs to, and the snapshot of the run alone.

    ``chosen`` is what the parameters of the classifier give. Another recipe is gone on with if it
    is one for the same examples within the same budget.
    """
    form, saved = _parted(snapshot)
    if canonical_form(chosen) == form:
        return chosen, saved
    recipe = recipe_from_form(form)
    for name, one, other in (
        ("concepts", recipe.concepts.domain, chosen.concepts.domain),
        ("rounds", recipe.rounds, chosen.rounds),
        ("max_contributions", recipe.max_contributions, chosen.max_contributions),
        ("epsilon and delta", recipe.per_example, chosen.per_example),
    ):
        if one != other:
            raise SnapshotError(
                f"this snapshot belongs to another recipe: its {name} are {one!s:.300}, and the "
                f"classifier's are {other!s:.300}"
            )
    return recipe, saved


def _parted(snapshot: bytes) -> tuple[str, bytes]:
    """The form of the recipe, and the snapshot behind it.

    The snapshot says itself which recipe it belongs to, so an altered form brings nothing.
    """
    if not isinstance(snapshot, bytes) or not snapshot.startswith(_MAGIC):
        raise SnapshotError("these bytes are not the snapshot of a classifier")
    size, rest = snapshot[len(_MAGIC) :][:8], snapshot[len(_MAGIC) + 8 :]
    end = int.from_bytes(size)
    if not rest[end:].startswith(snapshots.MAGIC):  # else secrets would be told as a bad form
        raise SnapshotError("this snapshot is truncated or altered: its form has another length")
    return rest[:end].decode(errors="replace"), rest[end:]


def portable(run: PrivateRun) -> bytes:
    """What a copy or a pickle holds in place of the run; a run with secrets has no copies."""
    if run.private:
        raise TypeError(
            "a private classifier that has begun to learn cannot be copied or pickled: two copies "
            "would reuse the same noise. Save it with snapshot(), which may be continued once, by "
            "resume() on a fresh clone"
        )
    # Copies of a seeded run protect nothing; equal states shall give equal bytes.
    return snapshots.pack(replace(snapshots.unpack(run.snapshot()), number=0))
