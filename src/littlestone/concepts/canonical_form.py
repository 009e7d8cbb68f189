"""What is published depends on the function alone, not on the objects that it was made of."""

from typing import Any

from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import Hypothesis


def canonical(hypothesis: Hypothesis) -> Hypothesis:
    """The same function in the form that depends on nothing else.

    Of equal keys, and of orders in which a set grew, the form that is kept would tell which came
    first. A kind of hypothesis that the library does not know is left as it is.
    """
    try:
        plain = hypothesis_from_json(hypothesis.to_json())
    except ValueError:
        return hypothesis
    return plain if plain == hypothesis else hypothesis


def canonical_value(value: Any) -> Any:
    """What a mechanism shows of an element: a hypothesis or a key, in its one form."""
    return canonical(value) if hasattr(value, "to_json") else canonical_key(value)
