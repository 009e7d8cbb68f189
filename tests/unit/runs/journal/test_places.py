"""The address of a store: where its parts end, and what an error may quote of it."""

from pathlib import Path

import pytest

from littlestone.errors import StoreError
from littlestone.runs.journal.places import home_of, place_of, shown
from littlestone.runs.journal.protocol import Entry

HERE = Path.cwd()


@pytest.mark.parametrize(
    ("address", "dsn", "secret"),
    [
        ("postgresql://ann@host/name#shop.secret", "postgresql://ann@host/name", "shop.secret"),
        ("postgresql://ann@host/name", "postgresql://ann@host/name", "littlestone.secret"),
        ("postgresql://host:1#a", "postgresql://host:1", "a"),
        ("postgresql://host/name#me@home", "postgresql://host/name", "me@home"),
        ("postgresql://ann:p#w@host/name#a", "postgresql://ann:p#w@host/name", "a"),
    ],
)
def test_an_address_ends_at_its_last_mark(address: str, dsn: str, secret: str) -> None:
    place = place_of(address)
    assert (vars(place)["dsn"], place.file) == (dsn, HERE / secret)
    assert "p#w" not in str(place)


@pytest.mark.parametrize("read", [place_of, home_of, shown])
def test_half_of_a_password_is_never_taken_for_a_file(read: object) -> None:
    assert callable(read)
    with pytest.raises(ValueError, match="%23") as caught:
        read("postgresql://ann:half#other@host/name")
    assert "half" not in str(caught.value) and "other" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing/secret", "file/secret", "a" * 300])
def test_a_secret_that_cannot_be_written_is_an_error_of_the_store(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    place = place_of(f"postgresql://localhost:1/name#{tmp_path / name}")
    with pytest.raises(StoreError):
        place.create({"identity": "one"}, b"k" * 32, Entry("release", 0, b""))
    with pytest.raises(StoreError):
        place.open()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("ending", [".mark", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("address", ["{}", "postgresql://localhost:1/name#{}"])
def test_no_store_has_the_name_of_a_file_beside_a_store(
    address: str, ending: str, tmp_path: Path
) -> None:
    """The secret of a run would be deleted when the store of that name is opened."""
    place = place_of(address.format(tmp_path / f"run.db{ending}"))
    with pytest.raises(StoreError, match="lies beside a store"):
        place.create({"identity": "one"}, b"k" * 32, Entry("release", 0, b""))
    assert not list(tmp_path.iterdir())
