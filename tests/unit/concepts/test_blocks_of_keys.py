"""One key never decides how the other keys of its block are read."""

from itertools import permutations
from typing import Any

import pytest

from littlestone.concepts.domain import AnyHashable, block_of

MIXED: tuple[Any, ...] = (7, "8", 1.5, ("a", None), (1, 2))


def test_a_block_of_keys_is_its_keys() -> None:
    for keys in permutations(MIXED, 3):
        assert list(block_of(AnyHashable(), keys)) == list(keys)


@pytest.mark.parametrize("key", ["\ud800", ("user", "\udfff"), frozenset(["\ud800"])])
def test_text_that_cannot_be_written_is_no_key(key: Any) -> None:
    domain = AnyHashable()
    with pytest.raises(ValueError, match="must be made of"):
        domain.check(key)
    for keys in ([key], [key, key], [key, "a"], ["a", key]):
        with pytest.raises(ValueError, match="must be made of"):
            domain.check_many(keys)
    with pytest.raises(ValueError, match="must be made of"):  # two halves are no whole
        domain.check_many(["\ud83d", "\ude00"])
    assert domain.check("é") == "é" and list(domain.check_many(["é", "a"])) == ["é", "a"]
