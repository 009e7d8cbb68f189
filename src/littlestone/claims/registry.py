"""Every claim is in one plain dictionary, by name."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from littlestone.claims.core import Claim

_FOLDERS: Final = {
    "above-threshold-error": "mechanisms",
    "adaptive-breaks-dartboard": "agnostic",
    "algorithm-4-utility": "sanitization",
    "construction-regret": "agnostic",
    "coupon-collector": "mechanisms",
    "dimension-growth": "realizable",
    "experts-are-close": "agnostic",
    "forest-log-growth": "realizable",
    "fresh-copies-root-growth": "realizable",
    "generator-rounds": "sanitization",
    "histogram-error": "mechanisms",
    "littlestone-mistakes": "realizable",
    "privacy-is-free": "agnostic",
    "privacy-parameters": "realizable",
    "realizable-samples": "sanitization",
    "regret-square-root": "agnostic",
    "restarts": "realizable",
    "sanitized-batches-regret": "agnostic",
    "sanitizer-samples": "sanitization",
    "sanitizers-compared": "sanitization",
    "sparse-majority-mistakes": "agnostic",
    "update-lemma": "realizable",
}
"""The claim a-b is ``CLAIM`` in the module ``a_b`` of its folder."""

CLAIMS: Final[Mapping[str, Claim]] = {
    name: import_module(f"littlestone.claims.{folder}.{name.replace('-', '_')}").CLAIM
    for name, folder in _FOLDERS.items()
}
