"""Options from a file, and what a store tells without being told them again."""

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.schema import Schema
from littlestone.runs.journal.records import Release, chained, release_body
from littlestone.runs.published import release_line, steady_rule

SCHEMA = Schema.from_mapping({"delay": {"grid": [10, 20]}})

Command = Callable[..., tuple[int, str, str]]

CONFIG = """
file = "events.csv"
label = "late"
id = "flight"
epsilon = 4
store = "run.db"
out = "rules.jsonl"
group = 50

[schema.delay]
grid = [10, 20, 30]
missing = "own value"

[schema.left]
date = ["hour"]
"""


def delay(x: int) -> int | str:
    """Late and early take turns, so that no batch, however short, is told by a constant."""
    return "" if x % 50 == 7 else 20 * (x % 2) + x // 2 % 20


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(CONFIG)
    with open("events.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["flight", "delay", "left", "late"])
        for x in range(200):
            table.writerow([f"F{x}", delay(x), f"2013-01-01 {x % 24:02d}:30", x % 2])


def test_options_come_from_a_file_and_the_command_line_wins(command: Command) -> None:
    status, _, said = command("learn", "--config", "run.toml", "--epsilon", "2")
    assert status == 0 and "ε = 2; store run.db, round 0" in said
    assert "200 events taken, 0 seen before, 0 rejected" in said
    assert "ε = 4; store" in command("learn", "--config", "run.toml", "--store", "other.db",
                                     "--out", "other.jsonl")[2]  # fmt: skip


def test_a_class_on_the_command_line_wins_over_a_schema_in_the_file(command: Command) -> None:
    words = ("--class", "thresholds:40", "--feature", "delay", "--rounds", "300",
             "--learner", "private-majority")  # fmt: skip
    status, _, said = command("learn", "--config", "run.toml", *words)
    assert status == 0 and "4 rejected" in said
    options = tomllib.loads(command("status", "run.db", "--toml")[1])
    assert options["class"] == "thresholds:40" and "schema" not in options
    Path("run.toml").write_text('class = "points"\n' + CONFIG)
    status, _, said = command("learn", "--config", "run.toml", "--store", "b.db")
    assert status == 2 and "exactly one of schema and class" in said


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("epsilom = 1", "run.toml has no option 'epsilom'; the nearest is 'epsilon'"),
        ("max_contributions = 2", "the nearest is 'max-contributions'"),
        ("label = ['a']", "label in run.toml must be one value"),
        ("adopt = true", "has no option 'adopt'"),
        ("epsilon = ", "run.toml is not valid TOML"),
    ],
)
def test_what_is_no_option_is_refused(command: Command, line: str, told: str) -> None:
    Path("run.toml").write_text(f'{line}\nfile = "events.csv"\nstore = "run.db"\n')
    status, _, said = command("learn", "--config", "run.toml")
    assert status == 2 and told in said
    assert not Path("run.db").exists()


def test_another_file_for_the_rules_is_no_damage_of_the_store(command: Command) -> None:
    """A store that is in order must not be given up because of a mistyped --out."""
    command("learn", "--config", "run.toml")
    command("learn", "--config", "run.toml", "--store", "b.db", "--out", "b.jsonl")
    Path("notes.txt").write_text("no line end")
    for out, told in (("b.jsonl", "must not mix runs"), ("notes.txt", "does not end like one")):
        before = Path(out).read_bytes()
        status, _, said = command("learn", "--config", "run.toml", "--out", out)
        assert status == 2 and "out must" in said and told in said
        assert "damaged" not in said and "Restore" not in said
        assert Path(out).read_bytes() == before
    assert "200 seen before" in command("learn", "--config", "run.toml")[2]


def test_a_store_tells_what_it_is_and_with_which_options_it_goes_on(command: Command) -> None:
    command("learn", "--config", "run.toml", "--epsilon", "2")
    status, said, _ = command("status", "run.db")
    assert status == 0
    for part in ("DisjointBatches", "promise:   ε = 2", "rounds:    200", "draws from disjoint"):
        assert part in said
    _, options, _ = command("status", "run.db", "--toml")
    assert said.endswith(options)
    declared = tomllib.loads(options)
    assert declared["epsilon"] == 2.0 and declared["id"] == "flight"
    assert declared["schema"] == tomllib.loads(CONFIG)["schema"]
    Path("again.toml").write_text(options)
    before = Path("rules.jsonl").read_bytes()
    assert "0 events taken, 200 seen before" in command("learn", "--config", "again.toml")[2]
    assert Path("rules.jsonl").read_bytes() == before


def test_a_schema_that_was_a_file_is_held_by_the_store(command: Command) -> None:
    Path("schema.toml").write_text("[delay]\ngrid = [10, 20]\n")
    command("learn", "events.csv", "--schema", "schema.toml", "--label", "late", "--store", "a.db",
            "--out", "a.jsonl", "--max-contributions", "3")  # fmt: skip
    Path("schema.toml").unlink()
    status, _, said = command("report", "a.db", "--out", "a.html")
    assert status == 0 and said == "report: a.html"
    page = Path("a.html").read_text()
    assert "ε = 3" in page and "200 rounds" in page
    assert Path("a.html").stat().st_mode & 0o77 == 0
    assert command("report", "a.db", "--out", "a.db")[0] == 2


