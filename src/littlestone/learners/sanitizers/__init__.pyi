"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.learners.entry import Part
from littlestone.learners.sanitizers.choose import sanitizer_for as sanitizer_for
from littlestone.learners.sanitizers.discriminator import Discriminator as Discriminator
from littlestone.learners.sanitizers.fooling_sanitizer import (
    FoolingSanitizer as FoolingSanitizer,
)
from littlestone.learners.sanitizers.generator import Generator as Generator
from littlestone.learners.sanitizers.histogram_sanitizer import (
    HistogramSanitizer as HistogramSanitizer,
)
from littlestone.learners.sanitizers.interval_sanitizer import (
    IntervalSanitizer as IntervalSanitizer,
)
from littlestone.learners.sanitizers.labels import LabelConversion as LabelConversion
from littlestone.learners.sanitizers.protocols import Sanitizer as Sanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import (
    RealizableSanitizer as RealizableSanitizer,
)
from littlestone.learners.sanitizers.tree_sanitizer import (
    TreeSanitizer as TreeSanitizer,
)
from littlestone.learners.sanitizers.winnow_generator import (
    FlagGenerator as FlagGenerator,
)

PARTS: tuple[Part, ...]

__all__: list[str]
