"""Private prediction that is wrong in one place each."""

from littlestone.audit.adversaries.prediction_attacks import AskAgain
from littlestone.audit.subjects.prediction_subjects import few_copies
from littlestone.audit.substitution import altered
from littlestone.audit.two_worlds import Control, Subject, TwoWorldAdversary
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.private_prediction.algorithm import PredictionRun
from littlestone.learners.private_prediction.recipe import PrivatePrediction


class TeachesAll(PredictionRun):
    """Every copy is told of every example."""

    def _teach(self, x: Point, y: Label) -> None:
        for state, count in list(self._groups.items()):
            new = state.after(x, y)
            if state.hypothesis(x) != y and not new.failed:
                del self._groups[state]
                self._groups[new] = self._groups.get(new, 0) + count
        self._votes.clear()


class NoNoise(PredictionRun):
    """The majority itself, which a single copy may decide."""

    def _two_answers(self, x: Point) -> tuple[Label, Label]:
        majority = int(2 * self._ones(x) > len(self._copies))
        return majority, majority


def with_run(recipe: PrivatePrediction, run: type[PredictionRun]) -> PrivatePrediction:
    """The same recipe with other runs."""
    return altered(recipe, start=lambda recipe, *, rng: run(recipe, rng))


def _control(
    name: str,
    bug: str,
    recipe: PrivatePrediction,
    run: type[PredictionRun],
    adversary: TwoWorldAdversary,
) -> Control:
    subject = Subject.from_predictor(with_run(recipe, run), name=name)
    return Control(subject=subject, adversary=adversary, bug=f"PrivatePrediction: {bug}")


CONTROLS = (
    _control(
        "prediction-all-copies",
        "every copy is taught each example",
        few_copies(1.0, 1e-6, copies=64),
        TeachesAll,
        AskAgain(most=20),
    ),
    _control(
        "prediction-no-noise",
        "the majority of the copies, without noise",
        few_copies(1.0, 1e-6),
        NoNoise,
        AskAgain(most=1),
    ),
)
