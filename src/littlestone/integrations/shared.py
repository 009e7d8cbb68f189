"""The adapters agree on which learner is taken, how labels are declared, what may be copied."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from littlestone import require
from littlestone.catalogue import class_from_spec
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.defaults import Choice, class_over
from littlestone.errors import SnapshotError, StoreError
from littlestone.learners import snapshots
from littlestone.learners.recipe_forms import canonical_form
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.privacy.guarantee import PrivacyGuarantee

Setting = Literal["agnostic", "realizable"]
_MAGIC: Final = b"littlestone-classifier-1\n"


def learner_for(
    *,
    learner: PrivateLearner | None,
    concepts: ConceptClass | Schema | str | None,
    setting: str,
    rounds: int | None,
    epsilon: float,
    delta: float,
    kept: str | None = None,
) -> PrivateLearner:
    """The recipe that is asked for: ``learner``, or the practical one for ``concepts``.

    With ``kept``, the form of a recipe that was the practical one once, it is that one.

    >>> print(learner_for(
    ...     learner=None, concepts="thresholds:64", setting="realizable", rounds=10**4,
    ...     epsilon=0.5, delta=1e-6,
    ... ).guarantee())
    ε = 0.5
    """
    if (learner is None) == (concepts is None):
        raise ValueError("exactly one of learner and concepts must be given")
    require.positive(epsilon=epsilon)
    budget = PrivacyGuarantee(epsilon=epsilon, delta=delta)
    if learner is None:
        assert concepts is not None
        space = class_from_spec(concepts) if isinstance(concepts, str) else concepts
        choice = Choice(space=space, setting=setting, rounds=rounds, epsilon=epsilon, delta=delta)
        return choice.plan() if kept is None else _kept(choice, kept)
    if rounds is not None:
        raise ValueError(f"rounds belongs to the learner that is given, got rounds={rounds!r}")
    if not learner.guarantee().within(budget):
        raise ValueError(
            f"the learner promises {learner.guarantee()}, which is more than epsilon={epsilon!r}, "
            f"delta={delta!r} allow"
        )
    return learner


def _kept(choice: Choice, form: str) -> PrivateLearner:
    try:
        return choice.kept(form)
    except StoreError as refusal:
        raise SnapshotError(f"this snapshot belongs to another recipe: {refusal}") from refusal


def as_class(concepts: ConceptClass | Schema | str, setting: str) -> ConceptClass:
    """A class, one in the command line's words, or the rules over a schema."""
    if isinstance(concepts, str):
        return class_from_spec(concepts)
    return class_over(concepts, setting=setting) if isinstance(concepts, Schema) else concepts


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


def without_form(saved: bytes) -> tuple[str | None, bytes]:
    """The form, if there is one before the snapshot, and the snapshot.

    Which recipe a snapshot belongs to is in it, so that of an altered form nothing comes.
    """
    if not saved.startswith(_MAGIC):
        return None, saved
    size, rest = saved[len(_MAGIC) :][:8], saved[len(_MAGIC) + 8 :]
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
