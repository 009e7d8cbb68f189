"""The base class of private learners that are given (epsilon, delta) per example."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted(PrivateLearner):
    """A recipe for a class and a horizon that spends its whole budget unless it says less."""

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    max_contributions: int = 1

    most_rounds: ClassVar[int] = require.LARGEST_WORD

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The guarantee for one example: the whole budget."""
        return self.budget

    @property
    def budget(self) -> PrivacyGuarantee:
        """The requested (epsilon, delta)."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)

    def check_promise(self, *, pure: bool = False, **probabilities: float) -> None:
        """Raise for numbers that make no promise.

        Args:
            pure: Whether a delta of 0 is allowed.
            probabilities: Further probabilities of the recipe, by name.
        """
        require.integer(rounds=self.rounds, at_least=1, at_most=self.most_rounds)
        require.integer(max_contributions=self.max_contributions, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(**probabilities)
        (require.probability if pure else require.open_probability)(delta=self.delta)

    def check_within_budget(self, **named: PrivacyGuarantee) -> None:
        """Raise, by name, for a part that costs more than the budget."""
        for name, cost in named.items():
            if not cost.within(self.budget):
                raise ValueError(
                    f"{name} must stay within the budget, got {cost!r} for "
                    f"epsilon={self.epsilon!r}, delta={self.delta!r}"
                )
