"""List every claim by name, and examine many of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from littlestone.game.sweeps import Workers
from littlestone.lab import claims
from littlestone.lab.claim import Claim, Finding, Outcome, examine
from littlestone.registry import discovered

CLAIMS: Final[Mapping[str, Claim]] = dict(sorted(discovered(claims, "CLAIMS", Claim).items()))


_HERE: Final = Workers()


def examine_all(
    claims: Sequence[Claim],
    *,
    seed: int,
    full: bool = False,
    workers: Workers = _HERE,
    progress: Callable[[int], None] | None = None,
) -> list[Outcome]:
    """Examine registered claims; number i gets the seed ``seed + i``."""
    tasks = [(claim.name, seed + number, full) for number, claim in enumerate(claims)]
    found = workers.each(_examined, tasks, progress=progress)
    return [
        Outcome(claim=claim, finding=finding, seed=own_seed, full=full, seconds=seconds)
        for claim, (_, own_seed, _), (finding, seconds) in zip(claims, tasks, found, strict=True)
    ]


def _examined(task: tuple[str, int, bool]) -> tuple[Finding, float]:
    # By name: a claim holds a function, which may not be picklable.
    name, seed, full = task
    outcome = examine(CLAIMS[name], seed=seed, full=full)
    return outcome.finding, outcome.seconds
