"""One entry of the ledger: who released something, at what cost, from which rounds."""

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.loads import Load
from littlestone.privacy.rounding import text_at_least
from littlestone.privacy.zcdp import ZeroConcentrated

Cost = PrivacyGuarantee | ZeroConcentrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One release: who made it, what it costs, and the rounds whose examples it reads.

    ``last`` is None while the mechanism goes on reading. ``prefix_conditional`` says that the
    cost holds whatever was released before (docs/GUARANTEES.md, F3); without it, deltas add up
    over all rounds.
    """

    mechanism: str
    cost: Cost
    first: int
    last: int | None = None
    prefix_conditional: bool = True
    number: int = field(default=0, repr=False)
    """Its place in the ledger, since two releases may look alike."""

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(first=self.first, at_least=1)
        require.integer(number=self.number, at_least=0)
        if self.last is not None:
            require.integer(last=self.last, at_least=self.first - 1)
        if isinstance(self.cost, PrivacyGuarantee) and not self.cost.is_private:
            raise ValueError(f"cost must be finite, got cost={self.cost!r}")
        if isinstance(self.cost, ZeroConcentrated):
            require.non_negative(rho=self.cost.rho)

    @property
    def rounds(self) -> str:
        """The rounds in words."""
        return f"{self.first}–{'…' if self.last is None else self.last}"

    @property
    def words(self) -> str:
        """The cost in words."""
        if isinstance(self.cost, ZeroConcentrated):
            return f"ρ = {text_at_least(self.cost.rho)}"
        return str(self.cost)

    @property
    def load(self) -> Load:
        """What each example that it reads pays for it."""
        if isinstance(self.cost, ZeroConcentrated):
            return Load(rho=Fraction(self.cost.rho))
        delta = Fraction(self.cost.delta) if self.prefix_conditional else Fraction(0)
        return Load(epsilon=Fraction(self.cost.epsilon), delta=delta)

    @property
    def delta_for_all(self) -> Fraction:
        """What it costs every example of the stream, read or not."""
        if self.prefix_conditional or isinstance(self.cost, ZeroConcentrated):
            return Fraction(0)
        return Fraction(self.cost.delta)

    def to_json(self) -> dict[str, Any]:
        """Plain values; floats keep all of their digits."""
        return asdict(self)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> "Charge":
        """The charge that was saved."""
        cost = saved["cost"]
        known: Cost = ZeroConcentrated(**cost) if "rho" in cost else PrivacyGuarantee(**cost)
        return cls(**{**saved, "cost": known})
