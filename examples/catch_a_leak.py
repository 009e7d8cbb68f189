"""Audit a correct mechanism and a broken one: the same adversaries that `make audit` uses."""

from littlestone.audit.auditing import audit
from littlestone.audit.registry import AUDITS, CONTROLS
from littlestone.randomness import secure

entry = AUDITS["above-threshold"]
print(audit(entry.subject(1.0, 0.0), entry.adversary, runs=20_000, rng=secure()).verdict)

for name in ("no-query-noise", "overlapping-instances"):
    control = CONTROLS[name]
    print(f"{name}: {control.bug}")
    print(audit(control.subject, control.adversary, runs=20_000, rng=secure()).verdict)
