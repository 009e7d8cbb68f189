"""A concept class that the library has never heard of is learned, attacked, sanitized and saved.

Arcs of a circle (arcs.py) have the required methods alone, and once more some of the capabilities
that a class may offer. Everything that the library's own classes are put through is applied to
both.
"""

from typing import Any

import numpy as np
import pytest
from tests import battery
from tests.battery import TAKES
from tests.conformance import test_every_adversary as adversaries
from tests.conformance import test_every_online_learner as online
from tests.conformance import test_every_private_learner as private
from tests.conformance import test_every_sanitizer as sanitizing
from tests.conformance.arcs import Arc, Arcs, ArcSpace, ArcTracker, OfferingArcs

from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts import json_form
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.losses.loss_runs import losses_on, project
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.errors import SnapshotError
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.game.referee import ConsistencyTracker
from littlestone.learners import codec
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.proper import HedgeLearner
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.sanitizers.choose import sanitizer_for
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.randomness import Randomness, seeded

FALSE_FAILURE_PROBABILITY = 1e-9

KNOWN: dict[str, Any] = {"arcs": Arcs(6), "offering-arcs": OfferingArcs(6)}
SMALL: dict[str, Any] = {"arcs": Arcs(3), "offering-arcs": OfferingArcs(3)}
both = pytest.mark.parametrize("name", KNOWN)
PRIVATE = [name for name, entry in LEARNERS.items() if entry.private and name not in TAKES]


