"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.choose.auto import Candidate as Candidate
from littlestone.choose.recommendation import Recommendation as Recommendation
from littlestone.choose.recommendation import recommend as recommend
from littlestone.choose.request import Request as Request

__all__: list[str]
