"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.game.adversaries.boundary import Boundary as Boundary
from littlestone.game.adversaries.boundary import Contradiction as Contradiction
from littlestone.game.adversaries.boundary import FreeLabels as FreeLabels
from littlestone.game.adversaries.boundary import NoisyBoundary as NoisyBoundary
from littlestone.game.adversaries.mistake_forcing import CoinTree as CoinTree
from littlestone.game.adversaries.mistake_forcing import FrequentKiller as FrequentKiller
from littlestone.game.adversaries.mistake_forcing import MistakeForcing as MistakeForcing
from littlestone.game.adversaries.mistake_forcing import ShatteredTree as ShatteredTree
from littlestone.game.adversaries.random_stream import Drifting as Drifting
from littlestone.game.adversaries.random_stream import HiddenOnes as HiddenOnes
from littlestone.game.adversaries.random_stream import RandomStream as RandomStream
from littlestone.game.adversaries.replay import Examples as Examples
from littlestone.game.adversaries.replay import Replay as Replay
from littlestone.game.adversaries.spreading import KeepDimension as KeepDimension
from littlestone.game.adversaries.spreading import SpreadMistakes as SpreadMistakes
from littlestone.game.adversaries.waiting import BurstAndWait as BurstAndWait
from littlestone.game.adversaries.waiting import Wait as Wait
from littlestone.game.adversaries.waiting import WaitDownTree as WaitDownTree

__all__: list[str]
