"""Whoever promises privacy states it in six lines, and the proof that the last one names exists."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tests.reference

import littlestone.learners
import littlestone.learners.batch
import littlestone.learners.experts
import littlestone.learners.sanitizers
import littlestone.privacy.mechanisms

LINES = ("Releases:", "Neighbours:", "Adversary:", "Guarantee:", "Assumes:", "Proof:")
PACKAGES = (
    littlestone.learners.experts,
    littlestone.learners,
    littlestone.privacy.mechanisms,
    littlestone.learners.batch,
    littlestone.learners.sanitizers,
    tests.reference,
)
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
GUARANTEES = ROOT / "docs" / "GUARANTEES.md"


def promising_classes() -> Iterator[type]:
    """Every class of these folders that has a guarantee and draws, interfaces aside."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            module = importlib.import_module(found.name)
            for _, member in inspect.getmembers(module, inspect.isclass):
                if member.__module__ != module.__name__ or is_interface(member):
                    continue
                if callable(getattr(member, "guarantee", None)) and draws(member):
                    yield member


def is_interface(member: type) -> bool:
    return getattr(member, "_is_protocol", False) or inspect.isabstract(member)


def draws(member: type) -> bool:
    """Whether some public method is handed randomness; a plan is not."""
    return any(
        "rng" in inspect.signature(method).parameters
        for name, method in inspect.getmembers(member, callable)
        if not name.startswith("_")
    )


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


@cache
def private() -> list[type]:
    return [member for member in promising_classes() if not is_openly_not_private(member)]


def line_of(docstring: str, name: str) -> str:
    found = re.search(rf"^\s+{name}\s+(.*)", docstring, re.MULTILINE)
    return found.group(1) if found else ""


def missing_proofs(docstring: str, here: Path) -> list[str]:
    """The proofs that the line names and that lie nowhere; a line that names none is missing."""
    named = re.findall(r"[\w./-]+\.md", line_of(docstring, "Proof:"))
    return [
        name
        for name in named or ["a proof"]
        if not any((place / name).exists() for place in (here, SOURCE, ROOT))
    ]


def undefined_assumptions(docstring: str) -> list[str]:
    defined = GUARANTEES.read_text(encoding="utf-8")
    named = re.findall(r"\b[a-z]+-[a-z]+\b|\bunvetted\b|\btiming\b", line_of(docstring, "Assumes:"))
    return [name for name in named if f"*{name}*" not in defined]


def test_a_missing_line_is_noticed() -> None:
    whole = "Privacy:\n" + "\n".join(f"    {line} something" for line in LINES)
    assert missing_lines(whole) == []
    assert missing_lines(whole.replace("    Adversary: something\n", "")) == ["Adversary:"]
    assert missing_lines("no promise")[0] == "Privacy:"


def test_a_proof_or_an_assumption_from_nowhere_is_noticed() -> None:
    assert missing_proofs("    Proof:  there_is_none.md", SOURCE) == ["there_is_none.md"]
    assert missing_proofs("    Proof:  obvious", SOURCE) == ["a proof"]
    assert undefined_assumptions("    Assumes:  good-luck") == ["good-luck"]


def test_there_are_promises() -> None:
    assert len(private()) > 20


def test_every_promise_has_its_six_lines() -> None:
    missing = {member.__name__: missing_lines(member.__doc__ or "") for member in private()}
    assert not {name: lines for name, lines in missing.items() if lines}


def test_every_proof_that_is_named_exists() -> None:
    missing = {
        member.__name__: missing_proofs(member.__doc__ or "", Path(inspect.getfile(member)).parent)
        for member in private()
    }
    assert not {name: proofs for name, proofs in missing.items() if proofs}


def test_named_assumptions_are_defined_in_the_guarantees_document() -> None:
    undefined = {
        member.__name__: undefined_assumptions(member.__doc__ or "") for member in private()
    }
    assert not {name: words for name, words in undefined.items() if words}
