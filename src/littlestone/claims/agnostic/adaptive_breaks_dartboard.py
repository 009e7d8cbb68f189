"""[P, Theorem 1.2]: lazy experts are for oblivious adversaries; fresh draws stand adaptive ones."""

from littlestone.claims.core import Claim, Finding, Picture, Progress, Series, Verdict
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.loss_sequences import ChargeTheSeen
from littlestone.experts.play_experts import play_experts
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.game.transcript import Transcript
from littlestone.randomness import Randomness

EXPERTS = 8
EPSILON, DELTA = 1.0, 1e-6
QUICK, FULL = 1 << 14, 1 << 18
# A correct algorithm exceeds its bound by its deviation with at most this probability.
FALSE_ALARM = 1e-6


def measured(recipe: ExpertsRecipe, rng: Randomness) -> Transcript:
    """A game against the adversary that charges the expert it saw last."""
    return play_experts(
        recipe,
        ChargeTheSeen(experts=recipe.experts),
        rounds=recipe.rounds,
        rng=rng,
        even_if_oblivious_only=True,
    )


def measure(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The dartboard must exceed its oblivious bound, exponential weights must keep theirs."""
    rounds = FULL if full else QUICK
    recipes: list[ExpertsRecipe] = [
        kind(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
        for kind in (ShrinkingDartboard, ExponentialWeights)
    ]
    rows, series = [], []
    for number, recipe in enumerate(recipes, start=1):
        played = measured(recipe, rng)
        name, regret = type(recipe).__name__, played.known_regret
        limit = recipe.expected_regret_bound() + (
            0 if recipe.oblivious_only else recipe.deviation_bound(failure_probability=FALSE_ALARM)
        )
        rows.append(
            {
                "algorithm": name,
                "rounds": rounds,
                "regret": regret,
                "bound": recipe.expected_regret_bound(),
                "regret per round": regret / rounds,
                "exceeded": regret > limit,
            }
        )
        series.append(
            Series(
                name=name,
                xs=[point for point, value in played.regret_curve if value > 0],
                ys=[value for _, value in played.regret_curve if value > 0],
                style="-",
            )
        )
        progress(number / len(recipes))
    broken, stands = bool(rows[0]["exceeded"]), not rows[1]["exceeded"]
    return Finding(
        verdict=Verdict.CONFIRMED if broken and stands else Verdict.REFUTED,
        summary=(
            f"after {rounds} rounds the dartboard's regret is {rows[0]['regret per round']:.2f} a "
            f"round, that of exponential weights {rows[1]['regret per round']:.3f}"
        ),
        rows=rows,
        pictures=[
            Picture(
                title="Regret against the adversary that charges the expert it saw last",
                x_label="rounds",
                y_label="regret",
                series=series,
            )
        ],
    )


CLAIM = Claim(
    name="adaptive-breaks-dartboard",
    says=(
        "An adaptive adversary gives the shrinking dartboard linear regret; exponential weights "
        "with fresh draws keep their bound against it."
    ),
    source="[P], Section 4.2 and Appendix E: two algorithms for two kinds of adversary",
    setting=f"{EXPERTS} experts, ε = 1, δ = 1e-6; 2^18 rounds (quick: 2^14)",
    judged=(
        "one run each: the first must exceed its oblivious bound, the second must stay within its "
        "bound and a deviation that has probability 1e-6"
    ),
    measure=measure,
)
