"""Compute the detection matrix: audit every subject, and every control until it is caught."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from littlestone.audit.auditing import FIRST_STAGE, AuditReport, audit
from littlestone.audit.exact.laws import BLIND_SPOTS, SUBSTITUTES
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.registry import AUDITS, CONTROLS
from littlestone.audit.two_worlds import Audit, Subject, TwoWorldAdversary, play_once
from littlestone.game.sweeps import Workers
from littlestone.randomness import Randomness, secure

CORRECT_GAMES: Final = 200_000
CONTROL_GAMES: Final = 1_000_000
CORRECT_SECONDS: Final = 10.0
CONTROL_SECONDS: Final = 120.0
ENUMERATED_SHARE: Final = 0.2
"""The share of the time for games if all coins are enumerated as well."""
_TRIAL: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The epsilon that the audit of one correct subject reached."""

    name: str
    games: AuditReport
    exact: float | None
    """A lower bound on the exact epsilon of the same game, if its coins were enumerated."""
    seconds: float

    @property
    def share(self) -> float:
        """The reached epsilon as a share of the claim."""
        shown = max(self.games.epsilon_lower_bound, self.exact or 0.0)
        return shown / self.games.claimed.epsilon

    @property
    def reached(self) -> bool:
        """Whether the adversary reaches its goal."""
        return self.share >= AUDITS[self.name].goal

    @property
    def loose(self) -> bool:
        """Whether all games of the instance were enumerated, and none reaches the goal."""
        return bool(AUDITS[self.name].rivals) and not self.reached


def affordable(
    subject: Subject, adversary: TwoWorldAdversary, *, seconds: float, most: int, rng: Randomness
) -> int:
    """Return how many games fit into ``seconds``, at least an audit's minimum and at most ``most``.

    Measured in processor time, so that a busy machine takes longer but plays as many. Tables that
    the first game computes do not count.
    """
    play_once(subject, adversary, 0, rng, rng)
    started = time.process_time()
    for number in range(_TRIAL):
        play_once(subject, adversary, number % 2, rng, rng)
    each = max(1e-9, (time.process_time() - started) / _TRIAL)  # some clocks are coarse
    return min(most, max(4 * FIRST_STAGE, int(seconds / each)))


def strength(name: str) -> Strength:
    """Audit one correct subject at its budget, by games and if possible exactly."""
    entry, rng, started = AUDITS[name], secure(), time.perf_counter()
    subject = entry.subject(entry.epsilon, entry.delta)
    runs = affordable(
        subject,
        entry.adversary,
        seconds=(ENUMERATED_SHARE if entry.enumerated else entry.patience) * CORRECT_SECONDS,
        most=CORRECT_GAMES,
        rng=rng,
    )
    report = audit(subject, entry.adversary, runs=runs, rng=rng)
    exact = max(
        (curve.epsilon_lower_bound(subject.claimed.delta) for curve in exact_curves(entry)),
        default=None,
    )
    return Strength(name=name, games=report, exact=exact, seconds=time.perf_counter() - started)


def exact_curves(entry: Audit) -> Iterator[PrivacyCurve]:
    """Yield the exact curves of its game and of its rivals' games, if enumerated."""
    subject = entry.subject(entry.epsilon, entry.delta)
    if entry.witness is not None:
        yield entry.witness(subject, entry.adversary)
    elif entry.exact_rounds is not None:
        for adversary in (entry.adversary, *entry.rivals):
            yield privacy_curve(
                subject,
                adversary,
                rounds=entry.exact_rounds,
                negligible=Fraction(1, 1 << entry.negligible_bits),
            )


def caught(name: str) -> AuditReport:
    """Audit one control until it is caught or the time is over."""
    control, rng = CONTROLS[name], secure()
    subject, adversary = control.subject, control.adversary
    runs = affordable(subject, adversary, seconds=CONTROL_SECONDS, most=CONTROL_GAMES, rng=rng)
    return audit(subject, adversary, runs=runs, rng=rng)


def write(
    path: Path, *, jobs: int = 2, progress: Callable[[str], None] | None = None
) -> tuple[list[Strength], list[AuditReport]]:
    """Run everything and write both tables as Markdown."""
    started = time.perf_counter()
    workers = Workers(jobs=jobs)
    tell = progress or (lambda _: None)
    correct = workers.each(strength, list(AUDITS), progress=lambda done: tell(f"{done} subjects"))
    broken = workers.each(caught, list(CONTROLS), progress=lambda done: tell(f"{done} controls"))
    minutes = (time.perf_counter() - started) / 60
    path.write_text(_page(correct, broken, jobs=jobs, minutes=minutes), encoding="utf-8")
    return correct, broken


