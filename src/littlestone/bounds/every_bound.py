"""The table of all bounds says where each takes its arguments from; a test misses none.

What a statement asks for beyond the setting is chosen as in the proofs: half a budget for each of
two parts, as many switches as √T, and so on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from littlestone.bounds.bound import Bound, Row
from littlestone.bounds.setting import LARGEST_DIMENSION, Setting
from littlestone.theory import (
    above_threshold_bounds,
    concentration,
    dimension_bounds,
    dyadic,
    expert_bounds,
    floors,
    generalization,
    golowich_livni_bounds,
    histogram_bounds,
    private_halving,
    realizable_bounds,
    sanitization,
    update_bounds,
)

AXES: Final[Mapping[str, Sequence[Any]]] = {
    "rounds": tuple(10**power for power in range(2, 10)),
    "epsilon": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0),
    "dimension": tuple(range(1, LARGEST_DIMENSION + 1)),
}


def at_setting(setting: Setting, groups: Sequence[str] = ()) -> list[Row]:
    """Every bound of the groups (all by default) as a number."""
    for group in groups:
        if group not in GROUPS:
            raise ValueError(f"unknown group {group!r}; there are: {', '.join(GROUPS)}")
    return [bound.at(setting) for bound in BOUNDS if not groups or bound.group in groups]


def along(setting: Setting, over: str) -> list[Setting]:
    """The setting again and again, with one of its numbers growing."""
    if over not in AXES:
        raise ValueError(f"over must be one of {', '.join(AXES)}, got over={over!r}")
    return [replace(setting, **{over: value}) for value in AXES[over]]


def _group(name: str, *rows: tuple[str, Callable[..., Any], str]) -> list[Bound]:
    return [Bound(name, quantity, function, needs) for quantity, function, needs in rows]


_HALVES: Final = "zcdp=half_zcdp above_threshold_epsilon=half_epsilon"

BOUNDS: Final[Sequence[Bound]] = [
    *_group(
        "realizable",
        (
            "mistakes",
            realizable_bounds.mistakes_upper_bound,
            "rounds dimension epsilon delta failure_probability",
        ),
        (
            "pairs",
            realizable_bounds.slots_upper_bound,
            "dimension epsilon delta failure_probability",
        ),
        (
            "pairs",
            realizable_bounds.sharp_slots_upper_bound,
            "dimension epsilon delta failure_probability",
        ),
        ("pairs", realizable_bounds.printed_slots_lower_bound, "dimension"),
        ("pairs", realizable_bounds.frequent_pairs_lower_bound, "slots layer=dimension"),
        ("hypotheses", realizable_bounds.list_length_upper_bound, "layer=dimension"),
        ("instances", realizable_bounds.instances_upper_bound, "dimension"),
        (
            "pairs",
            update_bounds.surviving_pairs_lower_bound,
            "guess_slack matching_slack collisions=half_slots next_slots=half_slots",
        ),
        (
            "probability",
            update_bounds.update_failure_upper_bound,
            "dimension slots guess_slack matching_slack collisions=half_slots",
        ),
        (
            "mistakes",
            private_halving.sampled_majority_mistakes_upper_bound,
            f"concepts points rounds failure_probability {_HALVES}",
        ),
        (
            "mistakes",
            private_halving.sampled_majority_plan,
            f"concepts points rounds failure_probability {_HALVES}",
        ),
        (
            "mistakes",
            private_halving.threshold_median_mistakes_upper_bound,
            f"concepts rounds failure_probability {_HALVES}",
        ),
        (
            "mistakes",
            private_halving.threshold_median_plan,
            f"concepts rounds failure_probability {_HALVES}",
        ),
        (
            "mistakes",
            private_halving.points_triple_plan,
            f"concepts rounds failure_probability {_HALVES}",
        ),
        ("nats", private_halving.potential_drop_lower_bound, "margin=0.2 charge=1.0"),
        ("share", private_halving.points_charge_lower_bound, ""),
        (
            "mistakes",
            private_halving.restarted_mistakes_upper_bound,
            "failure_probability one_run",
        ),
        (
            "mistakes",
            golowich_livni_bounds.oblivious_mistakes_order,
            "dimension rounds epsilon delta",
        ),
        (
            "mistakes",
            golowich_livni_bounds.adaptive_mistakes_order,
            "dimension rounds epsilon delta",
        ),
        ("share", golowich_livni_bounds.frequency_lower_bound, "leaves"),
        ("selections", golowich_livni_bounds.selections_upper_bound, "leaves"),
        (
            "trees",
            golowich_livni_bounds.kept_count_lower_bound,
            "selections failure_probability threshold=samples threshold_epsilon=half_epsilon",
        ),
        (
            "trees",
            golowich_livni_bounds.dropped_count_upper_bound,
            "rounds failure_probability threshold=samples query_epsilon=half_epsilon",
        ),
        ("ε", golowich_livni_bounds.fresh_copy_epsilon_lower_bound, "rounds epsilon delta"),
    ),
    *_group(
        "agnostic",
        ("regret", expert_bounds.hedge_regret_upper_bound, "rounds experts=concepts"),
        (
            "regret",
            expert_bounds.exponential_weights_regret_upper_bound,
            "rounds zcdp experts=concepts",
        ),
        (
            "rate",
            expert_bounds.exponential_weights_rate_lower_bound,
            "rounds zcdp experts=concepts",
        ),
        (
            "regret",
            expert_bounds.dartboard_regret_upper_bound,
            "rounds rate experts=concepts batch=1",
        ),
        ("switches", expert_bounds.dartboard_switches_upper_bound, "rounds rate batch=1 fake"),
        ("ρ", expert_bounds.dartboard_zcdp_upper_bound, "rate fake switches=dartboard_switches"),
        (
            "phases",
            expert_bounds.realizable_phases_upper_bound,
            "failure_probability experts=concepts",
        ),
        (
            "mistakes",
            expert_bounds.realizable_loss_upper_bound,
            f"rounds failure_probability experts=concepts {_HALVES}",
        ),
        (
            "experts",
            expert_bounds.agnostic_experts_upper_bound,
            "rounds littlestone_dimension=dimension",
        ),
        ("experts", expert_bounds.constructed_experts_upper_bound, "rounds switches=dimension"),
        (
            "regret",
            sanitization.batched_regret_upper_bound,
            "rounds copy_regret error batch=root failure_probability=batch_failure",
        ),
    ),
    *_group(
        "mechanisms",
        (
            "error",
            above_threshold_bounds.paper_error_upper_bound,
            "rounds epsilon failure_probability",
        ),
        (
            "error",
            above_threshold_bounds.paper_overshoot_upper_bound,
            "rounds epsilon failure_probability",
        ),
        (
            "error",
            above_threshold_bounds.one_sided_early_upper_bound,
            "rounds epsilon failure_probability",
        ),
        (
            "error",
            above_threshold_bounds.one_sided_late_upper_bound,
            "instances epsilon failure_probability",
        ),
        (
            "error",
            above_threshold_bounds.one_sided_overshoot_upper_bound,
            "rounds instances epsilon failure_probability",
        ),
        (
            "error",
            above_threshold_bounds.general_early_upper_bound,
            "rounds failure_probability query_epsilon=half_epsilon",
        ),
        (
            "error",
            above_threshold_bounds.general_late_upper_bound,
            "instances failure_probability threshold_epsilon=half_epsilon",
        ),
        ("error", histogram_bounds.paper_error_upper_bound, "epsilon delta"),
        ("error", histogram_bounds.truncated_error_upper_bound, "epsilon delta"),
        ("noise", histogram_bounds.truncation_upper_bound, "epsilon delta"),
        ("count", histogram_bounds.certain_inclusion_upper_bound, "epsilon delta"),
        ("count", histogram_bounds.certain_inclusion_lower_bound, "epsilon delta"),
        ("elements", histogram_bounds.list_length_upper_bound, "epsilon delta elements=samples"),
        ("intervals", dyadic.dyadic_count_upper_bound, "rounds"),
        ("intervals", dyadic.dyadic_membership_upper_bound, "rounds"),
        ("intervals", dyadic.dyadic_pieces_upper_bound, "length=rounds"),
        ("intervals", dyadic.dyadic_constant_upper_bound, "rounds"),
    ),
    *_group(
        "sanitization",
        (
            "examples",
            sanitization.selection_samples_upper_bound,
            "concepts error epsilon failure_probability",
        ),
        (
            "examples",
            sanitization.discriminator_samples_upper_bound,
            "error epsilon failure_probability",
        ),
        (
            "examples",
            sanitization.realizable_discriminator_samples_upper_bound,
            "error epsilon failure_probability",
        ),
        (
            "examples",
            sanitization.sanitizer_samples_upper_bound,
            "concepts points error zcdp failure_probability",
        ),
        ("rounds", sanitization.generator_rounds_upper_bound, "points gap=error"),
        ("rounds", sanitization.realizable_rounds_upper_bound, "points error"),
        ("examples", sanitization.existence_samples_upper_bound, "error vc_dimension=dimension"),
        ("examples", sanitization.subsampled_samples_upper_bound, "samples epsilon"),
        ("ε", sanitization.subsampled_epsilon_upper_bound, "samples epsilon size=subsampled"),
        ("δ", sanitization.subsampled_delta_upper_bound, "samples epsilon delta size=subsampled"),
        (
            "ε",
            sanitization.empirical_epsilon_upper_bound,
            "share=error epsilon=error inner_epsilon=epsilon",
        ),
        (
            "δ",
            sanitization.empirical_delta_upper_bound,
            "share=error epsilon=error inner_delta=delta",
        ),
        (
            "share",
            sanitization.labelled_error_upper_bound,
            "error samples epsilon failure_probability",
        ),
    ),
    *_group(
        "floors",
        ("mistakes", floors.points_floor, "rounds epsilon delta"),
        ("mistakes", floors.points_window_lower_bound, "rounds epsilon delta"),
        ("mistakes", floors.logarithmic_lower_bound, "rounds epsilon delta"),
        ("mistakes", floors.deterministic_lower_bound, "littlestone_dimension=dimension"),
        ("mistakes", floors.randomized_lower_bound, "littlestone_dimension=dimension"),
        (
            "regret",
            expert_bounds.low_switching_regret_lower_bound,
            "rounds epsilon delta switches=root",
        ),
    ),
    *_group(
        "dimensions",
        ("behaviours", dimension_bounds.sauer_upper_bound, "dimension points=samples"),
        ("behaviours", dimension_bounds.sauer_closed_form_upper_bound, "dimension points=samples"),
        ("dimension", dimension_bounds.aggregation_upper_bound, "dimensions=three"),
        ("dimension", dimension_bounds.aggregation_closed_form_upper_bound, "dimension arity=3"),
        ("dimension", dimension_bounds.majority_upper_bound, "dimension members=3"),
        ("dimension", dimension_bounds.majority_xor_upper_bound, "dimension members=3"),
        ("dimension", dimension_bounds.union_upper_bound, "left=dimension right=dimension"),
        (
            "dimension",
            dimension_bounds.dual_littlestone_upper_bound,
            "littlestone_dimension=dimension",
        ),
        ("dimension", dimension_bounds.dual_vc_upper_bound, "vc_dimension=dimension"),
    ),
    *_group(
        "tails",
        ("probability", concentration.hoeffding_upper_bound, "deviation variables=samples"),
        ("probability", concentration.permutation_upper_bound, "deviation variables=samples"),
        ("probability", concentration.permutation_swap_upper_bound, "deviation variables=samples"),
        ("probability", concentration.without_replacement_upper_bound, "share=error mean=samples"),
        ("error", concentration.mean_upper_bound, "tail most=rounds"),
        ("probability", concentration.half_uncovered_upper_bound, "cells bins draws"),
        ("probability", concentration.coupon_failure_upper_bound, "cells"),
        ("cells", concentration.coupon_cells_upper_bound, "failure_probability"),
        (
            "probability",
            generalization.relative_failure_upper_bound,
            "samples vc_dimension=dimension relative=0.5 additive=error",
        ),
        (
            "probability",
            generalization.realizable_failure_upper_bound,
            "samples error vc_dimension=dimension",
        ),
        (
            "examples",
            generalization.realizable_samples_upper_bound,
            "error failure_probability vc_dimension=dimension",
        ),
        (
            "probability",
            generalization.agnostic_failure_upper_bound,
            "samples error vc_dimension=dimension",
        ),
        (
            "examples",
            generalization.agnostic_samples_upper_bound,
            "error failure_probability vc_dimension=dimension",
        ),
        (
            "examples",
            generalization.self_logarithm_upper_bound,
            "factor=inverse_error offset=inverse_error",
        ),
    ),
]
GROUPS: Final = tuple(dict.fromkeys(bound.group for bound in BOUNDS))
