"""The protocol of sanitizers, and what they share: costs, sample sizes and ledgers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import TooFewExamplesError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Cost, Ledger
from littlestone.privacy.mixed_budget import Receipt, total_guarantee
from littlestone.randomness import Randomness
from littlestone.theory.outwards import smallest_size

Examples = Sequence[Any] | NDArray[Any]
"""Points, or pairs of point and label."""

Progress = Callable[[int], None]
"""Called with the number of rounds done."""


class Sanitized(Protocol):
    """A public release; anything computed from it costs nothing."""

    @property
    def ledger(self) -> Ledger:
        """The cost of the release for the examples it read."""

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Estimate the share of the dataset that ``hypothesis`` maps to 1, between 0 and 1.

        For a labelled dataset: the share it labels wrongly. A realizable sanitizer answers 1 (the
        share may be large) or 0 (it is surely not).
        """

    def distribution(self) -> Mapping[Any, float]:
        """Return synthetic points (with labels, if labelled) and their probabilities."""

    def dataset(self, size: int, /) -> list[Any]:
        """Return a synthetic dataset of this size, always the same one."""


class Sanitizer(Protocol):
    """A recipe: what to answer, how accurately, at what cost.

    The number of examples is public: neighbouring datasets have the same.
    """

    @property
    def prefix_conditional(self) -> bool:
        """Whether the guarantee holds conditionally on everything released before."""

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of one release for each example: plain and zero-concentrated parts."""

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of one release."""

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error of all estimates for ``size`` examples; 1 promises nothing."""

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return a number of examples from which the error is as small as wanted."""

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> Sanitized:
        """Sanitize; never raise because of the examples if all are in the domain."""


def refuse_small(
    sanitizer: Sanitizer, *, size: int, error: float, failure_probability: float
) -> None:
    """Raise ``TooFewExamplesError`` if the bound for ``size`` examples exceeds ``error``."""
    if sanitizer.error_bound(size=size, failure_probability=failure_probability) <= error:
        return
    needed = sanitizer.needed(error=error, failure_probability=failure_probability)
    raise TooFewExamplesError(
        size=size, needed=needed, error=error, failure_probability=failure_probability
    )


class Costed(ABC):
    """A recipe that promises the sum of its costs, concentrated ones converted at ``delta``."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def delta(self) -> float:
            """The delta at which concentrated costs are converted."""

    prefix_conditional: ClassVar[bool] = True

    @abstractmethod
    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of one release for each example."""

    def guarantee(self) -> PrivacyGuarantee:
        """Return the sum of the costs."""
        return total_guarantee(self.costs(), delta=self.delta)


@require.checked
class SanitizerRecipe(Costed):
    """A recipe that needs as many examples as make its error bound small enough."""

    __slots__ = ()

    @abstractmethod
    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error of all estimates for ``size`` examples."""

    def error_at(self, size: int, failure_probability: float) -> float:
        """Return the bound of a recipe made for ``size`` examples at these costs."""
        return self.error_bound(size=size, failure_probability=failure_probability)

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return the smallest number of examples with an error of at most ``error``."""
        require.usual(error=error, failure_probability=failure_probability)
        return smallest_size(lambda size: self.error_at(size, failure_probability), error)


class Released:
    """A release that keeps its receipt."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def receipt(self) -> Receipt:
            """The record of what the release cost."""

    @property
    def ledger(self) -> Ledger:
        """The cost of the release for the examples it read."""
        return self.receipt.ledger()
