"""A test that cannot fail is a defect: every one asserts, expects an error, or calls what does."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
# Checks of other modules, taken at their word; a page of the documentation is followed, and what
# does not come to pass is waited for in vain.
CHECKS = ("check", "raises", "test_", "follow", "until")


def fails(function: ast.FunctionDef) -> bool:
    """Whether something in it fails by itself, or calls a check of another module."""
    return any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(function)) or any(
        name.startswith(CHECKS) for name in called_in(function)
    )


def called_in(function: ast.FunctionDef) -> set[str]:
    """The names of what it calls, without what stands before the last dot."""
    called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {node.id for node in called if isinstance(node, ast.Name)} | {
        node.attr for node in called if isinstance(node, ast.Attribute)
    }


def judges_some_cases_only(test: ast.FunctionDef) -> bool:
    """Whether the whole body is one ``if`` without ``else``: the other cases assert nothing."""
    first, *others = test.body[1:] if ast.get_docstring(test) else test.body
    return not others and isinstance(first, ast.If) and not first.orelse


def defects(code: str) -> list[str]:
    functions = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    judging = [function for function in functions if fails(function)]
    known = {function.name for function in judging}
    return [
        test.name
        for test in functions
        if test.name.startswith("test_")
        and ((test not in judging and not called_in(test) & known) or judges_some_cases_only(test))
    ]


def test_every_test_can_fail() -> None:
    found = {
        path.name: names
        for path in TESTS.rglob("test_*.py")
        if (names := defects(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_tests_that_cannot_fail_are_noticed() -> None:
    assert defects("def test_it():\n    play()") == ["test_it"]
    assert defects("def test_it():\n    if adaptive:\n        assert play()") == ["test_it"]
    assert defects("def test_it():\n    assert play()") == []
    assert defects("def test_it():\n    with pytest.raises(ValueError):\n        play()") == []
    assert defects("def agree(one): assert one\ndef test_it():\n    agree(play())") == []
