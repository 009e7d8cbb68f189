"""Provide a private classifier for River, for pipelines and progressive validation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

try:
    from river import base, compose
except ImportError as absent:
    raise ImportError(
        "this adapter needs river: pip install 'littlestone[integrations]'"
    ) from absent

from littlestone.adapters.frozen import FrozenClassifier
from littlestone.adapters.records import reader_for
from littlestone.adapters.shared import (
    AdversaryKind,
    Setting,
    declared_labels,
    label_number,
    label_numbers,
    learner_for,
    portable,
    releases_from,
    resumed,
    warn_of_fitted_steps,
    with_form,
)
from littlestone.concepts.hypotheses.weighted_vote import Releases
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.snapshots import Register
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import seeded

_PHISHING = (
    "empty_server_form_handler", "popup_window", "https", "request_from_other_domain",
    "anchor_from_other_domain", "is_popular", "long_url", "age_of_domain", "ip_in_url",
)  # fmt: skip


class PrivateClassifier(base.Classifier):
    """Publish one rule at a time; the whole stream of rules is differentially private.

    Say what is learned either by ``concepts`` (a ``Schema``, whose simple rules are then the
    class; any concept class; or its name on the command line, as in ``"thresholds:64"``),
    ``rounds``, ``setting`` and the other fields of a ``Request``, or by a whole ``learner``
    in place of its name. Everything about the records is declared
    beforehand: the schema (or ``features``, the names of what makes up a point), the number of
    rounds, and the ``labels``: two of them, False and True by default, or more over a schema,
    which may declare them itself. Read from the data, each of these would publish some of it
    without any mechanism: a list of labels reveals whether anyone had the rarer one.

    A record that does not fit is rejected with a ValueError; nothing is learned from it, and it
    uses no round. *Whether* a record fits is then visible in when the rule changes. If that is
    a secret too, declare ``stand_ins``: a value for each field that is missing or does not fit.
    Such a record is then an example like every other and costs the same.

    The rule for the next record is ``hypothesis``. Its predictions are certain, so
    ``predict_proba_one`` returns 0 and 1: nothing that was published says how often it is right,
    and an estimate of that would need its own noise. ``freeze`` returns the rule as a value that
    can be copied and stored. After ``rounds`` examples ``learn_one`` raises
    HorizonExceededError, and predictions continue.

    Privacy:
        Releases:   the rule of every round, hence every prediction; not metrics of true labels
        Neighbours: streams that differ in one record or its label
        Adversary:  adaptive
        Guarantee:  that of its learner, at most (epsilon, delta), for one run
        Assumes:    that steps before it in a pipeline are fixed maps of one record: a scaler that
                    learns from the stream publishes through it what it learned (the first example
                    that comes through such a pipeline warns of it); without ``stand_ins``, that
                    nobody is told which records were refused: each is by itself, with an error for
                    the caller (docs/GUARANTEES.md, One row, one round); and ``seed=None``
        Proof:      that of its learner

    >>> model = PrivateClassifier(
    ...     concepts=Schema.from_mapping({"delay": {"grid": [15, 30]}}),
    ...     rounds=2000, epsilon=1.0, delta=1e-6, labels=("on time", "late"), seed=7,
    ... )
    >>> for minutes in list(range(50)) * 40:
    ...     model.learn_one({"delay": minutes}, "late" if minutes >= 15 else "on time")
    >>> model.predict_one({"delay": 20}), model.hypothesis.describe()
    ('late', '1 if delay >= 15 else 0')
    """

    def __init__(
        self,
        learner: PrivateLearner | str = "auto",
        *,
        concepts: ConceptClass | Schema | str | None = None,
        rounds: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        setting: Setting = "agnostic",
        adversary: AdversaryKind = "oblivious",
        max_contributions: int = 1,
        labels: Sequence[Any] | None = None,
        features: Sequence[str] | None = None,
        stand_ins: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        self.learner = learner
        self.concepts = concepts
        self.rounds = rounds
        self.epsilon = epsilon
        self.delta = delta
        self.setting = setting
        self.adversary = adversary
        self.max_contributions = max_contributions
        self.labels = labels
        self.features = features
        self.stand_ins = stand_ins
        self.seed = seed
        over = concepts if isinstance(learner, str) else learner.concepts
        self._labels, self._over = declared_labels(labels, over, usual=(False, True))
        self._numbers = label_numbers(self._labels)
        self._recipe = learner_for(self, self._over, rounds)
        self._reader = self._reader_of(self._recipe)
        # Started on first use: until then there is no secret, and copies are harmless.
        self._run: PrivateRun | None = None
        self._releases = Releases()

    def _reader_of(self, recipe: PrivateLearner) -> Callable[[Mapping[Any, Any]], Any]:
        domain = recipe.concepts.domain
        return reader_for(domain, features=self.features, stand_ins=self.stand_ins)

    @property
    def _multiclass(self) -> bool:
        return len(self._labels) > 2

    @property
    def run(self) -> PrivateRun:
        """Return the run inside; the first access starts it."""
        if self._run is None:
            self._run = self._recipe.start(rng=None if self.seed is None else seeded(self.seed))
            self._releases.add(0, self._run.hypothesis)
        return self._run

    @property
    def hypothesis(self) -> Hypothesis:
        """Return the published rule."""
        return self.run.hypothesis

    @property
    def ledger(self) -> Ledger:
        """Return the privacy ledger of the run."""
        return self.run.ledger

    def guarantee(self) -> PrivacyGuarantee:
        """Return what one run promises."""
        return self._recipe.guarantee()

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn from one labelled record."""
        point, number = self._reader(x), label_number(self._numbers, y)
        if self._run is None or not self._run.rounds_played:
            warn_of_fitted_steps(self, compose.Pipeline, fitted_steps)
        self.run.take(point, number)
        self._releases.add(self.run.rounds_played, self.run.hypothesis)

    def predict_one(self, x: Mapping[Any, Any], **_: Any) -> Any:
        """Predict the label of one record by the published rule."""
        return self._labels[self.run.hypothesis(self._reader(x))]

    def predict_proba_one(self, x: Mapping[Any, Any], **_: Any) -> dict[Any, float]:
        """Return probability 1 for the predicted label and 0 for the others."""
        predicted = self.run.hypothesis(self._reader(x))
        return {label: float(number == predicted) for label, number in self._numbers.items()}

    def freeze(self, *, last: bool = False) -> FrozenClassifier:
        """Return a published rule without any secret: it can be copied, pickled and exported.

        Args:
            last: Use the last rule instead of the steady one, the vote of recent rules by how long
                each was in force.
        """
        rule = self.hypothesis
        return FrozenClassifier(
            rule if last else self._releases.steady(),
            tuple(self._labels),
            None if self.features is None else tuple(self.features),
            self.stand_ins,
            self.ledger.promise if self.run.private else f"NOT PRIVATE: seed={self.seed!r}",
        )

    def snapshot(self) -> bytes:
        """Return bytes from which ``resume`` continues, once. They hold secrets."""
        return with_form(self.run, self._releases)

    def resume(self, snapshot: bytes, register: Register | None = None) -> None:
        """Continue from a snapshot of a classifier with the same parameters.

        The learner is the one in the snapshot, even if the chooser would choose another.
        """
        if self._run is not None:
            raise ValueError("this classifier has already begun to learn; resume a fresh clone")
        recipe, saved, releases = resumed(snapshot, self._recipe)
        self._run, self._releases = recipe.restore(saved, register), releases
        self._recipe, self._reader = recipe, self._reader_of(recipe)

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "_run": None if self._run is None else portable(self._run),
            "_releases": self._releases.to_json(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._releases = releases_from(state["_releases"])
        if state["_run"] is not None:
            self._run = self._recipe.restore(state["_run"])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield seeded, hence not private, parameters: the checks of River copy trained models."""
        schema = Schema.from_mapping({name: {"grid": (0.25, 0.75)} for name in _PHISHING})
        for setting in ("agnostic", "realizable"):
            yield {
                "concepts": schema,
                "rounds": 10_000,
                "setting": setting,
                "stand_ins": dict.fromkeys(_PHISHING, 0.5),
                "seed": 7,
            }

    def _unit_test_skips(self) -> set[str]:
        """Return the two checks that pickle a trained model, which must fail without a seed."""
        if self.seed is not None:
            return set()
        return {"check_pickling", "check_no_state_aliasing_with_input"}


def fitted_steps(model: Any) -> list[str]:
    """Return the steps of a pipeline that learn from the stream; each voids the promise.

    >>> from river import preprocessing
    >>> scaled = compose.Select("a") | preprocessing.StandardScaler()
    >>> fitted_steps(scaled | preprocessing.Binarizer())
    ['StandardScaler']
    """
    if isinstance(model, compose.Pipeline):
        parts: Any = list(model.steps.items())[:-1]
    elif isinstance(model, compose.TransformerUnion):
        parts = model.transformers.items()
    else:
        return []
    return [name for key, step in parts for name in _learning(str(key), step)]


def _learning(name: str, step: Any) -> list[str]:
    if isinstance(step, compose.TransformerUnion):
        return fitted_steps(step)
    if isinstance(step, compose.Pipeline):
        return [found for key, part in step.steps.items() for found in _learning(str(key), part)]
    stateless = type(step).learn_one is base.Transformer.learn_one
    return [] if stateless else [name]
