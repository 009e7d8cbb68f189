"""Events of a list are told apart as a plain reader would tell them, and quickly."""

import json
import time
from typing import Any

import numpy as np
import pytest
from starlette.exceptions import HTTPException

from littlestone.http import wire
from littlestone.http.routes import sent_in

LETTERS = 'a"\\,[]{}:é\n'


def plain_elements(body: bytes) -> list[bytes]:
    """Letter by letter: a comma outside of texts and brackets ends an element."""
    found, depth, quoted, escaped = [b""], 0, False, False
    for letter in body.partition(b"[")[2]:
        one = bytes([letter])
        if not quoted and depth == 0 and one in b"],":
            if one == b"]":
                return found
            found.append(b"")
            continue
        found[-1] += one
        if escaped:
            escaped = False
        elif one == b"\\":
            escaped = True
        elif one == b'"':
            quoted = not quoted
        elif not quoted:
            depth += (one in b"[{") - (one in b"]}")
    raise AssertionError("the list has no end")


def drawn(generator: np.random.Generator, depth: int = 0) -> Any:
    kind = generator.integers(6 if depth < 4 else 3)
    if kind == 0:
        return "".join(generator.choice(list(LETTERS), generator.integers(6)))
    if kind in (1, 2):
        return None if kind == 1 else generator.random()
    inside = [drawn(generator, depth + 1) for _ in range(generator.integers(1, 4))]
    return inside if kind == 3 else {f'{place}"{{': one for place, one in enumerate(inside)}


def test_elements_are_those_of_a_plain_reader() -> None:
    generator = np.random.default_rng(7)
    for _ in range(1000):
        values = [drawn(generator) for _ in range(generator.integers(1, 5))]
        written = json.dumps({"events": values}, ensure_ascii=bool(generator.integers(2)))
        body = written.replace("null", "nil").encode()  # which no parser takes
        assert wire._elements(body) == plain_elements(body)


@pytest.mark.parametrize("body", [b'{"events": [1', b'{"events": [1]', b'{"events": ["]}', b"[1]"])
def test_a_list_that_cannot_be_told_has_no_elements(body: bytes) -> None:
    assert wire._elements(body) is None


def test_the_largest_body_takes_little_time() -> None:
    """Millions of lists in one event, beside another that no parser takes."""
    body = b'{"events": [1, {"y": 1, "x": [' + b"[]," * 1_390_000 + b"[]]}]}"
    began = time.process_time()
    assert wire._elements(body) is not None
    assert time.process_time() - began < 1  # mark by mark it took two seconds


GOOD, BAD = b'{"x": 1, "y": 1}', b'{"x": 1}'


def accepted(body: bytes) -> list[bool] | None:
    """Which events of a list are accepted; None if the body is refused as a whole."""
    try:
        return [not isinstance(one, str) for one in sent_in(body)[0]]
    except HTTPException:
        return None


@pytest.mark.parametrize(
    ("form", "whole"),
    [
        (b'{"events": [%b, %b]}', True),
        (b' {"events" :[ %b\n, %b ] } ', True),
        (b'{"events": [{"x": "events", "y": 1}, %b, %b]}', True),
        (b'{"events": [{"x": {"\\u0065vents": []}, "y": 1}, %b, %b]}', True),
        (b'{"id": null, "events": [%b, %b]}', False),
        (b'{"events": [%b, %b], "user": null}', False),
        (b'{"events": [%b], "events": [%b]}', False),
        (b'{"events": [%b], "\\u0065ve\\u006Ets": [%b]}', False),
        (b'{"\\u0065vents": [%b, %b]}', False),
    ],
)
def test_no_event_decides_whether_a_list_is_read(form: bytes, whole: bool) -> None:
    for first in (GOOD, BAD):
        for second in (GOOD, BAD):
            found = accepted(form % (first, second))
            expected = [True] * (form.count(b'"x"')) + [first == GOOD, second == GOOD]
            assert found == (expected if whole else None)
