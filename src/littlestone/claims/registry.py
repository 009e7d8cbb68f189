"""Every claim by name: a plain dictionary."""

from collections.abc import Mapping

from littlestone.claims import (
    above_threshold_error,
    coupon_collector,
    dimension_growth,
    forest_log_growth,
    fresh_copies_root_growth,
    histogram_error,
    littlestone_mistakes,
    privacy_parameters,
    restarts,
    update_lemma,
)
from littlestone.claims.core import Claim

CLAIMS: Mapping[str, Claim] = {
    claim.name: claim
    for claim in (
        above_threshold_error.CLAIM,
        coupon_collector.CLAIM,
        dimension_growth.CLAIM,
        forest_log_growth.CLAIM,
        fresh_copies_root_growth.CLAIM,
        histogram_error.CLAIM,
        littlestone_mistakes.CLAIM,
        privacy_parameters.CLAIM,
        restarts.CLAIM,
        update_lemma.CLAIM,
    )
}
