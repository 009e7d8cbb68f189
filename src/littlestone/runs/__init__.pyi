"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.errors import UnreachableError as UnreachableError
from littlestone.runs.durable import DifferentContentError as DifferentContentError
from littlestone.runs.durable import DurableRun as DurableRun
from littlestone.runs.fleet.keyed import advance as advance
from littlestone.runs.fleet.per_key import PerKey as PerKey
from littlestone.runs.frames import learn_frame as learn_frame
from littlestone.runs.intake.event import Event as Event
from littlestone.runs.intake.event import Receipt as Receipt
from littlestone.runs.learning import BadRowError as BadRowError
from littlestone.runs.published import AlteredError as AlteredError

__all__: list[str]
