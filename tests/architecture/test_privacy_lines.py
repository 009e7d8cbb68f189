"""Whoever promises privacy states it in six lines, and the proof that the last one names exists."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import littlestone.experts
import littlestone.learners
import littlestone.mechanisms
import littlestone.proper
import littlestone.sanitizers

LINES = ("Releases:", "Neighbours:", "Adversary:", "Guarantee:", "Assumes:", "Proof:")
PACKAGES = (
    littlestone.experts,
    littlestone.learners,
    littlestone.mechanisms,
    littlestone.proper,
    littlestone.sanitizers,
)
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
GUARANTEES = ROOT / "docs" / "GUARANTEES.md"


def promising_classes() -> Iterator[type]:
    """Every class of these folders that has a guarantee and draws, protocols aside."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            module = importlib.import_module(found.name)
            for _, member in inspect.getmembers(module, inspect.isclass):
                if member.__module__ != module.__name__ or getattr(member, "_is_protocol", False):
                    continue
                if callable(getattr(member, "guarantee", None)) and draws(member):
                    yield member


def draws(member: type) -> bool:
    """Whether some public method is handed randomness; a plan is not."""
    return any(
        "rng" in inspect.signature(method).parameters
        for name, method in inspect.getmembers(member, callable)
        if not name.startswith("_")
    )


CLASSES = sorted(promising_classes(), key=lambda c: (c.__module__, c.__name__))


def missing_lines(docstring: str) -> list[str]:
    """The privacy lines that are not there, in their order, below a line ``Privacy…:``."""
    position = docstring.find("Privacy")
    if position < 0:
        return ["Privacy:", *LINES]
    missing = []
    for line in LINES:
        found = re.compile(rf"^\s+{line}\s+\S", re.MULTILINE).search(docstring, position)
        if found is None:
            missing.append(line)
        else:
            position = found.start()
    return missing


def is_openly_not_private(member: type) -> bool:
    promise = inspect.getsource(member.guarantee)  # type: ignore[attr-defined]
    return "NOT_PRIVATE" in promise and "Privacy:" in (member.__doc__ or "")


def test_a_missing_line_is_noticed() -> None:
    whole = "Privacy:\n" + "\n".join(f"    {line} something" for line in LINES)
    assert missing_lines(whole) == []
    assert missing_lines(whole.replace("    Adversary: something\n", "")) == ["Adversary:"]
    assert missing_lines("no promise")[0] == "Privacy:"


def test_there_are_promises() -> None:
    assert CLASSES


@pytest.mark.parametrize("member", CLASSES, ids=lambda c: c.__name__)
def test_every_promise_has_its_six_lines(member: type) -> None:
    if not is_openly_not_private(member):
        assert missing_lines(member.__doc__ or "") == []


@pytest.mark.parametrize("member", CLASSES, ids=lambda c: c.__name__)
def test_the_proof_that_is_named_exists(member: type) -> None:
    if is_openly_not_private(member):
        return
    line = re.search(r"^\s+Proof:\s+(.*)", member.__doc__ or "", re.MULTILINE)
    assert line is not None
    here = Path(inspect.getfile(member)).parent
    named = re.findall(r"[\w./-]+\.md", line.group(1))
    assert named, "the line names a file"
    assert all(any((place / name).exists() for place in (here, SOURCE, ROOT)) for name in named)


@pytest.mark.parametrize("member", CLASSES, ids=lambda c: c.__name__)
def test_named_assumptions_are_defined_in_the_guarantees_document(member: type) -> None:
    if is_openly_not_private(member):
        return
    line = re.search(r"^\s+Assumes:\s+(.*)", member.__doc__ or "", re.MULTILINE)
    assert line is not None
    defined = GUARANTEES.read_text(encoding="utf-8")
    for name in re.findall(r"\b[a-z]+-[a-z]+\b|\bunvetted\b|\btiming\b", line.group(1)):
        assert f"*{name}*" in defined