def _page(
    correct: Sequence[Strength], broken: Sequence[AuditReport], *, jobs: int, minutes: float
) -> str:
    reached = sum(row.reached for row in correct)
    found = sum(report.violation for report in broken)
    return HEADER.format(
        correct="\n".join(map(_correct_line, correct)),
        broken="\n".join(map(_broken_line, broken)),
        enumerated=enumerated_section(),
        games=f"{CORRECT_GAMES:,}",
        most=f"{CONTROL_GAMES:,}",
        correct_seconds=f"{CORRECT_SECONDS:g}",
        enumerated_seconds=f"{ENUMERATED_SHARE * CORRECT_SECONDS:g}",
        control_seconds=f"{CONTROL_SECONDS:g}",
        reached=f"{reached} of {len(correct)}",
        found=f"{found} of {len(broken)}",
        loose=sum(row.loose for row in correct),
        remarks="\n".join(_remark(row) for row in correct if AUDITS[row.name].remark),
        jobs=jobs,
        minutes=f"{minutes:.0f}",
    )


def _correct_line(row: Strength) -> str:
    claimed, exact = row.games.claimed, "–" if row.exact is None else f"{row.exact:.3f}"
    verdict = "" if row.reached else ", claim loose" if row.loose else ", missed"
    goal = f"{AUDITS[row.name].goal:g}{verdict}"
    return (
        f"| {row.name} | {claimed.epsilon:g} | {claimed.delta:g} | {row.games.runs:,} | "
        f"{row.games.epsilon_lower_bound:.3f} | {exact} | {row.share:.2f} | {goal} | "
        f"{row.seconds:.1f} |"
    )


def _remark(row: Strength) -> str:
    entry, claimed = AUDITS[row.name], row.games.claimed.epsilon
    numbers = (
        f"claim loose: {row.exact:.3f} of the claimed {claimed:g} is the largest exact epsilon of "
        f"all {1 + len(entry.rivals)} games of the instance; "
        if row.loose
        else ""
    )
    return f"- `{row.name}`: {numbers}{entry.remark}"


def _broken_line(report: AuditReport) -> str:
    runs = f"{report.runs:,}" if report.violation else f"not caught in {report.runs:,}"
    return (
        f"| {report.subject} | {CONTROLS[report.subject].bug} | {report.adversary} | "
        f"{report.claimed.epsilon:g} | {report.claimed.delta:g} | "
        f"{report.epsilon_lower_bound:.2f} | {runs} |"
    )


def enumerated_section() -> str:
    """Return the section on what enumeration replaces and leaves out."""
    substitutes = "\n".join(f"| `{part.name}` | {part.why} |" for part in SUBSTITUTES)
    blind = "\n".join(f"| {name} | {why} |" for name, why in BLIND_SPOTS.items())
    return ENUMERATED.format(substitutes=substitutes, blind=blind)


ENUMERATED = """## What is enumerated

An exact curve is that of the running code, except for the parts below. Enumeration cannot see a bug
in a part that is replaced, which only games and tests of its law can find, or in a part that is not
enumerated.

| replaced | by |
|---|---|
{substitutes}

| not enumerated | because it |
|---|---|
{blind}

`IncrementalSelection` with all its proposals, and `LinearPool` for given words, are enumerated as
they run in `tests/unit/audit/exact/test_running_code.py`, beside a broken variant of each. What
`WideGaussian` makes of each of the 2^64 words of a proposal, for its smallest variance, is compared
with the law in whole numbers in `test_wide_words.py`, beside four broken variants. What reaches
them from two neighbouring streams (growing scores, the rule that a pool is near and the batch of a
draw, sums) is compared in `tests/unit/audit/test_learner_grey_box.py`.
"""

HEADER = """# What the auditor finds

`make audit` writes this page, with fresh randomness ({jobs} processes, {minutes} minutes). An audit
can refute a promise; it never says “private”.

## Correct subjects

Each row is a private part of the library, on an instance so small that its games are short, at a
budget at which the games are short or the claim is tight.

- *Games* is how many were played: as many as fit into about {correct_seconds} seconds (up to six
  times as long where a single game shows little), or into {enumerated_seconds} seconds where all
  coins are enumerated as well, and at most {games}.
- *Shown in games* is an ε that these games refute at this δ; wrong with probability at most 1e-4.
- *Exact* is a lower bound on the exact ε at this δ, from enumerating all coins
  (`littlestone.audit.privacy_curve`). It is about the same game or, where a remark says so, about
  this game and the releases that follow it independently. It is never wrong.
- *Share* is the larger of the two, divided by the claim. A correct subject must stay at or below 1,
  and its adversary should come near it.

{reached} reach their goal. For {loose} more, the claim is loose rather than the adversary weak: all
games that the instance allows in the enumerated rounds were enumerated.

| subject | claimed ε | δ | games | shown in games | exact | share | goal | seconds |
|---|---|---|---|---|---|---|---|---|
{correct}

{remarks}

## Controls

Each control has one bug and claims the guarantee that its author believed in; the audit must refute
it. {found} are refuted. An audit plays up to {most} games, for about {control_seconds} seconds, and
stops at the first proof; *games* is how many that took. The bound is wrong with probability at most
1e-4.

| control | bug | adversary | claimed ε | δ | ε is at least | games |
|---|---|---|---|---|---|---|
{broken}

{enumerated}"""
