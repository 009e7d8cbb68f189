"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.privacy import mechanisms as mechanisms
from littlestone.privacy.composition import advanced_composition as advanced_composition
from littlestone.privacy.composition import basic_composition as basic_composition
from littlestone.privacy.composition import optimal_composition as optimal_composition
from littlestone.privacy.composition import parallel_composition as parallel_composition
from littlestone.privacy.composition import user_level as user_level
from littlestone.privacy.guarantee import NOT_PRIVATE as NOT_PRIVATE
from littlestone.privacy.guarantee import PrivacyGuarantee as PrivacyGuarantee
from littlestone.privacy.ledger import Ledger as Ledger
from littlestone.privacy.zcdp import ZeroConcentrated as ZeroConcentrated

__all__: list[str]
