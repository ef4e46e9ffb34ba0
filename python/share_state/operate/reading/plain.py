"""Plain typed data for the content of a state log, and reading a path with the extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypedDict, cast

from share_state import _core
from share_state.errors import ShareStateError
from share_state.operate.reading.as_of import AsOf

#: The topic in which brokers keep the state of share partitions.
STATE_TOPIC = "__share_group_state"
#: The prefix of a cluster source; `HOST:PORT` of one or more brokers follow, separated by commas.
SCHEME = "kafka://"
#: A partition of a topic: a hyphenated UUID, and a number.
Place = tuple[str, int]


class ShareState(TypedDict):
    """The folded state of one share partition (Kafka: ShareGroupOffset)."""

    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    state_partition: int
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    #: -1: not yet resolved.
    start_offset: int
    #: -1: unknown.
    delivery_complete_count: int
    #: Sorted, coalesced, none below the start offset.
    batches: list[tuple[int, int, int, int]]
    #: True when the log holds updates of this key but not the snapshot before them.
    incomplete: bool
    #: Wall-clock ms: when the content of the last snapshot was made, and when that snapshot was written. Updates after it do not
    #: count. 0 where the snapshot is missing.
    create_timestamp: int
    write_timestamp: int


class Finding(TypedDict):
    """Something in the log that could not be read."""

    file: str
    #: Byte where it begins; for a `record`, its offset.
    position: int
    #: Such as `torn_tail`, `damage`, `hole` (records are missing between others that are whole), or `record`: a whole record
    #: that cannot be decoded.
    kind: str
    message: str


class LogRecord(NamedTuple):
    """Record of the state topic."""

    partition: int
    #: None if it came from a running cluster.
    segment: str | None
    offset: int
    #: Wall-clock ms.
    timestamp: int
    key: bytes
    #: None: a tombstone, the key is deleted.
    value: bytes | None


class Scan(Protocol):
    """Records in order of partition and offset; `findings` is complete once they are exhausted."""

    findings: list[Finding]

    def __iter__(self) -> Iterator[LogRecord]:
        """Walk the records, one batch in memory at a time."""


#: Called from time to time with the bytes read so far (for a cluster: the records) and their total.
Progress = Callable[[int, int], object]


def fold_path(path: str, progress: Progress | None, as_of: AsOf) -> tuple[list[ShareState], list[Finding]]:
    """Fold the records under `path`; the states come in order of group, topic id and partition."""
    states, findings = _core.fold_path(path, progress, as_of_offset=as_of.offset, as_of_timestamp=as_of.timestamp)
    return cast("list[ShareState]", states), cast("list[Finding]", findings)


def scan_path(path: str) -> Scan:
    """Read every record under `path`, records below the log start included."""
    return cast("Scan", _core.scan_path(path))


def log_ends(path: str) -> dict[int, int]:
    """Return the end of each state partition: the offset after its last whole batch."""
    return {partition: end for partition, _start, end in _core.log_ends(path)}


def undecodable(record: LogRecord, error: ShareStateError) -> Finding:
    """Report a whole record that the fold cannot apply."""
    return {
        "file": file_of(record.partition, record.segment),
        "position": record.offset,
        "kind": "record",
        "message": f"the record at offset {record.offset} cannot be decoded and is passed over: {error}",
    }


def file_of(partition: int, segment: str | None) -> str:
    """Name the place of a record: its segment, or in a cluster the state partition."""
    folder = f"{STATE_TOPIC}-{partition}"
    return folder if segment is None else f"{folder}/{segment}"


def decode_record(key: bytes, value: bytes | None) -> dict[str, object]:
    """Decode one record to the nesting of Kafka's own dump tool."""
    return cast("dict[str, object]", _core.decode_record(key, value))
