"""The command page has every option of ``learn``, as its help words it, and every command."""

from pathlib import Path

from littlestone.cli.main import COMMANDS, imported

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text(
    encoding="utf-8"
)


def test_every_option_of_learn_is_on_the_page() -> None:
    rows = [
        f"| `{parameter.opts[0]}` | {parameter.help} |"
        for parameter in imported("learn").params
        if parameter.opts[0].startswith("--") and parameter.name != "help"
    ]
    assert len(rows) > 20
    table = "\n".join(["| option | what it says |", "|---|---|", *rows])
    assert f"{table}\n\n" in PAGE, f"the page should have\n{table}"


def test_every_command_has_a_section() -> None:
    assert [name for name in COMMANDS if f"\n## {name}\n" not in PAGE] == []
