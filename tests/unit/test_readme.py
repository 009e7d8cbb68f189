"""The README's session, executed."""

import doctest
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_session_in_the_readme_works() -> None:
    results = doctest.testfile(
        str(README), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    assert results.attempted >= 8
    assert results.failed == 0
