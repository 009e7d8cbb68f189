"""Private prediction in the two-world game in which the special answer is hidden."""

from littlestone.audit.adversaries.prediction_attacks import AskAgain
from littlestone.audit.two_worlds import Audit, Subject
from littlestone.concepts.classes.points import Points
from littlestone.learners.private_prediction.plan import PredictionPlan
from littlestone.learners.private_prediction.recipe import PrivatePrediction

ROUNDS = 1000


def few_copies(
    epsilon: float, delta: float, *, copies: int = 1, cap: int = 20
) -> PrivatePrediction:
    """Copies that know nothing but one point; counting gets a quarter of epsilon."""
    plan = PredictionPlan(copies=copies, rate=epsilon / 8, cap=cap, cap_epsilon=epsilon / 4)
    return PrivatePrediction(
        concepts=Points(1),
        rounds=ROUNDS,
        epsilon=epsilon,
        delta=delta,
        plan=plan.within(epsilon=epsilon, delta=delta),
    )


AUDITS = (
    Audit(
        name="private-prediction",
        subject=lambda epsilon, delta: Subject.from_predictor(few_copies(epsilon, delta)),
        adversary=AskAgain(most=200, width=4),
        summary="private prediction: whether one copy has learned a point, from many answers on it",
        epsilon=4.0,
        delta=1e-2,
        goal=0.05,
        remark=(
            "loose: the promise covers the second coin of each round, which nobody is shown, and "
            "games of any length, by a bound on moments"
        ),
    ),
)
