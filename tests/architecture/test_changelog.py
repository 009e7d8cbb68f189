"""The changelog has its headings, and promises have a history."""

import re
from pathlib import Path

from tests.public import public

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
HEADINGS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Privacy"}


def sections(text: str) -> dict[str, dict[str, str]]:
    """Version → heading → what stands under it."""
    versions = re.split(r"^## \[(.+?)\].*$", text, flags=re.MULTILINE)[1:]
    return {
        version: dict(
            zip(
                *[iter(re.split(r"^### (.+)$", body, flags=re.MULTILINE)[1:])] * 2,
                strict=True,
            )
        )
        for version, body in zip(versions[::2], versions[1::2], strict=True)
    }


def test_every_version_says_what_changed_about_privacy() -> None:
    found = sections(TEXT)
    assert found
    for version, headings in found.items():
        assert headings.get("Privacy", "").strip(), version


def unmentioned_promises(text: str) -> list[str]:
    """Public recipes that promise something and have no line in the text."""
    promising = [
        name
        for name, member in public().items()
        if isinstance(member, type)
        and callable(getattr(member, "guarantee", None))
        and "Guarantee:" in (member.__doc__ or "")
    ]
    assert promising
    return [name for name in promising if f"`{name}`" not in text]


def test_every_public_promise_is_in_the_changelog() -> None:
    history = "".join(headings["Privacy"] for headings in sections(TEXT).values())
    assert unmentioned_promises(history) == []
    assert unmentioned_promises(history.replace("`LazyForest`", "")) == ["LazyForest"]


def test_only_known_headings_are_used() -> None:
    for headings in sections(TEXT).values():
        assert set(headings) <= HEADINGS


def test_a_version_without_the_heading_is_noticed() -> None:
    broken = sections("## [1.0]\n\n### Added\n\n- something\n")
    assert "Privacy" not in broken["1.0"]
