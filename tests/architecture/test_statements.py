"""docs/STATEMENTS.md has every statement of the paper, and what it says about each is true."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.architecture.definitions import ROOT, the_object, the_test

import littlestone.lab.claims
from littlestone.lab.every_claim import CLAIMS as REGISTERED

TABLE = ROOT / "docs" / "STATEMENTS.md"
NOTHING = "–"
# The mark, or a probability of failing by chance that is written out.
STATES_ITS_CHANCE = re.compile(r"statistical|1e-(?:9|1\d)\b")
SOURCES = {"definition", "proved here", "cited"}
TESTS = {"tested exactly", "tested statistically", "tested lightly"}
CLAIMS = {"claim confirmed", "claim not refuted", "no claim"}
# Claims about what this library adds to the paper; no statement of the paper waits for them.
BEYOND_THE_PAPER = {"sanitizers-compared"}

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
    "rem:private-prediction",
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


def fault_of_number(row: Row) -> str:
    if row.label in NUMBERS:
        return "" if row.number == NUMBERS[row.label] else f"it is {NUMBERS[row.label]}"
    numbered = re.fullmatch(r"(Theorem|Lemma|Definition|Claim|Fact|Algorithm) .*", row.number)
    return "the paper has no such number" if numbered else ""


def fault_of_opening(row: Row) -> str:
    """A row is open exactly when it names nothing."""
    if row.status == "open":
        return "open, but not empty" if row.code or row.tests or row.claims else ""
    return "" if row.code and row.tests else "neither open nor backed by code and tests"


def fault_of_status(row: Row) -> str:
    if row.status == "open":
        return ""
    source, tested, claim = row.status.split(" · ")
    if source not in SOURCES or tested not in TESTS or claim not in CLAIMS:
        return f"{row.status!r} is no status"
    can = claim_status(row.claims)
    return "" if claim == can else f"{claim}, where its claims say {can}"


def fault_of_names(row: Row) -> str:
    unknown = [name for name in row.claims if name not in REGISTERED]
    faults = [f"no claim is called {name}" for name in unknown]
    for find, named in ((the_object, row.code), (the_test, row.tests)):
        for name in named:
            try:
                find(name)
            except AssertionError as fault:
                faults.append(str(fault))
    return "; ".join(faults)


def fault_of_chance(row: Row) -> str:
    """A row that is tested statistically names a test that states its chance of failing."""
    if "tested statistically" not in row.status:
        return ""
    files = [the_test(name).path for name in row.tests]
    texts = [file.read_text(encoding="utf-8") + str(file.relative_to(ROOT)) for file in files]
    return "" if any(map(STATES_ITS_CHANCE.search, texts)) else "no named test is statistical"


def faults(check: Callable[[Row], str], rows: list[Row] = ROWS) -> list[str]:
    return [f"{row.label}: {fault}" for row in rows if (fault := check(row))]


def claim_status(claims: tuple[str, ...]) -> str:
    """As good as the weakest of the named claims can get."""
    if not claims:
        return "no claim"
    sources = [inspect.getsource(REGISTERED[name].measure) for name in claims]
    confirmed = all("Verdict.CONFIRMED" in source for source in sources)
    return "claim confirmed" if confirmed else "claim not refuted"


def test_every_statement_of_the_paper_has_one_row() -> None:
    labels = [row.label for row in ROWS]
    assert sorted(labels) == sorted({*NUMBERS, *UNNUMBERED})


def test_numbers_are_those_of_the_printed_paper() -> None:
    assert not faults(fault_of_number)


def test_a_row_is_open_exactly_when_it_names_nothing() -> None:
    assert not faults(fault_of_opening)


def test_a_status_is_made_of_its_three_parts() -> None:
    assert not faults(fault_of_status)


def test_everything_that_is_named_exists() -> None:
    assert not faults(fault_of_names)


def test_statistical_rows_name_a_statistical_test() -> None:
    assert not faults(fault_of_chance)


def test_every_claim_is_named_by_the_statements_it_is_about() -> None:
    named = {name for row in ROWS for name in row.claims}
    assert named | BEYOND_THE_PAPER == set(REGISTERED)


def test_every_claim_is_registered() -> None:
    folder = Path(littlestone.lab.claims.__file__).parent
    claims = {
        name.replace("_", "-")
        for path in folder.glob("*.py")
        for name in re.findall(
            r"^@claimed\((?s:.*?)^\)\ndef (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert claims == set(REGISTERED)


def test_recorded_verdicts_are_those_that_the_table_relies_on() -> None:
    recorded = json.loads((ROOT / "docs" / "claims.json").read_text(encoding="utf-8"))
    assert recorded
    for finding in recorded:
        assert f"claim {finding['verdict']}" == claim_status((finding["claim"],)), finding["claim"]


def test_a_table_that_lies_is_noticed() -> None:
    lie = "| `thm:agnostic` | Lemma 1 | says | `nothing` | `test_nothing` | `no-claim` | open |"
    rows = read(lie)
    assert faults(fault_of_number, rows) == ["thm:agnostic: it is Theorem 1.2"]
    assert faults(fault_of_opening, rows) == ["thm:agnostic: open, but not empty"]
    (fault,) = faults(fault_of_names, rows)
    assert all(name in fault for name in ("nothing", "test_nothing", "no-claim"))
    assert faults(fault_of_number, read(lie.replace("thm:agnostic", "x")))
    with pytest.raises(AssertionError):
        names("littlestone.play, `other`")


def test_a_boast_is_noticed() -> None:
    boast = "| `x` | Section 1 | says | `play.play` | `test_guarantee` | `restarts` | {} |"
    assert faults(fault_of_status, read(boast.format("cited · tested lightly · claim confirmed")))
    assert faults(fault_of_status, read(boast.format("hoped · tested lightly · no claim")))
    assert faults(fault_of_chance, read(boast.format("cited · tested statistically · no claim")))
    assert faults(fault_of_opening, read(boast.replace("`play.play`", "–")))


def test_a_name_with_two_definitions_is_noticed() -> None:
    with pytest.raises(AssertionError, match="ambiguous"):
        the_object("paper_error_upper_bound")
    assert the_object("histogram_bounds.paper_error_upper_bound")
