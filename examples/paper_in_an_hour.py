# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The paper in an hour
#
# A learner publishes a hypothesis before every round. The adversary reads it, then answers with
# an example. How many mistakes does a *private* learner make? This notebook walks from the
# Littlestone dimension to Algorithm 2, its rivals, and the floor below all of them.
#
# All games here are seeded, so that you see the same numbers. A seeded run is never private:
# anybody who knows the seed knows the noise. For real data leave `rng` out.

# %%
import math
from collections.abc import Generator
from typing import Any

import littlestone as ls
from littlestone.learners.lazy_forest import reference
from littlestone.theory.adaptive_floors import burst_and_wait_lower_bound

# %% [markdown]
# ## 1. The dimension
#
# The adversary asks for the root of a tree, says that the prediction was wrong, and moves to the
# child with the other label. The class *shatters* the tree if some concept fits every path. The
# Littlestone dimension is the depth of the deepest such tree: the number of mistakes that an
# adversary can force on every deterministic learner. For thresholds on 7 points it is 3.

# %%
thresholds = ls.Thresholds(7)
print(f"Littlestone dimension {thresholds.littlestone_dimension}, VC {thresholds.vc_dimension}")
print(ls.concepts.shattered_tree(thresholds).text())

# %% [markdown]
# ## 2. The standard optimal algorithm
#
# It keeps the concepts that fit all examples. For each point it predicts the label whose
# concepts have the larger dimension, so every mistake lowers the dimension by at least 1. It is
# optimal and not private: one example can change the next hypothesis with certainty.

# %%
game = ls.play(
    ls.StandardOptimal(thresholds), ls.MistakeForcing(thresholds), rounds=100, rng=ls.seeded(1)
)
print(game)
axes = game.plot(label="standard optimal algorithm")

# %% [markdown]
# ## 3. AboveThreshold
#
# A private learner must decide when its hypothesis has erred too often. It cannot count openly,
# because the round of the switch would reveal single examples. AboveThreshold adds noise to the
# threshold and to each count, and answers *no* until the first *yes*. All answers together cost
# one ε, however many rounds pass.

# %%
switch = ls.mechanisms.AboveThreshold(epsilon=1.0, threshold=50)
answers = []
for seed in range(5):
    run = switch.start(rng=ls.seeded(seed))
    answers.append(next(count for count in range(1000) if run.ask(count)))
error = switch.error_bound(queries=100, failure_probability=0.05)
print(f"{switch.guarantee()}: first yes at the counts {answers}")
print(f"with probability 95 % all of 100 answers are right up to {error:.0f}")

# %% [markdown]
# ## 4. Algorithm 2
#
# Many copies of the standard optimal algorithm each see few of the mistakes. Two copies that
# disagree pass one sequence of examples on to the next layer. A hypothesis that many copies of a
# layer share is safe to publish: a histogram with noise lists it, and no single example decides
# whether it is listed. AboveThreshold says when it has erred too often.
#
# `littlestone.learners.lazy_forest.reference` has the algorithm as printed, line by line. Here it
# learns one point out of four. Each round shows the point 2 with label 1.


# %%
def printed_algorithm(rounds: int, copies: int, rng: ls.Randomness) -> Generator[Any, Any, None]:
    """Algorithm 2 with the mechanisms of this library."""
    return reference.realizable_learner(
        ls.Points(4),
        T=rounds,
        ε=1.0,
        δ=1e-6,
        β=0.05,
        N_0=copies,
        above_threshold=lambda epsilon, threshold: ls.mechanisms.CountAboveThreshold(
            epsilon=epsilon, threshold=math.ceil(threshold)
        ).start(rng=rng),
        private_histogram=lambda epsilon, delta, votes: ls.mechanisms.PrivateHistogram(
            epsilon=epsilon, delta=delta
        ).release(votes, rng=rng),
        rng=rng,
    )


