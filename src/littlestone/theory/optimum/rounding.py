"""Turn a solver's floats into a certificate of integers."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.theory.optimum.certificate import Certificate
from littlestone.theory.optimum.programme import Proposal
from littlestone.theory.optimum.tree import ROOT, GameTree

_BITS: Final = 52
_MIXED: Final = 1 << 60

Learner = list[int]


def certified(
    tree: GameTree,
    above: Proposal,
    below: Proposal,
    *,
    factor: tuple[Fraction, Fraction] | None,
    delta: Fraction,
) -> Certificate:
    """Return a certificate with the learner of ``above`` and the adversaries of ``below``, rounded.

    A learner that is private up to a rounding error becomes private when mixed with a little of the
    learner that publishes uniformly at random. For ε = δ = 0 it must ignore the examples instead.
    """
    blind = factor is not None and factor[0] <= 1 and not delta
    scale, learner = _rounded(tree, above.learner)
    if blind:
        scale, learner = _forgetful(tree, scale, learner)
    scale_below = 1 << _BITS
    waits, splits, ends = _attacker(tree, below, scale_below, bounded=bool(delta))

    def with_learner(scale: int, learner: Learner) -> Certificate:
        return Certificate(
            scale=scale_below,
            learner_scale=scale,
            factor=factor,
            delta=delta,
            learner=tuple(learner),
            adversary=_adversary(tree, below, scale_below),
            price=int(below.price * scale_below),
            waits=waits,
            splits=splits,
            ends=ends,
        )

    found = with_learner(scale, learner)
    if factor is None or blind or found.is_private(tree):
        return found
    uniform = _uniform(tree, scale)
    share = _share(tree, found, with_learner(scale, uniform))
    while True:
        mixed = [
            (_MIXED - share) * one + share * other
            for one, other in zip(learner, uniform, strict=True)
        ]
        found = with_learner(scale * _MIXED, mixed)
        if share == _MIXED or found.is_private(tree):
            return found
        share = min(_MIXED, 2 * share)


def _share(tree: GameTree, learner: Certificate, uniform: Certificate) -> int:
    """Return the share of the uniform learner that restores privacy if δ = 0; else a guess."""
    if learner.delta:
        return 1 << 20
    most = Fraction(0)
    for gain, spare in zip(learner.gains(tree), uniform.gains(tree), strict=True):
        if gain > 0:
            most = max(most, Fraction(gain, gain - spare))
    return -int(-most * _MIXED // 1)


def _rounded(tree: GameTree, floats: NDArray[np.float64]) -> tuple[int, Learner]:
    moves = len(tree.tiny.concepts) << tree.tiny.columns * (tree.rounds - 1)
    scale = moves << _BITS
    learner = [0] * len(tree.published)
    for row in tree.received:
        whole = scale if row.before < 0 else learner[row.before]
        nodes = list(row.nodes.values())
        weights = [max(0.0, float(floats[node])) for node in nodes]
        if not sum(weights):
            weights = [float(tree.published[node].count) for node in nodes]
        parts = [int(Fraction(weight) * whole / Fraction(sum(weights))) for weight in weights]
        largest = max(range(len(parts)), key=parts.__getitem__)
        parts[largest] += whole - sum(parts)
        for node, part in zip(nodes, parts, strict=True):
            learner[node] = part
    return scale, learner


def _uniform(tree: GameTree, scale: int) -> Learner:
    learner = [0] * len(tree.published)
    for row in tree.received:
        whole = scale if row.before < 0 else learner[row.before]
        count = 1 if row.before < 0 else tree.published[row.before].count
        level = 1 if row.before < 0 else tree.published[row.before].level + 1
        each, rest = divmod(whole, count * len(tree.moves(level)))
        assert not rest
        for node in row.nodes.values():
            learner[node] = each * tree.published[node].count
    return learner


def _forgetful(tree: GameTree, scale: int, learner: Learner) -> tuple[int, Learner]:
    """Return the learner that publishes as if every round had the same example."""
    example = tree.tiny.silence if tree.tiny.silent else 0
    orbits = tree.orbits
    found = []
    for node in tree.published:
        total = 0
        for symmetry in orbits.everything:
            row, taken, last = ROOT, 0, -1
            for hypothesis in _path(tree, node.row, node.hypothesis):
                if last >= 0:
                    row, taken = tree.step_example(last, taken, example)
                moved = orbits.moved(symmetry, hypothesis=hypothesis)
                last, taken = tree.step(row, taken, moved)
            total += learner[last] * (tree.unit // tree.published[last].count)
        found.append(total * node.count)
    return scale * tree.unit * len(orbits.everything), found


def _path(tree: GameTree, row: int, hypothesis: int) -> list[int]:
    """Return all hypotheses of a history."""
    path = [hypothesis]
    while tree.received[row].before >= 0:
        node = tree.published[tree.received[row].before]
        path.append(node.hypothesis)
        row = node.row
    return path[::-1]


def _within(whole: int, floats: Mapping[int, float], names: Sequence[int]) -> dict[int, int]:
    """Round the floats to integers that add up to at most ``whole``."""
    parts = {name: floats.get(name, 0.0) for name in names}
    ints = {name: int(part * (1 << _BITS)) for name, part in parts.items() if part > 0}
    total = sum(ints.values())
    if total > whole:
        ints = {name: part * whole // total for name, part in ints.items()}
    return {name: part for name, part in ints.items() if part}


def _adversary(tree: GameTree, proposal: Proposal, scale: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for node in tree.published:
        if node.fitting and node.level < tree.rounds:
            whole = scale if node.row == ROOT else found.get(node.row, 0)
            rows = [row for row in node.rows.values() if tree.received[row].fitting]
            found |= _spread(whole, proposal.adversary, rows)
    return found


def _spread(whole: int, floats: Mapping[int, float], names: Sequence[int]) -> dict[int, int]:
    """Round the floats to integers that add up to exactly ``whole``."""
    found = _within(whole, floats, names)
    lost = whole - sum(found.values())
    if lost and names:
        largest = max(names, key=lambda name: found.get(name, 0))
        found[largest] = found.get(largest, 0) + lost
    return found


def _attacker(
    tree: GameTree, proposal: Proposal, scale: int, *, bounded: bool
) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Round the attacker's weights; unless δ = 0 they may not exceed the price of δ."""
    if not bounded:
        return {}, {}, {pair: int(p * scale) for pair, p in proposal.ends.items() if p * scale >= 1}
    begun: dict[int, list[int]] = {}
    continued: dict[int, list[int]] = {}
    for number, split in enumerate(tree.splits):
        if split.before < 0:
            begun.setdefault(split.node, []).append(number)
        else:
            continued.setdefault(split.before, []).append(number)
    waits: dict[int, int] = {}
    splits: dict[int, int] = {}
    ends: dict[int, int] = {}
    for number, node in enumerate(tree.published):
        if node.level == tree.rounds:
            continue
        whole = int(proposal.price * scale) if node.row == ROOT else waits.get(node.row, 0)
        rows = list(node.rows.values()) if node.level + 1 < tree.rounds else []
        # Rows and splits are numbered separately; negative numbers distinguish them.
        mine = begun.get(number, [])
        floats = {row: proposal.waits.get(row, 0.0) for row in rows}
        floats |= {-1 - split: proposal.splits.get(split, 0.0) for split in mine}
        shares = _within(whole, floats, list(floats))
        waits |= {name: share for name, share in shares.items() if name >= 0}
        splits |= {-1 - name: share for name, share in shares.items() if name < 0}
    for number, pair in enumerate(tree.pairs):
        whole = splits.get(pair.split, 0)
        if pair.last:
            ends |= _within(whole, proposal.ends, [number])
        else:
            splits |= _within(whole, proposal.splits, continued[number])
    return waits, splits, ends
