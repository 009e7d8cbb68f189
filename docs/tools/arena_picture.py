"""Play both games of the arena in a headless browser and draw them: docs/images/arena.webp.

    python docs/tools/arena_picture.py

Needs Chromium and the extra ``web``. Which bug the second game meets is left to chance; the film is
remade until the program has caught it.
"""

import io
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from littlestone.http.arena import arena_application
from littlestone.http.server import server

PICTURE = Path(__file__).parents[1] / "images" / "arena.webp"
SIZE: Any = {"width": 980, "height": 1010}
SHOWN = 784, 808
LONG, SHORT = 1800, 450  # milliseconds
MOST_TRIES = 8


@contextmanager
def arena() -> Iterator[str]:
    running = server(arena_application(), port=0)
    threading.Thread(target=running.run, daemon=True).start()
    while not running.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.stop()


class Film:
    """Pictures of a page, each with the time that it is shown."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.frames: list[tuple[Image.Image, int]] = []

    def shoot(self, shown: int) -> None:
        self._page.wait_for_selector("body:not([data-busy])")
        image = Image.open(io.BytesIO(self._page.screenshot()))
        self.frames.append((image.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS), shown))

    def save(self, path: Path) -> None:
        first, *others = [image for image, _ in self.frames]
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=[shown for _, shown in self.frames],
            loop=0,
            quality=60,
            method=6,
        )


def click(page: Any, selector: str) -> None:
    """Without scrolling to it, which would shake the picture."""
    page.eval_on_selector(selector, "element => element.click()")


def fooled(page: Any, film: Film) -> None:
    """A few mistakes on the grid, an example that no concept fits, and the rule changes."""
    page.wait_for_selector("#bars >> text=mistake-forcing")
    film.shoot(LONG)
    for clicks in range(1, 5):
        click(page, ".cell[data-x='14']")
        page.wait_for_selector(f"#round:text-is('{clicks}')")
        film.shoot(SHORT)
    click(page, ".cell[data-x='21']")
    page.wait_for_selector("#said.bad")
    film.shoot(LONG)
    click(page, "#until")
    page.wait_for_selector("#rule:has-text('1 on 14')")
    film.shoot(LONG)


def caught(page: Any, film: Film) -> bool:
    """A program plays against a broken learner until the claim is refuted, or too long."""
    page.wait_for_selector("#stream li")
    page.select_option("[name=learner]", "forest")
    page.select_option("[name=wanted]", "broken")
    page.wait_for_selector("#facts:has-text('forest')")
    film.shoot(LONG)
    click(page, ".play[data-games='3000']")
    for _ in range(6):
        page.wait_for_timeout(350)
        film.shoot(SHORT)
        if "Refuted" in page.inner_text("#verdict"):
            break
    page.wait_for_selector("#ran:has-text('The program has')", timeout=90_000)
    click(page, "#reveal")
    page.wait_for_selector("#truth:not(:empty)")
    film.shoot(2 * LONG)
    return "Refuted" in page.inner_text("#verdict")


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with arena() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        for _ in range(MOST_TRIES):
            film = Film(page)
            page.goto(f"{address}/arena")
            fooled(page, film)
            page.goto(f"{address}/arena/tell")
            if caught(page, film):
                film.save(PICTURE)
                break
        browser.close()


if __name__ == "__main__":
    main()
