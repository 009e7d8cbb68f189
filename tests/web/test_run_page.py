"""The page of a run in a real browser: live, quiet on the console, and to nobody but our server."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.served import BUDGET, serving
from tests.web.watched import WIDTHS, Watched

from littlestone.http.service import Role

pytestmark = pytest.mark.web


@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
def test_a_release_appears_by_itself(browser: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        watched = Watched(browser, served.port, size)
        watched.enter(served.tokens[Role.OWNER])
        watched.page.click("a[href='/view/abuse']")
        watched.page.wait_for_selector("text=live")
        assert watched.page.locator("text=The list is empty.").count() == 1
        client.send_many("abuse", [("spam.example", 1)] * 40)
        watched.page.wait_for_selector("li:has-text('spam.example')")
        watched.page.wait_for_selector("#timeline canvas")
        watched.page.wait_for_selector("#mistakes canvas")
        watched.page.wait_for_selector("#baselines li:has-text('list no key')")
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]
        assert watched.complaints == [] and watched.asked == {watched.address}
        watched.context.close()


def test_a_reader_sees_no_mistakes(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("line", concepts="thresholds:64", setting="realizable", **BUDGET)
        watched = Watched(browser, served.port, WIDTHS["desktop"])
        watched.enter(served.tokens[Role.READER])
        watched.page.click("a[href='/view/line']")
        watched.page.wait_for_selector("text=live")
        assert watched.page.locator("#mistakes").count() == 0
        assert watched.page.locator("svg[role=img]").count() == 2
        assert watched.complaints == []
        watched.context.close()


def test_a_page_waits_for_a_service_that_starts_again(browser: Any, tmp_path: Path) -> None:
    """A browser gives up a stream for good when it is answered with an error."""
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        watched = Watched(browser, served.port, WIDTHS["desktop"])
        watched.enter(served.tokens[Role.READER])
        streams = "**/runs/abuse/releases*"
        watched.page.route(streams, lambda route: route.fulfill(status=503))
        watched.page.click("a[href='/view/abuse']")
        watched.page.wait_for_selector("text=not connected")
        watched.page.unroute(streams)
        watched.page.wait_for_selector("text=live")
        assert watched.page.locator("#live").text_content() == "live"
        watched.context.close()


def test_an_owner_creates_and_deletes_a_run_on_the_page(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        watched = Watched(browser, served.port, WIDTHS["desktop"])
        watched.enter(served.tokens[Role.OWNER])
        watched.page.click("text=Create a run")
        watched.page.fill("[name=name]", "abuse")
        watched.page.fill("[name=class]", "no such class")
        watched.page.click("text=Create >> nth=-1")
        watched.page.wait_for_selector("#created:has-text('no such class')")
        watched.page.fill("[name=class]", "keys")
        watched.page.fill("[name=rounds]", "1000")
        watched.page.click("text=Create >> nth=-1")
        watched.page.wait_for_selector("text=live")
        watched.page.click("#delete")
        watched.page.wait_for_selector("text=There is no run yet")
        served.client().create("read", concepts="keys", **BUDGET)
        served.client().send("read", "spam.example", 1)
        watched.page.goto(f"http://{watched.address}/view/read")
        watched.page.click("#delete")
        watched.page.wait_for_selector("#deleted:has-text('has read events')")
        assert list(served.service.runs.hosted) == ["read"]
        watched.context.close()


def test_a_reader_cannot_create_a_run(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        watched = Watched(browser, served.port, WIDTHS["desktop"])
        watched.enter(served.tokens[Role.READER])
        watched.page.wait_for_selector("text=There is no run yet")
        assert watched.page.locator("#create").count() == 0
        watched.context.close()
