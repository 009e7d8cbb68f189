"""The documentation site from disk, on a telephone and on a desk: it fits, and asks for nothing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

pytestmark = pytest.mark.web
ROOT = Path(__file__).parents[2]
TALLEST = 40_000  # pixels at a width of 400; reference pages list every name
LONG = {"reference", "proofs"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # With --quiet mkdocs would not count its warnings.
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir"]
    subprocess.run(
        [*build, str(folder)], cwd=ROOT, check=True, env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"}
    )
    return folder


@pytest.mark.parametrize("width", [400, 1280])
def test_every_page_fits(browser: Any, site: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    context.set_default_timeout(1000 * PATIENCE)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    wrong = {}
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        wide, tall = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        name = path.relative_to(site)
        if wide > width or (tall > TALLEST and name.parts[0] not in LONG):
            wrong[str(name)] = (wide, tall)
    assert not wrong
    assert all(url.startswith(("file:", "data:")) for url in asked)
    context.close()


def test_search_works_from_disk(browser: Any, site: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("AboveThreshold", delay=20)
    page.wait_for_selector(".md-search-result__item")
    assert page.locator(".md-search-result__item").count() > 0
    context.close()
