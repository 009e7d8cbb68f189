"""What goes on around a classifier and concerns its promise: steps before it, and other fits."""

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee

_DEEPEST: Final = 30


class PromiseWarning(UserWarning):
    """Something around a private classifier publishes what the classifier does not answer for."""


def warn_of_fitted_steps(model: Any, fitted_steps: Callable[[Any, Any], Sequence[str]]) -> None:
    """Look for a pipeline that is feeding ``model`` right now, and warn of what it learns.

    A pipeline hands down rows and says nothing of itself, so it is looked for among the callers.
    Where rows were transformed beforehand nothing can be seen, and nothing is said.
    """
    frame = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame.f_back is None:
            return
        frame = frame.f_back
        found = fitted_steps(frame.f_locals.get("self"), model)
        if found:
            warnings.warn(
                f"the promise is void: the pipeline learns {', '.join(map(repr, found))} from the "
                f"same rows, without noise, and every prediction shows it. Only fixed maps of one "
                f"row may come before a private classifier",
                PromiseWarning,
                stacklevel=3,
            )
            return


class Fits:
    """The runs that an estimator and all its clones have begun in this process.

    They read the same rows as far as anybody knows here, so their costs add up (F2): the sum is
    what is promised for the rules of all of them together, if their number was fixed beforehand,
    as in a search over a given grid. A copy that was pickled may be fitted where nobody counts, and
    an unknown cost is infinite.
    """

    def __init__(self) -> None:
        self._costs: dict[Any, PrivacyGuarantee] = {}
        self._elsewhere = False

    def __len__(self) -> int:
        return len(self._costs)

    def add(self, recipe: PrivateLearner, run: PrivateRun) -> None:
        """Count a run; one that is continued from a snapshot is the same run."""
        self._costs[run.identity if run.private else object()] = recipe.guarantee()

    def total(self) -> PrivacyGuarantee:
        """What all rules that were learned promise together, to one row."""
        return NOT_PRIVATE if self._elsewhere else basic_composition(self._costs.values())

    @property
    def promise(self) -> str:
        """In words."""
        if self._elsewhere:
            return "unknown: a copy has left this process, and may have been fitted elsewhere"
        if len(self) == 1:
            return str(self.total())
        return (
            f"{self.total()} for the rules of {len(self)} fits together; scores, and what was "
            f"chosen by them, are not covered"
        )

    def __copy__(self) -> "Fits":
        return self

    def __deepcopy__(self, memo: Any) -> "Fits":
        return self

    def __reduce__(self) -> tuple[type["Fits"], tuple[()]]:
        self._elsewhere = True
        return Fits, ()
