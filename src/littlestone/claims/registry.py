"""Every claim by name: a plain dictionary."""

from collections.abc import Mapping

from littlestone.claims import (
    above_threshold_error,
    adaptive_breaks_dartboard,
    algorithm_4_utility,
    construction_regret,
    coupon_collector,
    dimension_growth,
    experts_are_close,
    forest_log_growth,
    fresh_copies_root_growth,
    generator_rounds,
    histogram_error,
    littlestone_mistakes,
    privacy_is_free,
    privacy_parameters,
    realizable_samples,
    regret_square_root,
    restarts,
    sanitized_batches_regret,
    sanitizer_samples,
    sanitizers_compared,
    sparse_majority_mistakes,
    update_lemma,
)
from littlestone.claims.core import Claim

CLAIMS: Mapping[str, Claim] = {
    claim.name: claim
    for claim in (
        above_threshold_error.CLAIM,
        adaptive_breaks_dartboard.CLAIM,
        algorithm_4_utility.CLAIM,
        construction_regret.CLAIM,
        coupon_collector.CLAIM,
        dimension_growth.CLAIM,
        experts_are_close.CLAIM,
        forest_log_growth.CLAIM,
        fresh_copies_root_growth.CLAIM,
        generator_rounds.CLAIM,
        histogram_error.CLAIM,
        littlestone_mistakes.CLAIM,
        privacy_is_free.CLAIM,
        privacy_parameters.CLAIM,
        realizable_samples.CLAIM,
        regret_square_root.CLAIM,
        restarts.CLAIM,
        sanitized_batches_regret.CLAIM,
        sanitizer_samples.CLAIM,
        sanitizers_compared.CLAIM,
        sparse_majority_mistakes.CLAIM,
        update_lemma.CLAIM,
    )
}
