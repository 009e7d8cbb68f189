"""Lazy experts are for oblivious adversaries; fresh draws stand adaptive ones [P, Theorem 1.2]."""

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION
from littlestone.claims.rows import Row, tabulate
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.loss_sequences import ChargeTheSeen
from littlestone.experts.play_experts import play_experts
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import Randomness

EXPERTS = 8
EPSILON, DELTA = 1.0, 1e-6
QUICK, FULL = 1 << 14, 1 << 18
Kind = type[ShrinkingDartboard] | type[ExponentialWeights]
KINDS: tuple[Kind, ...] = (ShrinkingDartboard, ExponentialWeights)


@claimed(
    says=(
        "An adaptive adversary gives the shrinking dartboard linear regret; exponential weights "
        "with fresh draws keep their bound against it."
    ),
    source="[P], Section 4.2 and Appendix E: two algorithms for two kinds of adversary",
    setting=f"{EXPERTS} experts, ε = 1, δ = 1e-6; 2^18 rounds (quick: 2^14)",
    judged=(
        "one run each: the first must exceed its oblivious bound, which it certainly does (it "
        "draws too seldom), the second must stay within its bound and a deviation (by chance it "
        "does not: 1e-9)"
    ),
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The dartboard must exceed its oblivious bound, exponential weights must keep theirs."""
    rounds = FULL if full else QUICK
    games: list[Series] = []
    rows = tabulate(KINDS, lambda kind: measured(kind, rounds, games, rng), progress)
    broken, stands = rows[0]["exceeded"], not rows[1]["exceeded"]
    return Finding(
        verdict=Verdict.CONFIRMED if broken and stands else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
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
                series=games,
            )
        ],
    )


def measured(kind: Kind, rounds: int, games: list[Series], rng: Randomness) -> Row:
    """One game against the adversary that charges the expert it saw last; its curve is kept.

    The charges of all experts are as many as the rounds, so the best expert has at most an eighth
    of them. The dartboard has no loss only in a round before which it drew, and its draws have a
    cap: its regret is known but for a little.
    """
    recipe = kind(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    adversary = ChargeTheSeen(experts=EXPERTS)
    played = play_experts(recipe, adversary, rounds=rounds, rng=rng, even_if_oblivious_only=True)
    name, regret = kind.__name__, played.known_regret
    limit = recipe.expected_regret_bound() + (
        0 if recipe.oblivious_only else recipe.deviation_bound(failure_probability=FALSE_REFUTATION)
    )
    growing = [(point, value) for point, value in played.regret_curve if value > 0]
    xs, ys = [point for point, _ in growing], [value for _, value in growing]
    games.append(Series(name=name, xs=xs, ys=ys, style="-"))
    certain = 0
    if isinstance(recipe, ShrinkingDartboard):
        assert recipe.plan is not None
        certain = rounds - rounds // EXPERTS - recipe.plan.cap - 1
    return {
        "algorithm": name,
        "rounds": rounds,
        "regret": regret,
        "bound": recipe.expected_regret_bound(),
        "regret per round": regret / rounds,
        "certain": certain,
        "exceeded": regret > limit,
    }
