"""Whose event it is: names in one form, kept as keyed digests, and the promise that follows.

Looks of one name must not make two users of one person, while two people under one name lose
nothing but events: so names that look alike are one. The rule: a name is text in one Unicode form
(NFKC) and case, without what is not seen (marks of direction, joiners, soft hyphens) and with one
space for many; if it reads as a number, it is that number (1, 1.0, "01" and "1e0" are one user).
Rows without a name have one user together, the nameless. Letters of other alphabets that look the
same stay different.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import DIGEST_BYTES

NAMELESS: Final = ""
_NAMES: Final = (str, int, float, Decimal)  # a union would be made anew by each call
# All numbers in ASCII look like this, and few other names do.
_NUMERIC: Final = re.compile(r"_*[+-]?[0-9_]*\.?[0-9_]*(e_*[+-]?[0-9_]*)?")
_UNSEEN: Final = frozenset({"Cc", "Cf"})
# Letters and marks that show nothing: fillers, a joiner of graphemes, selectors of variants.
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


def canonical_user(name: Any) -> str:
    """The one form of a user's name, or a ValueError; it is its own form.

    >>> {canonical_user(name) for name in (1, 1.0, " 1", "01", "1e0")}
    {'1'}
    >>> canonical_user("Ann ") == canonical_user("ANN"), canonical_user(None) == NAMELESS
    (True, True)
    """
    if name is None:
        return NAMELESS
    if not isinstance(name, _NAMES):
        raise ValueError(f"user must be text or a number, got a {type(name).__name__}")
    text = str(name)
    if text.isascii() and text.isprintable():  # it has one form but for case, spaces and numbers
        text = " ".join(text.lower().split())
        return _number(text) or text if _NUMERIC.fullmatch(text) else text
    text.encode()  # half of a surrogate pair is nobody's name: a ValueError
    text = unicodedata.normalize("NFKC", text).casefold()
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if not text.isascii() or not text.isprintable():
        text = " ".join("".join(filter(_is_seen, text)).split())
        text = unicodedata.normalize("NFKC", text)  # neighbours may have become one letter
    return _number(text) or text


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter) not in _UNSEEN and letter not in _BLANK


def _number(text: str) -> str | None:
    """The same for all ways to write a number."""
    if text.isascii() and text.strip("0123456789+-._e"):
        return None
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except (InvalidOperation, ValueError):
        return None
    if not isinstance(exponent, int):  # no finite number
        return None
    written = "".join(map(str, digits)).lstrip("0")
    whole = written.rstrip("0")
    if not whole:
        return "0"
    exponent += len(written) - len(whole)
    return f"{'-' * sign}{whole}" + (f"e{exponent}" if exponent else "")


def digests_under(key: bytes) -> Callable[[str], bytes]:
    """What a store keeps in place of a canonical name: without its key nobody can test a guess."""
    own = hashlib.blake2b(b"users of events", key=key, digest_size=32).digest()
    begun = hashlib.blake2b(key=own, digest_size=DIGEST_BYTES)

    def digest(name: str) -> bytes:
        hashed = begun.copy()
        hashed.update(name.encode())
        return hashed.digest()

    return digest


def promise_of(recipe: PrivateLearner, users: str | None) -> str:
    """The guarantee in words, and to whom it is given: the same wherever it is said.

    ``users`` is the column of the users whose events are counted; without it the number of a
    user's events is vouched for by whoever set it.
    """
    most = recipe.max_contributions
    if users is not None:
        return f"{recipe.guarantee()} to each {users!r}, of whose events at most {most} are read"
    return recipe.promise if most == 1 else f"{recipe.promise} (vouched for, not enforced)"
