"""On a finite domain the generator is objected to at most ln|X|/(2g²) times [P, Lemma gen]."""

import numpy as np
from numpy.typing import NDArray

from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.rows import Row, curves, tabulate
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.generator import HedgeGenerator
from littlestone.sanitizers.queries import FiniteQueries, queries_of
from littlestone.theory.sanitization import generator_rounds_upper_bound

POINTS = 64
CONCEPTS = 256
QUICK = (0.3, 0.2, 0.1, 0.05)
FULL = (*QUICK, 0.025, 0.0125)


def most_objections(
    queries: FiniteQueries, truth: NDArray[np.float64], gap: float, *, lazy: bool
) -> int:
    """How often one objects who sees everything: by as much as possible, or just by the gap."""
    state, count = HedgeGenerator(step=4 * gap).start(queries), 0
    wanted = queries.answers(truth)
    while True:
        surplus = wanted - queries.answers(state.weights)
        size = np.abs(surplus)
        if size.max() < gap:
            return count
        number = int(np.where(size >= gap, size, 2.0).argmin() if lazy else size.argmax())
        state = state.after(number, 1 if surplus[number] > 0 else -1)
        count += 1


@claimed(
    says="Objections by at least g to exponential weights over X number at most ln|X|/(2g²).",
    source="[P], Lemma D.8 (lem:gen), finite domain",
    setting=f"{CONCEPTS} random concepts on {POINTS} points; g from 0.3 to 0.0125 (quick: 0.05)",
    judged="refuted by a single count above the bound",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Two kinds of data against two kinds of objections, for smaller and smaller gaps."""
    generator = rng.generator()
    queries = queries_of(FiniteClass(generator.integers(2, size=(CONCEPTS, POINTS))))
    truths = {
        "one point": np.eye(POINTS)[0],
        "few points": generator.dirichlet(np.full(POINTS, 0.05)),
    }
    kinds = {
        f"{name}, {'lazy' if lazy else 'eager'}": (truth, lazy)
        for name, truth in truths.items()
        for lazy in (True, False)
    }

    def measured(gap: float) -> Row:
        counts = {
            kind: most_objections(queries, truth, gap, lazy=lazy)
            for kind, (truth, lazy) in kinds.items()
        }
        return {"gap": gap, **counts, "bound": generator_rounds_upper_bound(points=POINTS, gap=gap)}

    rows = tabulate(FULL if full else QUICK, measured, progress)
    closest = max(row[kind] / row["bound"] for row in rows for kind in kinds)
    return Finding(
        verdict=Verdict.REFUTED if closest > 1 else Verdict.NOT_REFUTED,
        false_refutation=0.0,
        summary=f"the worst case seen needs {closest:.0%} of the bound",
        rows=rows,
        pictures=[
            Picture(
                title=f"Objections to exponential weights over {POINTS} points",
                x_label="gap g of an objection",
                y_label="objections",
                series=curves(
                    rows, "gap", *((key, key, "o-") for key in (*kinds, "bound")), at_least=1
                ),
            )
        ],
    )
