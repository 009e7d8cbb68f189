"""The library's mechanisms in the two-world game."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from littlestone.audit.attacks import FirstRound, OneQuestion
from littlestone.audit.two_worlds import Audit, Conversation, Subject
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.schema import Schema
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.tree_selection import TreeSelection
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

# One favoured element against this many: the ratio shows 92 % of epsilon, often enough.
OTHERS = 12
# After this many noes the threshold's noise is known to be large.
NOES = 40
# Far enough above the list threshold for truncation not to matter.
COPIES = 60

ONE_UP_OTHERS_DOWN = OneQuestion(
    zero=[0] + [1] * OTHERS, one=[1] + [0] * OTHERS, notice=lambda chosen: chosen == 0
)

ONE_QUESTION = DecisionTrees(Schema.from_mapping({"a": {"grid": [0]}}), 1)


def a_tree_or_another(errors: int) -> OneQuestion:
    """Return whether a tree or another candidate was drawn, given their errors."""
    return OneQuestion(
        zero=({(0,): (41, errors)}, [1] * OTHERS),
        one=({(0,): (40, errors + 1)}, [0] * OTHERS),
        notice=lambda drawn: isinstance(drawn, int),
    )


def monitor(recipe: CountAboveThreshold) -> Subject:
    """Make a subject that takes bits and answers yes or no; after the first yes, always no."""

    def start(rng: Randomness) -> tuple[None, Conversation]:
        run = recipe.start(rng=rng)
        return None, lambda bit: not run.halted and run.observe(bit)

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def queries(recipe: AboveThreshold) -> Subject:
    """Make a subject that takes true answers and reports which are above, up to the first."""

    def ask(values: Sequence[int], *, rng: Randomness) -> tuple[bool, ...]:
        run, said = recipe.start(rng=rng), []
        for value in values:
            said.append(run.ask(value))
            if run.halted:
                break
        return tuple(said)

    return Subject.from_release(recipe, ask)


def selection(recipe: ExponentialMechanism) -> Subject:
    """Make a subject that takes scores and answers with one position."""

    def draw(scores: Any, *, rng: Randomness) -> int:
        return recipe.draw(scores, rng=rng)[0]

    return Subject.from_release(recipe, draw)


def selection_of_trees(recipe: TreeSelection) -> Subject:
    """Make a subject that takes counts of records and the other candidates' errors, and draws."""

    def draw(batch: tuple[Any, list[int]], *, rng: Randomness) -> Any:
        tally, others = batch
        return recipe.draw_among(Sample.of(tally), np.array(others), rng=rng)

    return Subject.from_release(recipe, draw)


def one_sum(
    epsilon: float, delta: float, *, kind: Callable[..., CorrelatedSums] = CorrelatedSums
) -> Subject:
    """Return a recipe with one batch of one number, -1 or 1, in coarse units."""
    budget = ZeroConcentrated.largest(epsilon=epsilon, delta=delta)
    recipe = kind(releases=1, width=1, longest_squared=1, rho=budget.rho, unit=1)

    def start(rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda number: recipe.start(rng=rng).release((number,))

    return Subject(name=repr(recipe), claimed=budget.guarantee(delta=delta), open=start)


AUDITS = (
    Audit(
        name="above-threshold",
        subject=lambda epsilon, _: monitor(CountAboveThreshold(epsilon=epsilon, threshold=1)),
        adversary=FirstRound(),
        summary="one-sided AboveThreshold: one bit changed in the first round",
        exact_rounds=1,
    ),
    Audit(
        name="above-threshold-queries",
        subject=lambda epsilon, _: queries(AboveThreshold(epsilon=epsilon, threshold=0)),
        adversary=OneQuestion(zero=[-1] * NOES + [0], one=[0] * NOES + [-1], notice=len),
        summary="AboveThreshold: many queries go up by one, and the one that ends it goes down",
        exact_rounds=1,
    ),
    Audit(
        name="private-histogram",
        subject=lambda epsilon, delta: Subject.from_release(
            PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="add-remove")
        ),
        adversary=OneQuestion(
            zero=["key"] * COPIES,
            one=["key"] * (COPIES + 1),
            notice=lambda released: released.get("key", 0),
        ),
        summary="PrivateHistogram: one element added",
        exact_rounds=1,
    ),
    Audit(
        name="exponential",
        subject=lambda epsilon, _: selection(ExponentialMechanism(epsilon=epsilon)),
        adversary=ONE_UP_OTHERS_DOWN,
        summary="exponential mechanism: one score up, all others down",
        exact_rounds=1,
    ),
    Audit(
        name="tree-selection",
        subject=lambda epsilon, _: selection_of_trees(
            TreeSelection(trees=ONE_QUESTION, epsilon=epsilon)
        ),
        adversary=a_tree_or_another(5),
        summary="TreeSelection among others: trees err once more, and all others once less",
        exact_rounds=1,
    ),
    Audit(
        name="laplace-count",
        subject=lambda epsilon, _: Subject.from_release(LaplaceCount(epsilon=epsilon)),
        adversary=OneQuestion(zero=0, one=1),
        summary="discrete Laplace noise on a count: the count moves by one",
        exact_rounds=1,
    ),
    Audit(
        name="correlated-sums",
        subject=one_sum,
        adversary=OneQuestion(zero=1, one=-1),
        summary="CorrelatedSums: the one number of the one batch is replaced by its opposite",
        exact_rounds=1,
    ),
)
