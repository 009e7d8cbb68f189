"""Nothing private is drawn from a floating-point generator, and nobody keeps a global one."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "littlestone"
FOLDERS = ("privacy", "learners", "runs")
# Those who choose the losses protect nobody.
ADVERSARIES = {SOURCE / "learners" / "experts" / "play_experts.py"}
PRIVATE = sorted(
    {path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")} - ADVERSARIES
)
assert all((SOURCE / folder).is_dir() for folder in FOLDERS)
EVERYTHING = sorted(SOURCE.rglob("*.py"))
# Uniform words, and the annotations of what adversaries and simulations are handed.
HARMLESS = {"SeedSequence", "PCG64DXSM", "Generator"}


def calls_of_generator(code: str) -> list[int]:
    """Lines that ask a Randomness for a numpy generator."""
    if not re.search(r"\.\s*generator\b", code):  # quicker than to parse it
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "generator"
    ]


def numpy_random_names(code: str) -> set[str]:
    """What follows ``np.random.`` anywhere in the code."""
    if not re.search(r"\.\s*random\s*\.", code):
        return set()
    return {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "random"
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id in ("np", "numpy")
    }


def test_the_checks_notice_what_they_look_for() -> None:
    assert calls_of_generator("noise = rng.generator().laplace()") == [1]
    assert calls_of_generator('"""rng.generator()"""\ngenerator = rng.word()') == []
    assert numpy_random_names("np.random.default_rng(3).normal()") == {"default_rng"}


def offenders(paths: list[Path], look: Callable[[str], Any]) -> dict[str, Any]:
    """What was found where, in the files in which something was found."""
    assert paths
    return {
        str(path.relative_to(SOURCE)): found
        for path in paths
        if (found := look(path.read_text(encoding="utf-8")))
    }


def test_private_code_never_asks_for_a_numpy_generator() -> None:
    assert not offenders(PRIVATE, calls_of_generator)


def test_private_code_never_touches_numpy_random() -> None:
    assert not offenders(PRIVATE, numpy_random_names)


def test_nobody_creates_a_generator_of_their_own() -> None:
    assert not offenders(EVERYTHING, lambda code: numpy_random_names(code) - HARMLESS)
