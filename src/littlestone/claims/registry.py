"""Every claim is in one plain dictionary, by name."""

from collections.abc import Mapping
from typing import Final

from littlestone.claims.agnostic import (
    adaptive_breaks_dartboard,
    construction_regret,
    experts_are_close,
    privacy_is_free,
    regret_square_root,
    sanitized_batches_regret,
    sparse_majority_mistakes,
)
from littlestone.claims.core import Claim
from littlestone.claims.mechanisms import (
    above_threshold_error,
    coupon_collector,
    histogram_error,
)
from littlestone.claims.realizable import (
    dimension_growth,
    forest_log_growth,
    fresh_copies_root_growth,
    littlestone_mistakes,
    polynomial_teachers,
    privacy_parameters,
    restarts,
    update_lemma,
)
from littlestone.claims.sanitization import (
    algorithm_4_utility,
    generator_rounds,
    realizable_samples,
    sanitizer_samples,
    sanitizers_compared,
)

CLAIMS: Final[Mapping[str, Claim]] = {
    module.claim.name: module.claim
    for module in (
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
        polynomial_teachers,
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
}
