"""The ledger records what was promised and what each round has paid, exactly."""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from html import escape
from typing import Any, Final

from littlestone import require
from littlestone.errors import BudgetExceededError, SnapshotError
from littlestone.lazy import Lazy
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import text_at_least
from littlestone.privacy.zcdp import ZeroConcentrated

_ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Exact totals of one example: plain epsilon and delta, and concentrated rho."""

    epsilon: Fraction = _ZERO
    delta: Fraction = _ZERO
    rho: Fraction = _ZERO

    def __add__(self, other: "Load") -> "Load":
        return Load(
            epsilon=_sum(self.epsilon, other.epsilon),
            delta=_sum(self.delta, other.delta),
            rho=_sum(self.rho, other.rho),
        )

    def __neg__(self) -> "Load":
        return Load(epsilon=-self.epsilon, delta=-self.delta, rho=-self.rho)


def _sum(one: Fraction, other: Fraction) -> Fraction:
    # Most parts of a load are 0, and fractions are added slowly.
    return one + other if one and other else one or other


class Loads:
    """A load for every round from 1 on, stored as runs of consecutive rounds with equal loads.

    >>> loads = Loads()
    >>> loads.add(Load(epsilon=Fraction(1)), first=3, last=5)
    >>> loads.add(Load(epsilon=Fraction(1)), first=5, last=None)
    >>> [int(load.epsilon) for load in loads]  # rounds 1-2, 3-4, 5, and from 6 on
    [0, 1, 2, 1]
    """

    def __init__(self) -> None:
        self._firsts = [1]
        self._loads = [Load()]

    def __iter__(self) -> Iterator[Load]:
        return iter(self._loads)

    def add(self, load: Load, *, first: int, last: int | None) -> None:
        """Add to all rounds from ``first`` to ``last``; None means to the end."""
        for index in self._between(first, last):
            self._loads[index] += load

    def largest(self, *, first: int, last: int | None) -> Load:
        """Return the largest of each number among these rounds."""
        loads = [self._loads[index] for index in self._between(first, last)]
        if len(loads) == 1:
            return loads[0]
        return Load(
            epsilon=max((load.epsilon for load in loads), default=_ZERO),
            delta=max((load.delta for load in loads), default=_ZERO),
            rho=max((load.rho for load in loads), default=_ZERO),
        )

    def _between(self, first: int, last: int | None) -> range:
        start = self._cut(first)
        stop = len(self._firsts) if last is None else self._cut(last + 1)
        return range(start, stop)

    def _cut(self, round_number: int) -> int:
        """Return the index of the stretch that begins at this round; split one if needed."""
        index = bisect_left(self._firsts, round_number)
        if index == len(self._firsts) or self._firsts[index] != round_number:
            before = self._loads[bisect_right(self._firsts, round_number) - 1]
            self._firsts.insert(index, round_number)
            self._loads.insert(index, before)
        return index


Cost = PrivacyGuarantee | ZeroConcentrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One release: who made it, what it costs, and the rounds whose examples it reads.

    ``last`` is None while the mechanism still reads. ``prefix_conditional`` says that the
    cost holds whatever was released before (docs/GUARANTEES.md, F3); without it, deltas add up
    over all rounds.
    """

    mechanism: str
    cost: Cost
    first: int
    last: int | None = None
    prefix_conditional: bool = True
    number: int = field(default=0, repr=False)
    """Its place in the ledger, since two releases may be equal."""

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(first=self.first, at_least=1)
        require.integer(number=self.number, at_least=0)
        if self.last is not None:
            require.integer(last=self.last, at_least=self.first - 1)
        if isinstance(self.cost, PrivacyGuarantee) and not self.cost.is_private:
            raise ValueError(f"cost must be finite, got cost={self.cost!r}")
        if isinstance(self.cost, ZeroConcentrated):
            require.non_negative(rho=self.cost.rho)

    @property
    def rounds(self) -> str:
        """The rounds in words."""
        return f"{self.first}–{'…' if self.last is None else self.last}"

    @property
    def words(self) -> str:
        """The cost in words."""
        if isinstance(self.cost, ZeroConcentrated):
            return f"ρ = {text_at_least(self.cost.rho)}"
        return str(self.cost)

    @property
    def load(self) -> Load:
        """The cost to each example that the release reads."""
        if isinstance(self.cost, ZeroConcentrated):
            return Load(rho=Fraction(self.cost.rho))
        delta = Fraction(self.cost.delta) if self.prefix_conditional else Fraction(0)
        return Load(epsilon=Fraction(self.cost.epsilon), delta=delta)

    @property
    def delta_for_all(self) -> Fraction:
        """The delta that every example of the stream pays, read or not."""
        if self.prefix_conditional or isinstance(self.cost, ZeroConcentrated):
            return Fraction(0)
        return Fraction(self.cost.delta)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; floats keep all digits."""
        return asdict(self)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> "Charge":
        """Return the charge that was saved."""
        cost = saved["cost"]
        known: Cost = ZeroConcentrated(**cost) if "rho" in cost else PrivacyGuarantee(**cost)
        return cls(**{**saved, "cost": known})


SEEDED: Final = "NOT PRIVATE: the randomness was seeded"
_NO_RHO: Final = ZeroConcentrated(rho=0.0)
_NOTHING: Final = PrivacyGuarantee(epsilon=0.0)


@require.checked
class Ledger(Lazy):
    """Enforces the budget: an example pays for each release that reads it and for no other.

    The cost of the run is what the worst-off example pays, so releases that read the same
    rounds add up and releases that read disjoint rounds do not (docs/GUARANTEES.md, F4). A part
    of the budget can be set aside for zero-concentrated costs: ``concentrated``, which is
    converted at ``concentrated_delta``.

    >>> ledger = Ledger(budget=PrivacyGuarantee(epsilon=1.0), private=True)
    >>> half = PrivacyGuarantee(epsilon=0.5)
    >>> for start in (1, 11, 21):  # one mechanism after another, each on its own rounds
    ...     charge = ledger.charge("CountAboveThreshold", half, first=start, last=start + 9)
    >>> ledger.spent()
    PrivacyGuarantee(epsilon=0.5, delta=0.0)
    >>> charge = ledger.charge("LaplaceCount", PrivacyGuarantee(epsilon=0.75), first=1, last=30)
    Traceback (most recent call last):
    ...
    littlestone.errors.BudgetExceededError: LaplaceCount on rounds 1–30 costs ε = 0.75 where \
