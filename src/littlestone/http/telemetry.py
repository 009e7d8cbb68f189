"""Count requests and their latency for operators, and write the log as lines of JSON.

Neither holds data: a request is its time, route, run, status and latency. Both are for the people
who operate the service. How many events a run rejected is not published, so readers see neither.
"""

import json
import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Final

LOG: Final = logging.getLogger("littlestone.http.requests")
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Telemetry:
    """Requests by route and status, and a latency histogram of each route."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._latencies: dict[tuple[str, str], list[int]] = {}
        self._seconds: Counter[tuple[str, str]] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float, run: str) -> None:
        """Count one answered request, and log it.

        Args:
            method: The HTTP method.
            route: The path with its parameters left open, as in ``/runs/{run}/events``.
            status: The status code of the answer.
            seconds: The time until the answer began.
            run: The name of the run in the path; empty if the route has none.
        """
        self._requests[method, route, status] += 1
        counts = self._latencies.setdefault((method, route), [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[method, route] += seconds  # type: ignore[assignment]
        if LOG.isEnabledFor(logging.INFO):
            LOG.info(
                "request",
                extra={
                    "method": method,
                    "route": route,
                    "run": run,
                    "status": status,
                    "milliseconds": round(1000 * seconds, 2),
                },
            )

    def lines(self) -> Iterator[str]:
        """Yield the counts in the text format of Prometheus."""
        yield "# TYPE littlestone_requests_total counter"
        for (method, route, status), count in self._requests.items():
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"littlestone_requests_total{{{labels}}} {count}"
        yield "# TYPE littlestone_request_seconds histogram"
        for (method, route), counts in self._latencies.items():
            labels, total = f'method="{method}",route="{route}"', 0
            for edge, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield f'littlestone_request_seconds_bucket{{{labels},le="{edge}"}} {total}'
            yield f"littlestone_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"littlestone_request_seconds_count{{{labels}}} {total}"


class JsonLines(logging.Formatter):
    """Format a log record as one line of JSON."""

    FIELDS: Final = ("method", "route", "run", "status", "milliseconds")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON: time, level, logger, message, and a request's fields."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in self.FIELDS if hasattr(record, name)}
        return json.dumps(line, ensure_ascii=False)


def log_as_json() -> None:
    """Write the log of this process to standard error as lines of JSON, requests included."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOG.setLevel(logging.INFO)
