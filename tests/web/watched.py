"""A page of a browser, and what it does that it should not."""

from typing import Any

from tests.patience import PATIENCE

WIDTHS = {"desktop": (1280, 900), "phone": (380, 780)}


class Watched:
    """A page, what it wrote on the console, and whom it asked for anything."""

    def __init__(
        self, browser: Any, port: int, size: tuple[int, int], *, colors: str = "light"
    ) -> None:
        self.size = size
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=colors
        )
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: set[str] = set()
        self.page.on("console", lambda said: self._hear(said.type, said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.add(request.url.split("/")[2]))
        self.address = f"127.0.0.1:{port}"

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def enter(self, token: str) -> None:
        self.page.goto(f"http://{self.address}/")
        self.page.fill("input[name=token]", token)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("main:not(:has(input[name=token]))")

    def check(self) -> None:
        """Nothing was complained about, nobody else was asked, and nothing is too wide."""
        assert self.complaints == [] and self.asked == {self.address}
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.size[0]
