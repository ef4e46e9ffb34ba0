"""The state topic of a running cluster: no group is joined and nothing committed.

Each state partition is read from its log start to its end as of the start of the reading, or to the requested end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, TypeGuard, cast

from share_state import _core
from share_state.errors import ShareStateError
from share_state.operate.reading.as_of import AsOf
from share_state.operate.reading.failures import ClusterReadError, NoAnswerError, ReadNotAllowedError
from share_state.operate.reading.plain import SCHEME, STATE_TOPIC, Finding, LogRecord, Progress, ShareState, undecodable
from share_state.types import SharePartitionKey

if TYPE_CHECKING:
    from share_state.operate.reading.asking import ClusterReader

__all__ = [
    "SCHEME",
    "ClusterReadError",
    "ClusterScan",
    "NoAnswerError",
    "ReadNotAllowedError",
    "fold_cluster",
    "is_cluster",
]

#: Records between two reports of progress.
_REPORT_EVERY = 512


def is_cluster(source: str | PathLike[str]) -> TypeGuard[str]:
    """Return true if a source is a running cluster, and not a path."""
    return isinstance(source, str) and source.startswith(SCHEME)


@dataclass(frozen=True, slots=True)
class _Range:
    """The offsets to read of one state partition: from `start`, below `end`."""

    partition: int
    start: int
    end: int


@dataclass
class ClusterScan:
    """Records in order of partition and offset, each with `None` for its segment."""

    address: str
    #: Further settings of the client, in librdkafka's names.
    client_config: Mapping[str, object] | None = None
    on_progress: Progress | None = None
    as_of: AsOf = field(default_factory=AsOf)
    #: Seconds to wait for an answer of the cluster; None for the default.
    timeout: float | None = None
    #: Read only the state partition that keeps the state of this share partition; None reads all.
    of: SharePartitionKey | None = None
    #: Records read so far, and their total.
    progress: tuple[int, int] = (0, 0)
    #: The end of each state partition, once reading has begun: the offset after its last record.
    ends: dict[int, int] = field(default_factory=dict)
    #: Always empty: brokers deliver no damaged records, and the caller finds those that cannot be decoded.
    findings: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[LogRecord]:
        """Read one state partition after the other."""
        servers = self.address.removeprefix(SCHEME)
        if not servers or "/" in servers:
            raise ClusterReadError("expected kafka://HOST:PORT[,HOST:PORT...]")
        # Imported late: who reads paths needs nothing of what talks to brokers.
        from share_state.operate.reading.asking import PATIENCE, ClusterReader  # noqa: PLC0415

        patience = PATIENCE if self.timeout is None else self.timeout
        with ClusterReader(servers, self.client_config, patience) as reader:
            there = reader.state_partitions()
            wanted = range(there) if self.of is None else [_core.state_partition(*self.of, there)]
            yield from self._records(reader, [self._range(one, *reader.bounds(STATE_TOPIC, one)) for one in wanted])

    def _records(self, reader: ClusterReader, ranges: list[_Range]) -> Iterator[LogRecord]:
        total = sum(one.end - one.start for one in ranges)
        done = 0
        for one in ranges:
            prefix = self.as_of.prefix(one.partition)
            for offset, timestamp, key, value, _ in reader.remaining(STATE_TOPIC, one.partition, one.start, one.end):
                if not prefix.reaches(offset, timestamp):
                    break
                self._report(done, total)
                done += 1
                yield LogRecord(one.partition, None, offset, timestamp, key or b"", value)
        self._report(total, total)

    def _range(self, partition: int, start: int, end: int) -> _Range:
        self.ends[partition] = end
        last = self.as_of.prefix(partition).last_offset
        return _Range(partition, start, end if last is None else max(start, min(end, last + 1)))

    def _report(self, done: int, total: int) -> None:
        self.progress = done, total
        if self.on_progress is not None and (done % _REPORT_EVERY == 0 or done == total):
            self.on_progress(done, total)


def fold_cluster(scan: ClusterScan) -> tuple[list[ShareState], list[Finding]]:
    """Fold the state topic of a cluster; the states come in order of group, topic id and partition."""
    coordinators: dict[int, _core.ShareCoordinator] = {}
    for record in scan:
        coordinator = coordinators.setdefault(record.partition, _core.ShareCoordinator())
        try:
            coordinator.replay(record.offset, record.key, record.value)
        except ShareStateError as error:
            scan.findings.append(undecodable(record, error))
    states = [
        {**state, "state_partition": partition}
        for partition in sorted(coordinators)
        for state in coordinators[partition].states()
    ]
    states.sort(key=lambda state: (state["group"], state["topic_id"], state["partition"]))
    return cast("list[ShareState]", states), scan.findings
