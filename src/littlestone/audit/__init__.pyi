"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.audit.auditing import AuditReport as AuditReport
from littlestone.audit.auditing import learner as learner
from littlestone.audit.exact.privacy_curve import PrivacyCurve as PrivacyCurve
from littlestone.audit.exact.privacy_curve import privacy_curve as privacy_curve
from littlestone.audit.exact.tape import TooLightError as TooLightError
from littlestone.audit.exact.worst_mistakes import worst_mistakes as worst_mistakes
from littlestone.audit.grey_box import check_sensitivity as check_sensitivity
from littlestone.audit.two_worlds import Subject as Subject
from littlestone.audit.two_worlds import TwoWorldAdversary as TwoWorldAdversary
from littlestone.audit.visits import SensitivityError as SensitivityError
from littlestone.audit.visits import Visit as Visit

__all__: list[str]
