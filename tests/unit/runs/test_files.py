"""Secrets for their owner alone, made once; outputs that are complete and replace no device."""

import os
from pathlib import Path

import pytest

from littlestone.errors import StoreError
from littlestone.runs.files import (
    BESIDE,
    create_secret,
    files_beside,
    fingerprint,
    read_secret,
    refuse_overlap,
    write_whole,
)


def test_an_output_replaces_a_file_and_what_a_link_points_to(tmp_path: Path) -> None:
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("old")
    page.chmod(0o644)
    link.symlink_to(page)
    for path in (page, link):
        write_whole(path, str(path))
        assert page.read_text() == str(path) and page.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink() and len(list(tmp_path.iterdir())) == 2


def test_an_output_never_takes_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    """Whoever may write to /dev, as in a container, would lose /dev/null otherwise."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        refuse_overlap({"out": path}, {}, store=tmp_path / "run.db")
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_whole(path, "page")
            assert os.read(reader, 99) == b"page"
        finally:
            os.close(reader)
        assert pipe.is_fifo() and link.is_symlink() and len(list(tmp_path.iterdir())) == 2


def test_a_secret_is_made_once_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = create_secret(path)
    assert len(secret) == 32 and read_secret(path) == secret
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StoreError, match="exists"):
        create_secret(path)
    assert read_secret(path) == secret != create_secret(tmp_path / "another")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_secret_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    create_secret(path)
    path.chmod(mode)
    with pytest.raises(StoreError, match="chmod 600"):
        read_secret(path)


@pytest.mark.parametrize("text", ["", "00" * 31, "zz" * 32])
def test_another_file_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(StoreError, match="holds no secret") as refusal:
        read_secret(path)
    assert not text or text not in str(refusal.value)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    create_secret(tmp_path / "secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError):
        read_secret(tmp_path / "link")


def test_a_fingerprint_tells_secrets_apart_and_holds_none() -> None:
    one, two = os.urandom(32), os.urandom(32)
    assert fingerprint(one) == fingerprint(one) != fingerprint(two)
    assert fingerprint(one) not in one and one[:16] != fingerprint(one)


@pytest.mark.parametrize("place", range(len(BESIDE)))
def test_the_files_beside_a_store_are_neither_inputs_nor_outputs(
    tmp_path: Path, place: int
) -> None:
    store = tmp_path / "run.db"
    beside = files_beside(store)[place]
    with pytest.raises(ValueError, match="out must not overwrite the store's"):
        refuse_overlap({"out": beside}, {}, store=store)
    with pytest.raises(ValueError, match="the input must not be the store's"):
        refuse_overlap({"out": None}, {"the input": beside}, store=store)
    refuse_overlap({"out": tmp_path / "out"}, {"the input": tmp_path / "in"}, store=store)
