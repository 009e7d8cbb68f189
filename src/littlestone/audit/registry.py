"""List every audit and control by name, for the command line and the matrix.

Modules of ``audit.subjects`` list theirs as ``AUDITS``, modules of ``audit.controls`` as
``CONTROLS``.
"""

from collections.abc import Mapping
from typing import Final

from littlestone.audit import controls, subjects
from littlestone.audit.two_worlds import Audit, Control
from littlestone.registry import discovered

AUDITS: Final[Mapping[str, Audit]] = discovered(subjects, "AUDITS", Audit)
CONTROLS: Final[Mapping[str, Control]] = discovered(controls, "CONTROLS", Control)
