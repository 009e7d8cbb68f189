"""Many lines that are split together are the rows that each line is by itself."""

from hypothesis import given
from hypothesis import strategies as st

from littlestone.runs.intake import lines
from littlestone.runs.intake.form import Form

VALUES = st.sampled_from(["", "a", "1.5", '"x"', '"x,y"', '"', ",", "a\r", "\r", "\x85"])
TEXTS = st.lists(st.lists(VALUES, max_size=4).map(",".join), max_size=8)


@given(texts=TEXTS, header=st.booleans(), size=st.sampled_from([1, 2, 256]))
def test_lines_are_rows_however_many_are_split_together(
    texts: list[str], header: bool, size: int
) -> None:
    form = Form(header=header)
    before, needed = (["a,b\n"], ["b", "a"]) if header else ([], ["2", "1"])
    whole = [*before, *(f"{text}\n" for text in texts)]
    usual, lines._AT_ONCE = lines._AT_ONCE, size  # type: ignore[misc]
    try:
        together = list(lines.csv_rows(whole, needed, form, ahead=True))
    finally:
        lines._AT_ONCE = usual  # type: ignore[misc]
    assert together == list(lines.csv_rows(whole, needed, form))
