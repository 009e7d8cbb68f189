"""List all bounds; a test checks that none is missing.

Arguments beyond the setting are chosen as in the proofs: half a budget for each of two parts, √T
switches, and so on. A row states where it departs from ``bound.USUAL``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from littlestone.lab.bound import LARGEST_DIMENSION, Bound, BoundValue, Numbers
from littlestone.learners.experts import prediction_plan
from littlestone.theory import (
    above_threshold_bounds,
    adaptive_floors,
    concentration,
    dimension_bounds,
    dyadic,
    expert_bounds,
    floors,
    generalization,
    golowich_livni_bounds,
    histogram_bounds,
    realizable_bounds,
    sanitization,
)

ANSWERED: Final = "mistakes, publish then answer"
"""For adversaries that see h_t; against others it bounds mistakes + switches + 1."""
OBLIVIOUS: Final = "mistakes, either order"
AXES: Final[Mapping[str, Sequence[Any]]] = {
    "rounds": tuple(10**power for power in range(2, 10)),
    "epsilon": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0),
    "dimension": tuple(range(1, LARGEST_DIMENSION + 1)),
}


def at_setting(setting: Numbers, groups: Sequence[str] = ()) -> list[BoundValue]:
    """Return every bound of the groups (all by default) as a number."""
    for group in groups:
        if group not in GROUPS:
            raise ValueError(f"unknown group {group!r}; there are: {', '.join(GROUPS)}")
    return [bound.at(setting) for bound in BOUNDS if not groups or bound.group in groups]


def along(setting: Numbers, over: str) -> list[Numbers]:
    """Return settings in which one number grows."""
    if over not in AXES:
        raise ValueError(f"over must be one of {', '.join(AXES)}, got over={over!r}")
    return [replace(setting, **{over: value}) for value in AXES[over]]


def _group(
    name: str, *rows: tuple[str, Callable[..., Any]] | tuple[str, Callable[..., Any], str]
) -> list[Bound]:
    return [Bound(name, *row) for row in rows]


BOUNDS: Final[Sequence[Bound]] = [
    *_group(
        "realizable",
        ("mistakes", realizable_bounds.mistakes_upper_bound),
        ("pairs", realizable_bounds.slots_upper_bound),
        ("pairs", realizable_bounds.sharp_slots_upper_bound),
        ("pairs", realizable_bounds.printed_slots_lower_bound),
        ("pairs", realizable_bounds.frequent_pairs_lower_bound),
        ("hypotheses", realizable_bounds.list_length_upper_bound),
        ("instances", realizable_bounds.instances_upper_bound),
        ("pairs", realizable_bounds.surviving_pairs_lower_bound),
        ("probability", realizable_bounds.update_failure_upper_bound),
        ("nats", expert_bounds.potential_drop_lower_bound),
        ("share", expert_bounds.points_charge_lower_bound),
        ("mistakes", golowich_livni_bounds.oblivious_mistakes_order),
        ("mistakes", golowich_livni_bounds.adaptive_mistakes_order),
        ("share", golowich_livni_bounds.frequency_lower_bound),
        ("selections", golowich_livni_bounds.selections_upper_bound),
        ("trees", golowich_livni_bounds.kept_count_lower_bound),
        ("trees", golowich_livni_bounds.dropped_count_upper_bound),
        ("ε", golowich_livni_bounds.fresh_copy_epsilon_lower_bound),
        ("mistakes", prediction_plan.predicted_mistakes_upper_bound),
    ),
    *_group(
        "agnostic",
        ("regret", expert_bounds.hedge_regret_upper_bound),
        ("regret", expert_bounds.exponential_weights_regret_upper_bound),
        ("rate", expert_bounds.exponential_weights_rate_lower_bound),
        ("regret", expert_bounds.dartboard_regret_upper_bound),
        ("switches", expert_bounds.dartboard_switches_upper_bound),
        ("ρ", expert_bounds.dartboard_zcdp_upper_bound, "switches=dartboard_switches"),
        ("variance", expert_bounds.noisy_losses_variance_upper_bound),
        ("noise", expert_bounds.largest_noise_upper_bound),
        ("regret", expert_bounds.noisy_losses_regret_upper_bound, "batch=noisy_batch"),
        ("phases", expert_bounds.realizable_phases_upper_bound),
        ("mistakes", expert_bounds.realizable_loss_upper_bound, "zcdp=half_zcdp"),
        ("experts", expert_bounds.agnostic_experts_upper_bound),
        ("experts", expert_bounds.constructed_experts_upper_bound, "switches=dimension"),
        (
            "regret",
            sanitization.batched_regret_upper_bound,
            "batch=root failure_probability=per_round",
        ),
    ),
    *_group(
        "mechanisms",
        ("error", above_threshold_bounds.paper_error_upper_bound),
        ("error", above_threshold_bounds.paper_overshoot_upper_bound),
        ("error", above_threshold_bounds.one_sided_early_upper_bound),
        ("error", above_threshold_bounds.one_sided_late_upper_bound),
        ("error", above_threshold_bounds.one_sided_overshoot_upper_bound),
        ("error", above_threshold_bounds.general_early_upper_bound),
        ("error", above_threshold_bounds.general_late_upper_bound),
        ("error", histogram_bounds.paper_error_upper_bound),
        ("error", histogram_bounds.truncated_error_upper_bound),
        ("noise", histogram_bounds.truncation_upper_bound),
        ("count", histogram_bounds.certain_inclusion_upper_bound),
        ("count", histogram_bounds.certain_inclusion_lower_bound),
        ("elements", histogram_bounds.list_length_upper_bound),
        ("intervals", dyadic.dyadic_count_upper_bound),
        ("intervals", dyadic.dyadic_membership_upper_bound),
        ("intervals", dyadic.dyadic_pieces_upper_bound),
        ("intervals", dyadic.dyadic_constant_upper_bound),
    ),
    *_group(
        "sanitization",
        ("examples", sanitization.selection_samples_upper_bound),
        ("examples", sanitization.discriminator_samples_upper_bound),
        ("examples", sanitization.realizable_discriminator_samples_upper_bound),
        ("examples", sanitization.sanitizer_samples_upper_bound),
        ("rounds", sanitization.generator_rounds_upper_bound),
        ("rounds", sanitization.realizable_rounds_upper_bound),
        ("examples", sanitization.existence_samples_upper_bound),
        ("examples", sanitization.subsampled_samples_upper_bound),
        ("ε", sanitization.subsampled_epsilon_upper_bound),
        ("δ", sanitization.subsampled_delta_upper_bound),
        ("ε", sanitization.empirical_epsilon_upper_bound, "epsilon=error"),
        ("δ", sanitization.empirical_delta_upper_bound, "epsilon=error"),
        ("share", sanitization.labelled_error_upper_bound),
    ),
    *_group(
        "floors",
        (ANSWERED, adaptive_floors.burst_lower_bound),
        (ANSWERED, adaptive_floors.burst_and_wait_lower_bound),
        (ANSWERED, adaptive_floors.key_sets_lower_bound, "keys=dimension"),
        (ANSWERED, adaptive_floors.wait_lower_bound),
        (ANSWERED, adaptive_floors.wait_down_tree_lower_bound, "depth=dimension"),
        (ANSWERED, adaptive_floors.dimension_lower_bound),
        (OBLIVIOUS, floors.points_window_lower_bound),
        (OBLIVIOUS, floors.logarithmic_lower_bound),
        (OBLIVIOUS, floors.sparse_sets_lower_bound),
        (OBLIVIOUS, floors.coin_tree_lower_bound),
        (OBLIVIOUS, floors.deterministic_lower_bound),
        (OBLIVIOUS, floors.randomized_lower_bound),
        ("regret", expert_bounds.low_switching_regret_lower_bound, "delta=delta switches=root"),
    ),
    *_group(
        "dimensions",
        ("behaviours", dimension_bounds.sauer_upper_bound, "points=samples"),
        ("behaviours", dimension_bounds.sauer_closed_form_upper_bound, "points=samples"),
        ("dimension", dimension_bounds.aggregation_upper_bound),
        ("dimension", dimension_bounds.aggregation_closed_form_upper_bound),
        ("dimension", dimension_bounds.majority_upper_bound),
        ("dimension", dimension_bounds.majority_xor_upper_bound),
        ("dimension", dimension_bounds.union_upper_bound),
        ("dimension", dimension_bounds.dual_littlestone_upper_bound),
        ("dimension", dimension_bounds.dual_vc_upper_bound),
    ),
    *_group(
        "tails",
        ("probability", concentration.hoeffding_upper_bound),
        ("probability", concentration.permutation_upper_bound),
        ("probability", concentration.permutation_swap_upper_bound),
        ("probability", concentration.without_replacement_upper_bound),
        ("error", concentration.mean_upper_bound),
        ("probability", concentration.half_uncovered_upper_bound),
        ("probability", concentration.coupon_failure_upper_bound),
        ("cells", concentration.coupon_cells_upper_bound),
        ("probability", generalization.relative_failure_upper_bound),
        ("probability", generalization.realizable_failure_upper_bound),
        ("examples", generalization.realizable_samples_upper_bound),
        ("probability", generalization.agnostic_failure_upper_bound),
        ("examples", generalization.agnostic_samples_upper_bound),
        ("error", generalization.agnostic_error_upper_bound),
        ("examples", generalization.agnostic_samples_lower_bound),
        ("examples", generalization.self_logarithm_upper_bound),
    ),
]
GROUPS: Final = tuple(dict.fromkeys(bound.group for bound in BOUNDS))
