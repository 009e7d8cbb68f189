"""SanitizedBatches: batches, copies and permutations as printed, with every departure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.random_stream import Drifting, RandomStream
from littlestone.game.play import play
from littlestone.learners.online.proper import HedgeLearner
from littlestone.learners.online.proper_agnostic import ProperAgnostic
from littlestone.learners.sanitized.batches import (
    BatchPlan,
    SanitizedBatches,
    synthetic_error_bound,
)
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, seeded

CONCEPTS = Thresholds(7)


@dataclass(frozen=True)
class CannedDataset:
    examples: tuple[Any, ...]

    def dataset(self, size: int) -> list[Any]:
        return [self.examples[i % len(self.examples)] for i in range(size)]


@dataclass(frozen=True)
class CannedSanitizer:
    """Ignores the data and releases what it was told to: a sanitizer that always fails."""

    examples: tuple[Any, ...]
    prefix_conditional: bool = True

    def costs(self) -> tuple[PrivacyGuarantee, ...]:
        return (self.guarantee(),)

    def guarantee(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=0.5)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        return 1.0

    def needed(self, *, error: float, failure_probability: float) -> int:
        return 10**6

    def release(self, dataset: Sequence[Any], *, rng: Randomness) -> CannedDataset:
        return CannedDataset(self.examples)


def canned(*examples: Any, **options: Any) -> SanitizedBatches:
    return SanitizedBatches(
        concepts=CONCEPTS,
        epsilon=1.0,
        delta=1e-6,
        sanitizer=CannedSanitizer(examples),  # type: ignore[arg-type]
        **options,
    )


def learner(rounds: int = 200, batch: int | None = 40, **options: Any) -> SanitizedBatches:
    return SanitizedBatches(
        concepts=CONCEPTS, rounds=rounds, epsilon=1.0, delta=1e-6, batch=batch, **options
    )


@pytest.mark.parametrize("rounds", [1, 39, 40, 41, 200, 217])
def test_every_batch_but_the_last_is_sanitized_once(rounds: int, rng: Randomness) -> None:
    run = learner(rounds=rounds).start(rng=rng)
    for t in range(rounds):
        run.observe(t % 7, t % 2)
    charges = run.ledger.charges
    assert [(c.first, c.last) for c in charges] == [
        (40 * b + 1, 40 * b + 40) for b in range((rounds - 1) // 40)
    ]
    assert run.ledger.spent().within(run.recipe.guarantee())
    assert run.recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))


def test_it_is_proper_and_total(rng: Randomness) -> None:
    members = set(CONCEPTS.concepts())
    run = learner().start(rng=rng)
    for t in range(200):
        assert run.hypothesis in members
        run.observe(t % 7, (t * t) % 2)
    assert run.status.startswith("horizon used up")


def test_each_copy_gets_one_synthetic_example_of_each_batch(rng: Randomness) -> None:
    run = canned((1, 1), (5, 0), rounds=100, batch=10).start(rng=rng)
    for _ in range(35):
        run.observe(3, 1)
    synthetic = run._engine._synthetic  # type: ignore[attr-defined]
    assert len(synthetic) == 3
    for dataset in synthetic:
        assert Counter(dataset) == {(1, 1): 5, (5, 0): 5}
    assert len({tuple(dataset) for dataset in synthetic}) > 1  # equal with probability 252**-2


def test_a_copy_follows_its_own_examples_only(rng: Randomness) -> None:
    recipe = canned((2, 1), (6, 0), rounds=60, batch=10)
    engine = recipe.engine(rng)
    engine.begin()
    for _ in range(30):
        engine.step(0, 0)
    base = recipe.plan.base.for_rounds(6)
    for number in range(10):
        state = base.begin()
        for dataset in engine._synthetic:
            state = state.after(*dataset[number])
        for x in range(7):
            assert engine._copy(number).error_probability(x, 1) == state.error_probability(x, 1)


def test_each_round_draws_afresh(rng: Randomness) -> None:
    # Before any batch all eight thresholds are equally likely: two of 30 draws differ but for
    # 8**-29 of the cases.
    run = learner().start(rng=rng)
    drawn = set()
    for _ in range(30):
        drawn.add(run.hypothesis)
        run.observe(0, 0)
    assert len(drawn) > 1


def test_a_failed_sanitizer_does_not_stop_the_run(rng: Randomness) -> None:
    run = canned((0, 1), rounds=90, batch=10).start(rng=rng)
    for _ in range(89):  # the data say 0, the sanitizer 1
        run.observe(0, 0)
    assert len(run.ledger.charges) == 8
    assert run._engine._copy(3).error_probability(0, 1) < 0.2  # type: ignore[attr-defined]


def test_snapshots_continue_identically() -> None:
    examples = [(t * 5 % 7, t % 2) for t in range(200)]
    whole = learner().start(rng=seeded(5))
    for x, y in examples:
        whole.observe(x, y)
    part = learner().start(rng=seeded(5))
    for x, y in examples[:95]:
        part.observe(x, y)
    rest = learner().restore(part.snapshot())
    assert rest.hypothesis == part.hypothesis
    for x, y in examples[95:]:
        rest.observe(x, y)
    assert rest.hypothesis == whole.hypothesis
    assert rest.switches == whole.switches
    assert [c.first for c in rest.ledger.charges] == [c.first for c in whole.ledger.charges]


def test_blocks_are_the_same_game() -> None:
    foe = RandomStream(CONCEPTS, noise_rate=0.2)
    games = [
        play(learner(), foe, rounds=200, rng=seeded(8), blocks=blocks) for blocks in (True, False)
    ]
    assert games[0].mistakes == games[1].mistakes
    assert games[0].switches == games[1].switches


def test_bad_input_changes_nothing(rng: Randomness) -> None:
    run = learner().start(rng=rng)
    before = run.hypothesis
    for x, y in ((9, 1), (0, 3)):
        with pytest.raises(ValueError, match="got"):
            run.observe(x, y)
    assert run.rounds_played == 0 and run.hypothesis is before


@pytest.mark.parametrize("base", [HedgeLearner, ProperAgnostic])
def test_regret_stays_within_the_bound(base: Any, rng: Randomness) -> None:
    concepts = Thresholds(3)
    recipe = SanitizedBatches(
        concepts=concepts,
        rounds=4000,
        epsilon=8.0,
        delta=1e-6,
        base=base(concepts=concepts, rounds=4000),
    )
    game = play(recipe, Drifting(concepts, period=recipe.plan.batch), rounds=4000, rng=rng)
    # Exceeded with probability at most 1e-9.
    assert game.regret is not None and game.regret <= recipe.regret_bound(failure_probability=1e-9)
    if base is HedgeLearner:
        assert recipe.regret_bound(failure_probability=0.05) < 4000
        assert recipe.expected_regret_bound() < 4000


def test_it_learns(rng: Randomness) -> None:
    concepts = Thresholds(3)
    recipe = SanitizedBatches(concepts=concepts, rounds=4000, epsilon=8.0, delta=1e-6)
    target = list(concepts.concepts())[1]
    game = play(recipe, RandomStream(concepts, concept=target), rounds=4000, rng=rng)
    # A learner that never learns errs 5/12 of the time; 1/4 is 15 standard deviations below.
    assert game.mistakes < 1000


def test_longer_batches_for_smaller_budgets() -> None:
    batches = [
        SanitizedBatches(concepts=CONCEPTS, rounds=10**6, epsilon=epsilon, delta=1e-6).plan.batch
        for epsilon in (10.0, 1.0, 0.1)
    ]
    assert 0 < batches[0] < batches[1] < batches[2]


def test_the_chosen_batch_has_the_smallest_bound_of_the_grid() -> None:
    recipe = SanitizedBatches(concepts=CONCEPTS, rounds=10**6, epsilon=1.0, delta=1e-6)
    best = recipe.expected_regret_bound()
    for batch in (recipe.plan.batch // 2, 2 * recipe.plan.batch):
        other = SanitizedBatches(
            concepts=CONCEPTS, rounds=10**6, epsilon=1.0, delta=1e-6, batch=batch
        )
        assert best <= other.expected_regret_bound()


def test_where_nothing_is_promised_the_shape_decides() -> None:
    recipe = canned((0, 0), rounds=10**4)
    assert recipe.regret_bound(failure_probability=0.05) == 10**4
    assert recipe.plan.batch == 10**4  # a sanitizer that needs a million examples
    generic = SanitizedBatches(
        concepts=FiniteClass([[0], [1]]), rounds=40_000, epsilon=1.0, delta=1e-6
    )
    assert isinstance(generic.plan.sanitizer, FoolingSanitizer)
    assert 5000 < generic.plan.batch < 40_000


def test_a_bound_is_claimed_only_for_datasets_that_are_bounded() -> None:
    tree = TreeSanitizer(concepts=CONCEPTS, epsilon=1.0, labelled=True)
    assert 0 < synthetic_error_bound(tree, size=10**5, failure_probability=0.05) < 0.01
    histogram = HistogramSanitizer(concepts=Points(7), epsilon=1.0, delta=1e-6, labelled=True)
    assert synthetic_error_bound(histogram, size=10**5, failure_probability=0.05) == 1


@pytest.mark.parametrize("kind", ["tree", "fooling"])
def test_synthetic_datasets_are_within_their_bound(kind: str, rng: Randomness) -> None:
    size, chance = 5000, 1e-9
    concepts = Thresholds(7) if kind == "tree" else FiniteClass([[0, 1], [1, 1], [0, 0]])
    if kind == "tree":
        sanitizer: Any = TreeSanitizer(concepts=CONCEPTS, epsilon=2.0, labelled=True)
    else:
        sanitizer = FoolingSanitizer.planned(
            concepts=concepts,
            size=size,
            epsilon=20.0,
            delta=1e-3,
            labelled=True,
            failure_probability=chance,
        )
    points = 7 if kind == "tree" else 2
    dataset = [(t * t % points, int(t % 3 == 0)) for t in range(size)]
    synthetic = sanitizer.release(dataset, rng=rng).dataset(size)
    bound = synthetic_error_bound(sanitizer, size=size, failure_probability=chance)
    assert bound < 1
    for h in concepts.concepts():
        errors = [sum(h(x) != y for x, y in data) / size for data in (dataset, synthetic)]
        assert abs(errors[0] - errors[1]) <= bound


def test_other_horizons_are_planned_anew() -> None:
    recipe = SanitizedBatches(concepts=CONCEPTS, rounds=10**6, epsilon=1.0, delta=1e-6)
    shorter = recipe.for_rounds(10**4)
    assert isinstance(shorter, SanitizedBatches) and shorter.rounds == 10**4
    assert shorter.plan.batch < recipe.plan.batch
    kept = canned((0, 0), rounds=100, batch=10).for_rounds(50)
    assert isinstance(kept, SanitizedBatches)
    assert isinstance(kept.plan.sanitizer, CannedSanitizer)
    assert (kept.plan.batch, kept.rounds) == (10, 50)
    run = UnknownHorizon(learner=recipe.for_rounds(64)).start(rng=seeded(1))
    for t in range(150):
        run.observe(t % 7, 1)


def test_what_cannot_work_is_refused() -> None:
    def build(**options: Any) -> SanitizedBatches:
        return SanitizedBatches(concepts=CONCEPTS, rounds=100, epsilon=1.0, delta=1e-6, **options)

    tree = TreeSanitizer(concepts=CONCEPTS, epsilon=0.1)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"sanitizer": TreeSanitizer(concepts=CONCEPTS, epsilon=0.5)}, "labelled"),
        ({"sanitizer": TreeSanitizer(concepts=Thresholds(9), epsilon=0.5, labelled=True)}, "for"),
        ({"sanitizer": TreeSanitizer(concepts=CONCEPTS, epsilon=2.0, labelled=True)}, "budget"),
        ({"sanitizer": CannedSanitizer(((0, 0),), prefix_conditional=False)}, "prefix"),
        (
            {
                "sanitizer": LabelConversion(
                    sanitizer=tree, domain=CONCEPTS.domain, anchor=0, count_epsilon=0.1
                )
            },
            "labelled",
        ),
        ({"base": HedgeLearner(concepts=Thresholds(9), rounds=10)}, "base must"),
        ({"batch": 0}, "batch"),
    ]
    for options, complaint in refused:
        with pytest.raises(ValueError, match=complaint):
            build(**options)
    with pytest.raises(ValueError, match="finitely many"):
        SanitizedBatches(concepts=Points(), rounds=100, epsilon=1.0, delta=1e-6)


def test_the_expected_bound_charges_what_the_theorem_says() -> None:
    recipe = SanitizedBatches(concepts=CONCEPTS, rounds=10**6, epsilon=1.0, delta=1e-6, batch=9000)
    plan: BatchPlan = recipe.plan
    error = synthetic_error_bound(plan.sanitizer, size=9000, failure_probability=1e-8)
    total = 9000 * plan.copy_regret() + 2 * error * 10**6 + 10**6 * 112 * 1e-8
    assert recipe.expected_regret_bound() <= total * (1 + 1e-9)
    assert recipe.expected_regret_bound() > 9000 * plan.copy_regret()
