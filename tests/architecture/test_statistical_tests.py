"""Every test that is marked statistical gets its probabilities from tests/chance.py."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = "tests.chance"


def names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """What the module defines at its top, by name."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name: node for target in targets for name in names_in(target)}
    return found


def reached(node: ast.AST, known: dict[str, ast.AST]) -> set[str]:
    """The names that it uses, and those that what it uses from its own module uses."""
    seen, new = set[str](), names_in(node)
    while new:
        seen |= new
        new = {name for one in new & known.keys() for name in names_in(known[one])} - seen
    return seen


def is_statistical(test: ast.FunctionDef, known: dict[str, ast.AST]) -> bool:
    """By its own mark, by one of its cases', or by its module's."""
    places: list[ast.AST] = [*test.decorator_list]
    places += [known[name] for d in test.decorator_list for name in names_in(d) & known.keys()]
    places += [known["pytestmark"]] if "pytestmark" in known else []
    return any("mark.statistical" in ast.unparse(place) for place in places)


def without_a_probability(code: str) -> Iterator[str]:
    if "statistical" not in code:  # quicker than to parse it
        return
    tree = ast.parse(code)
    known = definitions(tree)
    given = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == SOURCE
        for alias in node.names
    }
    for test in known.values():
        if (
            isinstance(test, ast.FunctionDef)
            and test.name.startswith("test_")
            and is_statistical(test, known)
            and not any(reached(part, known) & given for part in test.body)
        ):
            yield test.name


def test_every_statistical_test_states_its_probability() -> None:
    found = {
        str(path.relative_to(TESTS)): names
        for path in TESTS.rglob("test_*.py")
        if (names := list(without_a_probability(path.read_text(encoding="utf-8"))))
    }
    assert not found, "mark exact tests that take long as slow; others use tests/chance.py"


MARKED = "@pytest.mark.statistical\ndef test_it(rng):\n    assert abs(mean(rng) - 0.5) < 0.1\n"
BY_CASE = (
    "CASES = [pytest.param(1, marks=pytest.mark.statistical)]\n"
    "@pytest.mark.parametrize('n', CASES)\ndef test_it(n):\n    assert mean(n) < 0.1\n"
)
STATED = "from tests.chance import hoeffding\n"


def test_a_test_without_a_probability_is_noticed() -> None:
    assert list(without_a_probability(MARKED)) == ["test_it"]
    assert list(without_a_probability(BY_CASE)) == ["test_it"]
    assert list(without_a_probability(STATED + MARKED)) == ["test_it"]  # it is not used
    whole = "pytestmark = pytest.mark.statistical\ndef test_it():\n    assert play() < 3\n"
    assert list(without_a_probability(whole)) == ["test_it"]


def test_a_probability_may_be_stated_in_a_constant() -> None:
    used = STATED + "SLACK = hoeffding(100)\n" + MARKED.replace("0.1", "SLACK")
    assert list(without_a_probability(used)) == []
    assert list(without_a_probability(STATED + MARKED.replace("0.1", "hoeffding(9)"))) == []
    assert list(without_a_probability(MARKED.replace("statistical", "slow"))) == []
