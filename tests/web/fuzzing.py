"""Hostile requests, made up by hand: what a schema-driven tool would not think of."""

import json
from typing import Any, NamedTuple
from urllib.parse import quote

from littlestone.choose.catalogue import CLASSES, LEARNERS
from littlestone.randomness import Randomness

RUNS = ("abuse", "line", "rules", "counted")
NEW = tuple(f"new{number}" for number in range(6))
NUMBERS = (0, 1, 2, 3, 7, 16, 64, 100, 1000, -1, 2**31, 2**53 + 1, 2**63, 10**18, 10**30, 0.5, -0.0)
MORE_NUMBERS = (1e-9, 1e-300, 1e308, 5e-324, 1.5, 1e15, True, None, "1", "nan", "inf", "1/0")
TEXTS = (
    "",
    "a",
    "\x00",
    "\u202e",
    "é" * 300,
    "x" * 300,
    "'; --",
    "<script>",
    "../up",
    "😀",
    "\ufeff",
)
WORDS = ("realizable", "agnostic", "oblivious", "adaptive", "auto", "own value", "hour", "weekday")


class Made(NamedTuple):
    """A request, and whose token it comes with (None: nobody's)."""

    method: str
    path: str
    body: bytes | None
    kind: str
    role: str | None
    headers: dict[str, str]


