"""Compile every proof, check it a second time, and print what each theorem assumes.

`make prove` runs this file. It needs Coq and Coquelicot; the library is not imported.
"""

import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "out" / "proofs"
JOBS = "2"
# The axioms of the standard library's real numbers, and those that its exponential function brings.
ALLOWED = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
# What lets a file claim more than it proves, wherever it stands.
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Admit\s+Obligations"
    r"|Declare\s+(?:ML\s+)?Module|Load|LoadPath|bypass_check"
    r"|Unset\s+(?:Guard|Positivity|Universe)\s+Checking|Primitive|Register|native_compute)\b"
)
# Within a section these become arguments of what is proved; outside they would be axioms.
LOCAL = re.compile(
    r"(?:#\[[^\]]*\]\s*|(?:Local|Global|Polymorphic|Monomorphic)\s+)*"
    r"(?P<word>Variables?|Hypothes[ie]s|Context)\b"
)
OPENED = re.compile(
    r"(Section|Module(?:\s+Type)?(?:\s+(?:Import|Export))?)\s+(\w+)(?!.*:=)", re.DOTALL
)
THEOREM = re.compile(r"^(?:Theorem|Corollary|Lemma) (\w+)", re.MULTILINE)
# What the proofs load; with all that these load they take most of the checker's time.
LIBRARIES = (
    "Coq.QArith.Qreals",
    "Coq.NArith.NArith",
    "Coq.Logic.FinFun",
    "Coq.Sorting.Permutation",
    "Coquelicot.Series",
)
INSTALL = "apt-get install -y --no-install-recommends coq libcoq-coquelicot"


@cache
def sources() -> list[Path]:
    """All proofs; listed once, so that a file that appears meanwhile waits for the next run."""
    return sorted(path.relative_to(HERE) for path in HERE.rglob("*.v"))


