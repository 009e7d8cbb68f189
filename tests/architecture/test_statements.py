"""docs/STATEMENTS.md has every statement of the paper, and what it says about each is true."""

import importlib
import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import littlestone.claims
from littlestone.claims.registry import CLAIMS as REGISTERED

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "STATEMENTS.md"
NOTHING = "–"
# The mark, or a probability of failing by chance that is written out.
STATES_ITS_CHANCE = re.compile(r"statistical|1e-(?:9|1\d)\b")
SOURCES = {"definition", "proved here", "cited"}
TESTS = {"tested exactly", "tested statistically", "tested lightly"}
CLAIMS = {"claim confirmed", "claim not refuted", "no claim"}
# Claims about what this library adds to the paper; no statement of the paper waits for them.
BEYOND_THE_PAPER = {"littlestone.claims.sanitizers_compared"}

# The numbered statements in the order of the paper, and after each section the unnumbered ones
# that the code depends on.
NUMBERS = {
    "thm:realizable": "Theorem 1.1",
    "thm:agnostic": "Theorem 1.2",
    "def:shattered-tree": "Definition 2.1",
    "def:littlestone-dimension": "Definition 2.2",
    "def:privacy": "Definition 2.3",
    "def:adaptive-privacy": "Definition 2.4",
    "thm:abovethreshold": "Theorem 2.5",
    "thm:histogram": "Theorem 2.6",
    "def:sanitizer": "Definition 2.7",
    "lem:convert_label": "Lemma 2.8",
    "alg:upd": "Algorithm 1",
    "alg:realizable": "Algorithm 2",
    "thm:realizable2": "Theorem 3.1",
    "alg:simple": "Algorithm 3",
    "thm:simple": "Theorem 4.1",
    "thm:sanitizer": "Theorem 4.2",
    "cor:proper": "Corollary 4.3",
    "thm:agnostic2": "Theorem 4.4",
    "def:pac": "Definition A.1",
    "def:agnostic": "Definition A.2",
    "def:growth": "Definition A.3",
    "def:vc": "Definition A.4",
    "lem:sauer": "Lemma A.5",
    "lem:xgelogx": "Lemma A.6",
    "lem:realizable_generalization": "Lemma A.7",
    "lem:agnostic_generalization": "Lemma A.8",
    "def:empirical": "Definition A.9",
    "lem:pac_empirical": "Lemma A.10",
    "lem:hoeffding": "Lemma A.11",
    "lem:mcdiarmid": "Lemma A.12",
    "lem:chernoff": "Lemma A.13",
    "lem:coupon": "Lemma A.14",
    "def:zero-cover": "Definition A.15",
    "lem:cover": "Lemma A.16",
    "fact:cover": "Fact A.17",
    "lem:bool": "Lemma A.18",
    "lem:bool_dual": "Lemma A.19",
    "def:laplace": "Definition A.20",
    "def:sensitivity": "Definition A.21",
    "lem:laplace": "Lemma A.22",
    "lem:exp": "Lemma A.23",
    "lem:update": "Lemma B.1",
    "lem:realizable_privacy": "Lemma B.2",
    "lem:realizable_utility": "Lemma B.3",
    "lem:relative": "Lemma D.1",
    "thm:proper_PAC": "Theorem D.2",
    "lem:pac_to_agnostic": "Lemma D.3",
    "cor:proper_agnostic": "Corollary D.4",
    "alg:empirical_agnostic": "Algorithm 4",
    "cla:empirical_privacy": "Claim D.5",
    "cla:empirical_utility": "Claim D.6",
    "lem:dis_strengthened": "Lemma D.7",
    "lem:gen": "Lemma D.8",
    "def:realizable-sanitizer": "Definition E.1",
    "lem:dis": "Lemma E.2",
    "cla:lit_x": "Claim E.3",
    "lem:exist": "Lemma E.4",
    "thm:realizable_sanitizer": "Theorem E.5",
    "fact:binary": "Fact E.6",
    "cla:dim_h": "Claim E.7",
    "lem:sanitizer_interval": "Lemma E.8",
    "alg:binary": "Algorithm 5",
    "alg:expert": "Algorithm 6",
    "lem:online_majority": "Lemma E.9",
    "alg:experts": "Algorithm 7",
    "thm:experts": "Theorem E.10",
    "thm:jain2014near": "Theorem E.11",
    "thm:asi2024private": "Theorem E.12",
    "cor:agnostic": "Corollary E.13",
}
UNNUMBERED = {
    "def:game",
    "def:dual-class",
    "def:experts",
    "thm:littlestone",
    "thm:randomized-littlestone",
    "thm:golowich-livni",
    "rem:synthetic",
    "rem:base-learner",
    "rem:doubling",
    "rem:agnostic-empirical",
}


