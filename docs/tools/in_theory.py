"""Compute the proved bounds of learners whose constants are too large for use."""

from docs.tools.written import markdown_table, power, up

from littlestone import LazyForest, Thresholds
from littlestone.lab.claims import polynomial_teachers
from littlestone.learners.experts.prediction_plan import predicted_mistakes_upper_bound

FAILURE = 0.05
PREDICTION_ROUNDS = 10**7
FORESTS = {1: 2, 2: 6, 3: 8}
"""The dimensions for which a forest is proved, and thresholds of each."""


def tables() -> dict[str, str]:
    """Each table by the name of its place in a page."""
    return {"teachers": _teachers(), "prediction": _prediction()}


def _teachers() -> str:
    rows = []
    for dimension in (1, 2, 3, 4):
        found = polynomial_teachers.planned(dimension, 0)
        bounds = (rounded(10 ** found[name]) for name in ("log10 teachers", "log10 theorem"))
        rows.append((str(dimension), *bounds, _forest(dimension, polynomial_teachers.ROUNDS)))
    paper = "the paper's forest, with the theorem's constants"
    return markdown_table(("d", "`PrivateTeachers`", paper, "`LazyForest.proved`"), rows)


def _prediction() -> str:
    dimensions = range(1, 6)
    predicted = (
        predicted_mistakes_upper_bound(
            littlestone_dimension=dimension,
            rounds=PREDICTION_ROUNDS,
            epsilon=1.0,
            delta=1e-6,
            failure_probability=FAILURE,
        )
        for dimension in dimensions
    )
    forests = (_forest(dimension, PREDICTION_ROUNDS) for dimension in dimensions)
    return markdown_table(
        ("d", *map(str, dimensions)),
        [("`PrivatePrediction`", *map(up, predicted)), ("`LazyForest.proved`", *forests)],
    )


def _forest(dimension: int, rounds: int) -> str:
    if dimension not in FORESTS:
        return "none"
    concepts = Thresholds(FORESTS[dimension])
    forest = LazyForest.proved(concepts=concepts, rounds=rounds, epsilon=1.0, delta=1e-6)
    return up(forest.mistake_bound(failure_probability=FAILURE))


def rounded(bound: float) -> str:
    """A large bound from above, with one digit."""
    first, _, exponent = f"{bound:e}".partition("e")
    digit = up(float(first))
    return power(10.0 * bound) if digit == "10" else f"{digit}·{power(10.0 ** int(exponent))}"
