"""Whatever an argument is, only documented refusals come back, and they come back soon.

Each call starts from a valid one of ``valid_calls`` and has one or two arguments replaced by a
value of ``hostile_values``. ``ValueError`` and ``TypeError`` name what is wrong with an argument or
a call, the library's own errors are refusals, and files and sockets have their ``OSError``
(docs/reference/privacy.md, *Exceptions*); anything else is a defect, and so is a call that does
not end.
"""

import inspect
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from tests.conformance.hostile_values import HOSTILE, OwnError
from tests.conformance.valid_calls import Target, arguments_of, call, makers, targets
from tests.conformance.valid_values import FOLDER
from tests.patience import PATIENCE
from tests.public import public

import littlestone as ls
from littlestone import require
from littlestone.randomness import Randomness, seeded

REFUSED = (ValueError, TypeError, ls.LittlestoneError, OwnError)
# Files and sockets fail in ways of their own, and say so.
OUTSIDE = ("Client.", "from_toml", "DurableRun.", "learn_frame")
SECONDS = 10.0  # of computing; a machine with other work takes longer
MEMORY = 6 << 30
FEW = 1000
CALLS = int(os.environ.get("CALLS", "6000"))


class TooLongError(BaseException):
    """The time for one call is over."""


@contextmanager
def limits() -> Iterator[Callable[[float], None]]:
    """Bound the memory of the process, and give a clock that ends a call."""

    def ring(*_: object) -> None:
        raise TooLongError

    place = os.getcwd()
    os.chdir(FOLDER.name)  # text may be taken for the name of a file
    before = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, ring) for number in (signal.SIGALRM, signal.SIGPROF)}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))

    def clock(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds and PATIENCE)

    try:
        yield clock
    finally:
        clock(0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.chdir(place)


def one_of(choices: Sequence[Any], rng: Randomness) -> Any:
    return choices[rng.below(len(choices))]


def spoiled(target: Target, rng: Randomness) -> tuple[dict[str, Any], set[str]]:
    """The arguments of a valid call with one or two replaced, and which."""
    parameters = inspect.signature(target.called()).parameters
    given = target.given()
    chosen = {one_of(list(parameters), rng) for _ in range(one_of((1, 1, 2), rng))}
    for name in sorted(chosen):
        value, kind = one_of(HOSTILE, rng)(), parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            value = (value, *given.get(name, ())[1:])
        elif kind is inspect.Parameter.VAR_KEYWORD:
            options = given.get(name, {})
            value = {**options, one_of([*options, "unknown"], rng): value}
        # A game of many rounds is not refused, it is long.
        is_game = target.name.startswith(("play", "repeat", "compare"))
        if name != "rounds" or not is_game or not value_is_large(value):
            given[name] = value
    return given, chosen


def value_is_large(value: Any) -> bool:
    return issubclass(type(value), int) and value > 10**5


def used(target: Target, made: Any) -> None:
    """What was made of hostile values is asked for what every recipe can say and do."""
    if target.constructs and hasattr(made, "start") and target.name != "DurableRun":
        repr(made)
        if hasattr(made, "guarantee") and not inspect.signature(made.guarantee).parameters:
            made.guarantee()
        made.start(**arguments_of(f"{target.name}.start", made, made.start))


def outcome(target: Target, rng: Randomness, clock: Callable[[float], None]) -> str | None:
    """What is wrong with one spoiled call; None if nothing is."""
    given, chosen = spoiled(target, rng)
    clock(SECONDS)
    try:
        used(target, call(target, given))
    except REFUSED:
        return None
    except BaseException as error:
        clock(0)
        if isinstance(error, OSError) and any(part in target.name for part in OUTSIDE):
            return None
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        place = next((one for one in reversed(frames) if "littlestone" in one.filename), frames[-1])
        values = ", ".join(f"{name}={require.shown(given[name]):.60}" for name in sorted(chosen))
        where = f"{place.name}, line {place.lineno} of {os.path.basename(place.filename)}"
        return f"{type(error).__name__} in {where}: {target.name}({values})"
    finally:
        clock(0)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    return None


def defects(among: list[Target], calls: int, rng: Randomness) -> Counter[str]:
    with limits() as clock:
        found = (outcome(one_of(among, rng), rng, clock) for _ in range(calls))
        return Counter(defect for defect in found if defect is not None)


def refuse_defects(found: Counter[str]) -> None:
    """Fail, with a line for each defect."""
    lines = [f"{times} × {defect}" for defect, times in sorted(found.items())]
    assert not lines, "\n".join(["undocumented exceptions:", *lines])


def with_parameters() -> list[Target]:
    return [target for target in targets() if inspect.signature(target.called()).parameters]


def test_every_public_name_is_called_and_every_call_is_valid() -> None:
    made = [
        name
        for name, member in public().items()
        if inspect.isclass(member)
        and not getattr(member, "_is_protocol", False)
        and not issubclass(member, Exception)  # refusals are made by the library
    ]
    called = {target.name for target in targets()}
    assert set(made) - called == {"PrivateLearner"}  # the base of recipes; its methods are called
    assert {name for name, member in public().items() if inspect.isfunction(member)} <= called
    assert {
        f"{name}.guarantee" for name in makers() if hasattr(public()[name], "guarantee")
    } <= called
    wrong = {}
    for target in targets():
        try:
            call(target, target.given())
        except Exception as error:
            wrong[target.name] = type(error).__name__
    outside = {name for name, error in wrong.items() if name.startswith("Client.")}
    assert {wrong.pop(name) for name in outside} == {"ConnectionRefusedError"}
    assert wrong == {
        "DecisionTrees.version_space": "ValueError",  # there are too many
        "MajorityVote.to_sql": "ValueError",  # of thresholds, which SQL does not say
        "LabelTable.to_sql": "ValueError",
        "TableHypothesis.to_sql": "ValueError",
    }


def test_hostile_values_meet_documented_refusals() -> None:
    """The same calls each time; ``make slow`` draws others."""
    started = time.monotonic()
    refuse_defects(defects(with_parameters(), FEW, seeded(1)))
    print(f"{FEW} calls with hostile values in {time.monotonic() - started:.0f} s")


@pytest.mark.slow
def test_many_hostile_values_meet_documented_refusals(
    rng: Randomness, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    found = defects(with_parameters(), CALLS, rng)
    with capsys.disabled():
        print(
            f"\n{CALLS} calls with hostile values to {len(with_parameters())} public callables: "
            f"{found.total()} undocumented exceptions, {time.monotonic() - started:.0f} s"
        )
    refuse_defects(found)


def unchecked_total(numbers: Any, *, rate: float) -> float:
    return float(sum(number / rate for number in numbers.values()))


def endless(count: int) -> int:
    while count:
        count += 1
    return count


def test_a_function_without_checks_is_caught() -> None:
    target = Target("total", lambda: unchecked_total, lambda: {"numbers": {1: 2}, "rate": 0.5})
    kinds = {defect.split()[0] for defect in defects([target], 2000, seeded(1))}
    assert {"AttributeError", "ZeroDivisionError", "OverflowError"} <= kinds


def test_what_require_checks_guards_would_be_caught_without_it() -> None:
    guarded = ls.privacy.user_level
    bare = inspect.unwrap(guarded)
    each: dict[str, Any] = {"guarantee": ls.PrivacyGuarantee(epsilon=1.0), "max_contributions": 2}
    broken, whole = (
        defects([Target("user_level", lambda f=f: f, lambda: dict(each))], 500, seeded(1))  # type: ignore[misc]
        for f in (bare, guarded)
    )
    assert "AttributeError" in " ".join(broken) and not whole


def test_a_call_that_does_not_end_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.SECONDS", 0.05)
    target = Target("endless", lambda: endless, lambda: {"count": 0})
    assert any(defect.startswith("TooLongError") for defect in defects([target], 20, seeded(1)))
