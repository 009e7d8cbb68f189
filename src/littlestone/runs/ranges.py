"""Propose the ranges of a schema from data with privacy, and count what they cost.

A schema whose grids come from rows records it in tables ``[[private-ranges]]``: what was spent, on
whose rows. ``learn --schema`` adds that to its promise, because rules and grids are about the same
people, unless the owner confirms that the rows are others.
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
from littlestone.learners.sanitizers.private_cuts import PrivateCuts
from littlestone.privacy.composition import basic_composition, user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.runs.book import Book
from littlestone.runs.intake.form import BadRow, Form
from littlestone.runs.intake.sources import rows
from littlestone.runs.intake.users import NAMELESS, canonical_user, promise_of

_NO_NUMBER: Final = float("nan")
_RESTORE: Final = "Restore it, or delete it if you add up its cost yourself"


class PaidRanges(NamedTuple):
    """What was spent on the ranges of a schema, for each row or each ``user``.

    The source is a name for people, not a digest, which would confirm a guess of the file.
    """

    identity: str
    epsilon: float
    source: str
    user: str | None = None
    max_contributions: int = 1

    @classmethod
    def fresh(cls, epsilon: float, source: str, user: str | None, most: int) -> Self:
        """Describe ranges that are about to be paid for."""
        require.positive(epsilon=epsilon)
        require.integer(max_contributions=most, at_least=1)
        if user is None and most != 1:
            raise ValueError("max-contributions needs --user, the column whose rows are counted")
        return cls(secrets.token_hex(16), float(epsilon), Path(source).name, user, most)

    @classmethod
    def from_table(cls, declared: Any) -> Self:
        """Parse the table of a schema; reject an incomplete one."""
        try:
            paid = cls(**declared)
            texts = all(isinstance(text, str) for text in (paid.identity, paid.source))
            if not texts or not isinstance(paid.user, str | None):
                raise ValueError(repr(declared))
            require.positive(epsilon=paid.epsilon)
            require.integer(max_contributions=paid.max_contributions, at_least=1)
        except (TypeError, ValueError) as problem:
            raise ValueError(
                f"{PAID} in the schema is not as it was written: {problem}. {_RESTORE}"
            ) from None
        return paid

    def table(self) -> dict[str, str | float | int]:
        """Return the table that ``from_table`` parses."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def cost(self, users: str | None, most: int) -> PrivacyGuarantee:
        """Return the cost for each unit that a run protects: a user, or ``most`` events.

        If neither the ranges nor the run count users, the caller vouches for the number of rows.
        """
        if users is not None and users != self.user:
            whose = "without users" if self.user is None else f"by {self.user!r}"
            raise ValueError(
                f"the ranges of this schema count rows {whose}, but the events are counted by "
                f"{users!r}: one user may have any number of rows in the ranges. Make the "
                f"schema with --user {users!r}, or give --other-data if it came from other rows"
            )
        rows_of_one = most if users is None else self.max_contributions
        return user_level(PrivacyGuarantee(epsilon=self.epsilon), max_contributions=rows_of_one)

    def enter(self, book: Book, source: str, *, users: str | None, most: int) -> None:
        """Enter the cost in a budget book, once for all runs; another cost is another entry."""
        cost, own = self.cost(users, most), PrivacyGuarantee(epsilon=self.epsilon)
        name = self.identity if cost == own else f"{self.identity} at {cost.epsilon!r}"
        book.register(name, source, cost, f"{cost} for the ranges of a schema")


def paid_in(tables: Mapping[str, Any] | None) -> tuple[PaidRanges, ...]:
    """Return what was spent on the ranges of a schema, if anything was."""
    declared = (tables or {}).get(PAID, [])
    return tuple(map(PaidRanges.from_table, declared)) if isinstance(declared, list) else ()


def fields_in(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declared fields without the record of what was spent on them."""
    is_field = {name: name != PAID or not isinstance(table, list) for name, table in tables.items()}
    return {name: table for name, table in tables.items() if is_field[name]}


def total_cost(paid: Sequence[PaidRanges], users: str | None, most: int) -> PrivacyGuarantee:
    """Return the cost of all ranges together."""
    return basic_composition([each.cost(users, most) for each in paid])


def promise_with(recipe: PrivateLearner, users: str | None, paid: Sequence[PaidRanges] = ()) -> str:
    """Return the promise of a run in words, including what was spent on its schema."""
    promise = promise_of(recipe, users)
    if not paid:
        return promise
    own, before = recipe.guarantee(), total_cost(paid, users, recipe.max_contributions)
    whom = promise.removeprefix(str(own))
    parts = f"{own} for the rules, {before} for the ranges of the schema"
    return f"{basic_composition([own, before])}{whom} ({parts})"


def as_text(paid: Sequence[PaidRanges]) -> str:
    """Return the text that a store keeps."""
    return json.dumps([each.table() for each in paid])


def from_text(text: str) -> tuple[PaidRanges, ...]:
    """Parse the text that a store keeps."""
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
    """Propose a grid for each of the named columns, for what was ``paid``.

    In each column a row has the number that ``learn`` would read there, or none. That depends on
    the row alone and on how many rows of its user came before, so files that differ in one row are
    tables that differ in one row (docs/GUARANTEES.md, R). The cuts of ``whole`` columns are whole
    numbers.
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
    """Convert a value for comparison with cuts; never raise, whatever a row holds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return _NO_NUMBER
    try:
        return float(value)
    except ValueError:
        return _NO_NUMBER
    except OverflowError:  # an integer that no float can hold
        return float("-inf" if isinstance(value, int) and value < 0 else "inf")