def without_comments(text: str) -> str:
    """Comments nest, and a string may hold the beginning of one."""
    kept, depth = [], 0
    for part in re.split(r'("(?:[^"]|"")*"|\(\*|\*\))', text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif not depth and not part.startswith('"'):
            kept.append(part)
    return "".join(kept)


def forbidden_in(text: str) -> list[str]:
    """Every word of ``text`` that could hide an assumption."""
    code = without_comments(text)
    found = [match.group() for match in FORBIDDEN.finditer(code)]
    opened: list[str] = []
    for sentence in re.split(r"\.\s", code):
        stripped = sentence.strip(" \t\n{}-+*")
        if begins := OPENED.match(stripped):
            opened.append(begins.group(1))
        elif stripped.split()[:1] == ["End"] and opened:
            opened.pop()
        elif "Section" not in opened and (local := LOCAL.match(stripped)):
            found.append(f"{local.group('word')} outside a section")
    return found


def main_theorems() -> list[tuple[str, str]]:
    """File and name of every theorem that a file calls its own, by a line ``(* main: … *)``."""
    mains = []
    for path in sources():
        text = (HERE / path).read_text(encoding="utf-8")
        proved = set(THEOREM.findall(text))
        for names in re.findall(r"\(\* main: ([\w, ]+) \*\)", text):
            for name in names.split(", "):
                if name not in proved:
                    sys.exit(f"{path} has no theorem {name}, which it calls its main one")
                mains.append((path.as_posix(), name))
    return mains


def build() -> None:
    for path in sources():
        target, text = BUILD / path, (HERE / path).read_bytes()
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != text:
            target.write_bytes(text)
    for old in BUILD.rglob("*.v"):
        if not (HERE / old.relative_to(BUILD)).exists():
            old.unlink()
    listed = "\n".join(path.as_posix() for path in sources())
    project = f"-Q . Littlestone\n-arg -w -arg -ambiguous-paths\n{listed}\n"
    (BUILD / "_CoqProject").write_text(project, encoding="utf-8")
    run("coq_makefile", "-f", "_CoqProject", "-o", "Makefile")
    run("make", "--silent", "-j", JOBS, shown=True)


def run(*command: str, shown: bool = False) -> str:
    done = subprocess.run(
        command, cwd=BUILD, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(command)} failed")
    if shown and done.stdout.strip():
        print(done.stdout.strip())
    return done.stdout


def modules() -> list[str]:
    return [".".join(("Littlestone", *path.with_suffix("").parts)) for path in sources()]


def reread(*names: str) -> tuple[str, set[str]]:
    """What the independent checker says of modules, and all axioms that it finds."""
    said = run("coqchk", "-o", "-Q", ".", "Littlestone", *names)
    _, axioms, *rest = said.split("\n* ")[1:]
    if len(rest) != 3 or not all(part.strip().endswith("<none>") for part in rest):
        sys.exit(said[said.index("CONTEXT SUMMARY") :])
    found = axioms.removeprefix("Axioms:").splitlines()
    return said, {line.strip() for line in found if line.strip() not in ("", "<none>")}


def installed() -> str:
    """A digest of every compiled library of Coq and of its checker."""
    digest = hashlib.blake2b()
    binaries = [Path(found) for found in (shutil.which("coqc"), shutil.which("coqchk")) if found]
    for path in [*binaries, *sorted(Path(run("coqc", "-where").strip()).rglob("*.vo"))]:
        digest.update(f"{path} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def reread_libraries() -> tuple[str, set[str]]:
    """The same for the libraries; those that have not changed since are not read a second time."""
    kept, state = BUILD / "libraries.json", [installed(), *LIBRARIES]
    if kept.exists():
        before = json.loads(kept.read_text(encoding="utf-8"))
        if before["state"] == state:
            print("libraries: as they were when coqchk read them last")
            return before["said"], set(before["axioms"])
    said, axioms = reread(*LIBRARIES)
    text = json.dumps({"state": state, "said": said, "axioms": sorted(axioms)})
    kept.write_text(text, encoding="utf-8")
    return said, axioms


@contextmanager
def alone() -> Iterator[None]:
    """Wait for a `make prove` or `make bridge` of the same worktree, which use the same files."""
    with (BUILD / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another `make prove` or `make bridge`", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def not_reread(libraries: str, proofs: str) -> set[str]:
    """Modules that the checker took on trust, in reading the libraries and then the proofs."""
    read = re.compile(r"^Checking library: (\S+)", re.MULTILINE)
    trusted = re.compile(r"^Admitting library: (\S+)", re.MULTILINE)
    needed = {*modules(), *trusted.findall(libraries), *trusted.findall(proofs)}
    return needed - set(read.findall(libraries)) - set(read.findall(proofs))


def together(mains: list[tuple[str, str]]) -> dict[str, list[str]]:
    """What is asked at once: a promise by itself, all other theorems of a folder in one question.

    A question takes Coq half a second, since it reads everything that a proof rests on.
    """
    groups: dict[str, list[str]] = {}
    for path, name in mains:
        text = (HERE / path).read_text(encoding="utf-8")
        alone = re.search(rf"\(\*\* The promise of [^*]*\*\)\nTheorem {name}\b", text)
        module = path.removesuffix(".v").replace("/", ".")
        asked = f"{name} (a promise)" if alone else path.split("/")[0]
        groups.setdefault(asked, []).append(f"Littlestone.{module}.{name}")
    return groups


def assumed(groups: dict[str, list[str]]) -> dict[str, set[str]]:
    """What `Print Assumptions` says of each group of theorems."""
    lines = ["From Coq Require Import Reals."]
    lines += [f"Require {name}." for name in modules()]
    for number, names in enumerate(groups.values()):
        lines.append(
            f"Definition asked_{number} := ({', '.join(f'@{name}' for name in names)}, I)."
        )
        lines += [f"Print Assumptions asked_{number}.", "Check I."]
    (BUILD / "Assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    parts = run("coqc", "-Q", ".", "Littlestone", "Assumptions.v").split("I\n     : True\n")
    if len(parts) != len(groups) + 1:
        sys.exit("the assumptions could not be read")
    return {
        group: set(re.findall(r"^([\w.]+)\s+:", part, re.MULTILINE))
        for group, part in zip(groups, parts, strict=False)
    }


def main() -> None:
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        sys.exit(f"the proofs need Coq 8.16 and Coquelicot 3; on Debian: {INSTALL}")
    for path in sources():
        if words := forbidden_in((HERE / path).read_text(encoding="utf-8")):
            sys.exit(f"{path} must not contain: {', '.join(words)}")
    BUILD.mkdir(parents=True, exist_ok=True)
    with alone():
        prove(main_theorems())


def prove(mains: list[tuple[str, str]]) -> None:
    own = [word for name in modules() for word in ("-norec", name)]
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(reread_libraries)  # beside the compiler, which takes as long
        build()
        groups = together(mains)
        listing = pool.submit(assumed, groups)
        proofs, found = reread(*own)
        (libraries, more), assumptions = reading.result(), listing.result()
    if left := not_reread(libraries, proofs):
        sys.exit(f"coqchk has not read: {', '.join(sorted(left))}")
    bad = 0
    print(f"allowed axioms: {', '.join(sorted(ALLOWED))}")
    for group, axioms in assumptions.items():
        strange = axioms - ALLOWED
        bad += bool(strange)
        shown = ", ".join(sorted(axiom.split(".")[-1] for axiom in axioms)) or "nothing"
        of = f"{group}, {len(groups[group])} theorems" if len(groups[group]) > 1 else group
        print(f"{'NOT ALLOWED ' if strange else ''}{of}: {shown}")
    # In this run a library's sealed modules look like axioms; the other one has opened them.
    more |= {axiom for axiom in found if axiom.startswith("Littlestone.")}
    own = ("Littlestone.",)  # whatever it is called
    beyond = {one for one in more if one.startswith(own) or not one.endswith(tuple(ALLOWED))}
    print(
        f"coqchk: {len(sources())} files and their libraries checked; "
        f"axioms beyond the allowed: {beyond or 'none'}"
    )
    if bad or beyond:
        sys.exit(1)


if __name__ == "__main__":
    main()
