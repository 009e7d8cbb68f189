"""Something to look at: two runs that learn from simulated reports while the service is up."""

import threading
import time
from collections.abc import Iterator
from itertools import count

from littlestone.client import Client, ServiceError
from littlestone.randomness import Randomness, secure

PAUSE = 0.05
SPAMMERS, SENDERS, WORDS = 3, 5_000, 1_000


def started(url: str, token: str) -> threading.Thread:
    """A thread that creates the runs, if they are not there, and feeds them for ever."""
    thread = threading.Thread(target=_feed, args=(url, token), name="demo", daemon=True)
    thread.start()
    return thread


def _feed(url: str, token: str) -> None:
    with Client(url, token) as client:
        budget = {"rounds": 10**7, "epsilon": 1.0, "delta": 1e-6, "publish_every": 1.0}
        for name, concepts in (("blocklist", "keys"), ("price-limit", f"thresholds:{WORDS}")):
            try:
                client.create(name, concepts=concepts, setting="realizable", **budget)
            except ServiceError as refused:
                if refused.status != 409:
                    raise
        rng = secure()
        for report in _reports(rng):
            client.send_many("blocklist", [report])
            x = rng.below(WORDS)
            client.send("price-limit", x, int(x >= 618))
            time.sleep(PAUSE)


def _reports(rng: Randomness) -> Iterator[tuple[str, int]]:
    """Spammers are reported often, and take another name now and then; the others by mistake."""
    for number in count():
        generation = number // 600
        if rng.below(4):
            yield f"spam{rng.below(SPAMMERS)}-{generation}.example", 1
        else:
            yield f"sender{rng.below(SENDERS)}.example", int(rng.below(50) == 0)
