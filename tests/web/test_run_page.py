"""The page of a run in a real browser: live, quiet on the console, and to nobody but our server."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.serve.served import BUDGET, Served, serving

from littlestone.serve.tokens import Role

pytestmark = pytest.mark.web
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = {"desktop": (1280, 900), "phone": (380, 780)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'littlestone[web]'"
    )
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


class Watched:
    """A page, what it wrote on the console, and whom it asked for anything."""

    def __init__(self, browser: Any, served: Served, size: tuple[int, int]) -> None:
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: set[str] = set()
        self.page.on("console", lambda said: self._hear(said.type, said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.add(request.url.split("/")[2]))
        self.address = f"127.0.0.1:{served.port}"

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def enter(self, token: str) -> None:
        self.page.goto(f"http://{self.address}/")
        self.page.fill("input[name=token]", token)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("table")


@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
def test_a_release_appears_by_itself(browser: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        watched = Watched(browser, served, size)
        watched.enter(served.tokens[Role.OWNER])
        watched.page.click("a[href='/view/abuse']")
        watched.page.wait_for_selector("text=live")
        assert watched.page.locator("text=The list is empty.").count() == 1
        client.send_many("abuse", [("spam.example", 1)] * 40)
        watched.page.wait_for_selector("li:has-text('spam.example')", timeout=5_000)
        watched.page.wait_for_selector("#timeline canvas")
        watched.page.wait_for_selector("#mistakes canvas")
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]
        assert watched.complaints == [] and watched.asked == {watched.address}
        watched.context.close()


def test_a_reader_sees_no_mistakes(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("line", concepts="thresholds:64", setting="realizable", **BUDGET)
        watched = Watched(browser, served, WIDTHS["desktop"])
        watched.enter(served.tokens[Role.READER])
        watched.page.click("a[href='/view/line']")
        watched.page.wait_for_selector("text=live")
        assert watched.page.locator("#mistakes").count() == 0
        assert watched.page.locator("svg[role=img]").count() == 2
        assert watched.complaints == []
        watched.context.close()
