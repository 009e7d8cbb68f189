"""What is published depends on the function alone, not on the objects that it was made of."""

from littlestone.concepts.protocols import Hypothesis


def canonical(hypothesis: Hypothesis) -> Hypothesis:
    """The same function in the form that depends on nothing else.

    Of equal keys, and of orders in which a set grew, the form that is kept would tell which came
    first.
    """
    try:
        plain: Hypothesis = type(hypothesis).from_json(hypothesis.to_json())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):  # keys of a type that JSON does not know
        return hypothesis
    return plain if plain == hypothesis else hypothesis
