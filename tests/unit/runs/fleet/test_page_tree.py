"""Pages under one root: the map of a dictionary, and no entry that the root does not cover."""

import os
import random  # noqa: TID251 (which pages are rolled back is no noise)

import pytest

from littlestone.runs.fleet.commits import DIGEST_BYTES, EMPTY_ROOT, PageTree

KEY = bytes(range(32))


class Stored:
    """Pages as a database keeps them."""

    def __init__(self, largest: int = 3900) -> None:
        self.root, self.pages, self.largest = EMPTY_ROOT, dict[str, bytes](), largest

    def tree(self, root: bytes | None = None) -> PageTree:
        return PageTree(
            self.root if root is None else root,
            lambda paths: {path: self.pages[path] for path in paths if path in self.pages},
            key=KEY,
            largest=self.largest,
        )

    def change(self, entries: dict[bytes, bytes]) -> None:
        tree = self.tree()
        tree.load(entries)
        self.root, pages = tree.sealed(entries)
        self.pages |= pages


@pytest.fixture
def chance() -> random.Random:
    seed = int.from_bytes(os.urandom(4))
    print("seed", seed)
    return random.Random(seed)


@pytest.mark.parametrize("values", [1, 3])
def test_it_is_the_map_that_it_was_told(chance: random.Random, values: int) -> None:
    stored, known = Stored(300), dict[bytes, bytes]()
    for _ in range(40):
        new = [chance.randbytes(DIGEST_BYTES) for _ in range(chance.randrange(60))]
        old = chance.sample(sorted(known), min(len(known), 20))
        entries = {d: chance.randbytes(4) for d in new + old}
        if values > 1:
            entries |= {d: chance.randbytes(4 * chance.randint(1, values)) for d in new}
        stored.change(entries)
        known |= entries
    everybody = [*known, *(chance.randbytes(DIGEST_BYTES) for _ in range(100))]
    found = stored.tree().load(everybody)
    assert found == {digest: known.get(digest, b"") for digest in everybody}
    assert any(len(path) > 1 for path in stored.pages) and len(known) > 500


def test_digests_that_begin_alike_share_a_long_path() -> None:
    stored, start = Stored(), bytes(DIGEST_BYTES - 2)
    entries = {start + number.to_bytes(2): b"four" for number in range(400)}
    stored.change(entries)
    assert stored.tree().load(entries) == entries
    assert max(map(len, stored.pages)) > 2 * (DIGEST_BYTES - 2)


def test_many_values_of_one_digest_stay_in_one_leaf() -> None:
    stored, one, other = Stored(100), bytes(16), bytes([1] * 16)
    stored.change({one: bytes(200), other: bytes(200)})
    assert stored.tree().load([one, other]) == {one: bytes(200), other: bytes(200)}


def test_whatever_is_done_to_pages_no_wrong_entry_is_given(
    chance: random.Random,
) -> None:
    """Put back, deleted, exchanged, added, damaged: the truth about an entry, or nothing."""
    stored, known = Stored(200), dict[bytes, bytes]()
    history = list[dict[str, bytes]]()
    digests = [chance.randbytes(DIGEST_BYTES) for _ in range(300)]
    for _ in range(6):
        entries = {digest: chance.randbytes(4) for digest in chance.sample(digests, 150)}
        stored.change(entries)
        known |= entries
        history.append(dict(stored.pages))
    whole, untold, told = dict(stored.pages), 0, 0
    for _ in range(300):
        stored.pages = dict(whole)
        for path in chance.sample(sorted(whole), chance.randint(1, 3)):
            attack = chance.randrange(4)
            if attack == 0:
                stored.pages[path] = chance.choice(history).get(path, b"\0")
            elif attack == 1:
                del stored.pages[path]
            elif attack == 2:
                stored.pages[path] = whole[chance.choice(sorted(whole))]
            else:
                page = bytearray(whole[path])
                page[chance.randrange(len(page))] ^= 1 << chance.randrange(8)
                stored.pages[path] = bytes(page)
        for digest, found in stored.tree().load(digests).items():
            untold, told = untold + (found is None), told + (found is not None)
            assert found in (None, known.get(digest, b""))
    assert untold > 1000 < told


def test_an_old_root_covers_no_new_page() -> None:
    stored, mine = Stored(), bytes(16)
    stored.change({mine: b"1111"})
    before = stored.root
    stored.change({mine: b"2222"})
    assert stored.root != before
    assert stored.tree(before).load([mine]) == {mine: None}
    assert stored.tree(EMPTY_ROOT).load([mine]) == {mine: None}  # nor does that of an empty map


def test_one_commit_of_more_entries_than_a_page_can_count(chance: random.Random) -> None:
    stored = Stored()
    entries = {chance.randbytes(DIGEST_BYTES): b"four" for _ in range(70_000)}
    stored.change(entries)
    assert max(map(len, stored.pages.values())) < 4000
    some = chance.sample(sorted(entries), 100)
    assert stored.tree().load(some) == dict.fromkeys(some, b"four")


def test_nothing_changed_is_nothing_to_store() -> None:
    stored = Stored()
    stored.change({bytes(16): b"1111"})
    assert stored.tree().sealed({}) == (stored.root, {})
