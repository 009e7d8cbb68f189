"""Ranges that were read off data and paid for: proposed once, and counted by whoever uses them.

A schema whose grids come from rows says so in tables of its own, ``[[private-ranges]]``: what was
spent, on whose rows. ``learn --schema`` adds that to its promise, since rules and grids are about
the same people, unless its owner vouches that the rows are others.
"""

import json
import secrets
from array import array
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Self

import numpy as np

from littlestone import require
from littlestone.concepts.schema import PAID
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.group import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.sanitizers.specialised.private_cuts import PrivateCuts
from littlestone.service.promises.book import Book
from littlestone.service.promises.users import NAMELESS, canonical_user, promise_of
from littlestone.service.sources import BadRow, Form, rows

_NO_NUMBER: Final = float("nan")


class PaidRanges(NamedTuple):
    """What was spent on the ranges of a schema, for each row; of each ``user`` so many were read.

    The source is a name for people, not a digest: that would tell who guesses the file.
    """

    identity: str
    epsilon: float
    source: str
    user: str | None = None
    max_contributions: int = 1

    @classmethod
    def fresh(cls, epsilon: float, source: str, user: str | None, most: int) -> Self:
        """About to be spent."""
        require.positive(epsilon=epsilon)
        require.integer(max_contributions=most, at_least=1)
        if user is None and most != 1:
            raise ValueError("max-contributions needs --user: rows of nobody cannot be counted")
        return cls(secrets.token_hex(16), float(epsilon), Path(source).name, user, most)

    @classmethod
    def from_table(cls, declared: Any) -> Self:
        """As a schema declares it; whatever is not whole is refused, never left out."""
        try:
            paid = cls(**declared)
            whole = all(isinstance(text, str) for text in (paid.identity, paid.source))
            require.positive(epsilon=paid.epsilon)
            require.integer(max_contributions=paid.max_contributions, at_least=1)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{PAID} in the schema is not as it was written: {problem}") from None
        if not whole or not isinstance(paid.user, str | None):
            raise ValueError(f"{PAID} in the schema is not as it was written: {declared!r}")
        return paid

    def table(self) -> dict[str, str | float | int]:
        """What ``from_table`` takes back."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def cost(self, users: str | None, most: int) -> PrivacyGuarantee:
        """To each of whom a run promises something: ``users`` whose events it counts, or ``most``.

        Where nobody is counted, neither there nor here, the number of rows is vouched for.
        """
        if users is not None and users != self.user:
            whose = "of nobody" if self.user is None else f"by {self.user!r}"
            raise ValueError(
                f"the ranges of this schema were read counting rows {whose}, and events are "
                f"counted by {users!r}: of one user any number of rows may be in them. Make the "
                f"schema with --user {users!r}, or say --other-data if it came from other rows"
            )
        rows_of_one = most if users is None else self.max_contributions
        return user_level(PrivacyGuarantee(epsilon=self.epsilon), max_contributions=rows_of_one)

    def enter(self, book: Book, source: str, *, users: str | None, most: int) -> None:
        """Into a budget book, once for all who use the ranges; another price is another entry."""
        cost, own = self.cost(users, most), PrivacyGuarantee(epsilon=self.epsilon)
        name = self.identity if cost == own else f"{self.identity} at {cost.epsilon!r}"
        book.register(name, source, cost, f"{cost} for the ranges of a schema")


def paid_in(tables: Mapping[str, Any] | None) -> tuple[PaidRanges, ...]:
    """What was spent on the ranges of a schema, if anything was."""
    declared = (tables or {}).get(PAID, [])
    return tuple(map(PaidRanges.from_table, declared)) if isinstance(declared, list) else ()


def fields_in(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The declared fields, without what was spent on them: for who has counted that."""
    is_field = {name: name != PAID or not isinstance(table, list) for name, table in tables.items()}
    return {name: table for name, table in tables.items() if is_field[name]}


def total_cost(paid: Sequence[PaidRanges], users: str | None, most: int) -> PrivacyGuarantee:
    """Of all of them together."""
    return basic_composition([each.cost(users, most) for each in paid])


def promise_with(recipe: PrivateLearner, users: str | None, paid: Sequence[PaidRanges] = ()) -> str:
    """The promise of a run in words, with what was spent on its schema and the same data."""
    told = promise_of(recipe, users)
    if not paid:
        return told
    own, before = recipe.guarantee(), total_cost(paid, users, recipe.max_contributions)
    whom = told.removeprefix(str(own))
    parts = f"{own} for the rules, {before} for the ranges of the schema"
    return f"{basic_composition([own, before])}{whom} ({parts})"


def as_text(paid: Sequence[PaidRanges]) -> str:
    """As a store keeps it."""
    return json.dumps([each.table() for each in paid])


def from_text(text: str) -> tuple[PaidRanges, ...]:
    return tuple(map(PaidRanges.from_table, json.loads(text)))


def proposed(
    source: str,
    names: Sequence[str],
    paid: PaidRanges,
    *,
    whole: Container[str] = (),
    form: Form,
    standard_input: IO[bytes],
    rng: Randomness,
) -> dict[str, tuple[float, ...]]:
    """A grid for each of the named columns, of ``whole`` numbers for some; for what was ``paid``.

    Each row has in each column the number that ``learn`` would read there, or none: by a rule that
    looks at this row alone, and at how many of its user came before. So files that differ in one
    row are tables that differ in one row (docs/GUARANTEES.md, R).
    """
    places = tuple(place for place, name in enumerate(names) if name in whole)
    recipe = PrivateCuts(epsilon=paid.epsilon, columns=len(names), whole=places)
    counted = [] if paid.user is None else [paid.user]
    columns = [array("d") for _ in names]
    seen = Counter[str]()
    for _, row in rows(source, [*counted, *names], form, standard_input):
        if isinstance(row, BadRow):
            continue
        if counted:
            whose = _user(row[0])
            seen[whose] += 1
            if seen[whose] > paid.max_contributions:
                continue
        for column, value in zip(columns, row[len(counted) :], strict=True):
            column.append(_number(value))
    table = [np.array(column, dtype=np.float64) for column in columns]
    return dict(zip(names, recipe.release(table, rng=rng), strict=True))


def _user(name: Any) -> str:
    try:
        return canonical_user(name)
    except ValueError:
        return NAMELESS


def _number(value: Any) -> float:
    """As far as a comparison with a cut goes; never an error, whatever a row holds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return _NO_NUMBER
    try:
        return float(value)
    except ValueError:
        return _NO_NUMBER
    except OverflowError:  # a whole number that no float holds
        return float("-inf" if isinstance(value, int) and value < 0 else "inf")
