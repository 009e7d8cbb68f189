"""The report in a real browser, as a file: readable on a desk and on a phone, light and dark."""

from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.report import report

pytestmark = pytest.mark.web
FIELDS = {f"a rather long name of field {i}": {"grid": [1, 2, 3, 4, 5, 6, 7]} for i in range(6)}
SCHEMA = Schema.from_mapping(FIELDS)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    recipe = DisjointBatches(concepts=DecisionTrees(SCHEMA, 2), epsilon=20.0, first=8)
    run = DurableRun.start(recipe, folder / "run.db")
    cells = [[(i * 7 + f) % 8 for f in range(6)] for i in range(600)]
    run.take([Event(f"e{i}", cell, int(cell[0] > 3)) for i, cell in enumerate(cells)])
    (folder / "report.html").write_text(report(run, bound=None, floor=3.0, data="events.csv"))
    run.close()
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_overflows_and_the_left_column_is_readable(
    browser: Any, written: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=True
    )
    context.set_default_timeout(1000 * PATIENCE)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(written.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heads = "[...document.querySelectorAll('th')].map(e => e.getBoundingClientRect().width)"
    narrowest = min(page.evaluate(heads))
    assert narrowest >= 80  # a column two letters wide is 30
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert complaints == []
    context.close()


def test_it_prints_in_black_on_white(browser: Any, written: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(written.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf()[:5] == b"%PDF-"
    context.close()
