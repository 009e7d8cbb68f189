"""A private rule in a scikit-learn pipeline: which tumours are malignant?

The Wisconsin breast cancer table that comes with scikit-learn: 569 patients, of whom the last 169
are kept for the score. The published rule is one condition on one measurement, and differentially
private towards each patient that it was learned from.

    python examples/sklearn_pipeline.py
"""

try:
    from sklearn.compose import ColumnTransformer
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from littlestone.adapters.sklearn import PrivateClassifier
except ImportError:
    raise SystemExit(
        "this example needs scikit-learn: pip install 'littlestone[integrations]'"
    ) from None

from littlestone.concepts.schema import Schema

LEARN_FROM = 400
COLUMNS = {"radius": 0, "texture": 1, "concave points": 7}

# Round numbers over the usual ranges of these measurements. Grids or scales that are computed from
# the table would publish some of it.
SCHEMA = Schema.from_mapping(
    {
        "radius": {"grid": [10, 12, 14, 16, 18, 20]},
        "texture": {"grid": [15, 20, 25]},
        "concave points": {"grid": [2, 4, 6, 8, 10]},
    }
)


def main() -> None:
    table = load_breast_cancer()
    malignant = table.target == 0
    model = make_pipeline(
        ColumnTransformer(
            [
                ("as they are", "passthrough", [COLUMNS["radius"], COLUMNS["texture"]]),
                ("in percent", FunctionTransformer(lambda x: 100 * x), [COLUMNS["concave points"]]),
            ]
        ),
        PrivateClassifier(concepts=SCHEMA, epsilon=1.0, delta=1e-6, classes=(False, True)),
    )
    model.fit(table.data[:LEARN_FROM], malignant[:LEARN_FROM])
    private = model[-1]
    score = model.score(table.data[LEARN_FROM:], malignant[LEARN_FROM:])
    print(f"published: {private.hypothesis.describe()} -> malignant")
    print(f"accuracy on other patients: {score:.1%}")
    print(private.ledger.explain())


if __name__ == "__main__":
    main()
