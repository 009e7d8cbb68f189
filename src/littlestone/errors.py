"""Refusals that a caller may want to tell apart; each carries its numbers as attributes."""


class LittlestoneError(Exception):
    """Anything this library refuses to do, apart from bad arguments.

    Those are a ``ValueError``, and a call that does not match a signature is a ``TypeError``.
    """


class HaltedError(LittlestoneError):
    """A mechanism that stops after its first yes was asked again."""


class RetiredError(LittlestoneError):
    """What holds noise must not be used any more: after a fork, or a step that broke off."""


class BudgetExceededError(LittlestoneError):
    """A release would have cost more than the budget has left; nothing was spent."""

    def __init__(self, message: str, *, requested: object, spent: object, budget: object) -> None:
        super().__init__(message)
        self.requested = requested
        self.spent = spent
        self.budget = budget


class HorizonExceededError(LittlestoneError):
    """More rounds were played than the recipe promised privacy and accuracy for."""

    def __init__(self, *, rounds: int) -> None:
        super().__init__(
            f"all {rounds} rounds of this run are used up; nothing was learned from this example. "
            f"Start a new run with a larger rounds=, or wrap the learner in UnknownHorizon"
        )
        self.rounds = rounds


class SequenceGapError(LittlestoneError):
    """Events of a key are missing before the one that came; nothing was learned."""

    def __init__(self, *, expected: int, got: int) -> None:
        super().__init__(
            f"event {expected} of this key is missing: number {got} came instead, and nothing was "
            f"learned. Feed the missing ones first; numbers run from 1 without gaps"
        )
        self.expected = expected
        self.got = got


class NotRealizableError(LittlestoneError):
    """An adversary that promised a consistent concept contradicted itself."""

    def __init__(self, message: str, *, round_number: int) -> None:
        super().__init__(message)
        self.round_number = round_number


class SnapshotError(LittlestoneError):
    """A snapshot is truncated, belongs to another recipe, or was already continued."""


class TooFewExamplesError(LittlestoneError):
    """The wanted accuracy needs more examples; nothing was spent."""

    def __init__(self, *, size: int, needed: int, error: float, failure_probability: float) -> None:
        super().__init__(
            f"{size} examples are too few: an error of at most {error:g} with probability "
            f"{1 - failure_probability:g} needs {needed}; nothing was spent"
        )
        self.size = size
        self.needed = needed
        self.error = error
        self.failure_probability = failure_probability


class StoreError(LittlestoneError):
    """The store cannot be used as asked; nothing was changed."""


class RollbackError(StoreError):
    """The store is older than what is known of it: continuing would reuse noise."""


class InUseError(StoreError):
    """Another process has the store open."""
