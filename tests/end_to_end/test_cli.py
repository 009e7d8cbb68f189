"""The command line as a person or a script meets it."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from typer.testing import CliRunner

import littlestone
from littlestone.cli.main import COMMANDS, app, main

runner = CliRunner()


def run(*arguments: str) -> Any:
    return runner.invoke(app, list(arguments))


def test_dimension_prints_a_shattered_tree() -> None:
    result = run("dimension", "thresholds:16", "--tree")
    assert result.exit_code == 0
    assert "Littlestone" in result.output and "4" in result.output


def test_dimension_as_json() -> None:
    record = json.loads(run("dimension", "points", "--json").output)
    assert record["Littlestone"] == 1 and record["concepts"] is None


@pytest.fixture
def three_labels(tmp_path: Path) -> str:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("0,2,1\n1,1,0\n2,2,2\n0,0,0\n0,2,0\n2,1,1\n", encoding="utf-8")
    return f"finite:{matrix}"


def test_a_file_may_have_three_labels(three_labels: str) -> None:
    record = json.loads(run("dimension", three_labels, "--json").output)
    assert record == {"class": three_labels, "concepts": 6, "Littlestone": 2}
    options = ("--class", three_labels, "--rounds", "500", "--seed", "1", "--json")
    assert json.loads(run("play", *options).output)["mistakes"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("recommend", "--rounds", "100", "--class"),
        ("play", "--learner", "private-majority", "--class"),
        ("play", "--adversary", "random", "--class"),
        ("audit", "--learner", "private-keys", "--class"),
        ("optimum",),
        ("bounds", "--class"),
        ("dimension", "--tree"),
    ],
)
def test_what_is_for_two_labels_rejects_three(
    arguments: tuple[str, ...], three_labels: str
) -> None:
    result = run(*arguments, three_labels)
    assert result.exit_code != 0 and "these are for two labels" in str(result.exception)


def test_play_as_json_reports_the_mistakes() -> None:
    result = run("play", "--class", "thresholds:100", "--rounds", "500", "--seed", "1", "--json")
    record = json.loads(result.output)
    assert record["mistakes"] == 6
    assert record["rounds"] == 500


def test_play_draws_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "mistakes.svg"
    result = run("play", "--rounds", "200", "--plot", str(picture))
    assert result.exit_code == 0
    assert "<svg" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dimension", "treshold:16"), "did you mean 'thresholds'?"),
        (("dimension", "thresholds"), "is written like 'thresholds:16'"),
        (("dimension", "thresholds:x"), "is written like 'thresholds:16'"),
        (("dimension", "thresholds:-1"), "-1"),
        (("play", "--learner", "nobody"), "unknown learner 'nobody'"),
        (("play", "--adversary", "nobody"), "unknown adversary 'nobody'"),
        (("play", "--rounds", "0"), "rounds"),
        (("audit", "nothing"), "unknown audit 'nothing'"),
        (("audit", "above-threshold", "--epsilon", "-1"), "epsilon"),
        (("claims", "nothing"), "unknown claim 'nothing'"),
        (("bounds", "nothing"), "unknown group 'nothing'"),
        (("bounds", "--dimension", "99"), "dimension must be at most"),
        (("bounds", "--plot", "x.png"), "--plot needs --over"),
        (("bounds", "dimensions", "--over", "epsilon", "--plot", "x.png"), "depends on epsilon"),
    ],
)
def test_a_refusal_is_one_line(
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["littlestone", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_the_package_is_a_command_that_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["littlestone", "play", "--learner", "nobody"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("littlestone", run_name="__main__")
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "unknown learner 'nobody'" in said and "Traceback" not in said


def test_an_audit_of_a_correct_mechanism_ends_with_zero() -> None:
    result = run("audit", "above-threshold", "--runs", "4000")
    assert result.exit_code == 0
    assert "no violation found up to here" in " ".join(result.output.split())


def test_a_caught_violation_is_exit_status_one() -> None:
    result = run("audit", "--broken", "no-query-noise", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["violation"] is True


def test_claims_write_one_page(tmp_path: Path) -> None:
    result = run("claims", "littlestone-mistakes", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "confirmed" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_help_starts_without_the_numerical_libraries() -> None:
    """They take longer to import than everything else; --help needs none of them."""
    code = "import sys, littlestone.cli.main; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_command_has_help() -> None:
    for command, (_, line, _, _) in COMMANDS.items():
        result = run(command, "--help")
        assert result.exit_code == 0, command
        assert line in " ".join(result.output.split()), command


MISSING = [
    ("fleet init", "psycopg", 2, "fleet"),
    ("demo --rounds 100", "matplotlib", 0, "plot"),
    ("optimum thresholds:2 --rounds 1", "scipy", 2, "solver"),
    ("serve --help", "littlestone.http.service", 3, ""),
    ("fleet --help", "psycopg", 0, "fleet"),
    ("serve --help", "starlette", 0, "serve"),
    ("arena", "starlette", 2, "serve"),
    ("demo --plot x.png", "matplotlib", 2, "plot"),
]
WITHOUT = """
import sys
missing, *commands = sys.argv[1:]
sys.modules |= dict.fromkeys(missing.split())
import littlestone.cli.main as m
for words in commands:
    sys.argv = ["littlestone", *words.split()]
    try:
        m.main()
        status = 0
    except SystemExit as ended:
        status = ended.code or 0
    print(f"exit status {status};", flush=True)
