"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.theory.optimum.mistakes import optimal_mistakes as optimal_mistakes

__all__: list[str]
