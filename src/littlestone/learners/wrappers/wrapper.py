"""What a learner that runs copies of another one takes over from it."""

from typing import Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.composition import parallel_composition
from littlestone.privacy.guarantee import PrivacyGuarantee

_MOST_COPIES: Final = 10**6


class Wrapper(PrivateLearner):
    """A recipe with the field ``learner``, whose copies run one after the other."""

    __slots__ = ()

    learner: PrivateLearner

    @property
    def concepts(self) -> ConceptClass:
        return self.learner.concepts

    @property
    def rounds(self) -> int | None:
        return self.learner.rounds

    @property
    def max_contributions(self) -> int:
        return self.learner.max_contributions

    @property
    def oblivious_only(self) -> bool:
        return self.learner.oblivious_only

    @property
    def prefix_conditional(self) -> bool:
        return self.learner.prefix_conditional

    def check_copies(self, copy: str, *, at_least: int, **named: int | None) -> None:
        """Refuse an unknown number of copies unless they are free."""
        ((name, count),) = named.items()
        if count is not None:
            require.integer(at_least=at_least, **named)
            if count > _MOST_COPIES:
                raise ValueError(f"{name} must be at most {_MOST_COPIES}, got {name}={count!r}")
        elif not self.prefix_conditional:
            raise ValueError(
                f"{name} must be given for a learner that is not private conditionally on every "
                f"prefix: each {copy} costs delta once more, got {name}=None"
            )

    def of_all_copies(self, each: PrivacyGuarantee, copies: int | None) -> PrivacyGuarantee:
        """What ``copies`` copies cost, or any number of them."""
        return parallel_composition(
            [each] * (copies or 1), prefix_conditional=self.prefix_conditional
        )