@pytest.fixture(autouse=True)
def _known_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of these tests the library has still never heard of arcs."""
    for name, concepts in KNOWN.items():
        monkeypatch.setitem(battery.CLASSES, name, concepts)
    monkeypatch.setattr(json_form, "READERS", dict(json_form.READERS))
    json_form.register_hypothesis("arc", Arc.from_json)
    for kind in (Arc, Arcs, OfferingArcs, ArcSpace):
        # What the library registers in the meantime stays.
        monkeypatch.setitem(codec._by_class, kind, None)
        monkeypatch.setitem(codec._by_name, kind.__name__, None)
        del codec._by_class[kind], codec._by_name[kind.__name__]
        codec.register(kind)


@both
def test_its_losses_are_those_of_the_definition(name: str) -> None:
    concepts, generator = KNOWN[name], np.random.default_rng(4)
    xs, ys = generator.integers(6, size=80).tolist(), generator.integers(2, size=80).tolist()
    examples = list(zip(xs, ys, strict=True))
    wanted = [sum(arc(x) != y for x, y in examples) for arc in concepts.concepts()]
    table = LossTable(concepts)
    for x, y in examples[:30]:
        table.add(x, y)
    table.add_many(np.array(xs[30:]), ys[30:])
    assert [table.of(i) for i in range(concepts.size)] == wanted == table.as_array().tolist()
    tally = tallied(concepts, examples)
    assert losses_on(concepts, tally, deepest=3).losses.tolist() == wanted
    found = project(concepts, tally.points[:3])
    for row, labels in enumerate(found.labels.tolist()):
        assert found.concept(row).many(tally.points[:3]).tolist() == labels
        fit = [w for w, arc in zip(wanted, concepts.concepts(), strict=True)
               if arc.many(tally.points[:3]).tolist() == labels]  # fmt: skip
        assert found.fewest_errors(tally)[row] == min(fit)
    chosen = [2, 7, 7, 20, 31]
    everyone = list(concepts.concepts())
    for x in concepts.domain:
        assert table.majority_of(chosen)(x) == (sum(everyone[i](x) for i in chosen) > 2)
    assert [table.concept(i) for i in range(concepts.size)] == everyone


def test_an_offered_tracker_is_used_and_agrees(rng: Randomness) -> None:
    assert isinstance(ConsistencyTracker(OfferingArcs(6))._tracker, ArcTracker)
    generator = rng.generator()
    for _ in range(200):
        xs, ys = generator.integers(6, size=9), generator.integers(2, size=9)
        plain, offered = ConsistencyTracker(Arcs(6)), ConsistencyTracker(OfferingArcs(6))
        assert plain.observe_many(xs, ys) == offered.observe_many(xs, ys)


@both
@pytest.mark.parametrize("recipe", [StandardOptimal, Halving, SparseMajority])
def test_online_learners_learn_it(name: str, recipe: Any, rng: Randomness) -> None:
    learner = recipe(KNOWN[name])
    online.check_learner(learner)
    for adversary, parties in zip(battery.REALIZABLE, rng.spawn(99), strict=False):
        online.check_bound(learner, battery.ADVERSARIES[adversary](learner.concepts), parties)


@both
@pytest.mark.parametrize("adversary", battery.ADVERSARIES)
def test_adversaries_play_over_it(name: str, adversary: str, rng: Randomness) -> None:
    adversaries.check_that_it_is_a_value(adversary, name)
    adversaries.check_planning(adversary, name, rng)
    for peek in (False, True):
        adversaries.check_blocks(adversary, name, peek, rng)
        if adversary in battery.REALIZABLE:
            adversaries.check_its_word(adversary, name, peek, rng)


# A forest for each round takes seconds.
BUT_FRESH_COPIES = [
    pytest.param(name, marks=pytest.mark.slow) if name == "fresh-copies" else name
    for name in PRIVATE
]


@both
@pytest.mark.parametrize("learner", BUT_FRESH_COPIES)
def test_private_learners_owe_it_what_they_owe_others(
    name: str, learner: str, rng: Randomness
) -> None:
    recipe = LEARNERS[learner].build(SMALL[name], **private.BUDGET)
    for check in private.CHECKS:
        check(recipe, rng)


@both
def test_a_private_learner_learns_it(name: str, rng: Randomness) -> None:
    recipe = PrivateMajority(concepts=KNOWN[name], rounds=4000, epsilon=50.0, delta=1e-3)
    game = play(recipe, RandomStream(KNOWN[name]), rounds=4000, rng=rng)
    assert game.mistakes <= recipe.mistake_bound(failure_probability=1e-9) < 4000


@both
def test_it_is_learned_properly(name: str) -> None:
    target = Arc(6, 4, 3)
    dataset = [(x, target(x)) for x in [*range(6)] * 200]
    learner = ProperSelection(concepts=KNOWN[name], epsilon=1.0)
    assert learner.learn(dataset, rng=seeded(3)) == target
    run = HedgeLearner(concepts=KNOWN[name], rounds=1200).start(rng=seeded(3))
    for x, y in dataset:
        run.observe(x, y)
    assert run.hypothesis == target


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize(
    ("name", "kind"), [("arcs", FoolingSanitizer), ("offering-arcs", TreeSanitizer)]
)
def test_it_is_sanitized_by_what_fits_best(
    name: str, kind: type, labelled: bool, rng: Randomness
) -> None:
    def build() -> Any:
        return sanitizer_for(KNOWN[name], size=200, epsilon=1.0, delta=1e-6, labelled=labelled)

    assert isinstance(build(), kind)
    data: list[Any] = [1, 4, 4, 5] * 50
    case = sanitizing.Case(
        build, KNOWN[name], [(x, int(x > 2)) for x in data] if labelled else data, 6
    )
    sanitizing.test_a_recipe_is_a_value(case)
    sanitizing.test_the_costs_make_up_the_guarantee_and_fit_into_the_budget(case)
    sanitizing.test_estimates_are_shares_for_every_concept(case, rng)
    sanitizing.test_synthetic_examples_are_in_the_domain_and_as_many_as_asked(case, rng)
    sanitizing.test_the_seed_decides_the_release(case)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_tree_keeps_its_bound_for_arcs_that_wrap_around(labelled: bool, rng: Randomness) -> None:
    concepts = OfferingArcs(24)
    generator = rng.generator()
    xs, ys = generator.integers(24, size=9000).tolist(), generator.integers(2, size=9000).tolist()
    recipe = TreeSanitizer(concepts=concepts, epsilon=1.0, labelled=labelled)
    data = list(zip(xs, ys, strict=True)) if labelled else xs
    released = recipe.release(data, rng=rng)
    bound = recipe.error_bound(size=9000, failure_probability=FALSE_FAILURE_PROBABILITY)
    assert bound < 1
    for arc in concepts.concepts():
        said = arc.many(xs)
        true = float((said != np.array(ys)).mean() if labelled else said.mean())
        assert abs(released.estimate(arc) - true) <= bound


def test_its_hypotheses_come_back_from_json_only_if_they_are_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arc = Arc(6, 4, 3)
    assert json_form.hypothesis_from_json(arc.to_json()) == arc
    with pytest.raises(ValueError, match="three numbers"):
        json_form.hypothesis_from_json({"kind": "arc", "n": "6"})
    json_form.register_hypothesis("arc", Arc.from_json)  # once more changes nothing
    for taken in ("arc", "threshold", "majority_vote"):
        with pytest.raises(ValueError, match="already has a reader"):
            json_form.register_hypothesis(taken, lambda data: arc)
    monkeypatch.delitem(json_form.READERS, "arc")
    with pytest.raises(ValueError, match="unknown kind of hypothesis 'arc'"):
        json_form.hypothesis_from_json(arc.to_json())


def test_snapshots_hold_its_values_only_if_they_are_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(codec._by_class, ArcSpace)
    run = LEARNERS["lazy-forest"].build(Arcs(3), **private.BUDGET).start(rng=seeded(1))
    with pytest.raises(SnapshotError, match="ArcSpace"):
        run.snapshot()
