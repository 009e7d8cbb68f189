"""Provide a private classifier for scikit-learn with ``fit`` and ``partial_fit``."""

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError as absent:
    raise ImportError(
        "this adapter needs scikit-learn: pip install 'littlestone[integrations]'"
    ) from absent
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from littlestone.adapters.frozen import FrozenClassifier
from littlestone.adapters.shared import (
    AdversaryKind,
    Fits,
    Setting,
    declared_labels,
    label_array,
    learner_for,
    portable,
    releases_from,
    resumed,
    warn_of_fitted_steps,
    with_form,
)
from littlestone.adapters.tables import columns_of, numbers_of, targets_of
from littlestone.choose.request import Request
from littlestone.concepts.capabilities import Records
from littlestone.concepts.hypotheses.weighted_vote import Releases
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.records.columns import listed
from littlestone.concepts.schema import Numeric, Schema
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.snapshots import Register
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import seeded

GRID: Final = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
ROUNDS: Final = 100_000
_FIRST_BLOCK: Final = 64
_SHAPE: Final[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")

_LABELS: Final = "labels are declared beforehand, never read from the data; these are 0 and 1"
EXPECTED_FAILED_CHECKS: Final = {
    "check_classifier_data_not_an_array": _LABELS,
    "check_classifiers_classes": _LABELS,
    "check_classifiers_one_label": "ten rows are too few to outweigh the noise, even of one class",
    "check_dtype_object": "what is not a number is rejected by its column, with a ValueError",
    "check_estimators_dtypes": _LABELS,
    "check_fit2d_1feature": _LABELS,
    "check_fit_score_takes_y": "fit plans for the rows it is given, unless rounds= declares more",
}
"""For ``check_estimator(PrivateClassifier(), expected_failed_checks=…)``, with reasons."""


class PrivateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn one rule from rows in their order; the whole stream of rules is private.

    ``concepts`` (a ``Schema`` with one field for each column, whose
    simple rules are then the class; any concept class; or its name on the command line) and
    ``setting`` say what is learned, or a whole ``learner`` does. With neither, every column is a
    number that is cut at the values of ``grid``.

    Everything about the rows is declared beforehand: the schema or grid and the ``classes``
    (here, or in the first call of ``partial_fit``). Read from the data, each of them would publish
    some of it without any mechanism: a list of classes reveals whether anyone had the
    rarer one. Rows that do not fit are rejected with a ValueError before anything is learned.

    ``predict_proba`` returns 0 and 1, because a rule is certain: nothing that was published says
    how often it is right, and an estimate of that would need its own noise. ``freeze`` returns the
    rule as a value that can be copied and stored.

    ``rounds`` is the most rows that will ever be learned from. Without it ``fit`` plans for
    the rows it is given, which leaves none for a later ``partial_fit``; a run that begins with
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
    >>> model = PrivateClassifier(epsilon=1.0, delta=1e-6, random_state=7)
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
        classes: Sequence[Any] | None = None,
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
        """Start a new run, with a new budget, and learn from each row once, in order."""
        warn_of_fitted_steps(self, Pipeline, fitted_steps)
        known = {name: self.__dict__[name] for name in _SHAPE if name in self.__dict__}
        try:
            columns, targets = self._validated(X, y, self._declared(), reset=True)
            return self._begin(columns, targets, self.classes, unplanned=len(targets))
        except BaseException:  # the rule in force reads the columns of the fit before
            for name in _SHAPE:
                self.__dict__.pop(name, None)
            self.__dict__.update(known)
            raise

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: N803
        """Continue the run, or start one, and learn from each row once, in order."""
        if not hasattr(self, "run_"):
            warn_of_fitted_steps(self, Pipeline, fitted_steps)
            columns, targets = self._validated(X, y, self._declared(), reset=True)
            declared = self.classes if classes is None else _sorted(classes)
            return self._begin(columns, targets, declared, unplanned=ROUNDS)
        if classes is not None and not np.array_equal(np.unique(classes), np.unique(self.classes_)):
            raise ValueError(f"classes were declared as {self.classes_}, got classes={classes!r}")
        columns, targets = self._validated(X, y, self.recipe_.concepts, reset=False)
        numbers = numbers_of(targets, self.classes_.tolist())
        _learn(self.run_, _points(self.recipe_, columns), numbers, self._releases)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the label of each row by the published rule."""
        said = self._said(X)
        labels: NDArray[Any] = self.classes_[said]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return 1 for the predicted class and 0 for the others, a column for each class."""
        said = self._said(X)
        return np.eye(len(self.classes_))[said]

    def _said(self, table: Any) -> NDArray[np.uint8]:
        check_is_fitted(self, "run_")
        return self.hypothesis.many(_points(self.recipe_, self._columns(table)))

    def _columns(self, table: Any) -> list[Any]:
        return columns_of(self, table, reset=False, names=_names(self.recipe_.concepts))

    @property
    def hypothesis(self) -> Hypothesis:
        """Return the published rule."""
        check_is_fitted(self, "run_")
        return self.run_.hypothesis

    @property
    def ledger(self) -> Ledger:
        """Return the privacy ledger of the run."""
        check_is_fitted(self, "run_")
        return self.run_.ledger

    def guarantee(self) -> PrivacyGuarantee:
        """Return what the rules of all fits of this estimator and its clones promise together."""
        if not len(self._fits_so_far):
            check_is_fitted(self, "run_")
        return self._fits_so_far.total()

    @property
    def promise(self) -> str:
        """Return the guarantee in words, with the number of fits."""
        self.guarantee()
        return self._fits_so_far.promise

    @property
    def _fits_so_far(self) -> Fits:
        """Return the fits; created on first use: scikit-learn wants only parameters before."""
        fits: Fits = self.__dict__.setdefault("_fits", Fits())
        return fits

    def __sklearn_clone__(self) -> Self:
        fresh: Self = super().__sklearn_clone__()
        fresh._fits = self._fits_so_far
        return fresh

    def freeze(self, *, last: bool = False) -> FrozenClassifier:
        """Return a published rule without any secret: it can be copied, pickled and exported.

        Args:
            last: Use the last rule instead of the steady one, the vote of recent rules by how long
                each was in force.
        """
        check_is_fitted(self, "run_")
        known = isinstance(self.recipe_.concepts.domain, Records)
        return FrozenClassifier(
            self.hypothesis if last else self._releases.steady(),
            tuple(self.classes_.tolist()),
            None if known else tuple(self._column_names()),
            promise=self.promise
            if self.run_.private
            else f"NOT PRIVATE: random_state={self.random_state!r}",
        )

    def snapshot(self) -> bytes:
        """Return bytes from which ``resume`` continues, once. They hold secrets."""
        check_is_fitted(self, "run_")
        return with_form(self.run_, self._releases)

    def resume(self, snapshot: bytes, register: Register | None = None) -> Self:
        """Continue a snapshot of an estimator with the same parameters, by its own learner."""
        if hasattr(self, "run_"):
            raise ValueError("this estimator has already begun to learn; resume a fresh clone")
        if self.concepts is None and isinstance(self.learner, str):
            raise ValueError("resume needs concepts= or learner=, got the grid alone")
        classes, over = self._classes_over(self.classes, self.concepts)
        recipe, saved, releases = resumed(snapshot, learner_for(self, over, self.rounds))
        self.run_, self._releases = recipe.restore(saved, register), releases
        self.recipe_, self.classes_ = recipe, label_array(classes)
        self._fits_so_far.add(recipe, self.run_)
        if isinstance(recipe.concepts.domain, Records):
            self.n_features_in_ = len(_columns_in(recipe.concepts.domain))
        return self

    def _declared(self) -> ConceptClass | None:
        """Return the class that is learned, if the parameters alone determine it."""
        if not isinstance(self.learner, str):
            return self.learner.concepts
        if self.concepts is None:
            return None
        return Request(over=self.concepts, setting=self.setting).concepts

    def _validated(
        self, table: Any, y: Any, concepts: ConceptClass | None, *, reset: bool
    ) -> tuple[list[Any], NDArray[Any]]:
        columns = columns_of(self, table, reset=reset, names=_names(concepts))
        targets = targets_of(y, columns)
        if concepts is not None and isinstance(concepts.domain, Records):
            self._check_columns(concepts.domain)
        return columns, targets

    def _check_columns(self, schema: Records) -> None:
        names = _columns_in(schema)
        if self.n_features_in_ != len(names):
            raise ValueError(
                f"X has {self.n_features_in_} features, but the schema declares {len(names)}: "
                f"{', '.join(names)}"
            )
        found = getattr(self, "feature_names_in_", None)
        if found is not None and list(found) != names:
            raise ValueError(f"columns must be those of the schema, {names}, got {list(found)}")

    def _begin(
        self,
        columns: list[Any],
        targets: NDArray[Any],
        classes: Sequence[Any] | None,
        *,
        unplanned: int,
    ) -> Self:
        concepts = self._schema_of_numbers() if self._declared() is None else self.concepts
        classes, concepts = self._classes_over(classes, concepts)
        rounds = unplanned if self.rounds is None else self.rounds
        recipe = learner_for(self, concepts, rounds)
        numbers = numbers_of(targets, classes)
        points = _points(recipe, columns)
        run = recipe.start(rng=None if self.random_state is None else seeded(self.random_state))
        self._fits_so_far.add(recipe, run)  # before it learns: an interrupted fit is paid for
        releases = Releases([(0, run.hypothesis)])
        _learn(run, points, numbers, releases)
        self.classes_ = label_array(classes)
        self.recipe_, self.run_, self._releases = recipe, run, releases
        return self

    def _classes_over(
        self, classes: Sequence[Any] | None, concepts: Any
    ) -> tuple[Sequence[Any], Any]:
        """Return the declared classes and what to learn over; a given learner determines both."""
        over = concepts if isinstance(self.learner, str) else self.learner.concepts
        return declared_labels(classes, over, usual=(0, 1))

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
        if "run_" not in state:
            return state
        return {**state, "run_": portable(state["run_"]), "_releases": state["_releases"].to_json()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "run_" in state:
            self.run_ = self.recipe_.restore(state["run_"])
            self._releases = releases_from(state["_releases"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.classes is not None and len(self.classes) > 2
        tags.classifier_tags.poor_score = True
        tags.non_deterministic = True
        return tags


def fitted_steps(model: Any) -> list[str]:
    """Return the steps of a pipeline that are fitted to the rows; each voids the promise.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> fitted_steps(make_pipeline(Normalizer(), StandardScaler(), PrivateClassifier()))
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


def _sorted(classes: Any) -> list[Any]:
    """Return the different classes in order, as scikit-learn does."""
    try:
        found: list[Any] = np.unique(classes).tolist()
    except TypeError:
        raise ValueError(
            f"classes must be values that have an order, got classes={classes!r}"
        ) from None
    return found


def _names(concepts: ConceptClass | None) -> list[str] | None:
    """Return the columns of the fields that the schema declares; None without a schema."""
    if concepts is None or not isinstance(concepts.domain, Records):
        return None
    return _columns_in(concepts.domain)


def _columns_in(schema: Records) -> list[str]:
    """Return the columns of a schema; all parts of a date are in one."""
    return list(dict.fromkeys(part.column for part in schema.fields))


def _points(recipe: PrivateLearner, columns: list[Any]) -> Any:
    """Return each row as a point: cells of the schema, the only column, or a tuple."""
    domain = recipe.concepts.domain
    if isinstance(domain, Records):
        return domain.check_many(dict(zip(_columns_in(domain), columns, strict=True)))
    if len(columns) == 1:
        return domain.check_many(columns[0])
    return domain.check_many(list(zip(*map(listed, columns), strict=True)))


def _learn(run: PrivateRun, points: Any, numbers: NDArray[np.uint8], releases: Releases) -> None:
    """Learn from all rows or none: reject a block that exceeds the remaining rounds."""
    horizon = run.recipe.rounds
    if horizon is not None and len(numbers) > horizon - run.rounds_played:
        raise ValueError(
            f"{len(numbers)} rows are more than the {horizon - run.rounds_played} rounds left of "
            f"{horizon}; nothing was learned. Declare a larger rounds="
        )
    taken, block = 0, _FIRST_BLOCK
    while taken < len(numbers):
        end = taken + block
        took = run.take(points[taken:end], numbers[taken:end])
        taken += took
        releases.add(run.rounds_played, run.hypothesis)
        # A learner may read its whole block, which is wasted if the rule changes early.
        block = 2 * block if took == block else _FIRST_BLOCK
