# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A private rule from your table
#
# From a table to a rule that you may publish: declare the columns, check the file, learn, and use
# the rule in a database. Replace the first cell by your own file and follow the same steps.

# %%
import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

place = tempfile.TemporaryDirectory()  # deleted at the end; choose a folder of your own
folder = Path(place.name)

# %% [markdown]
# ## 1. A table
#
# Each row is one loan, and each loan belongs to one person. Four of five loans without a house and
# with an income below 25,000 default; of the others one of ten does. All rows are made up.

# %%
draws = np.random.default_rng(28)
with (folder / "loans.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["income", "age", "purpose", "defaulted"])
    for _ in range(5_000):
        income, age = int(draws.lognormal(10.3, 0.5)), int(draws.integers(18, 80))
        purpose = str(draws.choice(["car", "house", "other"]))
        risk = 0.8 if income < 25_000 and purpose != "house" else 0.1
        writer.writerow([income, age, purpose, "yes" if draws.random() < risk else "no"])

# %% [markdown]
# ## 2. A schema
#
# A rule compares a number with the values of a grid, and a category with its declared values. The
# schema is published with every rule, so write it from public knowledge. Do not read it off
# the rows: a rare value in it would reveal that a person has it.

# %%
SCHEMA = """
[income]
grid = [10000, 15000, 20000, 25000, 30000, 40000, 60000]

[age]
grid = [25, 35, 45, 55, 65]

[purpose]
values = ["car", "house", "other"]
missing = "other"
"""
(folder / "schema.toml").write_text(SCHEMA)


def littlestone(*words: str) -> str:
    """Run the command line in the folder and return what it prints."""
    command = [sys.executable, "-m", "littlestone", *words]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return done.stdout


# %% [markdown]
# ## 3. Check
#
# `check` reads the file as `learn` does. It spends no budget. It prints data, so its output is for
# you alone.

# %%
print(littlestone("check", "loans.csv", "--schema", "schema.toml", "--label", "defaulted"))

# %% [markdown]
# ## 4. Learn
#
# Every row is one round. ε = 1 is the budget for the whole stream of rules. The store holds
# secrets: keep it like the data. `rules.jsonl` is the public part.

# %%
learn = ["learn", "loans.csv", "--schema", "schema.toml", "--label", "defaulted"]
learn += ["--epsilon", "1", "--rounds", "5000", "--store", "run.db", "--out", "rules.jsonl"]
littlestone(*learn, "--report", "report.html", "--quiet")
for line in (folder / "rules.jsonl").read_text(encoding="utf-8").splitlines():
    release = json.loads(line)
    if "release" in release:  # a long run also writes that it is alive
        print(f"after round {release['round']}: {release['rule']}")

# %% [markdown]
# ## 5. The steady rule
#
# The noise may make a single rule worse than the one before it. `predict` and `export` use the
# *steady* rule: a vote of the recent rules, weighted by the time that each was in force. It is
# computed from public rules, so it costs no budget.

# %%
print(littlestone("export", "rules.jsonl", "--text"))

# %% [markdown]
# ## 6. The report
#
# `report.html` is one page for you and your privacy officer. It has the promise in a sentence, the
# rules over time and the ledger. It also shows mistakes, which are computed from the labels:
# do not publish that part.

# %%
print(f"report.html: {(folder / 'report.html').stat().st_size:,} bytes")

# %% [markdown]
# ## 7. In a database
#
# The rule leaves as one SQL expression. The database needs nothing of this library. NULL and
# values that are not declared count as the stand-in of their field, as in `predict`.

# %%
rule = littlestone("export", "rules.jsonl", "--sql", "--dialect", "sqlite").strip()
print(rule)

with (folder / "loans.csv").open(newline="") as file:
    rows = [(int(row["income"]), int(row["age"]), row["purpose"]) for row in csv.DictReader(file)]
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE loans (income INTEGER, age INTEGER, purpose TEXT)")
database.executemany("INSERT INTO loans VALUES (?, ?, ?)", rows)
in_sql = [label for (label,) in database.execute(f"SELECT {rule} FROM loans ORDER BY rowid")]
database.close()

predictions = littlestone("predict", "rules.jsonl", "loans.csv").splitlines()[1:]
assert in_sql == [int(line.split(",")[1]) for line in predictions]
print(f"SQLite and predict agree on {len(in_sql):,} rows")

# %% [markdown]
# ## 8. What to tell the privacy officer
#
# The promise is about one row. If a person has several rows, add `--user COLUMN` and
# `--max-contributions`. Two runs on the same rows cost the sum of both budgets.

# %%
status = json.loads(littlestone("status", "run.db", "--json"))
print(
    "We publish a rule and its updates. They are computed from labelled events by an algorithm "
    f"that is differentially private with respect to replacing one event, with {status['promise']} "
    f"for the whole stream of at most {status['rounds']:,} events. The guarantee holds even if "
    "those who read the rules influence later events. It does not depend on assumptions about "
    "the data. It assumes that the operating system's randomness is good and that nobody "
    "measures the running time of single steps. The state on disk is confidential and is "
    "protected like the data."
)
place.cleanup()
