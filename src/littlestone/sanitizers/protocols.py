"""What every sanitizer offers: a private release, and an honest number before anything is spent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import LittlestoneError
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

_LARGEST_SIZE = 1 << 62

Examples = Sequence[Any] | NDArray[Any]
"""Points, or pairs of point and label."""

Progress = Callable[[int], None]
"""Takes the number of rounds done."""


class Sanitized(Protocol):
    """What was released; public, so whatever is computed from it costs nothing."""

    @property
    def ledger(self) -> Ledger:
        """What the release cost the examples it read."""
        ...

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """The share of the dataset that ``hypothesis`` maps to 1, between 0 and 1.

        Of a labelled dataset: the share that it labels wrongly. A realizable sanitizer answers 1
        or 0 only: may the share be large, or is it surely not?
        """
        ...

    def distribution(self) -> Mapping[Any, float]:
        """Synthetic points (pairs of point and label, if labelled) with their probabilities."""
        ...

    def dataset(self, size: int, /) -> list[Any]:
        """A synthetic dataset of this size, always the same one."""
        ...


class Sanitizer(Protocol):
    """A recipe: what to answer, how accurately, at what cost.

    The number of examples is public: neighbouring datasets have the same.
    """

    @property
    def prefix_conditional(self) -> bool:
        """Whether the guarantee holds conditionally on everything released before."""
        ...

    def costs(self) -> tuple[Cost, ...]:
        """What one release costs each example: plain and zero-concentrated parts."""
        ...

    def guarantee(self) -> PrivacyGuarantee:
        """What one release promises."""
        ...

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """No estimate for ``size`` examples is wrong by more than this; 1 promises nothing."""
        ...

    def needed(self, *, error: float, failure_probability: float) -> int:
        """A number of examples from which the error is as small as wanted."""
        ...

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> Sanitized:
        """Sanitize; never refuses because of what the examples are, if all are in the domain."""
        ...


class TooFewExamplesError(LittlestoneError):
    """The wanted accuracy needs more examples; nothing was spent."""

    def __init__(self, *, size: int, needed: int, error: float, failure_probability: float) -> None:
        super().__init__(
            f"{size} examples are too few: an error of at most {error:g} with probability "
            f"{1 - failure_probability:g} needs {needed}; nothing was spent"
        )
        self.size = size
        self.needed = needed
        self.error = error
        self.failure_probability = failure_probability


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


def smallest_size(error_at: Callable[[int], float], error: float) -> int:
    """The smallest number of examples whose error bound is at most ``error``.

    ``error_at`` should fall; where it jumps a little, some number that is large enough is found.

    >>> smallest_size(lambda size: 10 / size, 0.1)
    100
    """
    require.positive(error=error)
    low, high = 0, 1
    while error_at(high) > error:
        low, high = high, 2 * high
        if high > _LARGEST_SIZE:
            raise ValueError(f"no number of examples reaches error={error!r}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle) <= error else (middle, high)
    return high
