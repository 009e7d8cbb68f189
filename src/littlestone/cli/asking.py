"""The options that make a request, the same ones with the same defaults for every command."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone.choose.request import NAMES, Request

SchemaFile = Annotated[
    Path | None, typer.Option(help="Declares the columns; decision trees over it are learned.")
]
InPlaceOfSchema = Annotated[
    str | None, typer.Option("--class", help="In place of --schema, as in thresholds:64.")
]
Rounds = Annotated[
    int | None, typer.Option(help="At most this many events; most learners need to know.")
]
Epsilon = Annotated[float, typer.Option(help="Privacy budget of one event.")]
Delta = Annotated[float, typer.Option(help="The same; for learners that need it.")]
Learner = Annotated[str, typer.Option(help="A private learner, or auto; see recommend.")]
Setting = Annotated[
    str, typer.Option(help="agnostic assumes nothing; realizable: some rule fits all events.")
]
Adversary = Annotated[
    str,
    typer.Option(
        help="oblivious, or adaptive if events may be chosen by those who read the rules. Privacy "
        "holds for both; accuracy depends on it."
    ),
]
User = Annotated[
    str | None,
    typer.Option(help="What says whose an event is: --max-contributions is enforced then."),
]
MaxContributions = Annotated[
    int, typer.Option(help="Events of one user at most; without --user it is your word.")
]

USUAL: Any = {part.name: part.default for part in fields(Request)}
"""The defaults of a request, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command was asked for; its options are these fields."""

    schema: SchemaFile = None
    concepts: InPlaceOfSchema = None
    rounds: Rounds = USUAL["rounds"]
    epsilon: Epsilon = USUAL["epsilon"]
    delta: Delta = USUAL["delta"]
    learner: Learner = USUAL["learner"]
    setting: Setting = USUAL["setting"]
    adversary: Adversary = USUAL["adversary"]
    user: User = USUAL["user"]
    max_contributions: MaxContributions = USUAL["max_contributions"]

    def request(self) -> Request:
        """The request; a schema is read from its file."""
        tables = None if self.schema is None else toml(self.schema)
        return self.request_over(tables, self.concepts)

    def request_over(self, tables: Mapping[str, Any] | None, concepts: str | None) -> Request:
        """The request over the tables of a schema, or a class, that were found otherwise."""
        said = {name: getattr(self, name) for name in NAMES}
        return Request.from_json({"schema": tables, "class": concepts, **said})


def toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, or refuse it by name."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def options_of(kind: Any, argument: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose ``argument`` is made from options: the fields of ``kind``."""
    options = signature(kind).parameters

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = {n: p for n, p in signature(command).parameters.items() if n != argument}

        @wraps(command)
        def run(**given: Any) -> None:
            made = kind(**{name: given.pop(name) for name in options})
            command(**{argument: made}, **given)

        every = [one.replace(kind=one.KEYWORD_ONLY) for one in (own | options).values()]
        run.__signature__ = Signature(every)  # type: ignore[attr-defined]
        return run

    return decorated
