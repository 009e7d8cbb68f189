"""Every audit and every control by name: what the command line and the matrix know."""

from collections.abc import Mapping
from typing import Any

from littlestone.audit import (
    broken,
    broken_learners,
    expert_audits,
    learner_audits,
    proper_audits,
    sanitized_experts_audits,
    sanitizer_audits,
    suite,
)
from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import TwoWorldAdversary

AUDITS: Mapping[str, AuditEntry] = {
    **suite.AUDITS,
    **sanitizer_audits.AUDITS,
    **proper_audits.AUDITS,
    **expert_audits.AUDITS,
    **sanitized_experts_audits.AUDITS,
    **learner_audits.AUDITS,
}

# Subjects of the two-world game that also have a ``name`` and a ``bug``.
BROKEN: Mapping[str, Any] = {
    **broken.BROKEN,
    **sanitizer_audits.BROKEN,
    **proper_audits.BROKEN,
    **expert_audits.BROKEN,
    **sanitized_experts_audits.BROKEN,
    **broken_learners.BROKEN,
}

CONTROLS: Mapping[str, TwoWorldAdversary] = {
    **suite.CONTROLS,
    **sanitizer_audits.CONTROLS,
    **proper_audits.CONTROLS,
    **expert_audits.CONTROLS,
    **sanitized_experts_audits.CONTROLS,
    **broken_learners.CONTROLS,
}


def bug_of(name: str) -> str:
    """What is wrong with a control, in words."""
    return str(getattr(BROKEN[name], "bug", name.replace("-", " ")))
