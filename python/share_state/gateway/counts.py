"""What the parts of a gateway count while they work. Who shows the numbers, and under which names, is decided elsewhere.

Everything is counted on the event loop's thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from share_state.operate.monitoring.exposition import Times

__all__ = ["Counts"]


class Counts:
    """Numbers that only grow.

    Attributes:
        request_times: from a request's arrival to its answer, by API key; -1 stands for keys that are not served.
        request_errors: answers by API key and code, those without an error left out.
        malformed: requests that could not be read.
        failures: exceptions in answering requests, by API key.
        fetched, fetch_failed: partitions in answers of ShareFetch, by topic id; those with an error.
        acknowledged, acknowledge_failed: partitions with acknowledgements, by topic id; those that were refused.
        acknowledged_records: records by the type of their acknowledgement, 0 to 4.
        hidden: what clients were told as -1, by its cause.
        asked_partitions, acquired_partitions: of share fetches, by group.
        acquire_times: from a share fetch to its first records, by group.
        expired_fetches: share fetches that waited to their end.
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
        self.fetched: Counter[str] = Counter()
        self.fetch_failed: Counter[str] = Counter()
        self.acknowledged: Counter[str] = Counter()
        self.acknowledge_failed: Counter[str] = Counter()
        self.acknowledged_records: Counter[int] = Counter()
        self.hidden: Counter[str] = Counter()
        self.asked_partitions: Counter[str] = Counter()
        self.acquired_partitions: Counter[str] = Counter()
        self.acquire_times: defaultdict[str, Times] = defaultdict(Times)
        self.expired_fetches = 0
        self.load_times = Times()
        self.queue_times = Times()
        self.write_times = Times()
        self.settle_times = Times()
        self.upstream_times = Times()
        self.upstream_bytes = 0
        self.upstream_errors: Counter[int] = Counter()
        self.back_reads = 0
        self.truncations = 0

    def keep(self, groups: Collection[str]) -> None:
        """Forget what was counted of other groups: whoever may read any group makes up names of groups."""
        for counted in (self.asked_partitions, self.acquired_partitions, self.acquire_times):
            for group in counted.keys() - groups:
                del counted[group]
