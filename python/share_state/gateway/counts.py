"""Numbers that the parts of a gateway count while they work, besides the node (``rust/gateway/src/node/counts.rs``).

Everything is counted on the event loop's thread. The names under which numbers are shown are decided elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from share_state.operate.monitoring.exposition import Times

__all__ = ["Counts"]


class Counts:
    """Numbers that only grow.

    Attributes:
        request_times: from a request's arrival to its answer, by API key; -1 stands for keys that are not served.
        request_errors: answers by API key and code, those without an error left out.
        malformed: requests that could not be read.
        failures: exceptions in answering requests, by API key.
        load_times: of share partitions.
        queue_times, write_times, settle_times: of writes of share partitions: until they are begun, until they are
            durable, until they are answered.
        upstream_times: of Fetch upstream; long polls are among them.
        upstream_bytes: in answers to Fetch.
        upstream_errors: answers about partitions by code.
        back_reads: reads of what rings did not hold.
        truncations: logs that were cut upstream.
    """

    def __init__(self) -> None:
        self.request_times: defaultdict[int, Times] = defaultdict(Times)
        self.request_errors: Counter[tuple[int, int]] = Counter()
        self.malformed = 0
        self.failures: Counter[int] = Counter()
        self.load_times = Times()
        self.queue_times = Times()
        self.write_times = Times()
        self.settle_times = Times()
        self.upstream_times = Times()
        self.upstream_bytes = 0
        self.upstream_errors: Counter[int] = Counter()
        self.back_reads = 0
        self.truncations = 0
