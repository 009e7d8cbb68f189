"""The smallest private learner: what is true of every run is shown with it."""

from dataclasses import dataclass
from typing import Any

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinFlipper(PrivateLearner):
    """A toy: publishes a random threshold every ``period`` rounds, halts after ``life`` rounds."""

    rounds: int | None = 100
    period: int = 3
    life: int = 1000
    prefix_conditional: bool = True
    concepts: Thresholds = CONCEPTS
    max_contributions: int = 1
    oblivious_only: bool = False

    @property
    def per_example(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=1.0, delta=1e-6)

    def engine(self, rng: Randomness) -> "CoinFlipperEngine":
        return CoinFlipperEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class CoinFlipperEngine(Engine):
    taken: int
    hypothesis: Hypothesis
    ledger: Ledger

    def __init__(self, recipe: CoinFlipper, rng: Randomness) -> None:
        self.recipe, self.rng = recipe, rng

    def begin(self) -> None:
        self.taken = 0
        self.hypothesis = list(CONCEPTS.concepts())[self.rng.below(9)]
        self.ledger = Ledger(budget=self.recipe.per_example, private=self.rng.private)

    @property
    def halted(self) -> bool:
        return self.taken >= self.recipe.life

    @property
    def status(self) -> str:
        return "halted" if self.halted else "learning"

    def step(self, x: Any, y: Label) -> None:
        self.taken += 1
        if self.taken % self.recipe.period == 0:
            self.hypothesis = list(CONCEPTS.concepts())[self.rng.below(9)]

    def steps(self, xs: Any, ys: Any) -> int:
        before = self.hypothesis
        for taken, (x, y) in enumerate(zip(xs, ys, strict=True), start=1):
            self.step(x, y)
            if self.hypothesis != before or self.halted:
                return taken
        return len(ys)


def published(run: PrivateRun, rounds: int) -> list[Hypothesis]:
    seen = []
    for x in range(rounds):
        run.observe(x % 8, x % 2)
        seen.append(run.hypothesis)
    return seen
