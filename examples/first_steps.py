"""Dimensions, learning without privacy, and a game, in twenty lines."""

import littlestone as ls

concepts = ls.Thresholds(6)
print(f"{concepts}: Littlestone dimension {concepts.littlestone_dimension}")
print(ls.concepts.shattered_tree(concepts).text())

learner = ls.StandardOptimal(concepts)
for adversary in (ls.MistakeForcing(concepts=concepts), ls.RandomStream(concepts=concepts)):
    game = ls.play(learner, adversary, rounds=1000, rng=ls.seeded(1))
    print(f"{type(adversary).__name__}: {game.mistakes} mistakes, regret {game.regret}")

# A class of one's own: three concepts on four points.
mine = ls.FiniteClass([[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 1, 0]])
print(f"my class: Littlestone {mine.littlestone_dimension}, VC {mine.vc_dimension}")
print(f"randomised Littlestone dimension: {ls.concepts.randomized_littlestone_dimension(mine)}")
