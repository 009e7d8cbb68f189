"""River gets a private classifier, for pipelines and under progressive validation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from river import base, compose

from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.integrations.frozen import FrozenClassifier
from littlestone.integrations.promises import warn_of_fitted_steps
from littlestone.integrations.records import reader_for
from littlestone.integrations.shared import (
    AdversaryKind,
    Setting,
    label_number,
    label_numbers,
    learner_for,
    portable,
    resumed,
    with_form,
)
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
    class; any concept class; or one in the command line's words, as in ``"thresholds:64"``),
    ``rounds``, ``setting`` and the other fields of a ``Request``, or by a whole ``learner``
    in place of its name. Everything about the records is declared
    beforehand: the schema (or ``features``, the names of what makes up a point), the two
    ``labels``, the number of rounds. Read off the data, each of them would publish some of it
    before any mechanism has a say: a list of labels tells whether anybody had the rarer one.

    A record that does not fit is refused with a ValueError; nothing is learned from it, and no
    round is used up. *Whether* a record fits is then visible in when the rule changes. If that is
    a secret too, declare ``stand_ins``: a value for each field that is missing or does not fit.
    Such a record is then an example like every other and costs the same.

    The rule for the coming record is ``hypothesis``; its predictions are certain, so
    ``predict_proba_one`` gives 0 and 1: nothing that was published says how often it is right, and
    a count of that would need noise of its own. ``freeze`` gives the rule as a value that may be
    copied and kept. After ``rounds`` examples ``learn_one`` raises
    HorizonExceededError, and predictions go on.

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
        labels: Sequence[Any] = (False, True),
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
        self._numbers = label_numbers(labels)
        self._recipe = self._learner()
        domain = self._recipe.concepts.domain
        self._reader = reader_for(domain, features=features, stand_ins=stand_ins)
        # Started when it is first needed: until then there is no secret, and copies are harmless.
        self._run: PrivateRun | None = None

    def _learner(self) -> PrivateLearner:
        return learner_for(
            learner=self.learner,
            concepts=self.concepts,
            setting=self.setting,
            adversary=self.adversary,
            rounds=self.rounds,
            epsilon=self.epsilon,
            delta=self.delta,
            max_contributions=self.max_contributions,
        )

    @property
    def run(self) -> PrivateRun:
        """The run underneath; asking for it begins it."""
        if self._run is None:
            self._run = self._recipe.start(rng=None if self.seed is None else seeded(self.seed))
        return self._run

    @property
    def hypothesis(self) -> Hypothesis:
        """The published rule."""
        return self.run.hypothesis

    @property
    def ledger(self) -> Ledger:
        return self.run.ledger

    def guarantee(self) -> PrivacyGuarantee:
        """What one run promises."""
        return self._recipe.guarantee()

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        point, number = self._reader(x), label_number(self._numbers, y)
        if self._run is None or not self._run.rounds_played:
            warn_of_fitted_steps(self, _fitted_before)
        self.run.observe_canonical(point, number)

    def predict_one(self, x: Mapping[Any, Any], **_: Any) -> Any:
        return self.labels[self.run.hypothesis(self._reader(x))]

    def predict_proba_one(self, x: Mapping[Any, Any], **_: Any) -> dict[Any, float]:
        predicted = self.run.hypothesis(self._reader(x))
        return {label: float(number == predicted) for label, number in self._numbers.items()}

    def freeze(self) -> FrozenClassifier:
        """The published rule alone, without anything secret: to be copied, pickled and exported."""
        return FrozenClassifier(
            self.hypothesis,
            tuple(self.labels),
            None if self.features is None else tuple(self.features),
            self.stand_ins,
            self.ledger.promise if self.run.private else f"NOT PRIVATE: seed={self.seed!r}",
        )

    def snapshot(self) -> bytes:
        """Bytes from which ``resume`` continues, once. They hold secrets."""
        return with_form(self.run)

    def resume(self, snapshot: bytes, register: Register | None = None) -> None:
        """Continue from a snapshot of a classifier with the same parameters.

        With the learner that was picked for it, whatever would be picked for them now.
        """
        if self._run is not None:
            raise ValueError("this classifier has begun to learn already; resume a fresh clone")
        recipe, saved = resumed(snapshot, self._recipe)
        self._run = recipe.restore(saved, register)
        self._recipe = recipe

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_run": None if self._run is None else portable(self._run)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_run"] is not None:
            self._run = self._recipe.restore(state["_run"])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Seeded, hence not private, since River's checks copy models that have learned."""
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
        """Without a seed, the two checks that pickle a model that has learned must be refused."""
        if self.seed is not None:
            return set()
        return {"check_pickling", "check_no_state_aliasing_with_input"}


def fitted_steps(model: Any) -> list[str]:
    """The steps of a pipeline that learn from the stream, each of which voids the promise.

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


def _fitted_before(caller: Any, classifier: PrivateClassifier) -> list[str]:
    """What ``caller`` learns, if it is a pipeline that ends with ``classifier``."""
    last = caller
    while isinstance(last, compose.Pipeline):
        last = list(last.steps.values())[-1]
    return fitted_steps(caller) if last is classifier else []
