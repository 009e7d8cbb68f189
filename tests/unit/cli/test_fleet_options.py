"""The secret of a fleet: where it may lie."""

from pathlib import Path

import pytest

from littlestone.cli.fleet_options import new_secret
from littlestone.errors import StoreError


@pytest.mark.parametrize("ending", [".mark", "-wal", "-shm", "-journal"])
def test_no_secret_has_the_name_of_a_file_beside_a_store(ending: str, tmp_path: Path) -> None:
    """It would be deleted when the store of that name is opened."""
    with (
        pytest.raises(StoreError, match="lies beside a store"),
        new_secret(tmp_path / f"run.db{ending}"),
    ):
        raise AssertionError("a secret was made")
    assert not list(tmp_path.iterdir())
