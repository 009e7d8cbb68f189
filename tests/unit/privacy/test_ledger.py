"""The ledger refuses what would break the promise, and forgets nothing."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.errors import BudgetExceededError, SnapshotError
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.ledger import SEEDED, Ledger
from littlestone.privacy.zcdp import ZeroConcentrated

ONE = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
HALF = PrivacyGuarantee(epsilon=0.5)


def ledger(budget: PrivacyGuarantee = ONE, private: bool = True) -> Ledger:
    return Ledger(budget=budget, private=private)


def test_releases_from_the_same_rounds_add_up() -> None:
    book = ledger()
    book.charge("first", HALF, first=1, last=10)
    book.charge("second", HALF, first=10, last=20)
    assert book.spent() == PrivacyGuarantee(epsilon=1.0)
    with pytest.raises(BudgetExceededError):
        book.charge("third", PrivacyGuarantee(epsilon=5e-324), first=10, last=10)


def test_releases_from_disjoint_rounds_cost_the_largest() -> None:
    book = ledger()
    for start in range(1, 100, 10):
        book.charge("AboveThreshold", PrivacyGuarantee(epsilon=1.0), first=start, last=start + 9)
    assert book.spent() == PrivacyGuarantee(epsilon=1.0)


def test_an_open_release_is_paid_by_all_later_rounds_until_it_is_closed() -> None:
    book = ledger()
    running = book.charge("AboveThreshold", PrivacyGuarantee(epsilon=1.0), first=5)
    book.charge("before", HALF, first=1, last=4)
    with pytest.raises(BudgetExceededError):
        book.charge("after", HALF, first=1000, last=1000)
    closed = book.close(running, last=9)
    assert closed.rounds == "5–9"
    book.charge("after", HALF, first=10)
    with pytest.raises(BudgetExceededError):
        book.charge("within", HALF, first=9, last=9)


def test_a_release_is_closed_once_and_only_by_its_own_ledger() -> None:
    book = ledger()
    running = book.charge("AboveThreshold", HALF, first=5)
    with pytest.raises(ValueError, match="last=3"):
        book.close(running, last=3)
    book.close(running, last=9)
    with pytest.raises(ValueError, match="closed at round 9"):
        book.close(running, last=8)
    with pytest.raises(ValueError, match="one of this ledger's"):
        ledger().close(running, last=9)


def test_deltas_that_do_not_hold_on_every_prefix_add_up_over_all_rounds() -> None:
    book = ledger()
    cost = PrivacyGuarantee(epsilon=1.0, delta=5e-7)
    book.charge("copy", cost, first=1, last=10, prefix_conditional=False)
    book.charge("copy", cost, first=11, last=20, prefix_conditional=False)
    assert book.spent() == ONE
    with pytest.raises(BudgetExceededError):
        book.charge("copy", cost, first=21, last=30, prefix_conditional=False)
    with pytest.raises(BudgetExceededError):  # nobody has any delta left
        book.charge("other", PrivacyGuarantee(epsilon=0.1, delta=1e-9), first=99, last=99)


def test_a_delta_elsewhere_leaves_less_for_releases_that_everyone_pays() -> None:
    book = ledger()
    book.charge("fresh noise", PrivacyGuarantee(epsilon=0.1, delta=8e-7), first=1, last=5)
    with pytest.raises(BudgetExceededError):
        book.charge(
            "copy",
            PrivacyGuarantee(epsilon=0.1, delta=5e-7),
            first=50,
            last=60,
            prefix_conditional=False,
        )


def test_concentrated_costs_come_out_of_their_own_part() -> None:
    plain = PrivacyGuarantee(epsilon=0.25)
    rest = ONE.less(plain)
    rho = ZeroConcentrated.largest(epsilon=rest.epsilon, delta=rest.delta)
    book = Ledger(budget=ONE, private=True, concentrated=rho, concentrated_delta=1e-6)
    each = rho.divided(10)
    for phase in range(10):
        book.charge("ExponentialMechanism", each, first=1, last=10 * phase + 1)
    book.charge("AboveThreshold", plain, first=1)
    assert book.spent().within(ONE)
    assert book.spent().epsilon > 0.99
    for refused in (each, PrivacyGuarantee(epsilon=0.01)):
        with pytest.raises(BudgetExceededError):
            book.charge("more", refused, first=1, last=1)
    book.charge("ExponentialMechanism", each, first=92, last=200)


def test_a_part_larger_than_the_promise_is_refused() -> None:
    with pytest.raises(ValueError, match="must fit"):
        Ledger(
            budget=ONE,
            private=True,
            concentrated=ZeroConcentrated(rho=0.03),
            concentrated_delta=1e-6,
        )


def test_a_refusal_changes_nothing_and_carries_its_numbers() -> None:
    book = ledger()
    book.charge("first", HALF, first=1, last=10)
    before = book.to_json()
    with pytest.raises(BudgetExceededError, match="nothing was spent") as refusal:
        book.charge("second", ONE, first=3, last=3)
    assert refusal.value.requested == ONE
    assert refusal.value.spent == HALF
    assert refusal.value.budget == ONE
    assert book.to_json() == before
    assert book.spent() == HALF


@pytest.mark.parametrize(("first", "last"), [(0, 3), (5, 3), (1.5, 3), (1, math.nan)])
def test_impossible_rounds_are_refused(first: int, last: int) -> None:
    book = ledger()
    with pytest.raises(ValueError, match=r"first|last"):
        book.charge("release", HALF, first=first, last=last)
    assert book.charges == ()


def test_a_release_of_unknown_cost_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        ledger().charge("release", NOT_PRIVATE, first=1, last=1)
    with pytest.raises(ValueError, match="rho"):
        ledger().charge("release", ZeroConcentrated(rho=math.inf), first=1, last=1)


def test_it_explains_itself_in_one_sentence() -> None:
    book = ledger()
    assert book.explain() == (
        "Promised: ε = 1, δ = 1e-06; no example has paid more than ε = 0 so far, for nothing."
    )
    book.charge("AboveThreshold", HALF, first=1, last=10)
    book.charge("AboveThreshold", HALF, first=11)
    assert book.explain() == (
        "Promised: ε = 1, δ = 1e-06; no example has paid more than ε = 0.5 so far, "
        "for 2 charges: AboveThreshold (2)."
    )
    assert book.text().splitlines()[2:] == [
        "mechanism       each charge  charges  rounds",
        "AboveThreshold  ε = 0.5      2        1–…",
    ]


def test_seeded_randomness_is_stamped_wherever_the_ledger_shows() -> None:
    book = ledger(private=False)
    assert SEEDED in book.explain() and SEEDED in book.text()
    assert not Ledger.from_json(book.to_json()).private
    assert SEEDED not in ledger().text()


def test_a_run_without_promise_says_so() -> None:
    assert "Promised: not private" in ledger(NOT_PRIVATE).explain()


Entries = list[tuple[str, PrivacyGuarantee | ZeroConcentrated, int, int | None, bool]]

charges = st.lists(
    st.tuples(
        st.sampled_from(["AboveThreshold", "histogram", "exponential"]),
        st.one_of(
            st.builds(
                PrivacyGuarantee,
                epsilon=st.floats(min_value=0, max_value=0.3),
                delta=st.floats(min_value=0, max_value=5e-7),
            ),
            st.builds(ZeroConcentrated, rho=st.floats(min_value=0, max_value=0.01)),
        ),
        st.integers(min_value=1, max_value=30),
        st.one_of(st.none(), st.integers(min_value=0, max_value=10)),
        st.booleans(),
    ),
    max_size=12,
)


def filled(entries: Entries) -> Ledger:
    book = Ledger(
        budget=ONE,
        private=True,
        concentrated=ZeroConcentrated(rho=0.01),
        concentrated_delta=5e-7,
    )
    for name, cost, first, length, conditional in entries:
        try:
            book.charge(
                name,
                cost,
                first=first,
                last=None if length is None else first + length,
                prefix_conditional=conditional,
            )
        except BudgetExceededError:
            continue
    return book


@given(charges)
def test_what_is_spent_is_the_worst_round_of_the_plain_definition(entries: Entries) -> None:
    book = filled(entries)
    everyone = sum(
        charge.cost.delta
        for charge in book.charges
        if isinstance(charge.cost, PrivacyGuarantee) and not charge.prefix_conditional
    )
    epsilon = delta = 0.0
    for t in range(1, 60):
        reading = [
            charge
            for charge in book.charges
            if charge.first <= t and (charge.last is None or t <= charge.last)
        ]
        plain = [
            (c.cost, c.prefix_conditional) for c in reading if isinstance(c.cost, PrivacyGuarantee)
        ]
        rho = sum(c.cost.rho for c in reading if isinstance(c.cost, ZeroConcentrated))
        converted = ZeroConcentrated(rho=0.01).epsilon_upper_bound(5e-7) if rho else 0.0
        epsilon = max(epsilon, sum(cost.epsilon for cost, _ in plain) + converted)
        fresh = sum(cost.delta for cost, conditional in plain if conditional)
        delta = max(delta, fresh + (5e-7 if rho else 0))
    assert book.spent().epsilon == pytest.approx(epsilon, rel=1e-9)
    assert book.spent().delta == pytest.approx(delta + everyone, rel=1e-9)
    assert book.spent().within(ONE)


def test_what_is_set_aside_is_charged_at_once_and_whole() -> None:
    """A ρ at which somebody chose to stop cannot be converted as if it had been fixed."""
    set_aside = ZeroConcentrated(rho=0.01)
    book = filled([("draw", ZeroConcentrated(rho=0.0001), 1, None, True)])
    assert book.spent() == set_aside.guarantee(delta=5e-7)
    before = book.spent()
    book.charge("draw", ZeroConcentrated(rho=0.0098), first=1)
    assert book.spent() == before


@given(charges)
def test_a_restored_ledger_knows_everything_that_the_saved_one_knew(entries: Entries) -> None:
    book = filled(entries)
    restored = Ledger.from_json(book.to_json())
    assert restored.charges == book.charges
    assert restored.spent() == book.spent()
    assert restored.to_json() == book.to_json()
    for name, cost, first, _, conditional in entries:
        outcomes = []
        for one in (book, restored):
            try:
                one.charge(name, cost, first=first, prefix_conditional=conditional)
                outcomes.append(True)
            except BudgetExceededError:
                outcomes.append(False)
        assert outcomes[0] == outcomes[1]


def test_what_was_paid_before_the_run_is_told_too() -> None:
    book = ledger()
    assert "beforehand" not in book.to_json()
    book.beforehand = HALF
    told = json.loads(book.to_json())["ledger"]
    assert told["beforehand"] == {"epsilon": 0.5, "delta": 0.0}
    again = Ledger.from_json(book.to_json())
    assert again.beforehand == HALF and again.explain() == book.explain()


def test_equal_releases_make_equal_books() -> None:
    """And in each the second of two that look alike can be closed without the first."""
    books = [ledger(), ledger()]
    for book in books:
        book.charge("AboveThreshold", HALF, first=1)
        second = book.charge("AboveThreshold", HALF, first=1)
        book.close(second, last=4)
        assert [charge.last for charge in book.charges] == [None, 4]
    assert books[0].to_json() == books[1].to_json()


def test_a_book_with_a_page_torn_out_is_refused() -> None:
    book = ledger()
    for first in (1, 11):
        book.charge("AboveThreshold", HALF, first=first, last=first + 9)
    budget, private, concentrated, delta, entries = book.state()
    with pytest.raises(ValueError, match="cannot have number=1"):
        Ledger.from_state(budget, private, concentrated, delta, entries[1:])


def test_truncated_or_altered_records_are_refused() -> None:
    book = ledger()
    book.charge("AboveThreshold", HALF, first=1, last=10)
    saved = book.to_json()
    for end in range(len(saved)):
        with pytest.raises(SnapshotError):
            Ledger.from_json(saved[:end])
    content = json.loads(saved)
    content["ledger"]["charges"][0]["cost"]["epsilon"] = 0.25
    with pytest.raises(SnapshotError, match="altered"):
        Ledger.from_json(json.dumps(content))
    content["ledger"]["charges"] = []
    with pytest.raises(SnapshotError, match="altered"):
        Ledger.from_json(json.dumps(content))
    for other in ("[]", "{}", "null", '{"ledger": [], "checksum": ""}'):
        with pytest.raises(SnapshotError):
            Ledger.from_json(other)