"""


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param(MISSING[:4], id="four in one process"),
        *(pytest.param([one], id=one[0], marks=pytest.mark.slow) for one in MISSING),
    ],
)
def test_an_extra_that_is_missing_is_named_and_a_module_of_ours_is_a_bug(
    missing: list[tuple[str, str, int, str]],
) -> None:
    commands, modules, _, _ = zip(*missing, strict=True)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, " ".join(modules), *commands],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    found = re.findall(r"(.*?)exit status (\d);\n", done.stdout, re.DOTALL)
    assert len(found) == len(missing), done.stdout
    for (said, ended), (words, _, status, extra) in zip(found, missing, strict=True):
        assert int(ended) == status, (words, said)
        told = f"pip install 'littlestone[{extra}]'" in said
        assert told == bool(extra) and ("Traceback" in said) == (status == 3), (words, said)


SERVING = {"serve", "arena", "fleet"}  # they wait for somebody, or need a server
LONG = {"audit", "optimum", "demo"}


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(SERVING | LONG, id="quick"),
        pytest.param(SERVING, id="all", marks=pytest.mark.slow),
    ],
)
def test_the_example_in_each_commands_help_runs(
    left_out: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{n % 60},{int(n % 60 >= 20)}\n" for n in range(3000))
    Path("events.csv").write_text(f"delay,late\n{rows}")
    Path("schema.toml").write_text("delay.range = [0, 60]\n")
    for name, command in COMMANDS.items():
        assert (
            f"Example: littlestone {command.example}"
            in " ".join(run(name, "--help").output.split())
            or name == "fleet"
        )
        assert command.example.split()[0] == name
        if name in left_out:
            continue
        result = run(*command.example.split())
        assert result.exit_code == 0, (name, result.output)


def test_help_groups_the_commands_by_who_uses_them() -> None:
    said = run("--help").output
    places = [said.index(f" {panel} ") for panel in ("Use", "Play and compare", "Audit")]
    assert places == sorted(places)
    for name, command in COMMANDS.items():
        panel = ("Use", "Play and compare", "Audit").index(command.panel)
        following = [*places, len(said)][panel + 1]
        assert places[panel] < said.index(f"│ {name} ") < following, name


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("bounds", marks=pytest.mark.slow),
        "predict rules.jsonl events.csv",
        pytest.param("classes", marks=pytest.mark.slow),
    ],
)
def test_a_reader_who_has_seen_enough_is_told_nothing(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "rules.jsonl" in words:
        rows = "".join(f"{n % 60},{int(n % 60 >= 20)}\n" for n in range(20_000))
        Path("events.csv").write_text(f"delay,late\n{rows}")
        Path("schema.toml").write_text("delay.range = [0, 60]\n")
        learn = "learn events.csv --schema schema.toml --label late --store a.db --out rules.jsonl"
        assert run(*learn.split()).exit_code == 0
    shell = f"{sys.executable} -m littlestone {words} | head -n 1 > /dev/null"
    result = subprocess.run(
        shell, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "ipe" not in result.stderr and "Traceback" not in result.stderr, result.stderr


LEARNING = """
import sys
sys.modules["scipy"] = None
import littlestone as ls
from littlestone.cli.main import main
run = ls.PrivateKeys(rounds=1000, epsilon=1.0, delta=1e-6).start()
print(run.recipe.mistake_bound_for(2, failure_probability=0.05))
for words in sys.argv[1:]:
    sys.argv = ["littlestone", *words.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, words
"""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("dimension thresholds:4 --tree", marks=pytest.mark.slow),
        pytest.param("audit", marks=pytest.mark.slow),
        pytest.param("recommend points --rounds 9", marks=pytest.mark.slow),
        "learners",
    ],
)
def test_a_closed_output_is_no_violation(command: str) -> None:
    """Status 1 says that something was found, whoever prints: 141 says that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "littlestone", *command.split()],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    finally:
        os.close(write)
    assert done.returncode == 141 and done.stderr == ""


