"""Every claim by name: a plain dictionary."""

from collections.abc import Mapping

from littlestone.claims import littlestone_mistakes
from littlestone.claims.core import Claim

CLAIMS: Mapping[str, Claim] = {claim.name: claim for claim in (littlestone_mistakes.CLAIM,)}