def test_predictions_are_those_of_the_steady_rule(command: Command) -> None:
    command("learn", "--config", "run.toml", "--epsilon", "50")
    releases = [json.loads(line) for line in Path("rules.jsonl").read_text().splitlines()]
    rule = steady_rule(releases)
    with open("rules.jsonl", "a") as file:  # a sign of life, and a line that is being written
        beat = {"heartbeat": True, "run": releases[-1]["run"], "after": releases[-1]["release"]}
        file.write(json.dumps(beat | {"chain": releases[-1]["chain"]}) + '\n{"run": "')
    expected = [
        rule({"delay": delay(x), "left": f"2013-01-01 {x % 24:02d}:30"}) for x in range(200)
    ]
    for source in ("rules.jsonl", "run.db"):
        status, said, _ = command("predict", source, "events.csv", "--id", "flight")
        found = list(csv.reader(said.splitlines()))
        assert status == 0 and found[0] == ["flight", "prediction"]
        assert found[1:] == [[f"F{x}", str(label)] for x, label in enumerate(expected)]
    Path("odd.csv").write_text('delay,left\n"\nx,soon\n')
    status, said, told = command("predict", "run.db", "odd.csv")
    assert (status, said) == (2, "") and "most rows do not fit: 2 of 2" in told
    status, said, told = command("predict", "run.db", "odd.csv", "--out", "p.csv", "--check", "0")
    assert status == 0 and "2 rows with something missing or unknown" in told
    assert Path("p.csv").read_text().splitlines()[0] == "line,prediction"


def test_a_point_that_is_none_has_no_prediction(command: Command) -> None:
    command("learn", "events.csv", "--class", "thresholds:40", "--feature", "delay", "--label",
            "late", "--rounds", "300", "--learner", "private-majority", "--store", "t.db",
            "--out", "t.jsonl")  # fmt: skip
    status, said, told = command("predict", "t.jsonl", "events.csv", "--feature", "delay")
    assert status == 2 and "4 rows do not fit and have no prediction" in told
    assert next(row for row in csv.reader(said.splitlines()) if row[1] == "")[0] == "9"
    assert command("predict", "t.jsonl", "events.csv")[0] == 2  # no --feature
    assert command("predict", "events.csv", "events.csv")[0] == 2  # no rules


def test_a_run_that_began_quietly_does_not_stay_so(command: Command) -> None:
    command("learn", "--config", "run.toml", "--quiet")
    assert "quiet" not in command("status", "run.db", "--toml")[1]


NEVER, LATE = DecisionTree(SCHEMA, 0), DecisionTree(SCHEMA, ((0, 2, 2), 1, 0))
FLIPS = ((0, NEVER), (50, LATE), (9_000, NEVER), (9_010, LATE), (9_900, NEVER))


def flipping() -> Path:
    """Publish a good rule that gives way to a constant for a moment, and was seen last so."""
    chain, lines = b"", []
    for number, (after, rule) in enumerate(FLIPS, start=1):
        body = release_body(rule, run="0" * 32, number=number, round_number=after)
        chain = chained(chain, body)
        lines.append(release_line(Release(number, after, body, chain)) + b"\n")
    Path("flips.jsonl").write_bytes(b"".join(lines))
    Path("rows.csv").write_text("delay\n5\n25\n")
    return Path("flips.jsonl")


def test_predict_takes_the_steady_rule_and_says_which(command: Command) -> None:
    status, said, told = command("predict", str(flipping()), "rows.csv")
    assert status == 0 and said.splitlines()[1:] == ["2,0", "3,1"]
    assert "rule 5 of run" in told and LATE.describe() in told
    status, said, told = command("predict", "flips.jsonl", "rows.csv", "--last")
    assert status == 0 and said.splitlines()[1:] == ["2,0", "3,0"]


@pytest.mark.parametrize(
    ("options", "written"),
    [
        (("--sql",), LATE.to_sql()),
        (("--sql", "--dialect", "sqlite"), LATE.to_sql("sqlite")),
        (("--python",), LATE.to_python()),
        (("--svg",), LATE.svg()),
        ((), LATE.text()),
        (("--text", "--last"), NEVER.text()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_export_writes_the_rule_that_predict_uses(
    command: Command, options: tuple[str, ...], written: str
) -> None:
    status, said, _ = command("export", str(flipping()), *options)
    assert (status, said) == (0, written.rstrip("\n") + "\n")
    assert command("export", "flips.jsonl", *options, "--out", "rule.txt")[0] == 0
    assert Path("rule.txt").read_text() == written.rstrip("\n") + "\n"


def test_export_refuses_what_it_cannot_write(command: Command) -> None:
    before = flipping().read_bytes()
    assert "choose one" in command("export", "flips.jsonl", "--sql", "--python")[2]
    assert command("export", "flips.jsonl", "--out", "flips.jsonl")[0] == 2
    assert Path("flips.jsonl").read_bytes() == before


def test_status_names_the_class_in_words_and_has_json(command: Command) -> None:
    command("learn", "--config", "run.toml")
    assert (
        "learner:   DisjointBatches, decision trees over 2 fields" in command("status", "run.db")[1]
    )
    told = json.loads(command("status", "run.db", "--json")[1])
    assert told["learner"].endswith("over 2 fields") and "Schema(" not in json.dumps(told)
    assert told["rounds"] == 200 and isinstance(told["mistakes"], int)
    assert tomllib.loads(told["options"])["store"] == "run.db"
