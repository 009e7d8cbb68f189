"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.game import adversaries as adversaries
from littlestone.game.protocols import Adversary as Adversary
from littlestone.game.protocols import Learner as Learner
from littlestone.game.protocols import OnlineLearner as OnlineLearner
from littlestone.game.referee import ConsistencyTracker as ConsistencyTracker
from littlestone.game.sweeps import Comparison as Comparison
from littlestone.game.sweeps import Failure as Failure
from littlestone.game.sweeps import Sweep as Sweep
from littlestone.game.sweeps import Workers as Workers
from littlestone.game.sweeps import compare as compare
from littlestone.game.transcript import Round as Round
from littlestone.game.transcript import Transcript as Transcript

__all__: list[str]