ε = 0.5 was spent: more than the promised ε = 1; nothing was spent
    """

    def __init__(
        self,
        *,
        budget: PrivacyGuarantee,
        private: bool,
        concentrated: ZeroConcentrated = _NO_RHO,
        concentrated_delta: float = 0.0,
    ) -> None:
        self._plain, self.promise = _terms(budget, concentrated, concentrated_delta)
        """The promise in words; a run writes here what it promises to a user with several
        examples."""
        self.beforehand = _NOTHING
        """What each example had paid before the run, for instance for the ranges of a schema."""
        self._budget = budget
        self._private = private
        self._concentrated = concentrated
        self._concentrated_delta = concentrated_delta
        self._charges: list[Charge] = []
        self._loads = Loads()
        self._delta_for_all = Fraction(0)

    @property
    def budget(self) -> PrivacyGuarantee:
        """What was promised."""
        return self._budget

    @property
    def private(self) -> bool:
        """Whether the randomness was secret; if not, the promise is void."""
        return self._private

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every release so far."""
        return tuple(self._charges)

    def charge(
        self,
        mechanism: str,
        cost: Cost,
        *,
        first: int,
        last: int | None = None,
        prefix_conditional: bool = True,
    ) -> Charge:
        """Record a release about to be made, or refuse it and change nothing."""
        charge = Charge(
            mechanism=mechanism,
            cost=cost,
            first=first,
            last=last,
            prefix_conditional=prefix_conditional,
            number=len(self._charges),
        )
        if not self._affords(charge):
            raise BudgetExceededError(
                f"{mechanism} on rounds {charge.rounds} costs {charge.words} where {self.spent()} "
                f"was spent: more than the promised {self._budget}; nothing was spent",
                requested=cost,
                spent=self.spent(),
                budget=self._budget,
            )
        self._record(charge)
        return charge

    def close(self, charge: Charge, *, last: int) -> Charge:
        """Close ``charge``: its mechanism stops reading, so later examples do not pay."""
        known = next(iter(self._charges[charge.number : charge.number + 1]), None)
        if known is None or replace(known, last=charge.last) != charge:
            raise ValueError(f"charge must be one of this ledger's, got charge={charge!r}")
        require.integer(last=last, at_least=known.first - 1)
        if known.last is not None:
            raise ValueError(f"charge was closed at round {known.last}, got last={last!r}")
        closed = replace(known, last=last)
        self._loads.add(-known.load, first=int(last) + 1, last=None)
        self._charges[closed.number] = closed
        return closed

    def spent(self) -> PrivacyGuarantee:
        """Return what the most charged example has paid so far, rounded up.

        The first concentrated cost is charged with everything set aside: the conversion holds for a
        sum that is bounded in advance, not for a sum at which the caller chose to stop.
        """
        reserved = self._concentrated.guarantee(delta=self._concentrated_delta)
        epsilon = delta = Fraction(0)
        for load in self._loads:
            set_aside = reserved if load.rho else _NOTHING
            epsilon = max(epsilon, load.epsilon + Fraction(set_aside.epsilon))
            delta = max(delta, load.delta + Fraction(set_aside.delta))
        return PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta + self._delta_for_all)

    def explain(self) -> str:
        """Return one sentence: the promise, what is spent, and by whom."""
        counts = Counter(charge.mechanism for charge in self._charges)
        by = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
        plural = "" if len(self._charges) == 1 else "s"
        charges = f"{len(self._charges)} charge{plural}: {by}" if counts else "nothing"
        stamp = "" if self._private else f" — {SEEDED}"
        paid, before = self.spent(), self.beforehand
        if before != _NOTHING:
            charges = f"the ranges of the schema and {charges}"
            paid = PrivacyGuarantee.rounded_up(
                epsilon=Fraction(paid.epsilon) + Fraction(before.epsilon),
                delta=Fraction(paid.delta) + Fraction(before.delta),
            )
        return (
            f"Promised: {self.promise}; no example has paid more than {paid} so far, "
            f"for {charges}{stamp}."
        )

    def text(self) -> str:
        """Return a plain table, one line for each mechanism and cost, below the sentence."""
        groups: dict[tuple[str, Cost], list[Charge]] = {}
        for charge in self._charges:
            groups.setdefault((charge.mechanism, charge.cost), []).append(charge)
        rows = [("mechanism", "each charge", "charges", "rounds")]
        if self.beforehand != _NOTHING:
            rows.append(("ranges of the schema", str(self.beforehand), "1", "before"))
        for (mechanism, _), charges in groups.items():
            rows.append((mechanism, charges[0].words, str(len(charges)), _rounds(charges)))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.explain(), "", *lines])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"

    def state(self) -> tuple[Any, ...]:
        """Return the arguments of ``from_state``."""
        terms = (self._budget, self._private, self._concentrated, self._concentrated_delta)
        return *terms, self.charges

    @classmethod
    def from_state(
        cls,
        budget: PrivacyGuarantee,
        private: bool,
        concentrated: ZeroConcentrated,
        concentrated_delta: float,
        charges: tuple[Charge, ...],
    ) -> "Ledger":
        """Return the ledger that was saved, with every charge."""
        ledger = cls(
            budget=budget,
            private=private,
            concentrated=concentrated,
            concentrated_delta=concentrated_delta,
        )
        for number, charge in enumerate(charges):
            if charge.number != number:
                raise ValueError(f"charge {number} of a ledger cannot have number={charge.number}")
            ledger._record(charge)
        return ledger

    def to_json(self) -> str:
        """Return the ledger with a checksum that detects accidents, not forgery."""
        content = {
            **self._terms(),
            "private": self._private,
            "charges": [charge.to_json() for charge in self._charges],
        }
        if self.beforehand != _NOTHING:
            content["beforehand"] = _plain(self.beforehand)
        return json.dumps({"ledger": content, "checksum": _checksum(content)})

    @classmethod
    def from_json(cls, text: str) -> "Ledger":
        """Return a saved ledger with every charge.

        Raises:
            SnapshotError: The text is not a saved ledger, or was altered."""
        try:
            saved = json.loads(text)
            content = saved["ledger"]
            if saved["checksum"] != _checksum(content):
                raise SnapshotError("the saved ledger was altered; restore an unaltered copy")
            ledger = cls.from_state(
                PrivacyGuarantee(**content["budget"]),
                content["private"],
                ZeroConcentrated(rho=content["rho"]),
                content["concentrated_delta"],
                tuple(map(Charge.from_json, content["charges"])),
            )
            ledger.beforehand = PrivacyGuarantee(**content.get("beforehand", _plain(_NOTHING)))
        except (ValueError, TypeError, KeyError) as problem:
            raise SnapshotError(f"text is not a saved ledger: {problem}") from problem
        return ledger

    def _affords(self, charge: Charge) -> bool:
        """Return whether every example stays within both parts of the budget, exactly."""
        worst = self._loads.largest(first=charge.first, last=charge.last) + charge.load
        delta = worst.delta + self._delta_for_all
        if not charge.prefix_conditional:
            elsewhere = self._loads.largest(first=1, last=None)
            delta = max(delta, elsewhere.delta + self._delta_for_all) + charge.delta_for_all
        return (
            worst.epsilon <= self._plain.epsilon
            and delta <= self._plain.delta
            and worst.rho <= self._concentrated.rho
        )

    def _record(self, charge: Charge) -> None:
        self._charges.append(charge)
        self._loads.add(charge.load, first=charge.first, last=charge.last)
        self._delta_for_all += charge.delta_for_all

    def _terms(self) -> dict[str, Any]:
        return {
            "budget": _plain(self._budget),
            "rho": self._concentrated.rho,
            "concentrated_delta": self._concentrated_delta,
        }


@lru_cache(maxsize=64)
def _terms(
    budget: PrivacyGuarantee, concentrated: ZeroConcentrated, delta: float
) -> tuple[PrivacyGuarantee, str]:
    """Return the plain part of the budget, and the whole budget in words."""
    reserved = concentrated.guarantee(delta=delta)
    if not reserved.within(budget):
        raise ValueError(
            f"concentrated must fit into budget={budget!r}, got concentrated={concentrated!r}, "
            f"which is {reserved}"
        )
    return budget.less(reserved), str(budget)


def _plain(guarantee: PrivacyGuarantee) -> dict[str, float]:
    return {"epsilon": guarantee.epsilon, "delta": guarantee.delta}


def _rounds(charges: list[Charge]) -> str:
    lasts = [charge.last for charge in charges if charge.last is not None]
    last = str(max(lasts)) if len(lasts) == len(charges) else "…"
    return f"{min(charge.first for charge in charges)}–{last}"


def _checksum(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
