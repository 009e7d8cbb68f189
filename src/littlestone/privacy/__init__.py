"""What is promised and what is spent: guarantees, composition, the ledger."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
