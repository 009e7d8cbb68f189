"""Private prediction that is wrong in one place each."""

from dataclasses import dataclass

from littlestone.audit.adversaries.prediction_attacks import AskAgain
from littlestone.audit.subjects.prediction_subjects import few_copies
from littlestone.audit.two_worlds import Control, Subject, TwoWorldAdversary
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.private_prediction.algorithm import PredictionRun
from littlestone.learners.private_prediction.recipe import PrivatePrediction
from littlestone.randomness import Randomness, secure


class _TeachesAll(PredictionRun):
    """Every copy is told of every example."""

    __slots__ = ()

    def _teach(self, x: Point, y: Label) -> None:
        for state, count in list(self._groups.items()):
            new = state.after(x, y)
            if state.hypothesis(x) != y and not new.failed:
                del self._groups[state]
                self._groups[new] = self._groups.get(new, 0) + count
        self._votes.clear()


class _NoNoise(PredictionRun):
    """The majority itself, which a single copy may decide."""

    __slots__ = ()

    def _two_answers(self, x: Point) -> tuple[Label, Label]:
        majority = int(2 * self._ones(x) > len(self._copies))
        return majority, majority


@dataclass(frozen=True, slots=True, kw_only=True)
class TeachesAll(PrivatePrediction):
    """The recipe whose runs teach every copy."""

    def start(self, *, rng: Randomness | None = None) -> PredictionRun:
        return _TeachesAll(self, secure() if rng is None else rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoNoise(PrivatePrediction):
    """The recipe whose runs answer without noise."""

    def start(self, *, rng: Randomness | None = None) -> PredictionRun:
        return _NoNoise(self, secure() if rng is None else rng)


def _control(
    name: str, bug: str, recipe: PrivatePrediction, adversary: TwoWorldAdversary
) -> Control:
    subject = Subject.from_predictor(recipe, name=name)
    return Control(subject=subject, adversary=adversary, bug=f"PrivatePrediction: {bug}")


CONTROLS = (
    _control(
        "prediction-all-copies",
        "every copy is taught each example",
        few_copies(1.0, 1e-6, copies=64, kind=TeachesAll),
        AskAgain(most=20),
    ),
    _control(
        "prediction-no-noise",
        "the majority of the copies, without noise",
        few_copies(1.0, 1e-6, kind=NoNoise),
        AskAgain(most=1),
    ),
)
