"""Every folder can be taken in at a glance, a module's name says which it is, tests mirror code."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
UNIT = ROOT / "tests" / "unit"
MOST_MODULES = 15
# What a part is to its folder, not what it is about.
STRUCTURAL = {
    "algorithm",
    "bound",
    "core",
    "plan",
    "protocols",
    "recipe",
    "reference",
    "registry",
    "run",
}
# A module of this folder is called like the command it holds.
COMMANDS = "cli"


def modules() -> list[Path]:
    return [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.stem != "__init__"]


def full_rooms(paths: Iterable[Path]) -> dict[str, int]:
    rooms = Counter(path.parent.as_posix() for path in paths)
    return {room: count for room, count in rooms.items() if count > MOST_MODULES}


def shared_names(paths: Iterable[Path]) -> list[str]:
    """The public names, structural ones and commands aside, that several modules have."""
    names = Counter(
        path.stem for path in paths if not path.stem.startswith("_") and path.parts[0] != COMMANDS
    )
    return [name for name, count in names.items() if count > 1 and name not in STRUCTURAL]


def folders(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_dir() and any(path.rglob("*.py"))
    }


def test_no_room_is_too_full() -> None:
    assert full_rooms(modules()) == {}


def test_no_two_public_modules_have_one_name() -> None:
    assert shared_names(modules()) == []


def test_unit_tests_mirror_the_code() -> None:
    assert folders(UNIT) <= folders(SOURCE)


def test_the_checks_notice_what_they_look_for() -> None:
    crowd = [Path(f"room/m{i}.py") for i in range(MOST_MODULES)]
    assert full_rooms(crowd) == {}
    assert full_rooms([*crowd, Path("room/last.py")]) == {"room": MOST_MODULES + 1}
    twice = [Path("a/hedge.py"), Path("b/hedge.py"), Path("a/recipe.py"), Path("b/recipe.py")]
    assert shared_names(twice) == ["hedge"]
    assert shared_names([Path("cli/play.py"), Path("game/play.py"), Path("a/_x.py")]) == []
    assert "architecture" in folders(ROOT / "tests") - folders(SOURCE)