LEARN = "learn {} --class thresholds:9 --feature x --label y --store a.db --out a.jsonl --rounds 9"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        # nobody wants to be told
        pytest.param(f"{LEARN.format('events.csv')} 2>&-", 0, marks=pytest.mark.slow),
        (f"{LEARN.format('events.csv')} 2>&1 >&- <&-", 0),
        pytest.param(f"{LEARN.format('-')} <&-", 2, marks=pytest.mark.slow),
        pytest.param("classes >&-", 2, marks=pytest.mark.slow),
        ("classes >/dev/full", 2),
        ("--help >/dev/full", 2),
        ("nothing 2>&-", 2),
    ],
)
def test_closed_and_full_streams_are_no_bug(words: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("x,y\n1,0\n8,1\n")
    shell = f"{sys.executable} -m littlestone {words}"
    result = subprocess.run(
        shell, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == status
    assert "bug" not in result.stderr and "ignored" not in result.stderr, result.stderr
    assert (tmp_path / "a.jsonl").exists() == (status == 0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--help"], "recommend"),
        pytest.param(["learners"], "private-majority", marks=pytest.mark.slow),
        pytest.param(["play", "--what"], "--what", marks=pytest.mark.slow),
    ],
)
def test_a_terminal_without_a_width_is_told_all_the_same(arguments: list[str], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "littlestone", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "0"},
        timeout=PATIENCE,
    )
    assert told in done.stdout + done.stderr


def test_learning_and_predicting_need_no_scipy(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n" + "".join(f"{n % 9},{n % 2}\n" for n in range(300)))
    (tmp_path / "schema.toml").write_text("x.range = [0, 10]\n")
    learn = "learn rows.csv --schema schema.toml --label y --store a.db --out rules.jsonl"
    each = (learn, "predict rules.jsonl rows.csv", "verify rules.jsonl --store a.db")
    command = [sys.executable, "-c", LEARNING, *each]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").output == f"littlestone {littlestone.__version__}\n"


def test_an_unknown_command_is_told_its_neighbour() -> None:
    result = run("plaj")
    assert result.exit_code == 2 and "Did you mean 'play'?" in result.output


def test_bounds_are_printed_with_side_and_source() -> None:
    output = " ".join(run("bounds", "floors", "--rounds", "1000").output.split())
    assert "adaptive floors: wait at least" in output and "FHMM23" in output


def test_bounds_as_json_have_a_logarithm_where_floats_end() -> None:
    rows = json.loads(run("bounds", "realizable", "--dimension", "6", "--json").output)
    (mistakes,) = [row for row in rows if row["bound"] == "realizable: mistakes"]
    assert mistakes["value"] is None and mistakes["log2"] > 1024


@pytest.mark.parametrize(
    "over",
    [
        pytest.param("rounds", marks=pytest.mark.slow),
        pytest.param("epsilon", marks=pytest.mark.slow),
        "dimension",
    ],
)
def test_bounds_are_drawn_along_an_axis(over: str, tmp_path: Path) -> None:
    picture = tmp_path / "bounds.svg"
    result = run("bounds", "floors", "--over", over, "--plot", str(picture))
    assert result.exit_code == 0, result.output
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_what_there_is_can_be_listed() -> None:
    for command, known in (("classes", "thresholds"), ("learners", "private-majority")):
        assert known in run(command).output
    assert "thresholds" in json.loads(run("classes", "--json").output)
    listed = json.loads(run("learners", "--json").output)
    assert listed["learners"]["private-majority"]["private"]
    assert "mistake-forcing" in listed["adversaries"]
    assert "--broken no-query-noise" in run("audit").output


@pytest.mark.parametrize("name", ["sklearn", "river"])
def test_an_adapter_without_its_package_says_which_extra_has_it(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; import littlestone.adapters.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and "pip install 'littlestone[integrations]'" in done.stderr
