"""Write golden transcripts and forms of recipes anew: ``python -m tests.golden.regenerate``.

Read the difference before committing it: every line that changed is a change of behaviour.
"""

from tests.golden import recipes
from tests.golden.games import TRANSCRIPTS, games, text_of


def main() -> None:
    TRANSCRIPTS.mkdir(exist_ok=True)
    wanted = dict(games())
    for path in TRANSCRIPTS.glob("*.txt"):
        if path.name not in wanted:
            path.unlink()
    for name, pairs in wanted.items():
        (TRANSCRIPTS / name).write_text(text_of(pairs), encoding="utf-8")
    recipes.FORMS.write_text(recipes.text_of(recipes.recipes()), encoding="utf-8")
    print(f"wrote {len(wanted)} transcripts to {TRANSCRIPTS}")


if __name__ == "__main__":
    main()
