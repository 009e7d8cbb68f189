"""The documentation site from disk, on a telephone and on a desk: it fits, and asks for nothing."""

import os
import subprocess
import sys
from collections.abc import Iterable
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
    if built := os.environ.get("SITE"):  # ``make docs`` has just built it
        return ROOT / built
    folder = tmp_path_factory.mktemp("site")
    # With --quiet mkdocs would not count its warnings.
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir"]
    subprocess.run(
        [*build, str(folder)], cwd=ROOT, check=True, env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"}
    )
    return folder


def unfit(
    browser: Any, site: Path, paths: Iterable[Path], width: int
) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """The pages that are wider than the screen or too tall, and what was requested elsewhere."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    context.set_default_timeout(1000 * PATIENCE)
    page, requested = context.new_page(), []
    page.on("request", lambda request: requested.append(request.url))
    wrong = {}
    for path in paths:
        page.goto(path.as_uri())
        wide, tall = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        name = path.relative_to(site)
        if wide > width or (tall > TALLEST and name.parts[0] not in LONG):
            wrong[str(name)] = (wide, tall)
    context.close()
    return wrong, [url for url in requested if not url.startswith(("file:", "data:"))]


@pytest.mark.parametrize("width", [400, 1280])
def test_every_page_fits(browser: Any, site: Path, width: int) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    assert unfit(browser, site, pages, width) == ({}, [])


def test_a_page_that_is_too_wide_too_tall_or_not_from_disk_is_noticed(
    browser: Any, tmp_path: Path
) -> None:
    image = '<img src="http://127.0.0.1:9/picture.png">'
    sizes = {"fits": "width: 99%", "wide": "width: 500px", "tall": f"height: {TALLEST + 1}px"}
    pages = [tmp_path / f"{name}.html" for name in sizes]
    for path, style in zip(pages, sizes.values(), strict=True):
        path.write_text(f'<body style="margin: 0"><div style="{style}">{image}</div>', "utf-8")
    wrong, elsewhere = unfit(browser, tmp_path, pages, 400)
    assert wrong.keys() == {"wide.html", "tall.html"}
    assert elsewhere == ["http://127.0.0.1:9/picture.png"] * len(pages)


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
