"""Every audit and every control by name: what the command line and the matrix know."""

from collections.abc import Mapping

from littlestone.audit.controls import (
    broken_constructions,
    broken_counters,
    broken_experts,
    broken_forests,
    broken_guards,
    broken_learners,
    broken_mechanisms,
    broken_predictions,
    broken_proper,
    broken_sanitizers,
)
from littlestone.audit.subjects import (
    constructed_subjects,
    expert_subjects,
    learner_subjects,
    mechanism_subjects,
    prediction_subjects,
    proper_subjects,
    sanitizer_subjects,
)
from littlestone.audit.two_worlds import Audit, Control

AUDITS: Mapping[str, Audit] = {
    audit.name: audit
    for part in (
        mechanism_subjects,
        sanitizer_subjects,
        proper_subjects,
        expert_subjects,
        constructed_subjects,
        learner_subjects,
        prediction_subjects,
    )
    for audit in part.AUDITS
}

CONTROLS: Mapping[str, Control] = {
    control.name: control
    for part in (
        broken_mechanisms,
        broken_guards,
        broken_sanitizers,
        broken_proper,
        broken_experts,
        broken_constructions,
        broken_forests,
        broken_counters,
        broken_learners,
        broken_predictions,
    )
    for control in part.CONTROLS
}
