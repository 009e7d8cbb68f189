"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.learners.batch.agnostic_empirical import AgnosticEmpirical as AgnosticEmpirical
from littlestone.learners.batch.irreducible import IrreducibleLearner as IrreducibleLearner
from littlestone.learners.batch.proper_selection import ProperLearner as ProperLearner
from littlestone.learners.batch.proper_selection import ProperSelection as ProperSelection
from littlestone.learners.batch.subsampling import Subsampled as Subsampled

__all__: list[str]