@dataclass(frozen=True)
class Row:
    label: str
    number: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    claims: tuple[str, ...]
    status: str


def names(cell: str) -> tuple[str, ...]:
    """The backquoted names of a cell; everything in it must be one."""
    if cell == NOTHING:
        return ()
    found = tuple(re.findall(r"`([^`]+)`", cell))
    assert ", ".join(f"`{name}`" for name in found) == cell, cell
    return found


def read(text: str) -> list[Row]:
    rows = []
    for line in text.splitlines():
        if line.startswith("| `"):
            label, number, _, code, tests, claims, status = (
                cell.strip() for cell in line.strip().strip("|").split("|")
            )
            rows.append(
                Row(label.strip("`"), number, names(code), names(tests), names(claims), status)
            )
    return rows


ROWS = read(TABLE.read_text(encoding="utf-8"))
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)


def test_every_statement_of_the_paper_has_one_row() -> None:
    labels = [row.label for row in ROWS]
    assert sorted(labels) == sorted({*NUMBERS, *UNNUMBERED})


@each_row
def test_numbers_are_those_of_the_printed_paper(row: Row) -> None:
    if row.label in NUMBERS:
        assert row.number == NUMBERS[row.label]
    else:
        assert not re.fullmatch(r"(Theorem|Lemma|Definition|Claim|Fact|Algorithm) .*", row.number)


@each_row
def test_a_row_is_open_exactly_when_it_names_no_code(row: Row) -> None:
    if row.status == "open":
        assert row.code == row.tests == row.claims == ()
    else:
        assert row.code and row.tests


@each_row
def test_a_status_is_made_of_its_three_parts(row: Row) -> None:
    if row.status == "open":
        return
    source, tested, claim = row.status.split(" · ")
    assert source in SOURCES and tested in TESTS and claim in CLAIMS
    assert claim == claim_status(row.claims)


def claim_status(modules: tuple[str, ...]) -> str:
    """As good as the weakest of the named claims can get."""
    if not modules:
        return "no claim"
    sources = [inspect.getsource(importlib.import_module(module)) for module in modules]
    confirmed = all("Verdict.CONFIRMED" in source for source in sources)
    return "claim confirmed" if confirmed else "claim not refuted"


def test_every_claim_is_named_by_the_statements_it_is_about() -> None:
    named = {module for row in ROWS for module in row.claims}
    assert named | BEYOND_THE_PAPER == {claim.measure.__module__ for claim in REGISTERED.values()}


def test_every_module_with_a_claim_is_registered() -> None:
    folder = Path(littlestone.claims.__file__).parent
    modules = {
        f"littlestone.claims.{path.stem}"
        for path in folder.glob("*.py")
        if re.search(r"^CLAIM = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert modules == {claim.measure.__module__ for claim in REGISTERED.values()}


def test_recorded_verdicts_are_those_that_the_table_relies_on() -> None:
    recorded = json.loads((ROOT / "docs" / "claims.json").read_text(encoding="utf-8"))
    assert recorded
    for finding in recorded:
        module = REGISTERED[finding["claim"]].measure.__module__
        assert f"claim {finding['verdict']}" == claim_status((module,)), finding["claim"]


@each_row
def test_named_code_can_be_imported(row: Row) -> None:
    for name in row.code:
        module, _, attribute = name.partition(":")
        assert hasattr(importlib.import_module(module), attribute), name
    for name in row.claims:
        importlib.import_module(name)


@each_row
def test_named_tests_exist(row: Row) -> None:
    for name in row.tests:
        file, _, function = name.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        wanted = rf"^def {function}\(" if function else "^def test_"
        assert re.search(wanted, text, re.MULTILINE), name


@each_row
def test_a_statistical_row_names_a_statistical_test(row: Row) -> None:
    if "tested statistically" in row.status:
        files = [name.partition("::")[0] for name in row.tests]
        assert any(
            STATES_ITS_CHANCE.search((ROOT / file).read_text(encoding="utf-8") + file)
            for file in files
        )


def test_a_table_that_lies_is_noticed() -> None:
    lie = "| `x` | Lemma 1 | says | `os:nothing_here` | – | – | open |"
    (row,) = read(lie)
    with pytest.raises(AssertionError):
        test_a_row_is_open_exactly_when_it_names_no_code(row)
    with pytest.raises(AssertionError):
        test_named_code_can_be_imported(row)
    with pytest.raises(AssertionError):
        names("littlestone.play, `other`")
    boast = "| `x` | Lemma 1 | says | `os:path` | `a` | `littlestone.claims.restarts` | {} |"
    (row,) = read(boast.format("cited · tested lightly · claim confirmed"))
    with pytest.raises(AssertionError):
        test_a_status_is_made_of_its_three_parts(row)
