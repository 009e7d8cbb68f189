# `make run` and `make test` set up everything they need; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
# Compiling every dependency takes longer than compiling what is imported, when it is.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# Bytecode is kept, whatever the shell says: else each process of a test run compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

# Neighbours stay together, so that what one test has planned the next one has, too.
# One worker more than cores, since some tests wait; threads of theirs would only wait for each other.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup run serve arena test test-web test-site check format lint types layers examples notebooks statistical slow test-fleet test-spark prove build test-wheel test-versions claims audit curves bench bench-beside docs docs-serve gallery kills damage rows hostile golden lock clean book kills-served fuzz bridge kills-fleet

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'

# The pip that comes with Python 3.11 takes twice as long to look through the index as a new one.
$(TESTABLE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --upgrade pip
	$(BIN)/python $(INSTALL) -e '.[test]'
	@touch $(TESTABLE)

$(READY): $(TESTABLE)
	$(BIN)/python $(INSTALL) -e '.[dev]'
	@touch $(READY)

# What only some tests need is installed once, for instance .venv/.web for the extra "web".
$(VENV)/.%: $(READY)
	$(BIN)/python $(INSTALL) -e '.[$*]'
	@touch $@

setup: $(READY) ## Create .venv with everything that development needs

run: $(TESTABLE) ## Play the demonstration: learners against adversaries
	$(BIN)/littlestone demo
	@echo "Go on with: make serve (learners behind HTTP, with a live page), make arena (play the adversary)"

serve: $(TESTABLE) ## Start the service with two runs that learn while you look
	$(BIN)/littlestone serve --demo --store out/serve

arena: $(TESTABLE) ## Play the adversary in your browser: fool a learner, tell two worlds apart
	$(BIN)/littlestone arena

test-web: $(VENV)/.web ## The service killed and fuzzed, its pages in a headless Chromium; skips say what is missing
	$(PYTEST) -m web tests/web tests/end_to_end/test_killed_service.py --ignore tests/web/test_site.py

test-site: $(VENV)/.web docs ## Every page of the site at 400 and 1280 pixels in a headless Chromium; skips without one
	SITE=out/site $(BIN)/python -m pytest -m web tests/web/test_site.py

FUZZED ?= 20000
fuzz: $(VENV)/.web ## Send the service FUZZED hostile requests (20000), half of them drawn from its own document
	FRESH=1 FUZZED=$$(($(FUZZED) / 2)) REQUESTS=$$(($(FUZZED) / 2)) $(BIN)/python -m pytest -m web -s tests/web/test_fuzzed_service.py

test: $(TESTABLE) ## The quick suite: unit, properties, conformance, doctests, README
	$(PYTEST) -m "not slow and not statistical and not fleet and not spark and not web"

check: lint types layers docs test-site test examples ## Format, lint, types, layers, site, tests, doctests, examples

examples: $(READY) ## Run every example
	@printf '%s\n' examples/*.py | xargs -P 2 -I EXAMPLE sh -c 'echo EXAMPLE; $(BIN)/python EXAMPLE > /dev/null'

NOTEBOOKS := paper_in_an_hour rule_from_your_table
notebooks: $(VENV)/.notebooks ## Make notebooks of two examples and execute them; they are in out/notebooks
	@mkdir -p out/notebooks
	@for name in $(NOTEBOOKS); do \
	  $(BIN)/jupytext --quiet --to ipynb --output out/notebooks/$$name.ipynb examples/$$name.py && \
	  $(BIN)/jupyter-execute --startup_timeout=600 --inplace out/notebooks/$$name.ipynb || exit 1; \
	done
	@ls out/notebooks/*.ipynb

format: $(READY) ## Rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) # code, tests, examples, benchmarks and tools
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

statistical: $(READY) ## The statistical tests, with fresh seeds, and four times the examples of each property
	HYPOTHESIS_PROFILE=usual $(PYTEST) -m "(statistical or hypothesis) and not slow" tests

# Sizes that a few minutes allow are the tests' own; any variable may also be given by itself.
FULL_SIZES := FRESH=1 KILLS=500 DAMAGED=5000 STARTS=250 CALLS=60000 SPOILED=6000 TABLES=105000
slow: $(READY) ## What takes long: large audits, kills, damaged stores; FULL=1 for full sizes and fresh noise
	$(if $(FULL),$(FULL_SIZES) )$(PYTEST) -m "slow and not fleet" tests

FLEET_KILLS ?= 300
kills-fleet: $(TESTABLE) ## Kill the workers and the server of a fleet FLEET_KILLS times (300), with and without users
	KILLS=$(FLEET_KILLS) $(BIN)/python -m pytest -m fleet tests/end_to_end/test_killed_fleet.py -s

test-fleet: $(TESTABLE) ## A fleet on a PostgreSQL server of its own: kills, rollbacks, the commands
	$(BIN)/python -m pytest -m fleet tests/end_to_end -s

# Its own environment: Spark needs an older pandas.
SPARK := out/spark
$(SPARK)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[spark]' hypothesis pytest
	@touch $(SPARK)/.ready

test-spark: $(SPARK)/.ready ## A fleet on Apache Spark: kills, rollbacks, every file, what is refused; skips without Java
	$(SPARK)/bin/python -m pytest -m spark tests/end_to_end/test_spark.py tests/end_to_end/test_spark_files.py -s

prove: ## Check every machine-checked proof and what it assumes; without Coq it says what to install
	$(PYTHON) proofs/check.py

SHARE ?= 1
bridge: prove $(TESTABLE) ## Compare Coq's law with the code's, as fractions, on 10,000 instances and broken variants
	SHARE=$(SHARE) $(BIN)/python proofs/bridge/compare.py

build: $(READY) ## Build wheel and sdist into dist; the wheel is made from the sdist
	rm -rf dist
	$(BIN)/python -m build --outdir dist > /dev/null
	@ls dist

test-wheel: build ## Install the wheel into a clean environment and use it
	rm -rf out/wheel
	$(PYTHON) -m venv out/wheel
	out/wheel/bin/python $(INSTALL) dist/*.whl
	out/wheel/bin/python -I tests/installed.py wheel

# For instance: make test-versions PYTHONS="python3.12 path/to/python3.13"
PYTHONS ?= python3.11 python3.12 python3.13
QUICK := src tests/golden tests/unit/privacy/mechanisms tests/unit/privacy tests/unit/theory tests/conformance/test_every_private_learner.py

test-versions: ## Doctests and a quick subset of the tests on every Python of PYTHONS that is here
	@tried=0; for python in $(PYTHONS); do \
	  $$python -c "" > /dev/null 2>&1 || { echo "$$python is not here"; continue; }; \
	  place=out/$$($$python -c 'import sys; print("python%d.%d" % sys.version_info[:2])'); tried=1; \
	  echo "$$python, in $$place"; \
	  $$python -m venv $$place && \
	  $$place/bin/python $(INSTALL) -e '.[test]' && \
	  $$place/bin/python -I tests/installed.py && \
	  $$place/bin/python -m pytest -n auto -m "not slow and not statistical" $(QUICK) || exit 1; \
	done; [ $$tried = 1 ]

claims: $(READY) ## Reproduce the paper's statements at full size
	$(BIN)/littlestone claims --full --out out/claims

audit: $(READY) ## Regenerate the auditor's detection matrix
	$(BIN)/littlestone audit --matrix docs/AUDIT.md

curves: $(READY) ## Draw the exact privacy curves again
	$(BIN)/python docs/tools/privacy_curves.py

bench: $(READY) ## Print every benchmark beside its target
	$(BIN)/python -m benchmarks

NAMES ?= service serve fleet private_keys blocks
TIMES ?= 3
bench-beside: $(READY) ## Run benchmarks of the commit OLD beside those of this tree, in turns: NAMES, TIMES
	$(BIN)/python benchmarks/_beside.py $(OLD) $(NAMES) --times $(TIMES)

docs: $(READY) ## Build the documentation site into out/site; warnings are errors
	@mkdir -p out # with --quiet mkdocs would not count its warnings
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict > out/docs.log 2>&1 || { grep -v INFO out/docs.log; exit 1; }
	@grep -q PrivateMajority out/site/reference/learners.html
	@echo "The site is in out/site: open out/site/index.html"

docs-serve: docs ## Serve the documentation site at http://127.0.0.1:8008
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory out/site 8008

gallery: $(READY) ## Write the gallery of claims again
	$(BIN)/python docs/tools/gallery.py

KILLS ?= 240
kills: $(READY) ## Kill durable runs KILLS times (240) and check that nothing is lost or changed
	FRESH=1 KILLS=$(KILLS) $(BIN)/python -m pytest -n auto -m slow tests/end_to_end/test_killed_runs.py

book: $(READY) ## Kill learn --book at every change of a file, and flip every bit of a book; prints both counts
	$(BIN)/python -m pytest -n 0 -s tests/end_to_end/test_killed_before_entry.py tests/unit/runs/test_book.py -k "two_stores_on_one_entry or flipped_bit"

SERVED_KILLS ?= 500
kills-served: $(READY) ## Kill the service SERVED_KILLS times (500) under clients that retry
	KILLS=$(SERVED_KILLS) $(BIN)/python -m pytest -m slow -s tests/end_to_end/test_killed_service.py

DAMAGED ?= 5000
damage: $(READY) ## Damage DAMAGED stores (5000) and check that each is refused or opens whole
	FRESH=1 DAMAGED=$(DAMAGED) $(BIN)/python -m pytest -n auto -m slow tests/end_to_end/test_damaged_stores.py

CALLS ?= 60000
hostile: $(READY) ## Call everything public CALLS times (60000) with hostile values; EXTREME=1 for worse ones
	FRESH=1 CALLS=$(CALLS) $(BIN)/python -m pytest -n 0 -m slow tests/conformance/test_hostile_calls.py

TABLES ?= 105000
rows: $(READY) ## Replace one row of TABLES hostile tables (105000) and count the rounds that change
	FRESH=1 TABLES=$(TABLES) $(PYTEST) -m slow -rP tests/properties/test_one_row_one_round.py

golden: $(READY) ## Write the golden transcripts again
	$(BIN)/python -m tests.golden.regenerate

lock: $(READY) ## Write constraints.txt from the current environment
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

clean: ## Remove .venv and every cache
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache out
