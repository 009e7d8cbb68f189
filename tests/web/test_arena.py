"""Both games of the arena in a real browser, to their ends, by hand and by program."""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.test_arena_routes import Played, playing
from tests.web.watched import WIDTHS, Watched

from littlestone.audit.registry import CONTROLS
from littlestone.lab.arena import telling
from littlestone.lab.arena.telling import Suspect

pytestmark = pytest.mark.web
PICTURES = Path("out")
SIZES = pytest.mark.parametrize("size", WIDTHS)

MEASURE = """async clicks => {
  const times = [];
  for (let click = 0; click < clicks; click++) {
    const done = new Promise(resolve => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
      observer.observe(document.getElementById("round"), { childList: true });
    });
    const began = performance.now();
    document.querySelectorAll(".cell")[7].click();
    await done;
    times.push(performance.now() - began);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  return times;
}"""


@pytest.fixture(scope="module")
def arena() -> Iterator[Played]:
    with playing() as played:
        yield played


def entered(browser: Any, arena: Played, size: str, path: str) -> Watched:
    colors = "light" if size == "desktop" else "dark"
    watched = Watched(browser, arena.port, WIDTHS[size], colors=colors)
    watched.page.goto(f"http://{watched.address}{path}")
    return watched


def pictured(watched: Watched, name: str, size: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    watched.page.screenshot(path=PICTURES / f"arena-{name}-{size}.png", full_page=True)


@SIZES
def test_a_learner_is_fooled_to_the_end(
    browser: Any, arena: Played, size: str, tmp_path: Path
) -> None:
    watched = entered(browser, arena, size, "/arena")
    page = watched.page
    page.wait_for_selector("#bars >> text=mistake-forcing")
    page.click(".cell[data-x='7']")
    page.wait_for_selector("#mistakes:text-is('1')")
    page.click(".cell[data-x='14']")
    page.wait_for_selector("#said.bad:has-text('you gave 7 the label 1')")
    page.click("#until")
    page.wait_for_selector("#rule:has-text('1 on 7')")
    pictured(watched, "fool", size)
    page.click("text=to the end")
    page.wait_for_selector("text=The game is over")
    with page.expect_download() as saved:
        page.click("#download")
    record = tmp_path / "game.json"
    saved.value.save_as(record)
    played = json.loads(record.read_text())
    assert len(played["turns"]) == 500 and played["mistakes"] >= 2
    page.set_input_files("#file", record)
    page.wait_for_selector("#replay:not([hidden])")
    page.fill("#at", "500")
    assert f"{played['mistakes']} mistakes" in page.inner_text("#atwords")
    page.click("#fresh")
    page.wait_for_selector("#said:has-text('The difference is noise')")
    watched.check()
    watched.context.close()


def test_the_board_works_by_keyboard_alone(browser: Any, arena: Played) -> None:
    watched = entered(browser, arena, "desktop", "/arena")
    page = watched.page
    page.select_option("[name=board]", "line")
    page.wait_for_selector("#title:has-text('thresholds:24')")
    page.focus(".cell")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#round:text-is('1')")
    assert "you said 1" in page.get_attribute(".cell[data-x='13']", "aria-label")
    assert page.evaluate("document.activeElement.dataset.x") == "13"
    watched.check()
    watched.context.close()


def test_a_choice_made_while_a_game_is_set_up_is_kept(browser: Any, arena: Played) -> None:
    """The first game is answered only when the last of two choices stands on the page."""
    watched = Watched(browser, arena.port, WIDTHS["desktop"], colors="light")
    page, asked = watched.page, []
    page.route("**/arena/games/fool", lambda route: asked.append(route), times=1)
    with page.expect_request("**/arena/games/fool"):
        page.goto(f"http://{watched.address}/arena")
    page.select_option("[name=board]", "grid")
    page.select_option("[name=board]", "line")
    (first,) = asked
    first.continue_()
    page.wait_for_selector("#title:has-text('thresholds:24')")
    watched.check()
    watched.context.close()


def test_a_file_that_is_no_game_is_refused(browser: Any, arena: Played, tmp_path: Path) -> None:
    watched = entered(browser, arena, "desktop", "/arena")
    file = tmp_path / "game.json"
    file.write_text('{"kind": "something else"}')
    watched.page.wait_for_selector(".cell")
    watched.page.set_input_files("#file", file)
    watched.page.wait_for_selector("text=This file is no game of the arena.")
    watched.check()
    watched.context.close()


@SIZES
def test_two_worlds_are_guessed_by_hand(browser: Any, arena: Played, size: str) -> None:
    watched = entered(browser, arena, size, "/arena/tell")
    page = watched.page
    page.wait_for_selector("#stream li")
    assert page.is_disabled(".guess >> nth=0")
    page.click("#send button")
    page.wait_for_selector("#stream li >> nth=1")
    page.click("#challenge button")
    page.wait_for_selector("#stream li.special")
    for games in range(1, 4):
        page.click(".guess[data-bit='0']")  # the same moves are played again by themselves
        page.wait_for_selector(f"#tally:has-text('{games} games')")
        page.wait_for_selector("body:not([data-busy])")
        assert "which world is it now" in page.inner_text("#said")
    pictured(watched, "tell", size)
    page.click("#reveal")
    page.wait_for_selector("#truth:has-text('It was correct')")
    watched.check()
    watched.context.close()


def test_a_program_catches_a_broken_learner(
    browser: Any, arena: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that the first program catches; a second count begins with nothing."""
    control = CONTROLS["keys-noise-when-reported"]
    monkeypatch.setattr(telling, "FAILURE", 0.2)  # fewer games
    monkeypatch.setattr(Suspect, "chosen", lambda *_: (control.subject, f"broken: {control.bug}"))
    watched = entered(browser, arena, "desktop", "/arena/tell")
    page = watched.page
    page.wait_for_selector("#stream li")
    page.select_option("[name=wanted]", "broken")
    page.wait_for_selector("#tally:has-text('0 games')")
    page.select_option("#sample", "1")
    page.click(".play[data-games='200']")
    # By chance it may have caught it, too.
    page.wait_for_selector("#ran:has-text('The program has')")
    page.click("#restart")
    page.wait_for_selector("#tally:has-text('0 games')")
    page.select_option("#sample", "0")
    page.click(".play[data-games='3000']")
    page.wait_for_selector("#verdict:has-text('Refuted')")
    page.wait_for_selector("#ran:has-text('The program has caught it')")
    pictured(watched, "caught", "desktop")
    page.click("#reveal")
    page.wait_for_selector("#truth:has-text('query noise only in rounds')")
    watched.check()
    watched.context.close()


def test_a_person_catches_a_broken_learner(
    browser: Any, arena: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that lists a key by its true count: whoever looks is always right."""
    control = CONTROLS["keys-true-count"]
    monkeypatch.setattr(telling, "FAILURE", 0.2)  # fewer games
    monkeypatch.setattr(Suspect, "chosen", lambda *_: (control.subject, control.bug))
    watched = entered(browser, arena, "desktop", "/arena/tell")
    page = watched.page
    page.wait_for_selector("#stream li")
    page.click("#send button")
    page.wait_for_selector("#stream li >> nth=1")
    page.click("#challenge button")
    page.wait_for_selector("#stream li.special")
    games = 0
    while "Refuted" not in page.inner_text("#verdict"):
        page.wait_for_selector(".guess:not([disabled])")
        listed = page.locator("#stream li.special.changed").count()
        page.click(f".guess[data-bit='{0 if listed else 1}']")
        games += 1
        page.wait_for_selector(f"#tally:has-text('{games} games, {games} guesses right')")
        page.wait_for_selector("body:not([data-busy])")
        assert games < 60
    watched.check()
    watched.context.close()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("async function play() { await fetch('/arena'); }", "TypeError"),
        ("async function play() { importScripts('/static/run.js'); }", "NetworkError"),
        ("async function play(world) { while (true); }", "it made no move for ten seconds"),
        ("function played() {}", "must define play(world)"),
    ],
    ids=["fetch", "import", "endless", "nothing"],
)
def test_a_program_can_neither_send_nor_stay(
    browser: Any, arena: Played, program: str, told: str
) -> None:
    watched = entered(browser, arena, "desktop", "/arena/tell")
    page = watched.page
    page.wait_for_selector("#stream li")
    page.fill("#code", program)
    page.click(".play >> nth=0")
    page.wait_for_selector(f"#ran.bad:has-text('{told}')")
    assert watched.asked == {watched.address}
    watched.context.close()


def test_a_click_is_answered_at_once(browser: Any, arena: Played) -> None:
    """Asked for is a 99th percentile of 50 ms; what a loaded machine must keep is the median."""
    watched = entered(browser, arena, "desktop", "/arena")
    watched.page.wait_for_selector("#bars >> text=mistake-forcing")
    times = sorted(watched.page.evaluate(MEASURE, 200))
    print(f"click to DOM: median {statistics.median(times):.1f} ms, 99 % {times[197]:.1f} ms")
    assert statistics.median(times) <= 50
    watched.check()
    watched.context.close()
