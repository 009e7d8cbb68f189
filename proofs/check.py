"""Compile every proof, check it a second time, and print what each theorem assumes.

`make prove` runs this file. It needs Coq and Coquelicot; the library is not imported.
"""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
    r"|Declare\s+Module|bypass_check|Unset\s+(?:Guard|Positivity|Universe)\s+Checking"
    r"|Primitive|Register|native_compute)\b"
)
# Within a section these become arguments of what is proved; outside they would be axioms.
LOCAL = re.compile(r"\b(Variables?|Hypothes[ie]s|Context)\b")
THEOREM = re.compile(r"^(?:Theorem|Corollary|Lemma) (\w+)", re.MULTILINE)
# What the proofs load; with all that these load they take most of the checker's time.
LIBRARIES = ("Coq.QArith.Qreals", "Coq.NArith.NArith", "Coquelicot.Coquelicot")
INSTALL = "apt-get install -y --no-install-recommends coq libcoq-coquelicot"


@cache
def sources() -> list[Path]:
    """All proofs; listed once, so that a file that appears meanwhile waits for the next run."""
    return sorted(path.relative_to(HERE) for path in HERE.rglob("*.v"))


def without_comments(text: str) -> str:
    """Comments nest; strings do not matter here."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif not depth:
            kept.append(part)
    return "".join(kept)


def forbidden_in(text: str) -> list[str]:
    """Every word of ``text`` that could hide an assumption."""
    code = without_comments(text)
    found = [match.group() for match in FORBIDDEN.finditer(code)]
    depth = 0
    for sentence in re.split(r"\.\s", code):
        words = sentence.split()
        if words[:1] == ["Section"]:
            depth += 1
        elif words[:1] == ["End"]:
            depth -= 1
        elif not depth and LOCAL.match(sentence.strip()):
            found.append(f"{words[0]} outside a section")
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


def not_reread(libraries: str, proofs: str) -> set[str]:
    """Modules that the checker took on trust, in reading the libraries and then the proofs."""
    read = re.compile(r"^Checking library: (\S+)", re.MULTILINE)
    trusted = re.compile(r"^Admitting library: (\S+)", re.MULTILINE)
    needed = {*modules(), *trusted.findall(libraries), *trusted.findall(proofs)}
    return needed - set(read.findall(libraries)) - set(read.findall(proofs))


def assumed(mains: list[tuple[str, str]]) -> dict[str, set[str]]:
    """What `Print Assumptions` says of each theorem."""
    lines = ["From Coq Require Import Reals."]
    lines += [f"Require {name}." for name in modules()]
    for path, name in mains:
        module = path.removesuffix(".v").replace("/", ".")
        lines += [f"Print Assumptions Littlestone.{module}.{name}.", "Check I."]
    (BUILD / "Assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    parts = run("coqc", "-Q", ".", "Littlestone", "Assumptions.v").split("I\n     : True\n")
    if len(parts) != len(mains) + 1:
        sys.exit("the assumptions could not be read")
    return {
        name: set(re.findall(r"^([\w.]+)\s+:", part, re.MULTILINE))
        for (_, name), part in zip(mains, parts, strict=False)
    }


def main() -> None:
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        sys.exit(f"the proofs need Coq 8.16 and Coquelicot 3; on Debian: {INSTALL}")
    for path in sources():
        if words := forbidden_in((HERE / path).read_text(encoding="utf-8")):
            sys.exit(f"{path} must not contain: {', '.join(words)}")
    mains = main_theorems()
    BUILD.mkdir(parents=True, exist_ok=True)
    own = [word for name in modules() for word in ("-norec", name)]
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(reread, *LIBRARIES)  # beside the compiler, which takes as long
        build()
        listing = pool.submit(assumed, mains)
        proofs, found = reread(*own)
        (libraries, more), assumptions = reading.result(), listing.result()
    if left := not_reread(libraries, proofs):
        sys.exit(f"coqchk has not read: {', '.join(sorted(left))}")
    bad = 0
    print(f"allowed axioms: {', '.join(sorted(ALLOWED))}")
    for name, axioms in assumptions.items():
        strange = axioms - ALLOWED
        bad += bool(strange)
        shown = ", ".join(sorted(axiom.split(".")[-1] for axiom in axioms)) or "nothing"
        print(f"{'NOT ALLOWED ' if strange else ''}{name}: {shown}")
    # In this run a library's sealed modules look like axioms; the other one has opened them.
    more |= {axiom for axiom in found if axiom.startswith("Littlestone.")}
    beyond = {axiom for axiom in more if not axiom.endswith(tuple(ALLOWED))}
    print(
        f"coqchk: {len(sources())} files and their libraries checked; "
        f"axioms beyond the allowed: {beyond or 'none'}"
    )
    if bad or beyond:
        sys.exit(1)


if __name__ == "__main__":
    main()
