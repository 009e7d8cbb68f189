"""What Coq has checked is what Python promises, and nothing is assumed quietly."""

import ast
import fcntl
import importlib
import importlib.util
import re
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from tests.architecture.test_privacy_lines import private

from littlestone.audit.controls import (
    broken_counters,
    broken_forests,
    broken_guards,
    broken_learners,
    broken_mechanisms,
)

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
PAGE = ROOT / "docs" / "theory" / "machine-checked.md"
CHECKED = re.compile(r"^ +Checked: +(.*)", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"proofs/(\S+\.v),\s+theorem\s+(\w+)")
QUOTED = re.compile(r"\(\*\* The promise of (\S+)\.py, (\w+):\n\n(.*?) \*\)\n\w+ (\w+)", re.DOTALL)
FILES = sorted((PROOFS / "promises").glob("*.v"))


def privacy_block(docstring: str) -> str:
    """The lines from ``Privacy`` up to the next empty one."""
    found = re.search(r"^ *Privacy.*?(?=\n\s*\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return textwrap.dedent(found.group()) if found else ""


def quotations(text: str) -> list[tuple[str, str, str, str]]:
    """Module, class, quoted block and theorem of every promise that a file of proofs quotes."""
    return [
        (module.replace("/", "."), name, textwrap.dedent(block), theorem)
        for module, name, block, theorem in QUOTED.findall(text)
    ]


def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("proofs_check", PROOFS / "check.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked() -> dict[str, set[tuple[str, str]]]:
    """Files and theorems of each class whose docstring names some."""
    found = {
        member.__name__: CHECKED.search(privacy_block(member.__doc__ or "")) for member in private()
    }
    return {name: set(NAMED.findall(line.group(1))) for name, line in found.items() if line}


def test_another_word_in_a_quotation_is_noticed() -> None:
    said = "Say it.\n\n    Privacy:\n        Releases:   one bit\n\n    More.\n"
    text = (
        "(** The promise of a/b.py, C:\n\n    Privacy:\n        Releases:   two bits *)\nTheorem t"
    )
    [(module, name, block, theorem)] = quotations(text)
    assert (module, name, theorem) == ("a.b", "C", "t")
    assert block != privacy_block(said)
    assert block.replace("two bits", "one bit") == privacy_block(said)


def test_the_pages_say_how_many_promises_are_checked() -> None:
    word = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"][len(checked()) - 10]
    assert f"; {word} promises checked by Coq" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{word.title()} promises of this library" in PAGE.read_text(encoding="utf-8")
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert f"privacy of {word} classes" in paper


def test_at_least_ten_promises_are_checked() -> None:
    assert len(checked()) >= 10
    assert {"DisjointBatches", "FirstFrequent", "LazyForest", "PrivateKeys"} <= set(checked())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_theorem_quotes_the_promise_word_for_word(path: Path) -> None:
    for module, name, block, theorem in quotations(path.read_text(encoding="utf-8")):
        member = getattr(importlib.import_module(f"littlestone.{module}"), name)
        assert block == privacy_block(member.__doc__)
        assert (path.relative_to(PROOFS).as_posix(), theorem) in checked()[name]


def test_every_promise_that_names_a_theorem_is_quoted_there() -> None:
    quoted: dict[str, set[tuple[str, str]]] = {}
    for path in FILES:
        for _, name, _, theorem in quotations(path.read_text(encoding="utf-8")):
            quoted.setdefault(name, set()).add((path.relative_to(PROOFS).as_posix(), theorem))
    assert quoted == checked()


def test_the_page_names_every_checked_theorem() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = {
        theorem
        for theorems in checked().values()
        for path, theorem in theorems
        if f"`{theorem}`" not in page or path not in page
    }
    assert not missing


def test_the_page_names_every_theorem_about_floors() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = [(path, name) for path, name in checker().main_theorems() if path.startswith("floors/")]
    assert len(found) >= 6
    assert not [name for path, name in found if f"`{name}`" not in page or path not in page]


def names_between(start: str, end: str) -> set[str]:
    """The words with a hyphen between two phrases of the page, as controls have them."""
    page = PAGE.read_text(encoding="utf-8")
    part = page[page.index(start) : page.index(end)]
    return set(re.findall(r"(?<![\w`-])[a-z0-9]+(?:-[a-z0-9]+)+(?![\w`])", part))


REFUTED = ("Every control of the audit that breaks", "Each theorem is about the mistake")
AROUND = ("In other controls the noise is right", "The controls of the sparse vector")
WITHOUT = ("The controls of the sparse vector", "belong to mechanisms without a theorem")


def test_every_control_that_breaks_a_checked_law_is_refuted_and_compared() -> None:
    modules = (broken_counters, broken_forests, broken_guards, broken_mechanisms)
    controls = {control.subject.name for module in modules for control in module.CONTROLS}
    controls |= {
        control.subject.name
        for control in broken_learners.CONTROLS
        if control.subject.name.startswith("majority-")
    }
    refuted, around, without = (
        names_between(*part) & controls for part in (REFUTED, AROUND, WITHOUT)
    )
    assert len(refuted) > 25
    assert refuted | around | without == controls
    assert not refuted & around and not refuted & without
    tree = ast.parse((PROOFS / "bridge" / "controls.py").read_text(encoding="utf-8"))
    [table] = [node.value for node in tree.body if isinstance(node, ast.AnnAssign)]
    assert isinstance(table, ast.Dict)
    compared = {key.value for key in table.keys if isinstance(key, ast.Constant)}
    assert refuted <= compared


def test_the_page_names_every_theorem_that_refutes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = [name for path, name in checker().main_theorems() if path.startswith("refuted/")]
    assert len(found) > 20
    assert not [name for name in found if f"`{name}`" not in page]


def test_a_module_that_the_checker_trusts_is_noticed() -> None:
    check = checker()
    own = "".join(f"Checking library: {name}\n" for name in check.modules())
    libraries = "Checking library: Coq.Lists.List\n"
    trusted = own + "Admitting library: Coq.Lists.List\n"
    assert check.not_reread(libraries, trusted) == set()
    assert check.not_reread("", trusted) == {"Coq.Lists.List"}
    assert check.not_reread(libraries, trusted.partition("\n")[2]) == {check.modules()[0]}


def test_every_main_theorem_is_asked_what_it_assumes() -> None:
    check = checker()
    groups = check.together(check.main_theorems())
    asked = sorted(name for names in groups.values() for name in names)
    assert asked == sorted(
        f"Littlestone.{path.removesuffix('.v').replace('/', '.')}.{name}"
        for path, name in check.main_theorems()
    )
    alone = {names[0].rpartition(".")[2] for names in groups.values() if len(names) == 1}
    assert {theorem for named in checked().values() for _, theorem in named} <= alone


def test_libraries_are_read_again_once_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, state, read = checker(), ["as installed"], []

    def reread(*names: str) -> tuple[str, set[str]]:
        read.append(names)
        return "said", {"an axiom"}

    monkeypatch.setattr(check, "BUILD", tmp_path)
    monkeypatch.setattr(check, "reread", reread)
    monkeypatch.setattr(check, "installed", lambda: state[0])
    for _ in range(2):
        assert check.reread_libraries() == ("said", {"an axiom"})
    assert read == [check.LIBRARIES]
    state[0] = "upgraded"
    check.reread_libraries()
    assert read == [check.LIBRARIES] * 2


def test_nothing_else_uses_the_compiled_proofs_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = checker()
    monkeypatch.setattr(check, "BUILD", tmp_path)
    with (
        check.alone(),
        (tmp_path / "lock").open("w") as lock,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    assert "LOCK_SH" in (PROOFS / "bridge" / "compare.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Lemma l : False. Proof. Admitted.", "Admitted"),
        ("Lemma l : False. Proof. admit. Qed.", "admit"),
        ("Axiom a : False.", "Axiom"),
        ("Parameter p : nat.", "Parameter"),
        ("Section S. Variable x : nat. End S.\nHypothesis h : False.", "Hypothesis"),
        ("Section S. Section T. End T. End S. Variables (x : nat).", "Variables"),
        ("Unset Guard Checking.", "Unset Guard Checking"),
        ("#[export] Unset Universe Checking.", "Unset Universe Checking"),
        ("#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", "bypass_check"),
        ("Local Hypothesis h : False.", "Hypothesis"),
        ("#[local] Hypothesis h : False.", "Hypothesis"),
        ("Module M. End M. Variable x : nat.", "Variable"),
        ("Module M := N. Section S. End S. Context (x : nat).", "Context"),
        ('Definition s := "(*"%string. Axiom a : False. (* "*)" *)', "Axiom"),
        ('Load "other.v".', "Load"),
        ('Add LoadPath "elsewhere".', "LoadPath"),
        ('Declare ML Module "plugin".', "Declare ML Module"),
    ],
)
def test_a_hidden_assumption_is_noticed(text: str, word: str) -> None:
    found = checker().forbidden_in(text + "\n")
    assert any(each.startswith(word) for each in found)


def test_comments_and_sections_are_no_assumptions() -> None:
    text = (
        "(* Axiom (* Admitted *) *) Section S.\nVariable x : nat.\nHypothesis h : x = x.\nEnd S.\n"
    )
    assert checker().forbidden_in(text) == []


def test_no_proof_has_one() -> None:
    check = checker()
    found = {
        str(path): check.forbidden_in((PROOFS / path).read_text(encoding="utf-8"))
        for path in check.sources()
    }
    assert len(found) > 10
    assert not {path: words for path, words in found.items() if words}


def test_every_file_of_promises_has_a_main_theorem() -> None:
    mains = checker().main_theorems()
    named = {path for path, _ in mains}
    assert {path.relative_to(PROOFS).as_posix() for path in FILES} <= named
    assert set().union(*checked().values()) <= set(mains)
