"""Audit a correct mechanism and a broken one: the same adversaries that `make audit` uses."""

from littlestone.audit.auditing import audit
from littlestone.audit.broken import BROKEN
from littlestone.audit.suite import AUDITS, CONTROLS
from littlestone.randomness import secure

entry = AUDITS["above-threshold"]
print(audit(entry.subject(1.0, 0.0), entry.adversary, runs=20_000, rng=secure()).verdict)

for name in ("no-query-noise", "overlapping-instances"):
    print(f"{name}: {BROKEN[name].bug}")
    print(audit(BROKEN[name], CONTROLS[name], runs=20_000, rng=secure()).verdict)
