"""Freeze the last published rule of a classifier, as a value that can be copied and stored.

A classifier that has learned holds noise and counts, so it cannot be copied. What it published is
public: a frozen classifier holds that and the declarations, and nothing else. It needs neither
River nor scikit-learn, and its Python source does not even need this library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.adapters.records import Reader, reader_for
from littlestone.adapters.shared import label_array, label_numbers, readable_times
from littlestone.concepts.capabilities import Records
from littlestone.concepts.hypotheses.python_source import literal, python_source
from littlestone.concepts.hypotheses.sql_source import Dialect, labelled_sql
from littlestone.concepts.hypotheses.vote import domain_of
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.concepts.records.columns import eager_frame, frame_columns, is_frame, listed
from littlestone.concepts.schema import label_values
from littlestone.type_checks import is_a, shown

_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class FrozenClassifier:
    """Predict by one published rule forever; ``freeze()`` of a classifier creates it.

    A record is a mapping from names to values. A table is a sequence of records, a data frame, or
    an array whose columns are those of ``columns``, in this order. Probabilities are 0 and 1: a
    rule is certain, and nothing that was published says how often it is right.

    Privacy:
        Releases:   the rule, which was released already, and what was declared beforehand
        Neighbours: as for the classifier
        Adversary:  adaptive
        Guarantee:  post-processing: copies and predictions cost nothing beyond ``promise``
        Assumes:    nothing beyond what the classifier does
        Proof:      post-processing [DR14, Proposition 2.1]

    >>> from littlestone.concepts.hypotheses.runs import StepFunction
    >>> rule = StepFunction(n=60, first=0, changes=(15, 30))
    >>> frozen = FrozenClassifier(rule, ("on time", "late"), features=("minutes",))
    >>> frozen.predict_one({"minutes": 20}), frozen.predict([[20], [40]]).tolist()
    ('late', ['late', 'on time'])
    >>> FrozenClassifier.from_json(frozen.to_json()) == frozen
    True
    """

    rule: Hypothesis
    labels: tuple[Any, ...]
    """The declared labels: what 0, 1, … mean."""
    features: tuple[str, ...] | None = None
    """What makes up a point, unless the schema of the rule declares it."""
    stand_ins: Mapping[str, Any] | None = None
    promise: str = ""
    """What the classifier promised, in words."""
    _reader: Reader = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        label_numbers(self.labels)
        count = len(label_values(domain_of(self.rule)))
        if len(self.labels) != count:
            raise ValueError(f"labels must be {count} for this rule, got {self.labels!r}")
        # Through its JSON form, which is all that was published: a set, for instance, would also
        # remember the order in which it grew.
        object.__setattr__(self, "rule", hypothesis_from_json(self.rule.to_json()))
        object.__setattr__(self, "labels", tuple(self.labels))
        if self.stand_ins is not None:
            plain = {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in self.stand_ins.items()
            }
            object.__setattr__(self, "stand_ins", MappingProxyType(plain))
        reader = reader_for(self.domain, features=self.features, stand_ins=self.stand_ins)
        object.__setattr__(self, "_reader", reader)

    @property
    def domain(self) -> Domain:
        """Return the domain of the rule."""
        return domain_of(self.rule)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that are read, in the order of an array."""
        if self.features is not None:
            return self.features
        assert isinstance(self.domain, Records)
        return tuple(dict.fromkeys(part.column for part in self.domain.fields))

    @property
    def classes_(self) -> NDArray[Any]:
        """Return the labels as an array, as scikit-learn has them."""
        return label_array(self.labels)

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Predict the label of one record."""
        return self.labels[self.rule(self._reader(x))]

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return probability 1 for the predicted label and 0 for the others."""
        predicted = self.rule(self._reader(x))
        return {label: float(number == predicted) for number, label in enumerate(self.labels)}

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the label of each row of a table."""
        labels: NDArray[Any] = self.classes_[self._numbers(X)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return probabilities 0 and 1, a column for each of ``classes_``."""
        return np.eye(len(self.labels))[self._numbers(X)]

    def _numbers(self, table: Any) -> NDArray[np.uint8]:
        return np.array([self.rule(self._reader(x)) for x in self._records(table)], dtype=np.uint8)

    def _records(self, table: Any) -> list[Mapping[Any, Any]]:
        names = self.columns
        if is_frame(table):
            found = frame_columns(eager_frame(table))
            missing = [name for name in names if name not in found]
            if missing:
                raise ValueError(
                    f"column {missing[0]!r} is missing; the rule reads {', '.join(names)}"
                )
            table = list(zip(*(listed(found[name]) for name in names), strict=True))
        rows = readable_times(table).tolist() if isinstance(table, np.ndarray) else list(table)
        if all(isinstance(row, Mapping) for row in rows):
            return rows
        for row in rows:
            if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(names):
                raise ValueError(
                    f"a row must have the columns {', '.join(names)}, got {shown(row)}"
                )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; labels must be text, numbers, Booleans or None."""
        for value in self.labels:
            if type(value) not in _PLAIN:
                raise ValueError(f"labels must be plain values to be written, got {shown(value)}")
        return {
            "rule": self.rule.to_json(),
            "labels": list(self.labels),
            "features": None if self.features is None else list(self.features),
            "stand_ins": None if self.stand_ins is None else dict(self.stand_ins),
            "promise": self.promise,
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse what ``to_json`` wrote; ValueError for anything else."""
        if not is_a(data, dict) or set(data) != {*_FIELDS}:
            raise ValueError(
                f"a frozen classifier must have {', '.join(_FIELDS)}, got {shown(data)}"
            )
        features, labels = data["features"], data["labels"]
        if not isinstance(labels, list) or not (features is None or isinstance(features, list)):
            raise ValueError("labels and features must be lists")
        return cls(
            hypothesis_from_json(data["rule"]),
            tuple(labels),
            None if features is None else tuple(features),
            data["stand_ins"],
            str(data["promise"]),
        )

    def to_python(self) -> str:
        """Return a module with a function ``predict`` of one record, which needs only Python.

        It reads only the fields that the rule uses, and rejects bad ones with a ValueError.
        """
        self.to_json()  # rejects labels that cannot be written
        filled = self.rule if self.stand_ins is None else _with_stand_ins(self.rule, self.stand_ins)
        point = "record"
        if self.features is not None:
            parts = [f"record[{name!r}]" for name in self.features]
            point = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        lines = ["", "", "def predict(record):"]
        if self.stand_ins is None or self.features is None:  # or the rule has them
            lines += [f"    return {literal(self.labels)}[rule({point})]"]
        else:
            lines += ["    try:", f"        label = rule({point})"]
            lines += ["    except (KeyError, TypeError, ValueError):"]
            lines += [f"        record = {_dictionary(self.stand_ins)}"]
            lines += [f"        label = rule({point})", f"    return {literal(self.labels)}[label]"]
        text = f"{self.rule.describe()}. {self.promise}".strip()
        # Not a comment: one in the first lines may declare the encoding of the source.
        return f"{text!r}\n\n{python_source(filled)}" + "\n".join(lines) + "\n"

    def to_sql(self, dialect: Dialect = "postgresql") -> str:
        """Return an expression for the label of each row of a table, for rules over records.

        NULL and undeclared values count as the stand-in of the field.
        """
        filled = self.rule if self.stand_ins is None else _with_stand_ins(self.rule, self.stand_ins)
        return labelled_sql(filled, self.labels, dialect)

    def __reduce__(self) -> tuple[Any, ...]:
        instead = None if self.stand_ins is None else dict(self.stand_ins)
        return _made, (self.rule.to_json(), self.labels, self.features, instead, self.promise)


_FIELDS = ("rule", "labels", "features", "stand_ins", "promise")


def _made(rule: dict[str, Any], *rest: Any) -> FrozenClassifier:
    """Build the classifier from the JSON form of the rule, which a copy or a pickle holds."""
    return FrozenClassifier(hypothesis_from_json(rule), *rest)


def _dictionary(values: Mapping[str, Any]) -> str:
    return f"{{{', '.join(f'{name!r}: {literal(value)}' for name, value in values.items())}}}"


def _with_stand_ins(rule: Hypothesis, stand_ins: Mapping[str, Any]) -> Hypothesis:
    """Return the rule over a schema that declares these stand-ins for what does not fit."""
    return hypothesis_from_json(_filled(rule.to_json(), stand_ins))


def _filled(data: Any, stand_ins: Mapping[str, Any]) -> Any:
    if is_a(data, list):
        return [_filled(part, stand_ins) for part in data]
    if not is_a(data, dict):
        return data
    changed = {name: _filled(part, stand_ins) for name, part in data.items()}
    if isinstance(data.get("schema"), list):
        changed["schema"] = [
            {"missing": stand_ins[part["name"]], **part} if "name" in part else part
            for part in data["schema"]
        ]
    return changed
