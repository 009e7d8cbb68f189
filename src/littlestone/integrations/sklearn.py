"""Scikit-learn gets a private classifier with ``fit`` and ``partial_fit``, for pipelines too."""

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from littlestone.choose.request import Request
from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.records.columns import listed
from littlestone.concepts.schema import Numeric, Schema
from littlestone.integrations.frozen import FrozenClassifier
from littlestone.integrations.promises import Fits, warn_of_fitted_steps
from littlestone.integrations.shared import (
    AdversaryKind,
    Setting,
    label_numbers,
    learner_for,
    portable,
    resumed,
    with_form,
)
from littlestone.integrations.tables import columns_of, numbers_of, targets_of
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.snapshots import Register
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import seeded

GRID: Final = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
ROUNDS: Final = 100_000
_FIRST_BLOCK: Final = 64

_LABELS: Final = "labels are declared beforehand, never read off the data; these are 0 and 1"
EXPECTED_FAILED_CHECKS: Final = {
    "check_classifier_data_not_an_array": _LABELS,
    "check_classifiers_classes": _LABELS,
    "check_classifiers_one_label": "ten rows are too few to outweigh the noise, of one class too",
    "check_dtype_object": "what is no number is refused by its column, with a ValueError",
    "check_estimators_dtypes": _LABELS,
    "check_fit2d_1feature": _LABELS,
    "check_fit_score_takes_y": "fit plans for the rows it is given, unless rounds= declares more",
}
"""For ``check_estimator(PrivateOnlineClassifier(), expected_failed_checks=…)``, with reasons."""


class PrivateOnlineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn one rule from rows in their order; the whole stream of rules is private.

    What is learned is said by ``concepts`` (a ``Schema`` with one field for each column, whose
    simple rules are then the class; any concept class; or one in the command line's words) and
    ``setting``, or by a whole ``learner``. With neither, every column is a number that is cut at
    the values of ``grid``.

    Everything about the rows is declared beforehand: the schema or grid and the two ``classes``
    (here, or in the first call of ``partial_fit``). Read off the data, each of them would publish
    some of it before any mechanism has a say: a list of classes tells whether anybody had the
    rarer one. Rows that do not fit are refused with a ValueError before anything is learned.

    ``predict_proba`` gives 0 and 1, since a rule is certain: nothing that was published says how
    often it is right, and a count of that would need noise of its own. ``freeze`` gives the rule
    as a value that may be copied and kept.

    ``rounds`` is the number of rows that will ever be learned from. Without it ``fit`` plans for
    the rows it is given, which leaves nothing for ``partial_fit`` after it; a run that begins with
    ``partial_fit`` then plans for 100,000.

    Privacy:
        Releases:   the rule after every row, hence every prediction; not scores on true labels
        Neighbours: tables that differ in one row or its label, in containers of the same types:
                    lists are read value by value, the types of arrays and of the columns of
                    data frames are public
        Adversary:  adaptive
        Guarantee:  that of its learner, at most (epsilon, delta), for one run: ``fit`` begins a
                    new one each time, so that rows which are fitted again pay again (as in
                    cross-validation and grid searches): ``guarantee()`` is the sum over all fits
                    of this estimator and its clones, for all their rules together
        Assumes:    that steps before it in a pipeline are fixed maps of one row: a scaler that is
                    fitted to the rows publishes through it what it learned (a pipeline that does
                    so is warned of); that scores on true labels, and parameters that were chosen by
                    such scores, are not published; that nobody is told that a table was refused:
                    it is exactly if one of its rows is, by the schema or the classes or, for an
                    array of floats that are not all finite, by scikit-learn, or if its shape or
                    names are wrong, with an error for the caller before anything is learned
                    (docs/GUARANTEES.md, One row, one round); and random_state=None
        Proof:      that of its learner; for several fits docs/GUARANTEES.md (F2)

    >>> import numpy as np
    >>> column = np.linspace(-3, 3, 2000)[np.arange(2000) * 1237 % 2000]
    >>> model = PrivateOnlineClassifier(epsilon=1.0, delta=1e-6, random_state=7)
    >>> model = model.fit(column.reshape(-1, 1), (column >= 0.5).astype(int))
    >>> model.hypothesis.describe(), model.predict([[0.7], [0.3]]).tolist()
    ('1 if x0 >= 0.5 else 0', [1, 0])
    """

    def __init__(
        self,
        learner: PrivateLearner | str = "auto",
        *,
        concepts: ConceptClass | Schema | str | None = None,
        grid: Sequence[float] = GRID,
        rounds: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        setting: Setting = "agnostic",
        adversary: AdversaryKind = "oblivious",
        max_contributions: int = 1,
        classes: Sequence[Any] = (0, 1),
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.concepts = concepts
        self.grid = grid
        self.rounds = rounds
        self.epsilon = epsilon
        self.delta = delta
        self.setting = setting
        self.adversary = adversary
        self.max_contributions = max_contributions
        self.classes = classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Begin a new run, with a new budget, and learn from each row once, in order."""
        warn_of_fitted_steps(self, _fitted_before)
        columns, targets = self._validated(X, y, self._declared(), reset=True)
        return self._begin(columns, targets, self.classes, unplanned=len(targets))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: N803
        """Go on with the run, or begin one, and learn from each row once, in order."""
        if not hasattr(self, "run_"):
            warn_of_fitted_steps(self, _fitted_before)
            columns, targets = self._validated(X, y, self._declared(), reset=True)
            declared = self.classes if classes is None else np.unique(classes).tolist()
            return self._begin(columns, targets, declared, unplanned=ROUNDS)
        if classes is not None and not np.array_equal(np.unique(classes), np.unique(self.classes_)):
            raise ValueError(f"classes were declared as {self.classes_}, got classes={classes!r}")
        columns, targets = self._validated(X, y, self.recipe_.concepts, reset=False)
        numbers = numbers_of(targets, self.classes_.tolist())
        _learn(self.run_, _points(self.recipe_, columns), numbers)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """What the published rule says about each row."""
        said = self._said(X)
        labels: NDArray[Any] = self.classes_[said]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """1 for what the published rule says and 0 for the other; a column for each class."""
        return np.eye(2)[self._said(X)]

    def _said(self, table: Any) -> NDArray[np.uint8]:
        check_is_fitted(self, "run_")
        return self.hypothesis.many(_points(self.recipe_, columns_of(self, table, reset=False)))

    @property
    def hypothesis(self) -> Hypothesis:
        """The published rule."""
        check_is_fitted(self, "run_")
        return self.run_.hypothesis

    @property
    def ledger(self) -> Ledger:
        check_is_fitted(self, "run_")
        return self.run_.ledger

    def guarantee(self) -> PrivacyGuarantee:
        """What the rules of all fits so far, of this estimator and its clones, promise together."""
        if not len(self._fits_so_far):
            check_is_fitted(self, "run_")
        return self._fits_so_far.total()

    @property
    def promise(self) -> str:
        """The guarantee in words, with the number of fits."""
        self.guarantee()
        return self._fits_so_far.promise

    @property
    def _fits_so_far(self) -> Fits:
        """Made when it is first needed: scikit-learn wants nothing but parameters before."""
        fits: Fits = self.__dict__.setdefault("_fits", Fits())
        return fits

    def __sklearn_clone__(self) -> Self:
        fresh: Self = super().__sklearn_clone__()
        fresh._fits = self._fits_so_far
        return fresh

    def freeze(self) -> FrozenClassifier:
        """The published rule alone, without anything secret: to be copied, pickled and exported."""
        check_is_fitted(self, "run_")
        known = isinstance(self.recipe_.concepts.domain, Records)
        return FrozenClassifier(
            self.hypothesis,
            tuple(self.classes_.tolist()),
            None if known else tuple(self._column_names()),
            promise=self.promise
            if self.run_.private
            else f"NOT PRIVATE: random_state={self.random_state!r}",
        )

    def snapshot(self) -> bytes:
        """Bytes from which ``resume`` continues, once. They hold secrets."""
        check_is_fitted(self, "run_")
        return with_form(self.run_)

    def resume(self, snapshot: bytes, register: Register | None = None) -> Self:
        """Continue one with the same, fully declared parameters, by the learner picked for it."""
        if hasattr(self, "run_"):
            raise ValueError("this estimator has begun to learn already; resume a fresh clone")
        if self.concepts is None and isinstance(self.learner, str):
            raise ValueError("resume needs concepts= or learner=, got the grid alone")
        recipe, saved = resumed(snapshot, self._recipe(self.concepts, self.rounds))
        label_numbers(self.classes)
        self.run_ = recipe.restore(saved, register)
        self.recipe_, self.classes_ = recipe, np.asarray(self.classes)
        self._fits_so_far.add(recipe, self.run_)
        if isinstance(recipe.concepts.domain, Records):
            self.n_features_in_ = len(recipe.concepts.domain.fields)
        return self

    def _declared(self) -> ConceptClass | None:
        """The class that is learned, if the parameters alone say it."""
        if not isinstance(self.learner, str):
            return self.learner.concepts
        if self.concepts is None:
            return None
        return Request(over=self.concepts, setting=self.setting).concepts

    def _recipe(self, concepts: Any, rounds: int | None) -> PrivateLearner:
        whole = not isinstance(self.learner, str)
        return learner_for(
            learner=self.learner,
            concepts=self.concepts if whole else concepts,
            setting=self.setting,
            adversary=self.adversary,
            rounds=self.rounds if whole else rounds,
            epsilon=self.epsilon,
            delta=self.delta,
            max_contributions=self.max_contributions,
        )

    def _validated(
        self,
        table: Any,
        y: Any,
        concepts: ConceptClass | None,
        *,
        reset: bool,
    ) -> tuple[list[Any], NDArray[Any]]:
        columns = columns_of(self, table, reset=reset)
        targets = targets_of(y, columns)
        if concepts is not None and isinstance(concepts.domain, Records):
            self._check_columns(concepts.domain)
        return columns, targets

    def _check_columns(self, schema: Records) -> None:
        names = [part.name for part in schema.fields]
        if self.n_features_in_ != len(names):
            raise ValueError(
                f"X has {self.n_features_in_} features, but the schema declares {len(names)}: "
                f"{', '.join(names)}"
            )
        found = getattr(self, "feature_names_in_", None)
        if found is not None and list(found) != names:
            raise ValueError(f"columns must be those of the schema, {names}, got {list(found)}")

    def _begin(
        self, columns: list[Any], targets: NDArray[Any], classes: Sequence[Any], *, unplanned: int
    ) -> Self:
        concepts = self._schema_of_numbers() if self._declared() is None else self.concepts
        rounds = unplanned if self.rounds is None else self.rounds
        recipe = self._recipe(concepts, rounds)
        numbers = numbers_of(targets, classes)
        points = _points(recipe, columns)
        run = recipe.start(rng=None if self.random_state is None else seeded(self.random_state))
        self._fits_so_far.add(recipe, run)  # before it learns: what breaks off has been paid for
        _learn(run, points, numbers)
        self.classes_ = np.asarray(classes)
        self.recipe_, self.run_ = recipe, run
        return self

    def _schema_of_numbers(self) -> Schema:
        return Schema(tuple(Numeric(name, tuple(self.grid)) for name in self._column_names()))

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{number}" for number in range(self.n_features_in_)]
        return list(map(str, names))

    def __getstate__(self) -> dict[str, Any]:
        assert self._fits_so_far is not None  # so that copies share it from the beginning
        state: dict[str, Any] = super().__getstate__()
        return {**state, "run_": portable(state["run_"])} if "run_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "run_" in state:
            self.run_ = self.recipe_.restore(state["run_"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        tags.non_deterministic = True
        return tags


def fitted_steps(model: Any) -> list[str]:
    """The steps of a pipeline that are fitted to the rows, each of which voids the promise.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> fitted_steps(make_pipeline(Normalizer(), StandardScaler(), PrivateOnlineClassifier()))
    ['standardscaler']
    """
    if not isinstance(model, Pipeline):
        return []
    return [found for name, step in model.steps[:-1] for found in _learning(name, step)]


def _learning(name: str, step: Any) -> list[str]:
    if step is None or isinstance(step, str):  # "passthrough" or "drop"
        return []
    parts: Any = None
    if isinstance(step, Pipeline):
        parts = step.steps
    elif isinstance(step, FeatureUnion):
        parts = step.transformer_list
    elif isinstance(step, ColumnTransformer):
        parts = [*((part[0], part[1]) for part in step.transformers), (name, step.remainder)]
    if parts is not None:
        return [found for inner, part in parts for found in _learning(inner, part)]
    return [name] if get_tags(step).requires_fit else []


def _fitted_before(caller: Any, classifier: PrivateOnlineClassifier) -> list[str]:
    """What ``caller`` fits, if it is a pipeline that ends with ``classifier``."""
    last = caller
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    return fitted_steps(caller) if last is classifier else []


def _points(recipe: PrivateLearner, columns: list[Any]) -> Any:
    """Each row as a point: cells of the schema, the only column, or the tuple of all."""
    domain = recipe.concepts.domain
    if isinstance(domain, Records):
        named = zip((part.name for part in domain.fields), columns, strict=True)
        return domain.check_many(dict(named))
    if len(columns) == 1:
        return domain.check_many(columns[0])
    return domain.check_many(list(zip(*map(listed, columns), strict=True)))


def _learn(run: PrivateRun, points: Any, numbers: NDArray[np.uint8]) -> None:
    """All rows or none: a block that is longer than the rounds left is refused."""
    horizon = run.recipe.rounds
    if horizon is not None and len(numbers) > horizon - run.rounds_played:
        raise ValueError(
            f"{len(numbers)} rows are more than the {horizon - run.rounds_played} rounds left of "
            f"{horizon}; nothing was learned. Declare a larger rounds="
        )
    taken, block = 0, _FIRST_BLOCK
    while taken < len(numbers):
        end = taken + block
        took = run.observe_many_canonical(points[taken:end], numbers[taken:end])
        taken += took
        # A learner may look at its whole block, which is wasted where the rule changes early.
        block = 2 * block if took == block else _FIRST_BLOCK
