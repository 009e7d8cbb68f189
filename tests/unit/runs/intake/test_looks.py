"""A date is recognized by its shape first, with the same answer as by all formats."""

from datetime import UTC, datetime

import pytest

from littlestone.runs.intake.form import Form
from littlestone.runs.intake.looks import DATES, is_date, is_usual_date, kinds_in

MOMENTS = (
    datetime(2013, 11, 28, 17, 45, 56, tzinfo=UTC),
    datetime(2000, 2, 29, 0, 0, 0, tzinfo=UTC),
    datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(1970, 1, 1, 9, 5, 1, tzinfo=UTC),
)


@pytest.mark.parametrize("form", DATES)
def test_every_usual_format_is_recognized(form: str) -> None:
    texts = [moment.strftime(form) for moment in MOMENTS]
    texts += [text.replace("/0", "/").replace(".0", ".").lstrip("0") for text in texts]
    for text in (*texts, *(f"  {text} " for text in texts)):
        assert is_date(text, form) <= is_usual_date(text), text
    assert all(is_usual_date(text) for text in texts[: len(MOMENTS)])


@pytest.mark.parametrize(
    "text",
    ["m12345", "31.02.2013", "11.11", "1/2/3", "2013-13", "28 Nov", "12:30", "29/02/2023", "٢٠١٣"],
)
def test_what_no_format_reads_is_no_date(text: str) -> None:
    assert not any(is_date(text, form) for form in DATES) and not is_usual_date(text)


def test_a_word_is_not_compared_with_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand shops are one shape."""
    compared = []

    def noted(text: str, form: str | None) -> bool:
        compared.append(form)
        return False

    kind = kinds_in(Form())
    monkeypatch.setattr("littlestone.runs.intake.looks.is_date", noted)
    assert {kind(f"shop {number}") for number in range(10_000, 20_000)} == {"word"}
    assert len(compared) <= 10_000 + len(DATES)
