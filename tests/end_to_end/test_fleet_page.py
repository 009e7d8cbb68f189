"""The plan on the fleet's page is computed from what was measured, and says what it assumes."""

import json

from docs.tools import fleet_plan
from docs.tools.written import with_tables


def test_the_tables_of_the_page_are_computed_from_the_kept_measurements() -> None:
    text = fleet_plan.PAGE.read_text(encoding="utf-8")
    kept = json.loads(fleet_plan.KEPT.read_text(encoding="utf-8"))
    computed = fleet_plan.tables(kept)
    # To bring it up to date: python -m docs.tools.fleet_plan
    assert with_tables(text, computed) == text
    for name in computed:
        assert f"<!-- measured: {name} -->" in text


def test_a_dead_machine_is_caught_up_with_and_sooner_by_many() -> None:
    few, many = fleet_plan._after_a_death(4, 60), fleet_plan._after_a_death(64, 60)
    assert 60 <= many[0] <= few[0] and many[1] < few[1]
    assert fleet_plan._after_a_death(16, 1)[1] < fleet_plan._after_a_death(16, 60)[1]
