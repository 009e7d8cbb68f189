"""Every sanitizer offers a private release, and an honest number before anything is spent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import TooFewExamplesError
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

Examples = Sequence[Any] | NDArray[Any]
"""Points, or pairs of point and label."""

Progress = Callable[[int], None]
"""Takes the number of rounds done."""


class Sanitized(Protocol):
    """What was released; public, so whatever is computed from it costs nothing."""

    @property
    def ledger(self) -> Ledger:
        """What the release cost the examples it read."""

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """The share of the dataset that ``hypothesis`` maps to 1, between 0 and 1.

        Of a labelled dataset: the share that it labels wrongly. A realizable sanitizer answers 1
        or 0 only: may the share be large, or is it surely not?
        """

    def distribution(self) -> Mapping[Any, float]:
        """Synthetic points (pairs of point and label, if labelled) with their probabilities."""

    def dataset(self, size: int, /) -> list[Any]:
        """A synthetic dataset of this size, always the same one."""


class Sanitizer(Protocol):
    """A recipe: what to answer, how accurately, at what cost.

    The number of examples is public: neighbouring datasets have the same.
    """

    @property
    def prefix_conditional(self) -> bool:
        """Whether the guarantee holds conditionally on everything released before."""

    def costs(self) -> tuple[Cost, ...]:
        """What one release costs each example: plain and zero-concentrated parts."""

    def guarantee(self) -> PrivacyGuarantee:
        """What one release promises."""

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """No estimate for ``size`` examples is wrong by more than this; 1 promises nothing."""

    def needed(self, *, error: float, failure_probability: float) -> int:
        """A number of examples from which the error is as small as wanted."""

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> Sanitized:
        """Sanitize; never refuses because of what the examples are, if all are in the domain."""


def refuse_small(
    sanitizer: Sanitizer, *, size: int, error: float, failure_probability: float
) -> None:
    """Refuse a dataset of ``size`` examples if the bound does not reach the wanted error."""
    if sanitizer.error_bound(size=size, failure_probability=failure_probability) <= error:
        return
    needed = sanitizer.needed(error=error, failure_probability=failure_probability)
    raise TooFewExamplesError(
        size=size, needed=needed, error=error, failure_probability=failure_probability
    )