class Hostile:
    """Draws requests; most go to routes that exist, by an owner, with a body that parses."""

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng

    def one_of(self, values: Any) -> Any:
        return values[self._rng.below(len(values))]

    def chance(self, of: int) -> bool:
        return self._rng.below(of) == 0

    def request(self) -> Made:
        often = (self._creation, self._events) * 2
        others = (self._lines, self._reading, self._prediction, self._removal, self._form)
        made: Made = self.one_of((*often, *others, self._anything))()
        role = "owner" if not self.chance(10) else self.one_of(("writer", "reader", None))
        headers = {} if not self.chance(10) else {self.one_of(HEADERS): self.header()}
        return made._replace(role=role, headers=headers)

    def header(self) -> str:
        text = self.one_of((*TEXTS, *WORDS, "text/event-stream", "1", "*", '"1-0"', "9" * 30))
        return quote(str(text), safe=' */"-')

    def run(self) -> str:
        """One that is there, mostly; of the new ones one only, as those that read events stay."""
        return quote(str(self.one_of((*RUNS * 8, NEW[0], *TEXTS[1:]))), safe="")

    def value(self, depth: int = 3) -> Any:
        """Any JSON, not too deep, unless it is far too deep."""
        kind = self._rng.below(12 if depth else 8)
        if kind < 4:
            return self.one_of(NUMBERS)
        if kind < 6:
            return self.one_of(MORE_NUMBERS)
        if kind < 8:
            return self.one_of(TEXTS + WORDS)
        if kind < 10:
            return [self.value(depth - 1) for _ in range(self._rng.below(4))]
        return {
            self.one_of(TEXTS + FIELDS): self.value(depth - 1) for _ in range(self._rng.below(4))
        }

    def text(self, value: Any) -> bytes:
        """As JSON, or damaged a little."""
        content = json.dumps(value).encode()
        if self.chance(20):
            place = self._rng.below(len(content) + 1)
            junk = self.one_of(
                (b"\xff", b"\x00", b'"', b"{" * 50_000, b"[" * 2_000, b"NaN", b"1e999")
            )
            content = content[:place] + junk + content[place:]
        return content

    def _creation(self) -> Made:
        """Something that could be made, with up to two twists."""
        asked: dict[str, Any] = {"name": self.one_of(NEW), "rounds": self.one_of((1, 10, 1000))}
        if self.chance(2):
            asked["class"] = self.one_of(EXAMPLES)
        else:
            asked["schema"] = {field: self.declaration(hostile=False) for field in "ab"}
        for field in OPTIONS:
            if self.chance(5):
                asked[field] = self.one_of(OPTIONS[field])
        for _ in range(self._rng.below(3)):
            self._twist(asked)
        return Made("POST", "/runs", self.text(asked), JSON, None, {})

    def _twist(self, asked: dict[str, Any]) -> None:
        kind = self._rng.below(6)
        if kind == 0:
            asked["name"] = self.one_of((*TEXTS, *RUNS, 3))
        elif kind == 1:
            asked["class"] = self.specification()
            asked.pop("schema", None)
        elif kind == 2:
            asked["schema"] = self.schema()
            asked.pop("class", None)
        elif kind == 3:
            asked[self.one_of(TEXTS + FIELDS)] = self.value(1)
        else:
            field = self.one_of((*OPTIONS, "schema", "class"))
            asked[field] = self.one_of(HOSTILE.get(field, NUMBERS)) if kind == 4 else self.value(1)

    def specification(self) -> str:
        name = self.one_of((*CLASSES, "", "nothing", "keys"))
        numbers = [self.one_of(ARGUMENTS) for _ in range(self._rng.below(4))]
        return f"{name}:{','.join(numbers)}" if numbers else name

    def schema(self) -> Any:
        if self.chance(9):
            return self.value()
        return {self.one_of(FIELDS): self.declaration() for _ in range(1 + self._rng.below(3))}

    def declaration(self, *, hostile: bool = True) -> Any:
        if not hostile:
            return self.one_of(({"grid": [1, 2]}, {"values": ["x", "y"]}, {"grid": [0.5]}))
        if self.chance(12):
            return self.value(2)
        kind = self.one_of(("grid", "grid", "values", "values", "date"))
        inside: Any = {
            "grid": sorted({self._rng.below(40) for _ in range(self._rng.below(6))}),
            "values": [*dict.fromkeys(self.one_of("abcd") for _ in range(self._rng.below(5)))],
            "date": [self.one_of(WORDS) for _ in range(self._rng.below(3))],
        }[kind]
        declared = {kind: inside if not self.chance(12) else self.value(2)}
        if self.chance(5):
            declared["missing"] = self.one_of(("own value", *inside, "other", None))
        return declared

    def event(self) -> Any:
        if self.chance(10):
            return self.value()
        x: Any = self.one_of(("spam", 3, {"a": 1.5, "b": "x"}, self.value(2)))
        event = {"x": x, "y": self.one_of((0, 1, 0, 1, 2, "1"))}
        if self.chance(3):
            event["id"] = self.one_of((*"abcdef", *TEXTS, 3))
        if self.chance(3):
            event["user"] = self.one_of(("ann", "bo", *TEXTS, *NUMBERS, None))
        return event

    def _events(self) -> Made:
        sent = self.event()
        if self.chance(3):
            sent = {"events": [self.event() for _ in range(self._rng.below(5))]}
        return Made("POST", f"/runs/{self.run()}/events", self.text(sent), JSON, None, {})

    def _lines(self) -> Made:
        lines = b"\n".join(self.text(self.event()) for _ in range(self._rng.below(6)))
        return Made("POST", f"/runs/{self.run()}/events", lines, "application/x-ndjson", None, {})

    def _reading(self) -> Made:
        after = quote(str(self.one_of((*NUMBERS, *TEXTS, *MORE_NUMBERS))))
        path = f"/runs/{self.run()}/{self.one_of(PARTS)}?after={after}"
        return Made("GET", self.one_of((path, *PLACES)), None, "", None, {})

    def _prediction(self) -> Made:
        points = [self.one_of(("spam", 3, {"a": 1.5, "b": "x"}, self.value(2)))]
        body = {"points": points * self._rng.below(4)} if not self.chance(8) else self.value()
        return Made("POST", f"/runs/{self.run()}/predict", self.text(body), JSON, None, {})

    def _removal(self) -> Made:
        name = self.run() if self.chance(4) else self.one_of(NEW)
        return Made("DELETE", f"/runs/{name}", None, "", None, {})

    def _form(self) -> Made:
        body = f"token={quote(self.one_of(TEXTS + WORDS))}".encode() * (1 + self._rng.below(3))
        return Made("POST", "/login", body, "application/x-www-form-urlencoded", None, {})

    def _anything(self) -> Made:
        path = self.one_of(
            (*PLACES, f"/runs/{self.run()}", f"/{quote(self.one_of(TEXTS), safe='')}")
        )
        method = self.one_of(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"))
        body = self.text(self.value()) if method != "GET" and self.chance(2) else None
        kind = self.one_of((JSON, "text/plain", "application/x-ndjson", "multipart/form-data"))
        return Made(method, path, body, kind, None, {})


JSON = "application/json"
FIELDS = ("a", "b", "name", "grid", "values", "x", "missing")
HEADERS = ("Accept", "If-None-Match", "Last-Event-ID", "Origin", "Cookie", "Range", "Expect-Not")
PARTS = ("hypothesis", "keys", "guarantee", "chain", "ledger", "curve", "releases", "nothing")
PLACES = (
    *("/", "/runs", "/metrics", "/health", "/openapi.json", "/static/run.js", "/static/%2e%2e"),
    *("/view/abuse", "/view/line/now", "/view/rules/baselines", "/view/abuse/report.html"),
    *("/view/counted/published.jsonl", "/arena", "/arena/games/fool", "/arena/nothing", "//"),
)
# Sizes that fit into seconds and memory: a class of 10**18 points is refused or counted, not made.
ARGUMENTS = ("0", "1", "2", "3", "5", "16", "-1", "1/4", "1/0", "0/1", "1.5", "", "x", "٣", "1e3")
EXAMPLES = [one.example for one in CLASSES.values() if str not in one.arguments]
OPTIONS: dict[str, Any] = {
    "learner": ("auto", *LEARNERS),
    "setting": ("agnostic", "realizable"),
    "adversary": ("oblivious", "adaptive"),
    "rounds": (1, 10, 1000, 10**6),
    "epsilon": (1.0, 0.1, 10),
    "delta": (0, 1e-6, 0.5),
    "max_contributions": (1, 2, 15),
    "user": ("user", "x" * 64, "\u202e"),
    "publish_every": (0.01, 1, 86_400),
}
HOSTILE: dict[str, Any] = {
    "learner": ("nothing", ""),
    "setting": ("auto", ""),
    "adversary": ("", "nobody"),
    "rounds": (10**15, 10**15 + 1, 0, -1, None, 1.5),
    "epsilon": (1000, 1e-9, 0, -1, 1e308, 1e-308, 10**400),
    "delta": (1, 1e-300, -1, 2),
    "max_contributions": (10**6, 10**6 + 1, 0),
    "user": ("", None, "x" * 65),
    "publish_every": (0, -1, 1e9, 1e308),
}
