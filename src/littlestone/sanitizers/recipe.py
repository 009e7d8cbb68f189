"""What sanitizers do alike: costs add up, error bounds tell sizes, and releases have ledgers."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from littlestone import require
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mixed_budget import Receipt, total_guarantee
from littlestone.theory.sample_size import smallest_size


class Costed(ABC):
    """Promises what its costs add up to, the concentrated ones converted at ``delta``."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def delta(self) -> float: ...

    prefix_conditional: ClassVar[bool] = True

    @abstractmethod
    def costs(self) -> tuple[Cost, ...]: ...

    def guarantee(self) -> PrivacyGuarantee:
        return total_guarantee(self.costs(), delta=self.delta)


@require.checked
class SanitizerRecipe(Costed):
    """Needs as many examples as it takes until its error bound is small enough."""

    __slots__ = ()

    @abstractmethod
    def error_bound(self, *, size: int, failure_probability: float) -> float: ...

    def error_at(self, size: int, failure_probability: float) -> float:
        """The bound that a recipe made for ``size`` examples, at these costs, would have."""
        return self.error_bound(size=size, failure_probability=failure_probability)

    def needed(self, *, error: float, failure_probability: float) -> int:
        require.usual(error=error, failure_probability=failure_probability)
        return smallest_size(lambda size: self.error_at(size, failure_probability), error)


class Released:
    """A release that kept its receipt."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def receipt(self) -> Receipt: ...

    @property
    def ledger(self) -> Ledger:
        return self.receipt.ledger()