learning = printed_algorithm(rounds=4000, copies=2048, rng=ls.seeded(1))
hypothesis, mistakes = next(learning), 0
for _ in range(3999):
    mistakes += hypothesis(2) != 1
    hypothesis = learning.send((2, 1))
print(f"{mistakes} mistakes, then: {hypothesis.describe()}")

# %% [markdown]
# As printed, a hypothesis stays until it has made about as many mistakes as there are copies.
# `LazyForest` is the same learner made practical, with a plan for its horizon and a proved bound.
# The domain may be infinite: here any point may come.

# %%
forest = ls.LazyForest.calibrated(concepts=ls.Points(), rounds=10_000, epsilon=1.0, delta=1e-6)
game = ls.play(forest, ls.MistakeForcing(ls.Points()), rounds=10_000, rng=ls.seeded(2))
bound = forest.mistake_bound(failure_probability=0.05)
print(f"{forest.guarantee()}: {game.mistakes} mistakes, at most {bound:g} with probability 95 %")
axes = game.plot(label="LazyForest")

# %% [markdown]
# ## 5. Rivals
#
# `NaiveRecomposition` draws a concept in every round and shares one budget among all draws.
# `PrivateMajority` publishes a majority and pays only when it changes its mind. The standard
# optimal algorithm shows what privacy costs. (`FreshCopies` grows a forest in every round. Its
# running time grows with the square of the rounds, so it is left out here.)

# %%
points, rounds = ls.Points(64), 5_000
budget: dict[str, Any] = {"concepts": points, "rounds": rounds, "epsilon": 1.0, "delta": 1e-6}
comparison = ls.game.compare(
    {
        "LazyForest": ls.LazyForest.calibrated(**budget),
        "PrivateMajority": ls.PrivateMajority(**budget),
        "NaiveRecomposition": ls.learners.NaiveRecomposition(**budget),
        "not private": ls.StandardOptimal(points),
    },
    {"forcing": ls.MistakeForcing(points), "random": ls.RandomStream(points)},
    rounds=rounds,
    rng=ls.seeded(1),
)
print(comparison)
axes = comparison.plot()
axes.set_yscale("symlog")

# %% [markdown]
# With the paper's own constants the first layer waits for more mistakes than any stream has:

# %%
try:
    ls.LazyForest.paper(
        concepts=thresholds, rounds=10**6, epsilon=1.0, delta=1e-6, failure_probability=0.05
    ).start(rng=ls.seeded(1))
except ls.learners.ForestTooLargeError as refusal:
    print(refusal)

# %% [markdown]
# ## 6. Floors
#
# The mistakes of every private learner grow with the logarithm of the horizon T, as long as δ is
# small against 1/T. The adversary of this floor attacks for a few rounds, waits, and attacks again.
# With δ = 10⁻⁶ the floor levels off near a million rounds. At all these horizons the proved bound
# of `LazyForest` is below three times the floor.

# %%
horizons = [10**power for power in range(2, 8)]
floors = [burst_and_wait_lower_bound(rounds=t, epsilon=1.0, delta=1e-6) for t in horizons]
bounds = [
    ls.LazyForest.calibrated(concepts=ls.Points(), rounds=t, epsilon=1.0, delta=1e-6).mistake_bound(
        failure_probability=0.05
    )
    for t in horizons
]
for t, floor, bound in zip(horizons, floors, bounds, strict=True):
    print(f"{t:>10,} rounds: no private learner expects fewer than {floor:.1f}, bound {bound:g}")

# %% [markdown]
# For a tiny game the best private learner is the solution of a linear programme. Whole numbers
# certify the value.

# %%
optimum = ls.theory.optimal_mistakes([[0, 0], [0, 1]], rounds=3, epsilon=1.0)
print(f"one bit, three rounds, ε = 1: {optimum.value:.4f} expected mistakes")

# %% [markdown]
# **Go on** with the proofs in `docs/STATEMENTS.md`, with `littlestone claims`, which tests the
# paper's statements, or with `littlestone arena`, where you are the adversary.
