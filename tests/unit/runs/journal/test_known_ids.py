"""Ids are known as a dictionary would know them, whatever their hashes are."""

from collections.abc import Sequence

import pytest

from littlestone.errors import StoreError
from littlestone.randomness import Randomness
from littlestone.runs.journal import run_log
from littlestone.runs.journal.records import HASH_BYTES
from littlestone.runs.journal.run_log import KnownIds

KEY = bytes(32)


class Colliding(KnownIds):
    """With three hashes in all, the largest and the smallest among them."""

    def hashes(self, ids: Sequence[str]) -> bytes:
        values = (0, 77, 256**HASH_BYTES - 1)
        return b"".join(values[len(name) % 3].to_bytes(HASH_BYTES, "little") for name in ids)


@pytest.mark.parametrize("many", [1, 40, 1000])
@pytest.mark.parametrize("kind", [KnownIds, Colliding])
def test_as_a_dictionary_would(
    kind: type[KnownIds], many: int, rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log, "_MANY", many)
    known, reference, sealed = kind(KEY), dict[str, int](), list[bytes]()
    names = ["x" * (1 + place % 7) + str(place) for place in range(300)]
    while len(reference) < 200:
        group = [name for name in names if rng.below(100) < 5 and name not in reference]
        if not group:
            continue
        known.add(group, known.hashes(group))
        reference.update(zip(group, range(len(reference) + 1, 300), strict=False))
        if rng.below(3) == 0:
            sealed.append(known.seal())
    sealed.append(known.seal())
    opened = kind(KEY)
    opened.restore(sealed)
    for one in (known, opened):
        for name in names:
            rounds = list(one.places(name))
            assert reference.get(name) in [None, *rounds]
            assert (name in reference) <= (one.suspects([name]) == ([name], one.hashes([name])))
            if kind is KnownIds:  # 2**32 hashes: others are found in a run of a million or so
                assert len(rounds) == (name in reference)
        suspects, hashes = one.suspects(names)
        assert hashes == one.hashes(names)
        assert set(reference) <= set(suspects)
        assert kind is Colliding or set(reference) == set(suspects)


def test_hashes_are_under_the_key() -> None:
    assert KnownIds(KEY).hashes(["a", "b"]) != KnownIds(bytes([1] * 32)).hashes(["a", "b"])


def test_rounds_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log, "_ROUND", 3)
    KnownIds(KEY).restore([bytes(2 * HASH_BYTES)])
    with pytest.raises(StoreError, match="room for 3 events"):
        KnownIds(KEY).restore([bytes(3 * HASH_BYTES)])
