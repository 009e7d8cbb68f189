"""A private rule in a River pipeline: which web sites are phishing?

River's own stream of 1,250 sites, learned in one pass. The published rule is one condition on one
feature; the stream of rules is differentially private, so it tells little about any one site.

    python examples/river_pipeline.py
"""

try:
    from river import compose, datasets, evaluate, linear_model, metrics, preprocessing

    from littlestone.adapters.river import PrivateClassifier
except ImportError:
    raise SystemExit("this example needs River: pip install 'littlestone[integrations]'") from None

from littlestone.concepts.schema import Schema

# Written down from what the features mean, never read off the data: all are 0, one half or 1.
FEATURES = (
    "age_of_domain", "anchor_from_other_domain", "empty_server_form_handler", "https", "ip_in_url",
    "is_popular", "long_url", "popup_window", "request_from_other_domain",
)  # fmt: skip
SCHEMA = Schema.from_mapping({name: {"grid": [0.25, 0.75]} for name in FEATURES})


def main() -> None:
    private = PrivateClassifier(concepts=SCHEMA, rounds=1250, epsilon=1.0, delta=1e-6)
    # Select looks at one record at a time. A scaler here would learn from the stream and publish
    # what it learned through the predictions, which the promise does not cover.
    models = {
        "private rule": compose.Select(*FEATURES) | private,
        "regression, not private": (
            preprocessing.StandardScaler() | linear_model.LogisticRegression()
        ),
    }
    for name, model in models.items():
        score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
        print(f"{name:<24}{score}")
    print(f"published: {private.hypothesis.describe()} -> phishing")
    print(private.ledger.explain())


if __name__ == "__main__":
    main()
