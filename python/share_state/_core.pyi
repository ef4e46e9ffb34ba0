"""The compiled part of share_state.

The signatures are written here; the docstrings have one home, the Rust sources of the extension, and `make stubs` writes them
here from there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray

from share_state.arguments import (
    AcknowledgeTypeLike,
    AcquireModeLike,
    Column,
    Compression,
    InFlightStore,
    IsolationLevel,
    KeyLike,
    LockMs,
    StateBatchesLike,
    Sync,
    TopicIdLike,
    WallMs,
)
from share_state.errors import ShareStateError
from share_state.operate.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.read_states import StateRow
from share_state.operate.live.live_row import LiveRow
from share_state.types import (
    DeadLetter,
    Decision,
    HeartbeatAnswer,
    InFlight,
    PendingWrite,
    Record,
    SharePartitionKey,
    StateBatch,
)

__all__ = [
    "ANOMALY_DEFAULTS",
    "ANOMALY_KINDS",
    "ERROR_CODES",
    "HISTORY_CAUSES",
    "SEVERITIES",
    "Acquired",
    "AcquiredRange",
    "AnomalyFinder",
    "FramePump",
    "FrameScan",
    "GroupConfig",
    "History",
    "HistoryChecker",
    "HistoryScan",
    "NoOpStatePersister",
    "Node",
    "PendingWrites",
    "Prefix",
    "ReadStateResult",
    "RecordingPersister",
    "Scan",
    "ShareCoordinator",
    "ShareFetchContext",
    "ShareGroupStore",
    "SharePartition",
    "SharePartitions",
    "ShareSessions",
    "StateReplay",
    "StateRoom",
    "StateStore",
    "StateSummary",
    "StateTopicFollower",
    "WriteRound",
    "WriteState",
    "__version__",
    "alter_group_config",
    "api_table",
    "broker_config_entries",
    "check_broker_config",
    "check_group_config",
    "check_write_state",
    "combine_state_batches",
    "coordinator_key",
    "decode_batch",
    "decode_fetch_answer",
    "decode_message",
    "decode_record",
    "decode_write_results",
    "effective_group_config",
    "encode_batch",
    "encode_message",
    "encode_record",
    "encode_state",
    "encode_write_states",
    "fold_path",
    "frame_tables",
    "group_config_entries",
    "header_end",
    "history_path",
    "log_ends",
    "offset_reset_duration_ms",
    "parse_coordinator_key",
    "scan_path",
    "simple_assignment",
    "state_partition",
]

__version__: str
ANOMALY_DEFAULTS: dict[str, Any]
ANOMALY_KINDS: list[str]
ERROR_CODES: dict[str, int]
HISTORY_CAUSES: list[str]
SEVERITIES: list[str]

_T = TypeVar("_T")
_Inline: TypeAlias = StateStore | NoOpStatePersister | RecordingPersister
_Fetched: TypeAlias = Sequence[Sequence[Any]] | NDArray[np.int64]
_Progress: TypeAlias = Callable[[int, int], object]
_AsOfOffset: TypeAlias = int | Mapping[int, int]
_LogEndOffsets: TypeAlias = Mapping[tuple[str, int], Iterable[tuple[int, int]]]
#: Offset, timestamp, key, value, headers.
_Record: TypeAlias = tuple[int, int, bytes | None, bytes | None, list[tuple[bytes, bytes | None]]]

_FetchedPartition: TypeAlias = tuple[
    str, int, int, int, int, int, list[tuple[int, int]] | None, int, tuple[int, int] | None, tuple[int, int] | None, int, int
]
_FrameBatch: TypeAlias = tuple[int, list[tuple[Any, ...]]]
_FrameColumn: TypeAlias = tuple[str, str, bool, str, list[Any]]

@final
class GroupConfig:
    """Configuration of a share group, as far as a share partition needs it (Kafka: `GroupConfig`), with Kafka's defaults.

    The constructor takes any value that the engine can work with; `from_kafka` holds to Kafka's bounds.

    Args:
        partition_max_record_locks: `share.partition.max.record.locks`, offsets from the start offset to the end of the window.
        delivery_count_limit: `share.delivery.count.limit`, 1 to 32,767 deliveries of a record.
        record_lock_duration_ms: `share.record.lock.duration.ms`, 1 to 2**31 - 1 ms.
        renew_acknowledge_enable: `share.renew.acknowledge.enable` (KIP-1222).
        auto_offset_reset: `share.auto.offset.reset`: `"latest"`, `"earliest"`, or `"by_duration:"` with an ISO-8601 duration.
        isolation_level: `share.isolation.level`: `"read_uncommitted"` or `"read_committed"`.
        dead_letter_queue_topic: `errors.deadletterqueue.topic.name` (KIP-1191); none when empty.
        max_lock_timeouts_per_call: the most acquisition locks that run out in one call, of whichever method, 1 to 2**32 - 1; `None`
            for all that are due. It bounds the time of a call where many locks end together: some 100 ns a lock. Those left over
            hold until the next call, and can be acknowledged until then. Kafka has no such setting: its timer ends each lock by itself.

    Raises:
        ConfigError: a number is out of its range, or a text is not one of these; `field` is the argument.
    """
    def __new__(
        cls,
        *,
        partition_max_record_locks: int = 2000,
        delivery_count_limit: int = 5,
        record_lock_duration_ms: int = 30000,
        renew_acknowledge_enable: bool = True,
        auto_offset_reset: str = "latest",
        isolation_level: IsolationLevel = "read_uncommitted",
        dead_letter_queue_topic: str = "",
        max_lock_timeouts_per_call: int | None = None,
    ) -> Self: ...
    @staticmethod
    def from_kafka(group: Mapping[str, str], broker: Mapping[str, str] | None = None) -> GroupConfig:
        """Read Kafka's properties, hold them to Kafka's bounds, and clamp the group's to what the broker allows (KIP-1240).

        Values are read as a broker reads them: blanks around them do not count, and `TRUE` is `true`.

        Args:
            group: what the group sets, text by Kafka's property name. Names of other kinds of groups are passed over.
            broker: the broker's properties (`group.share.…`); what it lacks has Kafka's default. Names of other parts of a broker
                are passed over.

        Raises:
            ConfigError: a `share.…`, `errors.deadletterqueue.…` or `group.share.…` name that does not exist there, a value that its
                property cannot have, or values of the broker that contradict each other; `field` is the property.
        """
    @property
    def partition_max_record_locks(self) -> int:
        """`share.partition.max.record.locks`, in offsets."""
    @property
    def delivery_count_limit(self) -> int:
        """`share.delivery.count.limit`."""
    @property
    def record_lock_duration_ms(self) -> int:
        """`share.record.lock.duration.ms`."""
    @property
    def renew_acknowledge_enable(self) -> bool:
        """`share.renew.acknowledge.enable` (KIP-1222)."""
    @property
    def auto_offset_reset(self) -> str:
        """`share.auto.offset.reset`."""
    @property
    def isolation_level(self) -> IsolationLevel:
        """`share.isolation.level`."""
    @property
    def dead_letter_queue_topic(self) -> str:
        """`errors.deadletterqueue.topic.name` (KIP-1191); empty when there is none."""
    @property
    def max_lock_timeouts_per_call(self) -> int | None:
        """The most acquisition locks that run out in one call; `None` for all that are due."""
    def replace(
        self,
        *,
        partition_max_record_locks: int = ...,
        delivery_count_limit: int = ...,
        record_lock_duration_ms: int = ...,
        renew_acknowledge_enable: bool = ...,
        auto_offset_reset: str = ...,
        isolation_level: str = ...,
        dead_letter_queue_topic: str = ...,
        max_lock_timeouts_per_call: int | None = ...,
    ) -> GroupConfig:
        """The same configuration with some parts changed; the arguments are those of the constructor.

        Raises:
            ConfigError: a number is out of its range, or a text is not one of its words; `field` is the argument.
            TypeError: the constructor has no such argument.
        """
    def __replace__(self, **changes: Any) -> GroupConfig: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class ReadStateResult:
    """The answer to ReadShareGroupState for one share partition (RPC 84; Kafka: `PartitionAllData`).

    Args:
        state_epoch: epoch of the state, to be sent with every write.
        start_offset: where the share partition starts; -1 when not yet resolved.
        state_batches: what is known of the records after it, an iterable of `StateBatch` or tuples like it.
    """
    def __new__(cls, state_epoch: int, start_offset: int, state_batches: StateBatchesLike) -> Self: ...
    @property
    def state_epoch(self) -> int:
        """Epoch of the state."""
    @property
    def start_offset(self) -> int:
        """Start offset; -1 when it is not known or not changed."""
    @property
    def state_batches(self) -> list[StateBatch]:
        """A new list of `StateBatch`."""
    def state_batches_array(self) -> NDArray[np.int64]:
        """A new int64 array of shape (n, 4): first offset, last offset, delivery state, delivery count."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class WriteState:
    """A write to the persister: WriteShareGroupState for one share partition (RPC 85; Kafka: `PartitionStateBatchData`).

    Args:
        state_epoch: epoch of the state that the writer has read.
        leader_epoch: epoch of the leader that writes.
        start_offset: start offset at the time of the change; -1 leaves it as it was.
        delivery_complete_count: terminal records at or after the start offset; -1 when unknown (KIP-1226).
        state_batches: what changed, an iterable of `StateBatch` or tuples like it.
    """
    def __new__(
        cls,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        state_batches: StateBatchesLike,
    ) -> Self: ...
    @property
    def state_epoch(self) -> int:
        """Epoch of the state."""
    @property
    def leader_epoch(self) -> int:
        """Epoch of the leader."""
    @property
    def start_offset(self) -> int:
        """Start offset; -1 when it is not known or not changed."""
    @property
    def delivery_complete_count(self) -> int:
        """Terminal records at or after the start offset; -1 when unknown."""
    @property
    def state_batches(self) -> list[StateBatch]:
        """A new list of `StateBatch`."""
    def state_batches_array(self) -> NDArray[np.int64]:
        """A new int64 array of shape (n, 4): first offset, last offset, delivery state, delivery count."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class StateSummary:
    """The answer to ReadShareGroupStateSummary for one share partition (RPC 87; Kafka: `PartitionStateSummaryData`).

    Args:
        state_epoch: epoch of the state.
        leader_epoch: highest leader epoch that has read it.
        start_offset: start offset; -1 when unknown.
        delivery_complete_count: terminal records at or after the start offset; -1 when unknown (KIP-1226).
    """
    def __new__(cls, state_epoch: int, leader_epoch: int, start_offset: int, delivery_complete_count: int) -> Self: ...
    @property
    def state_epoch(self) -> int:
        """Epoch of the state."""
    @property
    def leader_epoch(self) -> int:
        """Epoch of the leader."""
    @property
    def start_offset(self) -> int:
        """Start offset; -1 when it is not known or not changed."""
    @property
    def delivery_complete_count(self) -> int:
        """Terminal records at or after the start offset; -1 when unknown."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class AcquiredRange(Sequence[int]):
    """Records that a member now holds, offsets inclusive: a sequence of three numbers that have names.

    It unpacks, compares, hashes and slices as the tuple `(first_offset, last_offset, delivery_count)`, to which it is equal, and
    has what a named tuple has: `_fields`, `_asdict`, `_replace` and `_make`. It is no instance of `tuple`.

    Args:
        first_offset: first offset.
        last_offset: last offset, inclusive.
        delivery_count: how often the records were delivered, this delivery included.
    """

    _fields: ClassVar[tuple[str, str, str]]
    __match_args__ = ("first_offset", "last_offset", "delivery_count")
    def __new__(cls, first_offset: int, last_offset: int, delivery_count: int) -> Self: ...
    @property
    def first_offset(self) -> int:
        """First offset."""
    @property
    def last_offset(self) -> int:
        """Last offset, inclusive."""
    @property
    def delivery_count(self) -> int:
        """Number of deliveries of the records, this one included."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[int, ...]: ...
    def __add__(self, other: tuple[_T, ...] | AcquiredRange, /) -> tuple[int | _T, ...]: ...
    def __radd__(self, other: tuple[_T, ...], /) -> tuple[int | _T, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: tuple[int, ...] | AcquiredRange, /) -> bool: ...
    def __le__(self, other: tuple[int, ...] | AcquiredRange, /) -> bool: ...
    def __gt__(self, other: tuple[int, ...] | AcquiredRange, /) -> bool: ...
    def __ge__(self, other: tuple[int, ...] | AcquiredRange, /) -> bool: ...
    def __hash__(self) -> int: ...
    def count(self, value: object) -> int:
        """Return the number of the three numbers that equal `value`."""
    def index(self, value: object, start: int = 0, stop: int = ..., /) -> int:
        """The place of the first of the three numbers that equals `value`, from `start` on and before `stop`.

        Raises:
            ValueError: none does.
        """
    def _asdict(self) -> dict[str, int]: ...
    def _replace(
        self, *, first_offset: int | None = None, last_offset: int | None = None, delivery_count: int | None = None
    ) -> AcquiredRange: ...
    @classmethod
    def _make(cls, iterable: Iterable[int]) -> AcquiredRange: ...
    def __getnewargs__(self) -> tuple[int, int, int]: ...

@final
class SharePartition:
    """The state machine of one share partition (KIP-932; Kafka: `SharePartition`): who may hold which record, and since when.

    It has no clock, no socket and no disk. Commands are those of members (`acquire`, `acknowledge`, `release`) and of
    operators; `handle_…` tell it what happened; `poll_…` tell what to do next: poll after every command and every `handle_…`
    until there is nothing more. Nothing calls back into Python.

    With a `persister` it makes its writes by itself, as Kafka's does: a call that leads to writes returns when they are answered,
    and `poll_write` has nothing to give. Where a write is refused that a member waits for, the call raises `PersisterError` with
    the code for that member, and the change is undone; the refusal of any other write goes to the logger
    `share_state.persister`. A sync is waited for without the interpreter and without this object's lock: other threads go on with
    it, and their writes share the sync. Without one, a short append is made with both. What a confirmed acknowledgement survives
    is what the store promises: with `sync="always"` it is on the disk.

    Offsets are whole numbers from 0 to 2**63 - 2, ranges are inclusive. `now_ms` is a `LockTime`, or a number of ms on the
    caller's monotonic clock; every call that takes it first lets due locks run out (a lock is due when now >= deadline), and a
    clock that goes back counts as standing still.

    A call that raises has changed nothing. Beside what a method names, any call raises `TypeError` or `OverflowError` for an
    argument that does not fit (a bool is no number), and `EnginePoisonedError` once a bug has made a call of this object panic.

    Threads may share an object: its calls run one after the other, those that take long without the interpreter. It cannot
    be pickled or copied; its state is in the persister. A forked child has a copy of its own, which the parent does not hear
    of; fork while no other thread is inside a call.

    Args:
        group: id of the share group.
        topic_id: a `uuid.UUID`, a hyphenated UUID, or 22 characters of URL-safe base64.
        partition: partition of the topic.
        leader_epoch: epoch of this leader of the partition; goes with every write.
        config: configuration of the group; Kafka's defaults when absent.
        persister: who takes the writes inside the calls: a `StateStore`, whose state must have been initialised, or a
            `NoOpStatePersister`. Without one they are polled; so are those for any other persister
            (`share_state.persister.drain_writes`).
        store: `"leaves"`, the adaptive store to work with, or `"twin"`, the plain and slow one to compare it with.

    Raises:
        InvalidRequestError: `group` is empty, `partition` is negative, or `topic_id` or `store` is none of these.
        TypeError: `persister` is none of these.
    """
    def __new__(
        cls,
        group: str,
        topic_id: TopicIdLike,
        partition: int,
        *,
        leader_epoch: int = 0,
        config: GroupConfig | None = None,
        persister: _Inline | None = None,
        store: InFlightStore = "leaves",
    ) -> Self: ...
    @property
    def key(self) -> SharePartitionKey:
        """Group, topic id and partition, as a `SharePartitionKey`."""
    @property
    def persister(self) -> _Inline | None:
        """Persister that takes the writes inside the calls; `None` when they are polled. A persister that is set later is given
        the writes that wait to be polled; those that were polled are still answered by `handle_write_result`.

        Raises:
            TypeError: what is set is neither a `StateStore` nor a `NoOpStatePersister`.
        """
    @persister.setter
    def persister(self, persister: _Inline | None, /) -> None: ...
    @property
    def leader_epoch(self) -> int:
        """Epoch of this leader of the partition."""
    @property
    def status(self) -> str:
        """`"EMPTY"`, `"INITIALIZING"`, `"ACTIVE"`, `"FAILED"` or `"FENCED"` (Kafka: `SharePartitionState`)."""
    @property
    def start_offset(self) -> int:
        """First offset of the window (SPSO): everything before it is settled. It never goes back.

        Records after it may be settled too: it stays where it is when records at the head of the window are archived in memory
        alone (compaction, aborted transactions), as in Kafka. `settled_to` says whether anything is left.
        """
    @property
    def end_offset(self) -> int:
        """Last offset of the window while a batch is in flight, else the offset to fetch next (SPEO)."""
    @property
    def state_epoch(self) -> int:
        """Epoch of the state that was read; goes with every write."""
    @property
    def delivery_complete_count(self) -> int:
        """Number of terminal records at or after the start offset (KIP-1226)."""
    @property
    def window_len(self) -> int:
        """Length of the window in offsets, settled records and holes inside it included. It exceeds `partition_max_record_locks`
        by one log batch at most.
        """
    @property
    def gap_window(self) -> tuple[int, int] | None:
        """Window in which a new leader has to read again the offsets that the persister knows nothing of: (first offset that may
        lie in such a gap, last offset of the window when the state was read); `None` when no gap is left (Kafka: `GapWindow`,
        KAFKA-18494).
        """
    @property
    def tokens_to_poll(self) -> range:
        """The tokens of the writes that wait to be polled, as a `range`."""
    @property
    def is_settled(self) -> bool:
        """True if nothing in the window is left to deliver or to settle: no record is held or available, no gap is unread, and no
        write is under way. Never of a share partition that is not ACTIVE.
        """
    @property
    def writes_under_way(self) -> int:
        """Number of writes that were not answered yet, those that were not taken yet included."""
    def configure(self, config: GroupConfig) -> None:
        """Change the configuration of the group. It counts from the next use on: locks that run keep their deadline, records
        that exceed a lowered delivery limit are archived when they are next due.
        """
    def begin_initialize(self) -> int:
        """Begin to read the state: from now on the status is INITIALIZING (Kafka: `SharePartition.maybeInitialize`).

        Calling it is optional; `initialize` does it where it was left out.

        Returns:
            The leader epoch to send with ReadShareGroupState.

        Raises:
            InvalidRequestError: the share partition has begun already, has failed or is fenced.
        """
    def initialize(self, read: ReadStateResult) -> str | None:
        """Load what the persister answered to ReadShareGroupState (RPC 84).

        Costs memory in the number of state batches, whatever the number of records in them. On a share partition that is
        ACTIVE it does nothing.

        Args:
            read: the answer; its state batches may come in any order.

        Returns:
            `None` when the share partition is ACTIVE; otherwise the value of `share.auto.offset.reset` by which the caller has
            to find the missing start offset for `resolve_start_offset`.

        Raises:
            InvalidRequestError: the share partition has failed or is fenced.
            CorruptStateError: the state breaks its rules; nothing of it was loaded and the status is FAILED.
        """
    def resolve_start_offset(self, start_offset: int) -> None:
        """Give the start offset that `initialize` asked for; the share partition is ACTIVE then.

        Raises:
            InvalidRequestError: nothing was asked for, the offset is negative, or the share partition was fenced meanwhile.
            CorruptStateError: as `initialize`.
        """
    def initialize_failed(self, error_code: int) -> None:
        """Tell that the persister refused the read; the status is FAILED then.

        Args:
            error_code: Kafka's code in the answer to ReadShareGroupState.

        Raises:
            PersisterError: always; `kafka_code` is the code for the member that waits
                (Kafka: `SharePartition.fetchPersisterError`).
        """
    def next_fetch_offset(self) -> int:
        """The offset from which to read the log for this share partition next (Kafka: `SharePartition.nextFetchOffset`).

        It is the first available record in the window, else the offset after the window. Sub-linear in the number of runs.
        """
    def can_acquire(self) -> bool:
        """Return True if records may be acquired: the share partition is ACTIVE, and the window is not full or holds available
        records (Kafka: `SharePartition.canAcquireRecords`).
        """
    def acquire(
        self,
        member: str,
        fetched: _Fetched,
        *,
        now_ms: LockMs,
        max_records: int,
        batch_size: int = 500,
        mode: AcquireModeLike = 0,
        fetch_offset: int | None = None,
        aborted: Iterable[tuple[int, int]] | None = None,
    ) -> list[AcquiredRange]:
        """Give `member` what is available of the log batches that were read for it (Kafka: `SharePartition.acquire`, and
        `acquireWithRecordLimit` of KIP-1206). Nothing is written for it.

        Args:
            member: id of the member.
            fetched: the log batches, ascending and disjoint: a sequence of pairs `(base_offset, last_offset)` or `FetchedBatch`, or
                an int64 array of shape (n, 2).
            now_ms: now, on the monotonic clock; the lock runs `share.record.lock.duration.ms` from here.
            max_records: how many records the member wants; 0 or less gives nothing.
            batch_size: new records are handed out in batches of about this many.
            mode: an `AcquireMode`, its id or its name: 0 may exceed `max_records` to keep log batches whole, 1 never does.
            fetch_offset: the offset that was read from; the base of the first batch when absent.
            aborted: `(producer_id, first_offset)` of the aborted transactions in what was read, as for
                `share.isolation.level=read_committed`: their records are archived and not handed out. Pass the list of the very fetch
                that gave `fetched`. It also names the transactions that were open where the fetch began, by their first offset
                before it. A producer counts as aborted from the first offset of its transaction to its abort marker, so a list for
                more than was read archives committed records. It is refused where it shows: with a negative number, or two
                transactions of a producer without an abort marker between them. Transactions after what was read have no effect.

        Control records are handed out, with `aborted` too, as in Kafka: acknowledge them as GAP, as offsets without a record.

        Returns:
            Ascending, disjoint ranges, each with the count of this delivery; empty when nothing is available.

        Raises:
            SharePartitionNotActiveError: the share partition does not serve members; `status` says why.
            InvalidRequestError: `field` names the argument: an empty `member`, a `batch_size` of 0 or less, a negative
                `fetch_offset`, a batch in `fetched` (`index`) that is negative, inverted or out of order, or a transaction in
                `aborted` (`index`) that what was read contradicts.
            ArgumentTypeError, ArgumentValueError: `fetched`, `mode` or a control type is none of those above.
        """
    def acquire_columns(
        self,
        member: str,
        fetched: _Fetched,
        *,
        now_ms: LockMs,
        max_records: int,
        batch_size: int = 500,
        mode: AcquireModeLike = 0,
        fetch_offset: int | None = None,
        aborted: Iterable[tuple[int, int]] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]:
        """As `acquire`, with columns instead of an object a range.

        Returns:
            Three arrays of one length: first offsets (int64), last offsets (int64), delivery counts (int16).
        """
    def acknowledge(
        self, member: str, first_offset: int, last_offset: int, acknowledge_type: AcknowledgeTypeLike = 1, *, now_ms: LockMs
    ) -> int | None:
        """Acknowledge one range with one type for all its records (Kafka: `SharePartition.acknowledge`).

        The answer to the member waits for a write: take it with `poll_write`, and tell its result to `handle_write_result`. With
        a persister that has happened when the call returns. A renewal changes the lock at once and writes nothing. Offsets below the start offset are ignored.

        Args:
            member: id of the member that holds the records.
            first_offset: first offset.
            last_offset: last offset, inclusive.
            acknowledge_type: an `AcknowledgeType`, its id or its name: 0 gap, 1 accept, 2 release, 3 reject, 4 renew (KIP-1222).
            now_ms: now, on the monotonic clock.

        Returns:
            The token of the write to wait for; `None` when there is nothing to wait for, as ever with a persister.

        Raises:
            SharePartitionNotActiveError: the share partition does not serve members; `status` says why.
            PersisterError: the persister of this object refuses the write. `kafka_code` is the code for the member,
                `persister_code`, `persister_code_name` and `persister_message` are what the persister says; its own exception is
                the cause.
            InvalidRequestError: the member id is empty, or the range is inverted, negative, or not in flight to its end; `field`
                and `value` name it.
            InvalidRecordStateError: a record is not held by the member, a write of it is under way, or the group does not allow
                renewal; `value` is its offset.
        """
    def acknowledge_batches(
        self,
        member: str,
        batches: Iterable[tuple[int, int, AcknowledgeTypeLike | Sequence[AcknowledgeTypeLike] | bytes]],
        *,
        now_ms: LockMs,
    ) -> int | None:
        """Acknowledge several ranges, with a type each or a type for every record, all or none.

        Args:
            member: id of the member that holds the records.
            batches: `(first_offset, last_offset, types)`, ascending and disjoint, as in ShareAcknowledge (RPC 79). `types` is one
                type for all, or a sequence, `bytes` or an int8 array of one type or one for every offset.
            now_ms: now, on the monotonic clock.

        Returns:
            The token of the write to wait for, or `None` when there is nothing to write.

        Raises:
            SharePartitionNotActiveError, PersisterError: as `acknowledge`.
            InvalidRequestError: as `acknowledge`, and for a wrong number of types; `index` is that of the batch.
            InvalidRecordStateError: as `acknowledge`, and for a record that is acknowledged twice.
            LimitExceededError: the request would need a write of more state batches than one may carry.
        """
    def acknowledge_columns(
        self,
        member: str,
        first_offset: Column,
        last_offset: Column,
        acknowledge_type: Column,
        *,
        now_ms: LockMs,
    ) -> int | None:
        """As `acknowledge_batches` with one type a range, from columns of one length n.

        Args:
            member: id of the member that holds the records.
            first_offset: int64 of shape (n,).
            last_offset: int64 of shape (n,).
            acknowledge_type: int8 of shape (n,).
            now_ms: now, on the monotonic clock.

        A column is whatever `numpy.asarray` shows as such an array; one that is not contiguous is copied, another dtype or shape
        is refused and not converted.

        Returns:
            The token of the write to wait for, or `None` when there is nothing to write.

        Raises:
            SharePartitionNotActiveError, PersisterError, InvalidRequestError, InvalidRecordStateError, LimitExceededError: as
                `acknowledge_batches`.
            ArgumentTypeError: a column is not an array of its dtype and of one dimension.
            ArgumentValueError: the columns differ in length.
        """
    def release(self, member: str, *, now_ms: LockMs) -> int:
        """Release everything that `member` holds, as when its share session ends (Kafka: `SharePartition.releaseAcquiredRecords`).

        Returns:
            The number of records; the write comes by `poll_write`. 0 for a member that holds nothing or is not known.

        Raises:
            PersisterError: the persister of this object refuses the write, or one of several where there are more than 50,000 state
                batches; `kafka_code` is the code for the member, which still holds what the refused write was about.
        """
    def write_answer(self, token: int) -> int | None:
        """The answer to a write, whoever carried it: Kafka's code for the member, 0 for success; `None` while it is under way.

        Raises:
            InvalidRequestError: no write has this token, or more than a thousand later runs of refused writes have pushed it out.
        """
    def settled_to(self, end_offset: int) -> bool:
        """Tell if nothing before `end_offset` is left to deliver or to settle, in the window or after it. Ask this for "is it
        drained?": `start_offset` stays before a hole or an aborted batch that stands at the head of the window.

        Args:
            end_offset: the end of the log. Where the log ends in a hole (its last batch was compacted away), the offset from which a
                read finds nothing more: ask `is_settled` when a read from `next_fetch_offset()` has found nothing.

        Raises:
            ArgumentValueError: the offset is negative.
        """
    def poll_write(self) -> PendingWrite | None:
        """Take the next write to make, oldest first; `None` when there is none, as ever with a persister.

        Writes of one share partition have to reach the persister in this order. Each must be answered by
        `handle_write_result`: until then its records belong to nobody and cannot be acquired.
        """
    def handle_write_result(self, token: int, error_code: int = 0, *, now_ms: LockMs) -> int:
        """Tell the persister's answer to a write: the change stands, or is rolled back.

        Rolled back, a record is with its member again until its lock runs out, or available when it has run out meanwhile. The
        writes of lock time-outs are not rolled back: their records are available whatever the answer.

        Args:
            token: token of the write.
            error_code: Kafka's code in the answer to WriteShareGroupState (RPC 85), 0 for success; one that share groups do
                not use counts as UNKNOWN_SERVER_ERROR (-1).
            now_ms: now, on the monotonic clock.

        Returns:
            Kafka's code for the member that waits, 0 for success (Kafka: `SharePartition.fetchPersisterError`).

        Raises:
            InvalidRequestError: no write with this token is under way.
        """
    def poll_timeout(self) -> int | None:
        """The earliest deadline of a lock, in ms on the caller's monotonic clock; `None` when no lock runs. Call `handle_timeout`
        then.
        """
    def handle_timeout(self, *, now_ms: LockMs) -> int:
        """Let due locks run out: their records are available again, or archived when they were delivered as often as allowed
        (Kafka: `SharePartition.releaseAcquisitionLockOnTimeout`).

        Any number of due locks becomes one write of coalesced state batches, several where one may not carry them.

        Returns:
            The number of records whose lock ran out.
        """
    def move_log_start_offset(self, log_start_offset: int) -> bool:
        """Follow the log start offset: records below it are archived (Kafka: `SharePartition.updateCacheAndOffsets`).

        What members hold stays theirs until it is released; it is archived then. An offset at or before the start offset is
        ignored. The new start offset is persisted with the next write.

        Returns:
            Whether the start offset moved.
        """
    def fence(self) -> None:
        """End the service of members: another leader or state has taken over (Kafka: `SharePartition.markFenced`).

        Writes under way are still answered; make a new object to go on.
        """
    def poll_dead_letter(self) -> DeadLetter | None:
        """Take the next records for the dead-letter queue; `None` when there are none (KIP-1191).

        They are ARCHIVING, as persisted, until `handle_dead_letter_done` is told.
        """
    def handle_dead_letter_done(self, token: int, *, now_ms: LockMs) -> None:
        """Tell that records have reached the dead-letter queue, or were given up: they become ARCHIVED, by a write.

        Raises:
            InvalidRequestError: no dead letter with this token is under way.
        """
    def acquire_fetch_lock(self, fetch_id: int) -> bool:
        """Take the right to read the log for this share partition; one reader at a time
        (Kafka: `SharePartition.maybeAcquireFetchLock`).

        Args:
            fetch_id: names the reader, a number from 0 to 2**64 - 1 of the caller's choice.

        Returns:
            Whether this reader has it now; `False` when another has it.
        """
    def release_fetch_lock(self, fetch_id: int) -> bool:
        """Give back the right to read (Kafka: `SharePartition.releaseFetchLock`).

        Returns:
            Whether this reader had it.
        """
    def in_flight(self) -> list[InFlight]:
        """Return the runs of in-flight records, ascending and coalesced: their holders, since when and until when. Two neighbours
        under different writes may look alike; none reaches across the start offset.

        Returns:
            A list of `InFlight`.
        """
    def in_flight_columns(self) -> dict[str, NDArray[Any]]:
        """As `in_flight`, in columns of one length n.

        Returns:
            A dict of arrays of shape (n,): `first_offset` int64, `last_offset` int64, `state` int8 (a `RecordState`),
            `delivery_count` int16, `pending` bool, `acquired_at_ms` int64 and `deadline_ms` int64, both -1 where nobody holds
            the records, `below_start_offset` bool. Members are not shown.
        """
    def state_counts(self, *, below_start_offset: bool = False) -> dict[str, int]:
        """The number of in-flight records in each state, by the name of the `RecordState`. Walks only what lies below the start
        offset.

        Args:
            below_start_offset: count what the start offset has passed instead of the window. Members may still hold such records
                when the log start has moved; they are archived when the members let go of them.
        """
    def counters(self) -> dict[str, int]:
        """Return the counts since the object was made, by name; no number ever falls.

        Records: `acquired` (each delivery), `acknowledged`, `made_available`, `archived`, `dead_lettered`, `renewed`,
        `lock_timeouts`, `delivery_limit_reached`, `log_start_archived`. Writes: `writes`, `writes_refused`. State batches:
        `state_batches_written`.
        """
    def check(self) -> None:
        """Check the invariants of the whole object, for tests and for the wary. Walks every run.

        Raises:
            RuntimeError: one is broken, which is a bug; the text says which.
        """
    def _panic_for_test(self, text: str) -> None: ...
    def __reduce__(self) -> Any: ...

@final
class Acquired:
    """Ranges that the requests of one `SharePartitions.acquire` were given."""
    @property
    def error_code(self) -> NDArray[np.int16]:
        """int16 of shape (requests,): 0, or Kafka's code for a request that was refused."""
    @property
    def request(self) -> NDArray[np.int64]:
        """int64 of shape (n,): the request that each range was given to, ascending."""
    @property
    def first_offset(self) -> NDArray[np.int64]:
        """int64 of shape (n,)."""
    @property
    def last_offset(self) -> NDArray[np.int64]:
        """int64 of shape (n,), inclusive."""
    @property
    def delivery_count(self) -> NDArray[np.int16]:
        """int16 of shape (n,): the count of this delivery."""
    def __len__(self) -> int: ...

@final
class PendingWrites:
    """Writes to make, as bodies of WriteShareGroupState requests (RPC 85), one after the other.

    Row i is one write of one share partition. The rows of a request follow one another, and the requests of one group have to
    reach its share coordinator in this order.
    """
    @property
    def partition(self) -> NDArray[np.int32]:
        """int32 of shape (n,): share partition of each write."""
    @property
    def token(self) -> NDArray[np.int64]:
        """int64 of shape (n,): its token, for `handle_write_results`."""
    @property
    def data(self) -> bytes:
        """The requests, without headers."""
    @property
    def data_starts(self) -> NDArray[np.int64]:
        """int64 of shape (requests + 1,): request i is `data[data_starts[i]:data_starts[i + 1]]`."""
    @property
    def row_starts(self) -> NDArray[np.int64]:
        """int64 of shape (requests + 1,): request i has the rows from `row_starts[i]` to before `row_starts[i + 1]`."""
    @property
    def groups(self) -> list[str]:
        """The group of each request."""
    def __len__(self) -> int: ...

@final
class SharePartitions:
    """The share partitions of a leader, for calls on many of them at once.

    Everything goes in and out in columns; no object is made for an element. A column is whatever `numpy.asarray` shows as an
    array of the dtype named, without a conversion: an array, a `memoryview`, an Arrow array without nulls. One that is long and
    contiguous is not copied.

    A row names a share partition by its index (int32), the number that `add` returned, and a member by the number that
    `member` returned (int32). A *request* is what one member asks of one share partition. Requests are carried out in the order
    of the columns; those of neighbours in the columns that name the same share partition are cheapest. A request that is refused
    has changed nothing and gets Kafka's code; the others are carried out.

    Each share partition keeps the lock of its own: two threads in two calls wait for each other only where they name the same
    one. All calls run without the interpreter.

    A share partition can be used by itself too, before, after and between. To release records, follow the log start, take dead
    letters, acquire with `read_committed` or over a hole in the log, use it so. The writes and locks that its calls lead to come
    by `poll_writes` and `poll_timeout` of this object. It belongs to one `SharePartitions` at most, and for good.
    """
    def __new__(cls) -> Self: ...
    def add(self, share_partition: SharePartition) -> int:
        """Take a share partition in.

        Returns:
            Its index: 0 for the first, then 1, and so on.

        Raises:
            ValueError: it belongs to a `SharePartitions` already.
            InvalidRequestError: the group id is too long for a request; `field` is `group`.
        """
    def member(self, member: str) -> int:
        """Return the number of a member, for columns of members. It stays the same."""
    def next_fetch_offset(self, partition: Column) -> NDArray[np.int64]:
        """The offset from which to read the log next, for each of these share partitions (Kafka: `SharePartition.nextFetchOffset`).

        Args:
            partition: int32 of shape (n,).

        Returns:
            int64 of shape (n,); -1 for a share partition that is unusable after a bug.

        Raises:
            InvalidRequestError: a number names no share partition.
            TypeError: the column is not of its dtype and of one dimension.
        """
    def acquire(
        self,
        partition: Column,
        member: Column,
        first_offset: Column,
        last_offset: Column,
        *,
        now_ms: LockMs,
        max_records: int,
        batch_size: int = 500,
        mode: AcquireModeLike = 0,
    ) -> Acquired:
        """Give members what is available of the log batches that were read for them (Kafka: `SharePartition.acquire`, a call for
        each request).

        The batches count as plain records, and the log as read from the first of them on. Where that is not so, call
        `SharePartition.acquire`: it is told of aborted transactions, as `share.isolation.level=read_committed` wants, and of the
        offset that was read from. Control records are handed out either way, as in Kafka: acknowledge them as GAP.

        Args:
            partition: int32 of shape (n,): share partition of each request.
            member: int32 of shape (n,): member of each request.
            first_offset: int64 of shape (n,): base offset of the log batch of each request.
            last_offset: int64 of shape (n,): its last offset, inclusive.
            now_ms: now, on the monotonic clock.
            max_records: how many records each request may be given.
            batch_size: new records are handed out in batches of about this many.
            mode: an `AcquireMode`, its id or its name: 0 may exceed `max_records` to keep log batches whole, 1 never does.

        Returns:
            An `Acquired`.

        Raises:
            InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
                `index` the row. Nothing has changed.
            TypeError: a column is not of its dtype and of one dimension.
            ArgumentTypeError, ArgumentValueError: `mode` is none of those above.
        """
    def acknowledge(
        self,
        partition: Column,
        member: Column,
        first_offset: Column,
        last_offset: Column,
        acknowledge_type: Column,
        *,
        now_ms: LockMs,
        request_starts: Column | None = None,
    ) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Acknowledge ranges of many share partitions (Kafka: `SharePartition.acknowledge`, a call for each request).

        The ranges of a request are acknowledged all or none.

        Args:
            partition: int32 of shape (m,): share partition of each request.
            member: int32 of shape (m,): member of each request.
            first_offset: int64 of shape (n,).
            last_offset: int64 of shape (n,), inclusive.
            acknowledge_type: int8 of shape (n,): an `AcknowledgeType` for each range.
            now_ms: now, on the monotonic clock.
            request_starts: int64 of shape (m + 1,): the ranges of request i are those from `request_starts[i]` to before
                `request_starts[i + 1]`. Without it each request has one range, and m is n.

        Returns:
            Two arrays of shape (m,): int16, 0 or Kafka's code for a request that was refused; int64, the token of the write to
            wait for, -1 when there is none. Where the share partition has a persister, there is nothing to wait for, and the code
            is also that of its answer; the requests of one call share the wait for the disk of a store.

        Raises:
            InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
                `index` the row. Nothing has changed.
            TypeError: a column is not of its dtype and of one dimension.
        """
    def poll_writes(self) -> PendingWrites:
        """Take all writes to make of share partitions without a persister, encoded (RPC 85; Kafka: `PersisterStateManager`, which folds writes into requests alike).

        Each write must be answered by `handle_write_results`: until then its records belong to nobody.

        Returns:
            A `PendingWrites`: a request for each group, more where a share partition has more than one write. They are of version
            1, which has delivery complete counts (KIP-1226).
        """
    def handle_write_results(self, partition: Column, token: Column, error_code: Column, *, now_ms: LockMs) -> NDArray[np.int16]:
        """Tell the persister's answers (Kafka: `SharePartition.writeShareGroupState`, its completion).

        Args:
            partition: int32 of shape (n,): share partition of each write.
            token: int64 of shape (n,).
            error_code: Kafka's code in the answer to each write, int16 of shape (n,): 0 for success.
            now_ms: now, on the monotonic clock.

        Returns:
            int16 of shape (n,): Kafka's code for the member that waits; 42 where no such write is under way.

        Raises:
            InvalidRequestError: columns do not fit together, or a number names no share partition. Nothing has changed.
            TypeError: a column is not of its dtype and of one dimension.
        """
    def poll_timeout(self) -> int | None:
        """Return the time to call `handle_timeout` next, in ms on the caller's monotonic clock; `None` when no lock runs.

        It may be early, where a lock was renewed or its records acknowledged, never late.
        """
    def handle_timeout(self, *, now_ms: LockMs) -> int:
        """Let due locks run out in all share partitions (Kafka: `SharePartition.releaseAcquisitionLockOnTimeout`). Share partitions
        of which nothing is due are not touched.

        Returns:
            The number of records whose lock ran out; the writes come by `poll_writes`.
        """

@final
class ShareCoordinator:
    """The states of the share partitions of one partition of `__share_group_state` (Kafka: `ShareCoordinatorShard`).

    It decides, and keeps nothing on a disk: a verb returns records to append and the answer to give. Append the records, make
    them durable, `replay` each, and only then give the answer. `replay` is the only thing that changes the object, so loading
    a log and writing one are the same.

    Share partitions are named by group, topic id and partition. `wall_ms` is a `WallTime`, or a number of ms since the epoch, for
    the timestamps of records. `topic_exists` is what the broker's metadata says.

    Beside what a verb names, any call raises `ValueError` for a `topic_id` that is none, `TypeError` or `OverflowError` for an
    argument that does not fit, and `EnginePoisonedError` once a bug has made a call of this object panic. Threads may share an
    object; it cannot be pickled or copied.

    Args:
        snapshot_update_records_per_snapshot: updates of a key before its next write becomes a snapshot, 0 to 500
            (`share.coordinator.snapshot.update.records.per.snapshot`).
        cold_partition_snapshot_interval_ms: age in ms at which a snapshot is written again, at least 1
            (`share.coordinator.cold.partition.snapshot.interval.ms`).

    Raises:
        ConfigError: a number is out of its range; `field` is the argument.
    """
    def __new__(
        cls,
        *,
        snapshot_update_records_per_snapshot: int = 500,
        cold_partition_snapshot_interval_ms: int = 300000,
    ) -> Self: ...
    def initialize(
        self,
        group: str,
        topic_id: TopicIdLike,
        partition: int,
        state_epoch: int,
        start_offset: int,
        *,
        wall_ms: WallMs,
        topic_exists: bool = True,
    ) -> Decision:
        """Decide on InitializeShareGroupState (RPC 83): create a state, or replace the whole of it. A repetition, by state epoch and
        stored start offset, writes nothing.

        Args:
            state_epoch: epoch of the new state, at least 0.
            start_offset: where it starts; -1 leaves it to the leader.

        Raises:
            InvalidRequestError: the request is malformed; `field` names the value.
            FencedStateEpochError: the state has a higher epoch.
            UnknownPartitionError: the topic does not exist.
        """
    def read(
        self,
        group: str,
        topic_id: TopicIdLike,
        partition: int,
        leader_epoch: int,
        *,
        wall_ms: WallMs,
        topic_exists: bool = True,
    ) -> Decision:
        """Decide on ReadShareGroupState (RPC 84): answer a state, and fence leaders older than the reader.

        A new leader epoch is a record to append, for which the answer, a `ReadStateResult`, has to wait (KAFKA-17796).

        Raises:
            InvalidRequestError: the request is malformed, or there is no state.
            FencedLeaderEpochError: a leader with a higher epoch has read the state.
            UnknownPartitionError: the topic does not exist.
        """
    def write(
        self,
        group: str,
        topic_id: TopicIdLike,
        partition: int,
        state: WriteState,
        *,
        wall_ms: WallMs,
        topic_exists: bool = True,
    ) -> Decision:
        """Decide on WriteShareGroupState (RPC 85): merge what a leader says has changed. Writes may arrive late,
        doubled or out of order: neither the start offset nor the delivery complete count goes back.

        Raises:
            InvalidRequestError: the request is malformed (`field`, `index` and `value` say where), or there is no state.
            LimitExceededError: the write, or the state with it, has more state batches than allowed.
            FencedLeaderEpochError, FencedStateEpochError: the writer's epoch is out of date.
            UnknownPartitionError: the topic does not exist.
        """
    def delete(self, group: str, topic_id: TopicIdLike, partition: int, *, topic_exists: bool = True) -> Decision:
        """Decide on DeleteShareGroupState (RPC 86). Deleting what is not there succeeds and writes nothing.

        Raises:
            InvalidRequestError: the request is malformed.
            UnknownPartitionError: the topic does not exist.
        """
    def summary(self, group: str, topic_id: TopicIdLike, partition: int, *, topic_exists: bool = True) -> StateSummary:
        """Answer ReadShareGroupStateSummary (RPC 87): epochs, start offset and delivery complete count. Fences nobody. A share
        partition without state has the summary of one that has not begun.

        Raises:
            InvalidRequestError: the request is malformed.
            UnknownPartitionError: the topic does not exist.
        """
    def cold_snapshots(self, *, wall_ms: WallMs) -> list[Record]:
        """New snapshots of the keys whose last one is older than the interval, so that the log below can be pruned (KAFKA-18170)."""
    def topics_deleted(self, topic_ids: Sequence[TopicIdLike]) -> list[Record]:
        """A tombstone for every key of these topics (Kafka: `ShareCoordinatorShard.maybeCleanupShareState`)."""
    def replay(self, offset: int, key: bytes, value: bytes | None) -> bool:
        """Apply the record at `offset` of the log (Kafka: `ShareCoordinatorShard.replay`).

        Returns whether the record is of a known type; one that is not is passed over, as Kafka does.

        Raises:
            WireDecodeError: the bytes are not such a record; nothing has changed.
            UnsupportedVersionError: the version of the value is not known.
        """
    def last_redundant_offset(self) -> int | None:
        """The offset below which nothing of the log is needed; `None` when nothing new is redundant (KAFKA-18170)."""
    def state(self, group: str, topic_id: TopicIdLike, partition: int) -> dict[str, Any] | None:
        """The state of one share partition, or `None`.

        Returns:
            A dict: `group`, `topic_id` (hyphenated), `partition`, `snapshot_epoch`, `state_epoch`, `leader_epoch`, `start_offset`,
            `delivery_complete_count`, `batches` (sorted and coalesced, a list of `StateBatch`), `create_timestamp` and
            `write_timestamp` of the last snapshot in ms since the epoch, `incomplete` (whether there were only updates), and
            `max_leader_epoch`, `max_state_epoch` (by which writers are fenced), `updates_since_snapshot`.
        """
    def states(self) -> list[dict[str, Any]]:
        """Every state, as `state` gives it without the last three, ordered by group, topic id and partition."""
    def __reduce__(self) -> Any: ...

@final
class NoOpStatePersister:
    """A persister that confirms everything and keeps nothing (Kafka: `NoOpStatePersister`), for simulators and benchmarks.

    Given to a `SharePartition`, it is asked in Rust. As a `Persister` it answers as Kafka's does: any state is there, has epoch 0,
    and no start offset yet.
    """
    def __new__(cls) -> Self: ...
    def reset_state(self, key: KeyLike, state_epoch: int, start_offset: int) -> None:
        """Do nothing (InitializeShareGroupState, RPC 83)."""
    def read_state(self, key: KeyLike, leader_epoch: int) -> ReadStateResult:
        """A state of epoch 0 without start offset (ReadShareGroupState, RPC 84)."""
    def write_state(self, key: KeyLike, state: WriteState) -> None:
        """Do nothing (WriteShareGroupState, RPC 85)."""
    def delete_state(self, key: KeyLike) -> None:
        """Do nothing (DeleteShareGroupState, RPC 86)."""
    def read_summary(self, key: KeyLike) -> StateSummary:
        """The summary of a state that has not begun (ReadShareGroupStateSummary, RPC 87)."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class RecordingPersister:
    """A persister for tests: it keeps what `SharePartition` objects write, in order, and answers with the code that it was told.

    Several share partitions may have it, in several threads.

    Args:
        error_code: Kafka's code for every answer from now on, 0 for success.
    """
    def __new__(cls, *, error_code: int = 0) -> Self: ...
    @property
    def error_code(self) -> int:
        """Kafka's code for every answer from now on, 0 for success."""
    @error_code.setter
    def error_code(self, error_code: int, /) -> None: ...
    def take(self) -> list[tuple[SharePartitionKey, WriteState]]:
        """Take what was written since the last call, refused writes included: a list of `(SharePartitionKey, WriteState)`."""
    def __len__(self) -> int: ...

@final
class ShareFetchContext:
    """Admission of a ShareFetch request, or the reason why it is refused."""
    @property
    def error_code(self) -> int:
        """0, or the code that answers the whole request: 42, 122, 123 or 133."""
    @property
    def final(self) -> bool:
        """True if the request ends the session (epoch -1): nothing is fetched, and `close` comes after the answer."""
    @property
    def full(self) -> bool:
        """True if the request has opened the session (epoch 0): the answer lists every partition."""
    @property
    def partitions(self) -> list[tuple[str, int]]:
        """The partitions to fetch as `(topic id, partition)`, in the order in which they get their share of the bytes and records,
        which rotates with the epoch. Made again at every reading.
        """

@final
class ShareSessions:
    """The share sessions of a broker (Kafka: `ShareSessionCache`): which partitions each member fetches, the epoch of its next
    request, and the connection its session lives on.

    A refusal is a code and no exception, as it is an answer like any other; it has changed nothing. Topic ids come in either
    form and go out as Kafka's base64. Who holds which record is the share partitions' affair: whoever ends a session releases
    the member's records.

    Args:
        max_sessions: how many sessions fit (`group.share.max.share.sessions`); a full cache turns new members away and
            evicts nobody.
    """
    def __new__(cls, max_sessions: int = 2000) -> Self: ...
    def fetch(
        self,
        group: str,
        member: str,
        epoch: int,
        connection: int,
        added: Iterable[tuple[str, int]],
        forgotten: Iterable[tuple[str, int]],
        *,
        acknowledges: bool,
    ) -> ShareFetchContext:
        """Admit a ShareFetch request (Kafka: `SharePartitionManager.newContext`).

        Epoch 0 opens the session or replaces it, epoch -1 ends it, another must be the one that the session expects.

        Args:
            added: partitions to fetch from now on, as `(topic id, partition)`; repeated ones count once.
            forgotten: partitions not to fetch any more.
            acknowledges: whether the request brings acknowledgements.

        Raises:
            ValueError: a topic id is none.
        """
    def answer(self, context: ShareFetchContext, outcomes: Iterable[tuple[str, int, bool, bool, bool]]) -> list[bool] | None:
        """Say what the answer to an admitted ShareFetch request lists (Kafka: `updateAndGenerateResponseData`).

        Args:
            outcomes: `(topic id, partition, has records, has an error, was acknowledged)` of every partition that was fetched or
                acknowledged.

        Returns:
            Whether the answer lists each of them; `None` when another request was admitted meanwhile or the session has ended:
            then the answer is INVALID_SHARE_SESSION_EPOCH (123) for the whole request.

        Raises:
            ValueError: the request was refused, or a topic id is none.
        """
    def acknowledge(self, group: str, member: str, epoch: int, connection: int) -> int:
        """Admit a ShareAcknowledge request (Kafka: `SharePartitionManager.acknowledgeSessionUpdate`) and return its code: 0, 122 or
        123. Epoch -1 ends the session, by `close` after the answer; epoch 0 opens none here. `connection` does not matter, as a
        session lives on the connection that opened it.
        """
    def close(self, group: str, member: str) -> bool:
        """End a session, and return whether there was one. For after a final request."""
    def connection_closed(self, connection: int) -> list[tuple[str, str]]:
        """End the sessions that this connection opened, and return the group and member of each: their records are to be released."""
    def remove_topic(self, topic_id: TopicIdLike) -> int:
        """Take a deleted topic out of every session, and return how many partitions that were.

        Raises:
            ValueError: the topic id is none.
        """
    @property
    def partition_count(self) -> int:
        """Number of partitions in all sessions; one that is in two sessions counts twice."""
    @property
    def max_sessions(self) -> int:
        """Number of sessions that fit."""
    def __len__(self) -> int: ...
    def sessions(self) -> list[dict[str, Any]]:
        """Every session as a dict of `group`, `member`, `epoch` (of its next request), `connection` and `partitions`: `(topic id,
        partition, whether the next answer must list it)` in the session's order.
        """

_NodeEvent: TypeAlias = (
    tuple[Literal["send"], int, bytes]
    | tuple[Literal["close"], int, ShareStateError | None]
    | tuple[Literal["request"], int, bytes]
    | tuple[Literal["start_kept"], int, WriteState | None]
    | tuple[Literal["loaded"], int, SharePartitionKey, int, ShareStateError | None]
)
_NodeNeed: TypeAlias = (
    tuple[Literal["state"], int, SharePartitionKey, int]
    | tuple[Literal["start"], int, str, int, int, str]
    | tuple[Literal["topics"], int, list[str]]
    | tuple[Literal["log_start"], str, int, int]
    | tuple[Literal["records"], str, int, int, int, int]
)

@final
class Node:
    """The data plane of a gateway as one machine without I/O: bytes of ShareFetch (78) and ShareAcknowledge (79) in, bytes of answers
    out.

    It has no clock, no socket, no disk and no thread. Whoever drives it calls one method for each thing that happens, and then
    `poll` and `poll_round`. An argument that cannot be used changes nothing. Topic ids come in either form and go out as Kafka's
    base64. Times are on one monotonic clock. An `isolation` is 0 for read_uncommitted, 1 for read_committed.

    Args:
        leader_epoch: epoch in which it reads and writes states.
        config: the configuration of groups that have none.
        frame: bytes that a request may have.
        elements: elements of all arrays of a request altogether.
        answers: bytes of all answers that clients have not taken; fetches wait then.
        sessions: number of share sessions (`group.share.max.share.sessions`).
        fetch_max_bytes: bytes of records in one answer (`fetch.max.bytes`).
        rings: bytes of frames with batches that are kept in memory.
    """
    def __new__(
        cls,
        *,
        leader_epoch: int,
        config: GroupConfig,
        frame: int,
        elements: int,
        answers: int,
        sessions: int,
        fetch_max_bytes: int,
        rings: int,
    ) -> Self: ...
    def opened(self, connection: int, principal: str | None) -> None:
        """Take a connection. Its number is not used twice: share sessions live on it.

        Args:
            connection: its number.
            principal: that of its client, such as `User:alice`; `None` of one that has not logged in, which is not served here.
        """
    def closed(self, connection: int, *, now_ms: LockMs) -> None:
        """Take the end of a connection: its request is answered to nobody, and the sessions that it opened end."""
    def feed(self, connection: int, data: bytes, *, now_ms: LockMs) -> None:
        """Take bytes of a client, cut anywhere."""
    def sent(self, connection: int, count: int, *, now_ms: LockMs) -> None:
        """Take note that the operating system has taken bytes of the answers of a connection."""
    def tick(self, *, now_ms: LockMs) -> None:
        """Do everything that is due."""
    def poll(self) -> tuple[list[_NodeEvent], list[_NodeNeed], int | None]:
        """Take the outputs that wait, oldest first.

        Returns:
            The events, the needs, and the time in ms at which `tick` has something to do, or `None`.

            An event is `("send", connection, bytes)` with whole frames, for which `sent` is to be called; `("close", connection,
            error)`, after which `closed` is to be called, with the exception for the log, or `None` where an answer could not be
            written; `("request", connection, frame)`, a request that is not served here; `("loaded", served, key, code, error)`, the
            end of a load, with 0 or the code for those that wait, and with the exception for the log where the load has one;
            `("denied", connection, resource, name)`, a topic or group that the client may not read; or `("start_kept", ticket, state)`,
            the outcome of `keep_start`: the state that is kept, or `None`.

            A need is `("state", served, key, leader_epoch)`, for `state_read`; `("start", served, topic_id, partition, isolation,
            strategy)`, for `start_found`, with a value of `share.auto.offset.reset`; `("topics", connection, topic_ids)`, for
            `looked_up`; `("log_start", topic_id, partition, isolation)`, for `log_starts_told`; or `("records", topic_id, partition,
            isolation, life, offset)`, for `records_read`.
        """
    @property
    def has_writes(self) -> bool:
        """True if there may be writes for a round that is not begun."""
    def poll_round(self) -> WriteRound | None:
        """Take the next round of writes; `None` while one is under way, or where nothing is to be written."""
    def settle(self, number: int, codes: Iterable[int], *, now_ms: LockMs) -> None:
        """Take the answers to a round.

        Args:
            number: that of the round.
            codes: Kafka's code for each write, in their order: 0 once it is as durable as is promised.
            now_ms: now.

        Raises:
            InvalidRequestError: no such round is under way, or it has another number of writes; `field` is `number`.
        """
    def state_read(self, served: int, result: ReadStateResult | int, *, now_ms: LockMs) -> None:
        """Take the state of a share partition. One that is not waited for any more changes nothing.

        Args:
            served: the number in the need.
            result: the state, or Kafka's code for the refusal to read it.
            now_ms: now.
        """
    def shown(self, key: KeyLike) -> tuple[int, int, int, int, bool] | None:
        """Tell of a share partition what others may count on. What is not durable yet may be taken back by a crash.

        Returns:
            The start offset, the number of terminal records at or after it, the leader epoch, the state epoch, and whether a change
            is not durable yet; `None` of one that does not serve.
        """
    def keep_start(self, key: KeyLike) -> int | None:
        """Have the start offset of a share partition written with the next round, unless a change of it goes with that round.

        Returns:
            The ticket of the event `start_kept` that tells the outcome; `None` of one that does not serve.
        """
    def start_found(self, served: int, offset: int | None, *, now_ms: LockMs) -> None:
        """Take the start offset of a share partition; `None` where none could be found. One that is not waited for any more changes
        nothing.
        """
    def records_read(
        self,
        topic_id: TopicIdLike,
        partition: int,
        isolation: int,
        life: int,
        asked_offset: int,
        data: bytes,
        start: int,
        end: int,
        aborted: Iterable[tuple[int, int]] | None,
        *,
        now_ms: LockMs,
    ) -> tuple[int, int] | None:
        """Take the record batches of a Fetch answer, and let those try again that wait for some.

        Args:
            topic_id, partition, isolation, life: as in the need.
            asked_offset: the offset in the need.
            data: the frame of the answer, which is held and not copied.
            start: where the records begin in it.
            end: where they end.
            aborted: with read_committed, `(producer_id, first_offset)` of the aborted transactions that the answer names.
            now_ms: now.

        Returns:
            The offset after the last whole batch, and the bytes of the batches that are new; `None` for a read of another life,
            which changes nothing.

        Raises:
            WireDecodeError: a batch is malformed, not of format 2, or does not follow the one before it, or none is whole; `position`
                counts from the start of `data`. Nothing has changed, and the read is still needed.
            InvalidRequestError: `asked_offset` is negative.
            ValueError: `start` and `end` are no part of `data`.
        """
    def log_start_moved(self, topic_id: TopicIdLike, partition: int, isolation: int, offset: int, *, now_ms: LockMs) -> None:
        """Take note of the start of a log."""
    def log_starts_told(self, told: Sequence[tuple[TopicIdLike, int, int, int | None]], *, now_ms: LockMs) -> None:
        """Take the starts of logs that were asked for. Fetches try again once all of them are taken.

        Args:
            told: `(topic_id, partition, isolation, offset)` of each; without an offset upstream has not told it in time, and what is
                at hand is given out.
            now_ms: now.
        """
    def upstream_lost(self, topic_id: TopicIdLike, partition: int, isolation: int) -> None:
        """Take note that upstream has given no batches for so long that fetches are told so, until a read comes."""
    def history_changed(self, topic_id: TopicIdLike, partition: int, isolation: int, *, now_ms: LockMs) -> None:
        """Forget the batches of a partition: the log upstream is not the log that it was."""
    def truncated(self, topic_id: TopicIdLike, partition: int, offset: int, *, now_ms: LockMs) -> None:
        """Take note that the log of a partition ends at an offset, and that its states are about to be changed. Share partitions that
        know of more are dropped, and none of the partition is loaded until `let_go`. Each call needs one of that.
        """
    def let_go(self, topic_id: TopicIdLike, partition: int, *, now_ms: LockMs) -> None:
        """Take note that the states of a partition were changed, or could not be, and have those loaded that are asked for."""
    def ring(self, topic_id: TopicIdLike, partition: int, isolation: int) -> tuple[int | None, int, int, int] | None:
        """Tell of the batches of a partition.

        Returns:
            The offset after the tail, or `None` where there are no batches; epoch of the leader that appended the last batch of the
            tail, or -1; bytes of the batches; and bytes of the frames that they keep. `None` where no share partition reads it.
        """
    def looked_up(self, connection: int, *, now_ms: LockMs) -> None:
        """Carry on with the request of a connection whose topics were looked for. Those that are not in the snapshot by now do not
        exist.
        """
    def topic_deleted(self, topic_id: TopicIdLike, *, now_ms: LockMs) -> None:
        """Drop the share partitions of a topic that was deleted, and tell those that wait for them so."""
    def counts(self) -> dict[str, Any]:
        """Return what was counted so far, by name; no number ever falls.

        `request_errors` by API key and code; `malformed`; `fetched`, `fetch_failed`, `acknowledged` and `acknowledge_failed`
        partitions by topic id; `acknowledged_records` by the type of their acknowledgement; `hidden` by its cause: what clients were
        told as -1; `asked_partitions` and `acquired_partitions` by group; `acquire_times` by group: durations from a share fetch to
        its records, as `(buckets, total_ms)`; `expired_fetches`.
        """
    def keep_counts(self, groups: Iterable[str]) -> None:
        """Forget what was counted of other groups: whoever may read any group makes up names of groups."""
    def figures(self) -> dict[str, int]:
        """Return the numbers of what is in memory, by name: `waiting_fetches`, `sessions`, `session_partitions`, and `answer_bytes`,
        which clients have not taken.
        """
    def share_partitions(self) -> list[tuple[SharePartitionKey, bool, int, int, int, dict[str, int], int, int]]:
        """List the share partitions that serve or are about to, in no order.

        Returns:
            `(key, is_ready, waiting, lock_timeouts, dead_lettered, state_counts, start_offset, isolation)` of each: the number of
            fetches that wait at it, its counters, and its records in flight by the name of their state.
        """
    def rings(self) -> list[tuple[str, int, int, int, int]]:
        """List the rings, in no order.

        Returns:
            `(topic_id, partition, isolation, nbytes, held_bytes)` of each: bytes of its batches, and of the frames that they keep.
        """
    def set_topics(self, topics: Iterable[tuple[TopicIdLike, str, int, bool]]) -> None:
        """Swap the topics. The share partitions of one that is not among them stay: the broker that was asked may have just started.

        Args:
            topics: `(topic_id, name, partitions, is_internal)` of each. Topics of Kafka's own are not given out.
        """
    def set_access(self, rules: Iterable[tuple[str, str, str, bool, bool]] | None, super_users: Iterable[str]) -> None:
        """Swap the rules of access to read groups and topics.

        Args:
            rules: `(principal, resource, name, prefixed, allow)` of each rule on READ or on ALL, with `"TOPIC"` or `"GROUP"` as the
                resource; `None` where everybody who is let in may do everything.
            super_users: principals that may do everything.
        """
    def configure(self, group: str, config: GroupConfig, *, now_ms: LockMs) -> None:
        """Change the configuration of a group. It counts from the next use on."""
    def forget_config(self, group: str, *, now_ms: LockMs) -> None:
        """Forget the configuration of a group, which uses that of groups that have none. It counts from the next use on."""
    def state_changed(self, group: str | None, topic_id: TopicIdLike, *, now_ms: LockMs) -> None:
        """Drop the share partitions of a group on a topic, or of all groups on it: their states were changed elsewhere."""
    def store_closed(self) -> None:
        """Acquire nothing more: the store takes no writes until it is opened again, and records given out could never be settled."""
    def sweep(self, silent_since_ms: LockMs, *, now_ms: LockMs) -> None:
        """Forget share partitions that no request has named since a time, and that hold nothing."""

@final
class WriteRound:
    """Writes that are made durable together, from `Node.poll_round`. Its length is the number of writes."""
    @property
    def number(self) -> int:
        """Number of the round, for `Node.settle`."""
    def __len__(self) -> int: ...
    def write(self, store: StateStore) -> tuple[list[int], list[ShareStateError]]:
        """Write all of them, with one wait for the disk. The node goes on meanwhile: call it in a thread.

        Args:
            store: takes the writes.

        Returns:
            Kafka's code for each, for `Node.settle`, and the exceptions that `StateStore.write_state` would raise. Where the store
            cannot be used there is one for all of them.
        """

@final
class StateRoom:
    """Tells a client of share coordinators elsewhere which writes would make a state too large for a snapshot.

    `max_message_bytes` is the `max.message.bytes` of `__share_group_state`.
    """
    def __new__(cls) -> Self: ...
    def read(self, key: KeyLike, result: ReadStateResult) -> None:
        """Take what a leader has read."""
    def read_again(self, key: KeyLike, result: ReadStateResult) -> None:
        """Take what was read because `admit` said `False`. The next `admit` tells for certain."""
    def admit(self, key: KeyLike, state: WriteState, max_message_bytes: int) -> bool:
        """Return True if a write is known to fit, and count it as sent from now on. If not, read the state, tell `read_again`,
        and ask again.

        Raises:
            LimitExceededError: the state with the write, or the write itself, is too large for a record; nothing has changed.
        """
    def confirmed(self, key: KeyLike, state: WriteState, max_message_bytes: int) -> None:
        """Take that a write which fitted has happened."""
    def unconfirmed(self, key: KeyLike) -> None:
        """Take that a write which fitted was refused, or that nobody knows whether it has happened."""
    def forget(self, key: KeyLike) -> None:
        """Forget what is known of a state."""

@final
class StateStore:
    """The states of share partitions in a directory, in Kafka's own log format: durable, one writer, any number of threads.

    A verb returns when all its answer depends on is as durable as `sync` asks. Verbs of several threads share their syncs (group
    commit), and run without the interpreter. After a failed append or sync every call raises `StoreError` until the
    directory is opened again; what was answered is in the log.

    The directory is locked against other writers; readers such as `fold_path` need no lock. A forked child that inherits a store
    is refused with `StoreError`; it may open another directory, or this one after the parent has closed it. A store is a
    context manager and cannot be pickled or copied: pickle its path. One that is dropped is closed, also at the end of the
    interpreter.

    Opening replays the log. Ctrl-C during a long load raises `KeyboardInterrupt` within a MiB of log, and nothing was changed. An
    unfinished batch at the end, which a crash leaves, is cut off and told by `recovery` and by a warning of the logger
    `share_state.store`. Any other damage is refused, and after a clean close nothing is unfinished: a log that has not every byte
    with which it was closed is damaged. `repair` is the consent to lose what cannot be read.

    Args:
        path: the directory.
        partitions: number of state partitions; when absent what the store has, or 1 for a new one. It is fixed once made.
        create: whether a store is made where there is none.
        sync: when appended bytes are made durable: `"always"` before any answer that depends on them, `"interval"` every
            `sync_interval_ms` by a thread of the store, `"never"` when the operating system likes, and at a roll and a close.
            What was answered under the last two survives the end of the process, but not that of the machine.
        sync_interval_ms: ms between two syncs under `"interval"`, at least 1.
        segment_bytes: size beyond which no segment grows (`share.coordinator.state.topic.segment.bytes`).
        compression: of record batches: `"none"`, `"gzip"`, `"snappy"`, `"lz4"` or `"zstd"`.
        snapshot_update_records_per_snapshot, cold_partition_snapshot_interval_ms: as for `ShareCoordinator`.
        repair: whether a damaged log is cut where its damage begins. That loses what was confirmed; what `CorruptLogError` says
            of a refused directory is what would be lost, and `recovery` says what was.
        progress: called with bytes read and bytes there are, about once a MiB while loading; what it raises ends the load.

    Raises:
        StoreError: the directory is used by another writer, holds no store, or the disk fails.
        CorruptLogError: the log is damaged other than by a torn tail, and `repair` was not given or cannot mend it; nothing was
            changed.
        UnsupportedVersionError: a later release wrote the store.
        ConfigError: a number is out of its range.
        ValueError: `sync` or `compression` is not one of these.
    """
    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        partitions: int | None = None,
        create: bool = True,
        sync: Sync = "always",
        sync_interval_ms: int = 1000,
        segment_bytes: int = 104857600,
        compression: Compression = "none",
        snapshot_update_records_per_snapshot: int = 500,
        cold_partition_snapshot_interval_ms: int = 300000,
        repair: bool = False,
        progress: _Progress | None = None,
    ) -> Self: ...
    def reset_state(self, key: KeyLike, state_epoch: int, start_offset: int, *, wall_ms: WallMs | None = None) -> None:
        """Replace a state by a new one (InitializeShareGroupState, RPC 83). Every acknowledgement in it is forgotten. A repetition,
        by state epoch and the start offset that the state has now, writes nothing. At the start of a program use
        `share_state.persister.initialize_if_absent`.

        Args:
            key: the share partition, a `SharePartitionKey` or a tuple like it.
            state_epoch: epoch of the new state, at least 0.
            start_offset: where it starts; -1 leaves it to the leader.
            wall_ms: timestamp of the record, a `WallTime` or ms since the epoch; the system's clock when absent.

        Raises:
            InvalidRequestError: the request is malformed; `field` names the value.
            FencedStateEpochError: the state has a higher epoch.
            StoreError: the store cannot be used; nothing was answered.
        """
    def read_state(self, key: KeyLike, leader_epoch: int, *, wall_ms: WallMs | None = None) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84).

        Args:
            key: the share partition.
            leader_epoch: epoch of the leader that reads, at least 0.
            wall_ms: as for `reset_state`.

        Raises:
            InvalidRequestError: the request is malformed, or there is no state.
            FencedLeaderEpochError: a leader with a higher epoch has read the state.
            StoreError: the store cannot be used; nothing was answered.
        """
    def write_state(self, key: KeyLike, state: WriteState, *, wall_ms: WallMs | None = None) -> None:
        """Write a change (WriteShareGroupState, RPC 85).

        Args:
            key: the share partition.
            state: what to write, as `SharePartition.poll_write` gives it.
            wall_ms: as for `reset_state`.

        Raises:
            InvalidRequestError: the request is malformed (`field`, `index` and `value` say where), or there is no state.
            LimitExceededError: the write, or the state with it, has more state batches than allowed, or more bytes than one group commit may.
            FencedLeaderEpochError, FencedStateEpochError: the writer's epoch is out of date.
            StoreError: the store cannot be used; nothing was answered.
        """
    def delete_state(self, key: KeyLike, *, wall_ms: WallMs | None = None) -> None:
        """Delete a state (DeleteShareGroupState, RPC 86); deleting what is not there succeeds.

        Raises:
            InvalidRequestError: the request is malformed.
            StoreError: the store cannot be used; nothing was answered.
        """
    def read_summary(self, key: KeyLike) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87). Fences nobody.

        A share partition without state has the summary of one that has not begun.

        Raises:
            InvalidRequestError: the request is malformed.
            StoreError: the store cannot be used.
        """
    def reset_states(
        self, requests: Iterable[tuple[KeyLike, int, int]], *, wall_ms: WallMs | None = None
    ) -> list[ShareStateError | None]:
        """Replace many states: `reset_state` of each `(key, state_epoch, start_offset)`, one after the other, with one wait
        for the disk.

        Returns:
            For each, in their order, `None`, or the exception that `reset_state` would raise.

        Raises:
            StoreError: the store cannot be used; nothing was answered.
        """
    def read_states(
        self, requests: Iterable[tuple[KeyLike, int]], *, wall_ms: WallMs | None = None
    ) -> list[ReadStateResult | ShareStateError]:
        """Read many states: `read_state` of each `(key, leader_epoch)`, as `reset_states` does.

        Returns:
            For each, in their order, a `ReadStateResult`, or the exception that `read_state` would raise.

        Raises:
            StoreError: the store cannot be used; nothing was answered.
        """
    def read_states_as_next_leader(
        self, keys: Iterable[KeyLike], *, wall_ms: WallMs | None = None
    ) -> list[tuple[int, ReadStateResult] | ShareStateError]:
        """Read many states as the leader after the last one, which is fenced: `read_state` of each key with the next leader epoch, as
        `reset_states` does. Two callers never get the same epoch.

        Returns:
            For each, in their order, `(leader_epoch, ReadStateResult)`, or the exception that `read_state` would raise.

        Raises:
            StoreError: the store cannot be used; nothing was answered.
        """
    def lead(
        self,
        key: KeyLike,
        *,
        config: GroupConfig | None = None,
        latest: int | None = None,
        earliest: int = 0,
        inline: bool = False,
    ) -> SharePartition:
        """Lead a share partition in the leader epoch after the last one, whose leader is fenced: `share_state.persister.lead` without
        an epoch. Its state must have been initialised.

        Args:
            key: the share partition.
            config, latest, earliest, inline: as for `share_state.persister.lead`.

        Returns:
            The share partition, ACTIVE.

        Raises:
            InvalidRequestError: the request is malformed, or there is no state.
            CorruptStateError: the state breaks its rules.
            ArgumentValueError: the state has no start offset, and `latest` is required and missing.
            StoreError: the store cannot be used; nothing was answered.
        """
    def write_states(
        self, requests: Iterable[tuple[KeyLike, WriteState]], *, wall_ms: WallMs | None = None
    ) -> list[ShareStateError | None]:
        """Write many changes: `write_state` of each `(key, state)`, as `reset_states` does.

        Returns:
            For each, in their order, `None`, or the exception that `write_state` would raise.

        Raises:
            StoreError: the store cannot be used; nothing was answered.
        """
    def delete_states(self, keys: Iterable[KeyLike], *, wall_ms: WallMs | None = None) -> list[ShareStateError | None]:
        """Delete many states: `delete_state` of each key, as `reset_states` does.

        Returns:
            For each, in their order, `None`, or the exception that `delete_state` would raise.

        Raises:
            StoreError: the store cannot be used; nothing was answered.
        """
    def states(self) -> list[dict[str, Any]]:
        """Every state, as `ShareCoordinator.state` gives it without the last three, ordered by group, topic id and partition.

        Raises:
            StoreError: the store cannot be used.
        """
    def topics_deleted(self, topic_ids: Sequence[TopicIdLike], *, wall_ms: WallMs | None = None) -> int:
        """Delete the states of these topics, as a broker does when topics are deleted.

        Returns:
            How many states there were.

        Raises:
            StoreError: the store cannot be used.
        """
    def log_truncated(self, topic_id: TopicIdLike, partition: int, offset: int, *, wall_ms: WallMs | None = None) -> int:
        """Forget the offsets from `offset` on in every state of a topic partition whose log was cut: they are those of other
        records now. Not Kafka's, which keeps what was terminal. The state epochs rise, so leaders of the old states are fenced.

        Args:
            topic_id: the topic.
            partition: the partition.
            offset: the first that is forgotten.
            wall_ms: as for `reset_state`.

        Returns:
            How many states knew something of these offsets.

        Raises:
            StoreError: the store cannot be used.
        """
    def cold_snapshots(self, *, wall_ms: WallMs | None = None) -> int:
        """Write again the snapshots that are older than the interval, so that `prune` finds something to delete (KAFKA-18170). A
        broker does both every five minutes; here the caller does.

        Returns:
            How many were written.

        Raises:
            StoreError: the store cannot be used.
        """
    def prune(self) -> int:
        """Delete the segments that lie whole below the latest snapshot of every share partition.

        Returns:
            How many.

        Raises:
            StoreError: the store cannot be used, or deleting failed, after which the store goes on.
        """
    def flush(self) -> None:
        """Make all that was accepted so far durable, whatever `sync` says.

        Raises:
            StoreError: the sync failed, or the store cannot be used.
        """
    def close(self) -> None:
        """Flush, note where the log ends, and let go of the directory. Closing again does nothing.

        Raises:
            StoreError: the flush failed; the directory is given up nevertheless.
        """
    def counters(self) -> dict[str, int]:
        """Return the counts of the store since it was opened: `writes` (verbs that appended), `records`, `bytes`, `batches`
        (group commits), `fsyncs`, `pruned_segments`.
        """
    def recovery(self) -> dict[str, Any]:
        """Return the findings of the opening: `records` replayed, `batches` read, `unknown_types` and `control_batches` passed
        over; `torn`, a list of texts, one for each unfinished batch that was cut off; `repaired`, a list of texts, one for
        each damage that was cut off, with what was lost; and `note_damaged`, true if the note of where the log ended could not
        be read, so that nobody knows if whole batches are missing at its end.
        """
    @property
    def partition_count(self) -> int:
        """Number of state partitions."""
    @property
    def path(self) -> Path:
        """The directory, as a `pathlib.Path`."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def __reduce__(self) -> Any: ...

@final
class ShareGroupStore:
    """The share groups of a group coordinator (KIP-932) and their log, `__consumer_offsets-0` in a directory, in Kafka's own
    format: durable, one writer, any number of threads. It may stand in the directory of a `StateStore`.

    A verb decides at once and returns a *ticket*; its answer must not leave before `wait` has returned for that ticket. All who
    wait at the same time share one sync. Ticket 0 means that there is nothing to wait for. After a failed append or sync every
    call raises `StoreError` until the directory is opened again.

    Topics and the configuration of groups are not stored here: `set_topics` and `set_group_config` tell them. Member sessions
    are timed by the caller's clock (`now_ms`); after opening, every member has a full session timeout before it.

    Args:
        path: the directory; it is made if it is missing.
        broker_config: the broker's properties by Kafka's name, such as `group.share.max.size`; those that are not needed are
            passed over, and those that are missing have Kafka's default.
        sync, sync_interval_ms: as for `StateStore`.
        rewrite_bytes: size from which on the log is rewritten when most of its records are dead.
        repair: whether a damaged log is cut where its damage begins, as for `StateStore`.

    Raises:
        StoreError: the log is used by another writer, the directory holds a broker's, or the disk fails.
        CorruptLogError: the log is damaged other than by a torn tail, and `repair` was not given or cannot mend it; nothing was
            changed.
        UnsupportedVersionError: a later release wrote the log.
        ConfigError: a property is no whole number, or out of its range, or `sync` is not one of these.
    """
    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        broker_config: Mapping[str, str] | None = None,
        sync: Sync = "always",
        sync_interval_ms: int = 1000,
        rewrite_bytes: int = 16777216,
        repair: bool = False,
    ) -> Self: ...
    def wait(self, ticket: int) -> None:
        """Wait until what `ticket` stands for is as durable as `sync` asks. Runs without the interpreter.

        Raises:
            StoreError: the append or the sync failed, or the store cannot be used.
        """
    def is_durable(self, ticket: int) -> bool:
        """Return True if `wait` would return at once.

        Raises:
            StoreError: the store cannot be used.
        """
    def ticket(self) -> int:
        """The ticket of everything so far: for an answer made of what `describe`, `groups` or `share_partitions` told.

        Raises:
            StoreError: the store cannot be used.
        """
    def flush(self) -> None:
        """Make all that was accepted so far durable, whatever `sync` says.

        Raises:
            StoreError: the sync failed, or the store cannot be used.
        """
    def close(self) -> None:
        """Flush, note where the log ends, and let go of it. Closing again does nothing.

        Raises:
            StoreError: the flush failed; the log is given up nevertheless.
        """
    def counters(self) -> dict[str, int]:
        """Return the counts of the store since it was opened, as `StateStore.counters` gives them."""
    def recovery(self) -> dict[str, Any]:
        """Return the findings of the opening, as `StateStore.recovery` gives them."""
    def set_topics(self, topics: Sequence[tuple[str, str, int]]) -> None:
        """Tell every topic that there is, as (name, topic id, number of partitions); internal topics are left out.

        Groups whose topics have changed notice with their next heartbeat.

        Raises:
            InvalidRequestError: a topic cannot exist, or occurs twice; the topics told before stay.
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def set_group_config(self, group: str, config: Mapping[str, str]) -> None:
        """Set what a group configures for itself, the whole of it: text by Kafka's name of the property. It counts from the next
        heartbeat on; the group need not exist. Properties that are not needed here are passed over.

        Raises:
            ConfigError: a property is no whole number, or outside Kafka's own bounds. One outside the broker's is clamped to them.
            StoreError: the store cannot be used.
        """
    def to_initialize(
        self, *, group: str, member: str, member_epoch: int, topics: Sequence[str] | None
    ) -> list[tuple[str, int, int, int]]:
        """The share partitions whose state is to be initialised before this heartbeat is let in, as (topic id, partition, state
        epoch, start offset). Empty when there is none, or when the heartbeat would be refused. Changes nothing.

        Args:
            group, member, member_epoch, topics: as for `heartbeat`.

        Raises:
            StoreError: the store cannot be used.
        """
    def heartbeat(
        self,
        *,
        group: str,
        member: str,
        member_epoch: int,
        rack: str | None,
        topics: Sequence[str] | None,
        client_id: str,
        client_host: str,
        now_ms: LockMs,
        wall_ms: WallMs,
        initialized: Sequence[tuple[str, int]] = ...,
    ) -> HeartbeatAnswer:
        """Take a member in, keep it, or let it go (ShareGroupHeartbeat, RPC 76).

        A member of a group that does not exist is answered UNKNOWN_MEMBER_ID (25), where Kafka answers GROUP_ID_NOT_FOUND: that
        one is fatal to clients, and with this one they join again.

        Args:
            group, member: ids, as the client names them.
            member_epoch: what the member was told last; 0 joins, -1 leaves.
            rack, topics: `None` when they have not changed.
            client_id, client_host: of the client.
            now_ms: the caller's monotonic clock; the member's session begins again.
            wall_ms: ms since the epoch.
            initialized: (topic id, partition) of share partitions whose state was initialised for this heartbeat; they are
                assigned with it. Those that do not exist any more are passed over.

        Raises:
            InvalidRequestError: `wall_ms` is negative.
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def poll_timeout(self) -> int | None:
        """Return the latest time to call `handle_timeout`, on the clock of `now_ms`; `None` while there is no member. After
        opening that is at once.

        Raises:
            StoreError: the store cannot be used.
        """
    def handle_timeout(self, *, now_ms: LockMs, wall_ms: WallMs) -> tuple[list[tuple[str, str]], int]:
        """Take out the members whose session has ended.

        Returns:
            These members as (group, member), and a ticket.

        Raises:
            StoreError: the store cannot be used.
        """
    def describe(self, group: str) -> dict[str, Any] | None:
        """Describe a group (ShareGroupDescribe, RPC 77) under Kafka's names of the fields: `groupId`, `groupState`, `groupEpoch`,
        `assignmentEpoch`, `assignorName` and `members`, each with `memberId`, `rackId`, `memberEpoch`, `clientId`, `clientHost`,
        `subscribedTopicNames` and `assignment`, a list of (topic id, partitions).

        Returns:
            `None` when there is no such group.

        Raises:
            StoreError: the store cannot be used.
        """
    def groups(self) -> list[tuple[str, str]]:
        """Every group with its state, `"Empty"` or `"Stable"`, by id.

        Raises:
            StoreError: the store cannot be used.
        """
    def unknown_topics(self) -> list[str]:
        """Names of topics that some member subscribes to and that `set_topics` did not tell, ascending.

        Raises:
            StoreError: the store cannot be used.
        """
    def share_partitions(self, group: str) -> list[tuple[str, str, list[int]]] | None:
        """The share partitions of a group that have state, as (topic id, topic name, partitions).

        Returns:
            `None` when there is no such group.

        Raises:
            StoreError: the store cannot be used.
        """
    def begin_delete_group(self, group: str, *, wall_ms: WallMs) -> tuple[int, list[tuple[str, int]], int]:
        """Begin to delete a group (DeleteGroups, RPC 42): what is to be deleted is written first. Between this and
        `finish_delete_group` the caller lets no heartbeat of the group in.

        Returns:
            Error code (0, NON_EMPTY_GROUP 68 or GROUP_ID_NOT_FOUND 69), the share partitions whose state is to be deleted as
            (topic id, partition), and a ticket.

        Raises:
            StoreError: the store cannot be used.
        """
    def finish_delete_group(self, group: str, *, wall_ms: WallMs) -> int:
        """Finish deleting a group, once the states are deleted: nothing of it is left.

        Returns:
            A ticket.

        Raises:
            ShareGroupError: the group has members again (68), or is gone already (69); `kafka_code` is the code.
            StoreError: the store cannot be used.
        """
    def begin_delete_offsets(
        self, group: str, topic_ids: Sequence[TopicIdLike], *, wall_ms: WallMs
    ) -> tuple[int, dict[str, list[int] | None], int]:
        """Begin to delete a group's states of some topics (DeleteShareGroupOffsets, RPC 92). Between this and
        `finish_delete_offsets` the caller lets no heartbeat of the group in.

        Returns:
            Error code (0, INVALID_GROUP_ID 24, NON_EMPTY_GROUP 68 or GROUP_ID_NOT_FOUND 69); for each topic the partitions whose
            state is to be deleted, or `None` when there is none (UNKNOWN_TOPIC_OR_PARTITION); and a ticket.

        Raises:
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def finish_delete_offsets(self, group: str, topic_ids: Sequence[TopicIdLike], *, wall_ms: WallMs) -> int:
        """Finish deleting a group's states of some topics, once they are deleted.

        Returns:
            A ticket.

        Raises:
            ShareGroupError: there is no such group (69); `kafka_code` is the code.
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def begin_alter_offsets(
        self, group: str, partitions: Sequence[tuple[str, str, int]], *, wall_ms: WallMs
    ) -> tuple[int, int, int]:
        """Begin to alter start offsets (AlterShareGroupOffsets, RPC 91). A group that does not exist is made, and the group epoch
        rises: the caller initialises the altered states with it (KAFKA-20910).

        Args:
            group: id of the group.
            partitions: (topic id, topic name, partition) of share partitions that exist.
            wall_ms: ms since the epoch.

        Returns:
            Error code (0, INVALID_GROUP_ID 24, INVALID_REQUEST 42 or NON_EMPTY_GROUP 68), state epoch, and a ticket.

        Raises:
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def finish_alter_offsets(self, group: str, partitions: Sequence[tuple[str, str, int]], *, wall_ms: WallMs) -> int:
        """Finish altering start offsets, once the states are initialised.

        Returns:
            A ticket.

        Raises:
            ShareGroupError: there is no such group (69); `kafka_code` is the code.
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    def topics_deleted(self, topic_ids: Sequence[TopicIdLike], *, wall_ms: WallMs) -> int:
        """Forget the share partitions of deleted topics, in every group.

        Returns:
            A ticket.

        Raises:
            ValueError: a topic id is not one.
            StoreError: the store cannot be used.
        """
    @property
    def path(self) -> Path:
        """The directory of the log, as a `pathlib.Path`."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def __reduce__(self) -> Any: ...

@final
class Scan:
    """The records of a state log that somebody else may own, in order of state partition and offset; made by `scan_path`.

    An iterator of tuples: state partition (int), name of the segment (str), offset (int), timestamp in ms since the epoch (int),
    key (bytes), value (bytes, or `None` for a tombstone). Nothing is locked or changed.

    Next raises `OSError` when the disk fails. Damage raises nothing: reading goes on after it, and `findings` tells.
    """
    @property
    def findings(self) -> list[dict[str, Any]]:
        """Parts that could not be read so far, a new list of dicts: `file`, `position` (the byte in it), `kind` (`"torn_tail"`,
        `"damage"` or `"hole"`), `message`. A torn tail is a crash, or a writer at work at this moment. A hole is between batches
        that are whole: records are missing, as where a broker's state topic was compacted.
        """
    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read so far, and bytes there are."""
    def __iter__(self) -> Iterator[tuple[int, str, int, int, bytes, bytes | None]]: ...
    def __next__(self) -> tuple[int, str, int, int, bytes, bytes | None]: ...

@final
class HistoryChecker:
    """A history of what clients of share groups saw, taken in line by line and then checked.

    Memory is about that of the lines. A method waits for a call of another thread.
    """
    def __new__(cls) -> Self: ...
    def take(self, lines: bytes) -> None:
        """Take the next lines.

        Args:
            lines: whole lines of JSON, in order.

        Raises:
            NotAHistoryError: a line is none of a history; those before it were taken.
        """
    def check(
        self, delivery_limit: int, skew_ms: int, within_ms: int
    ) -> tuple[list[tuple[str, str, str, int, int | None, int | None, str, list[str]]], tuple[int, int, int], int, int]:
        """Check what was taken, and begin again with an empty history.

        Args:
            delivery_limit: the most deliveries of a record.
            skew_ms: how far the clocks of two members may be apart, in ms.
            within_ms: how long an available record may wait while members poll and nothing is locked, in ms.

        Returns:
            The violations: check, group, topic, partition, first and last offset (`None` where it is about no record), what is
            wrong, and the events that show it, JSON each. Then how many locks ran out, and the least and the greatest lateness in
            ns. Then the number of share partitions, and of events.
        """

@final
class HistoryScan:
    """History of every record, as a state log tells it; made by `history_path`.

    An iterator of `HistoryRow`, ordered by state partition and offset. Memory is bounded by the live states of one state
    partition. Next raises `OSError` when the disk fails. Damage raises nothing: reading goes on after it, and `findings`
    tells.
    """
    @property
    def findings(self) -> list[dict[str, Any]]:
        """Parts that could not be read so far, as `Scan.findings`. The rows of those state partitions may be wrong from there on."""
    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read so far, and bytes there are."""
    def columns(self, max_rows: int = 65536) -> dict[str, Any] | None:
        """The next rows as columns, up to `max_rows` (a record's rows stay together, so a few more may come), or `None` at the
        end.

        A dict of arrays, one value a row: the numbers of `HistoryRow` under its names as int64, -1 where the row has `None`;
        `cause`, an index into `HISTORY_CAUSES`; and `key`, an index into the list `keys` of this call's `SharePartitionKey`.
        """
    def __iter__(self) -> Iterator[HistoryRow]: ...
    def __next__(self) -> HistoryRow: ...

@final
class History:
    """History of every record, for a caller who brings the records of one state partition in the order of their offsets.

    Args:
        state_partition: its number, for the rows.
        group, topic_id, partition, offset: which rows to tell, as for `history_path`.

    Raises:
        ValueError: `topic_id` is none.
    """
    def __new__(
        cls,
        state_partition: int = 0,
        *,
        group: str | None = None,
        topic_id: TopicIdLike | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> Self: ...
    def replay(self, offset: int, timestamp: int, key: bytes, value: bytes | None) -> list[HistoryRow]:
        """Apply the next record and return the rows that it makes, a new list of `HistoryRow`; a record of an unknown type makes
        none.

        Args:
            offset: of the record in its state partition.
            timestamp: of the record, ms since the epoch.
            key: its key.
            value: its value, `None` for a tombstone.

        Raises:
            WireDecodeError: key or value cannot be read; nothing has been changed.
        """

@final
class StateTopicFollower:
    """State of the share partitions of a state topic, kept up to date by the batches of Fetch answers.

    It looks for anomalies by default thresholds, unless `configure` gives others.

    Memory is that of the live states. A method waits for a call of another thread.
    """
    def __new__(cls) -> Self: ...
    def begin(self, state_partition: int, next_offset: int) -> None:
        """Forget what is known of a state partition, and begin again at an offset.

        Its share partitions are among the next `changes`: as gone, unless they are read again before.

        Args:
            state_partition: its number.
            next_offset: of the first record to take; earlier ones are passed over.
        """
    def take(
        self, state_partition: int, data: bytes, start: int = 0, end: int | None = None
    ) -> tuple[int, tuple[int, int], list[tuple[int, str]]]:
        """Take the whole record batches in `data[start:end]`, as an answer to Fetch has them: the first may begin before the next
        offset of the state partition, and the last may be cut off.

        Args:
            state_partition: its number.
            data: the bytes.
            start, end: where the batches are in it; None for its end.

        Returns:
            The next offset to fetch from; where in `data` the batches are that hold something new, a start and an end; and what
            could not be read, pairs of an offset and a text. That is passed over, and has changed nothing.
        """
    def take_path(self, path: str | PathLike[str]) -> list[str]:
        """Take the records of a state log on this machine, beside a writer if need be. Nothing is locked or changed.

        Args:
            path: as for `scan_path`.

        Returns:
            What could not be read, a text each. That is passed over.

        Raises:
            FileNotFoundError: there is no such path, or it is no state log.
            OSError: the disk fails.
        """
    def changes(self) -> tuple[list[LiveRow], list[SharePartitionKey]]:
        """Return the changes since the last call: rows of the share partitions that have a state, and keys of those whose state
        was deleted, in no order.
        """
    def configure(self, config: AnomalyConfig) -> None:
        """Look for anomalies by other thresholds from here on. Of what was found, what the new delivery limits allow is not told
        any more.

        Args:
            config: an `AnomalyConfig`.
        """
    def anomalies(self, since_ms: int) -> tuple[int, list[Anomaly]]:
        """The anomalies that last, and those that were not over before a time. Those that were over before are let go.

        Of each state partition the latest 1,000 that are over are kept, and those that last. `growing_lag` and `deleted_topic`,
        which the state topic does not tell, are not among them.

        Args:
            since_ms: the time, ms since the epoch.

        Returns:
            Since when these are all, `since_ms` or later where they were too many; and a list of `Anomaly`, ordered by group,
            topic id, partition and `since_offset`.
        """
    def anomaly_counts(self, since_ms: int) -> tuple[int, list[tuple[SharePartitionKey, dict[str, int]]]]:
        """Count the anomalies of each share partition, by kind; as `anomalies`, for which the rows would be too many.

        Args:
            since_ms: as for `anomalies`.

        Returns:
            Since when these are all, as from `anomalies`; and a list of pairs of a `SharePartitionKey` and a dict of numbers of
            findings by kind.
        """
    def state_batches(self, key: SharePartitionKey | tuple[str, TopicIdLike, int]) -> list[StateBatch] | None:
        """Return the states of the records of a share partition: a new list of `StateBatch`, sorted and coalesced; None where
        there is no state.
        """
    def places(self) -> dict[int, dict[str, Any]]:
        """Return the place up to which each state partition was read: a dict by its number of dicts `next_offset`, `needed_from`
        (the first offset that a loader still needs; None where a snapshot is missing or nothing is live), `records` (read so
        far) and `share_partitions` (with a state).
        """

@final
class Prefix:
    """As far as a state partition counts, where a log is looked at as of earlier.

    Args:
        state_partition: its number; what is the number of no state partition is named by no mapping.
        as_of_offset: the last offset that counts, one for all state partitions or a mapping.
        as_of_timestamp: a state partition ends before its first record that is later, ms since the epoch.
    """
    def __new__(
        cls,
        state_partition: int,
        *,
        as_of_offset: int | Mapping[int, int] | None = None,
        as_of_timestamp: WallMs | None = None,
    ) -> Self: ...
    @property
    def last_offset(self) -> int | None:
        """The last offset that counts; `None` where no offset ends it."""
    def reaches(self, offset: int, timestamp: int) -> bool:
        """Return True if it goes as far as a record, by its offset and its time in ms since the epoch."""
    def count(self, offsets: Column, timestamps: Column) -> int:
        """Return how many records stand before the first that it does not reach.

        Args:
            offsets, timestamps: int64 columns, a place a record.

        Raises:
            ArgumentTypeError: a column is not int64.
        """

@final
class StateReplay:
    """The states that the rows of a history come to, for a caller who brings the rows of one state partition in their order.

    Args:
        state_partition: its number, for the rows.
    """
    def __new__(cls, state_partition: int = 0) -> Self: ...
    def apply(self, row: HistoryRow) -> None:
        """Apply the next `HistoryRow`."""
    def rows(self) -> list[StateRow]:
        """Return the states, a new list of `StateRow`, ordered by group, topic id and partition."""

@final
class AnomalyFinder:
    """Finds what is wrong by the rows of a history, in their order.

    Args:
        config: an `AnomalyConfig`.
        log_end_offsets: a mapping of topic id and partition to pairs of a time in ms and the log end offset then, or `None`.
        live_topics: the ids of the topics that there are, or `None`.
    """
    def __new__(
        cls,
        config: AnomalyConfig,
        *,
        log_end_offsets: _LogEndOffsets | None = None,
        live_topics: Iterable[str] | None = None,
    ) -> Self: ...
    def see(self, row: HistoryRow) -> list[Anomaly]:
        """Take the next `HistoryRow` and return what is known by now to be wrong, a new list of `Anomaly`."""
    def end(self) -> list[Anomaly]:
        """All rows are over: return what lasts, and what only the whole log tells, a new list of `Anomaly`."""

@final
class FramePump:
    """Turns the rows of record batches into rows of a table.

    Args:
        table: `"decode"`, `"state"`, `"history"` or `"anomalies"`.
        on_error: `"fail"`, or `"quarantine"` to put bad rows aside.
        topic: the topic that rows are of, where they name one.
        as_of_offset: the last offset that counts, one for all state partitions or a mapping.
        as_of_timestamp: a state partition ends before its first record that is later, ms since the epoch.
        config: an `AnomalyConfig`; the next two as for `AnomalyFinder`.
    """
    def __new__(
        cls,
        table: str,
        *,
        on_error: str = "fail",
        topic: str = "__share_group_state",
        as_of_offset: int | Mapping[int, int] | None = None,
        as_of_timestamp: WallMs | None = None,
        config: AnomalyConfig | None = None,
        log_end_offsets: _LogEndOffsets | None = None,
        live_topics: Iterable[str] | None = None,
    ) -> Self: ...
    def push(
        self, rows: int, columns: dict[str, tuple[Any, ...]], *, ticks_per_second: int = 1000, wrong: str | None = None
    ) -> list[_FrameBatch]:
        """Take the rows of a record batch.

        Args:
            rows: how many.
            columns: a dict of the buffers of each column by its name: `(first, validity, values)`, or `(first, validity,
                offsets, bytes)` where values vary in size; `first` is the place of the first row in them. `timestamp` holds
                numbers; `topic` may be missing.
            ticks_per_second: of the timestamps.
            wrong: what is wrong with the types of the columns, so that every row is bad; `None` when nothing is.

        Returns:
            The batches that are complete, a new list; see `finish`.

        Raises:
            ValueError: the buffers do not hold these rows; nothing has been changed.
            RowError: a row cannot be used, and `on_error` is `"fail"`.
        """
    def pull(self, scan: FrameScan) -> list[_FrameBatch] | None:
        """Take the next records of a log, some thousands; no batch is made of them in between.

        Args:
            scan: a `FrameScan` of which no batch has been taken, or all that are read.

        Returns:
            The batches that are complete, a new list, as those of `push`; `None` when the log has ended.

        Raises:
            ValueError: records wait in the scan for a batch of its own.
            OSError: the disk fails.
            RowError: a record cannot be used, and `on_error` is `"fail"`. Nothing more comes of the log.
        """
    def finish(self) -> list[_FrameBatch]:
        """The input is over: return the batches that are left, a new list.

        A batch is a tuple: the number of rows, and a list with a column each: `(nulls, validity, values)`, where `values` is an
        array; or two arrays, offsets and bytes, where values vary in size; or an array of offsets and a list of columns, for
        lists. Times are µs since the epoch.
        """
    def quarantined(self) -> list[_FrameBatch]:
        """Take out the bad rows that were put aside so far: batches of the table `"errors"`, as `finish` gives them."""

@final
class FrameScan:
    """The records of a state log as batches of the table `"input"`, in order of state partition and offset. Nothing is locked or
    changed.

    Args:
        path: as for `scan_path`.
        batch_rows: records of a batch, but for the last of all and for very large ones.

    Raises:
        ValueError: `batch_rows` is 0.
        FileNotFoundError: there is no such path, or it is no state log.
        OSError: the disk fails.
    """
    def __new__(cls, path: str | PathLike[str], *, batch_rows: int = 16384) -> Self: ...
    def next(self) -> _FrameBatch | None:
        """Return the next batch, as those of `FramePump.finish`; `None` at the end. Ctrl-C is heard meanwhile.

        Raises:
            OSError: the disk fails.
        """
    @property
    def findings(self) -> list[dict[str, Any]]:
        """Parts that could not be read so far, as `Scan.findings`."""
    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read so far, and bytes there are."""

def frame_tables() -> dict[str, list[_FrameColumn]]:
    """The tables of rows and their columns: a dict of lists of tuples `(name, kind, nullable, doc, elements)`, where `elements` is
    such a list for lists.
    """

def history_path(
    path: str | PathLike[str],
    *,
    group: str | None = None,
    topic_id: TopicIdLike | None = None,
    partition: int | None = None,
    offset: int | None = None,
    progress: _Progress | None = None,
    as_of_offset: _AsOfOffset | None = None,
    as_of_timestamp: WallMs | None = None,
) -> HistoryScan:
    """Begin to tell what became of every record in a state log, beside a writer if need be. Nothing is locked or changed.

    Args:
        path: as for `scan_path`.
        group: only this group.
        topic_id: only this topic, a hyphenated UUID or 22 characters of URL-safe base64.
        partition: only this partition of the topic.
        offset: only rows of this offset, and those of the share partition as a whole.
        progress: called with bytes read and bytes there are, now and then; what it raises comes out of the
            iteration, and the rows are not lost by it.
        as_of_offset, as_of_timestamp: as for `scan_path`.

    Raises:
        ValueError: `topic_id` is none.
        FileNotFoundError: there is no such path, or it is no state log.
        OSError: the disk fails.
    """

def log_ends(path: str | PathLike[str]) -> list[tuple[int, int, int]]:
    """Tell where the logs of state partitions begin and end, beside a writer if need be. Nothing is locked or changed.

    Args:
        path: as for `scan_path`.

    Returns:
        A tuple a state partition, in order: state partition, the offset at which its first segment begins, the offset after the
        last batch that is whole.

    Raises:
        FileNotFoundError: there is no such path, or it is no state log.
        OSError: the disk fails.
    """

def scan_path(
    path: str | PathLike[str], *, as_of_offset: _AsOfOffset | None = None, as_of_timestamp: WallMs | None = None
) -> Scan:
    """Begin to read the records of a state log, beside a writer if need be. Nothing is locked or changed.

    Args:
        path: a directory with `__share_group_state-N` folders, one such folder, or one segment, from a Kafka 4.2 to 4.4 broker
            or from a `StateStore`, in any compression.
        as_of_offset: the last offset that counts, one for all state partitions, or a mapping from state partition to offset; one
            that is not named counts whole. What lies after is not read.
        as_of_timestamp: each state partition ends before its first record of a later time, `WallTime` or ms since the epoch.

    Raises:
        FileNotFoundError: there is no such path, or it is none of these.
        OSError: the disk fails.
    """

def fold_path(
    path: str | PathLike[str],
    progress: _Progress | None = None,
    *,
    as_of_offset: _AsOfOffset | None = None,
    as_of_timestamp: WallMs | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Fold a state log, beside a writer if need be: the states of its share partitions. Nothing is locked or changed.

    Ctrl-C is heard about once a MiB.

    Args:
        path: as for `scan_path`.
        progress: called with bytes read and bytes there are, about once a MiB; what it raises ends the call.
        as_of_offset, as_of_timestamp: as for `scan_path`.

    Returns:
        The states, each as `ShareCoordinator.states` gives it, and the state partition that holds it, ordered by group, topic
        id and partition; and what could not be read, as `Scan.findings`.

    Raises:
        FileNotFoundError: there is no such path, or it is no state log.
        OSError: the disk fails.
    """

def api_table() -> dict[int, tuple[str, int, int, int]]:
    """The requests that `decode_message` and `encode_message` know: by key, Kafka's name for it, the oldest and the newest version,
    and the first that is flexible (KIP-482).

    A flexible request has request header version 2 and response header version 1, any other 1 and 0. ApiVersions (18) is the
    exception: its answer has response header version 0 always. What is never flexible has 32767 there.

    Returns:
        `{api_key: (name, oldest, newest, flexible_from)}`.
    """

def decode_message(
    api_key: int,
    version: int,
    data: bytes,
    *,
    response: bool = False,
    trailing: bool = False,
    max_elements: int | None = None,
) -> dict[str, Any]:
    """Read a request, or an answer, without its header (Kafka: `WriteShareGroupStateRequestData` and its like).

    Memory is bounded by the length of `data`, whatever counts it announces.

    Args:
        api_key: one of `api_table`.
        version: version of the message.
        data: the bytes.
        response: whether it is the answer.
        trailing: whether bytes after the message are passed over, as Kafka's own readers do; never for RPC 83 to 87.
        max_elements: the most elements that its arrays may have altogether; None for as many as fit `data`.

    Returns:
        A dict in the spelling of Kafka's own JSON: names in camelCase, topic ids in URL-safe base64; records, bytes and arrays of
        `int8` are `bytes`, null is `None`. A tagged field is there only if the message has it; those that this release does not
        know are not shown. Elsewhere topic ids are hyphenated. Here they are as in the output of Kafka's tools, so that both can
        be compared; whatever takes a topic id takes this form too.

    Raises:
        WireDecodeError: the bytes are not such a message; `field`, `position` and `kind` say where and why.
        UnsupportedVersionError: there is no such message or version.
    """

def header_end(frame: bytes, position: int) -> int:
    """Position after the tagged fields of a header. They are skipped: none of Kafka's matters here.

    Args:
        frame: a request or an answer with its header.
        position: where its tagged fields begin.

    Raises:
        WireDecodeError: they end too late, or there are more than 64.
    """

def encode_message(api_key: int, version: int, message: dict[str, Any], *, response: bool = False) -> bytes:
    """The bytes of a request, or an answer, without its header.

    Args:
        api_key: as for `decode_message`.
        version: version of the message. A field that it does not have is left out.
        message: as `decode_message` gives it. Instead of `bytes` it may hold a `bytearray` or a `memoryview`, for an array of
            `int8` also a list. What has a default may be left out, as `throttleTimeMs` (0), `errorMessage` (`None`) or
            `currentLeader` (-1 and -1); tagged fields are written when given.
        response: whether it is the answer.

    Raises:
        ValueError: a field is missing, or does not fit, or no version of the message has it; the text names it.
        WireDecodeError: a text or an array is longer than the format can say.
        UnsupportedVersionError: there is no such message or version.
    """

def decode_batch(
    data: bytes, start: int, end: int, from_offset: int = 0
) -> tuple[int, int, int, int, bool, bool, list[_Record]] | None:
    """Read the first record batch in `data[start:end]`, as an answer to Fetch has them, in any compression.

    Memory is bounded by 256 MiB of decompressed records, whatever a batch announces.

    Args:
        data: the bytes.
        start, end: where the batches are in it.
        from_offset: of the first record to return. A batch that ends before is not decompressed.

    Returns:
        None where no whole batch is left, otherwise `(end, first_offset, last_offset, producer_id, is_transactional, is_control,
        records)`: `end` is where the batch ends in `data`. A record is `(offset, timestamp, key, value, headers)`: the timestamp
        in ms since the epoch; key and value are `bytes` or None; a header is a name and a value, as `bytes`. A control batch has
        no records.

    Raises:
        WireDecodeError: the bytes are no batch, or a damaged one; `kind` says why.
    """

def encode_batch(
    records: Sequence[tuple[int, bytes | None, bytes | None, Sequence[tuple[bytes, bytes | None]]]],
    compression: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
) -> bytes:
    """Return the bytes of a record batch, as Produce takes it.

    Args:
        records: `(timestamp, key, value, headers)` each, in the form in which `decode_batch` gives them.
        compression: number of Kafka's codec: 0 for none, 1 for gzip, 2 for snappy, 3 for lz4, 4 for zstd.
        producer_id, producer_epoch, base_sequence: as a broker has given them out, and the sequence number of the first record;
            -1 for none.

    Raises:
        ArgumentTypeError: a record is none.
        ArgumentValueError: no codec has this number.
        WireDecodeError: there is no record, or the batch would be longer than the format can say.
    """

def decode_fetch_answer(
    version: int, frame: bytes, start: int
) -> tuple[int, int, int, list[_FetchedPartition], list[tuple[int, str, int]]]:
    """Read the answer to a Fetch (1) without a copy of its records.

    Memory is bounded by the length of `frame`, whatever counts it announces.

    Args:
        version: version of the request, 4 to 17.
        frame: the frame.
        start: where the body begins in it, after the header of the answer.

    Returns:
        `(throttle_ms, error_code, session_id, partitions, node_endpoints)`. A partition is `(topic, partition, error_code,
        high_watermark, last_stable_offset, log_start_offset, aborted, preferred_read_replica, diverging_epoch, current_leader,
        records_start, records_end)`: `topic` is the name up to version 12 and then the id in URL-safe base64; `aborted` is `None`
        or a list of `(producer_id, first_offset)`; `diverging_epoch` is `None` or `(epoch, end_offset)`; `current_leader` is `None`
        or `(leader_id, leader_epoch)`; the records are `frame[records_start:records_end]`. A node endpoint is
        `(node_id, host, port)`. What a version does not have is 0 for the error and the session, and -1 for offsets and replicas.

    Raises:
        WireDecodeError: the bytes are not such an answer; `position` and `kind` say where and why.
        UnsupportedVersionError: there is no such version.
    """

def alter_group_config(
    group: Mapping[str, str], alterations: Sequence[tuple[str, int, str | None]], broker: Mapping[str, str], *, name: str
) -> dict[str, str]:
    """Carry out an IncrementalAlterConfigs request on a share group: all of its alterations or none.

    As in Kafka, every property of the group must be allowed afterwards, and a property that there is not may be deleted.

    Args:
        group: what the group has set.
        alterations: `(name, operation, value)`; operations are 0 set, 1 delete, 2 append, 3 subtract.
        broker: the broker's properties.
        name: the group; one without a name is refused.

    Returns:
        What the group has set then.

    Raises:
        ConfigError: an alteration is refused; the text is that of Kafka's answer, `kafka_code` 40, or 42 for a request out of form.
    """

def broker_config_entries(broker: Mapping[str, str]) -> list[dict[str, Any]]:
    """List the broker's properties of share groups as DescribeConfigs answers them (resource type 4); as `group_config_entries`, and
    read-only.
    """

def check_broker_config(broker: Mapping[str, str], *, together: bool = True) -> list[str]:
    """Check a broker's properties, each by itself and those that bound each other.

    Args:
        broker: text by name.
        together: whether to check also what a broker demands of several before it starts, such as a heartbeat interval below the
            session timeout.

    Returns:
        The names that are no properties of share groups, in order. Kafka passes over such.

    Raises:
        ConfigError: a value cannot be used; the text is Kafka's, `field` the property.
    """

def check_group_config(name: str, value: str, broker: Mapping[str, str]) -> None:
    """Check whether a group may set this value now.

    Raises:
        ConfigError: there is no such property, or the value is none of it, or outside what the broker allows; the text is that of
            Kafka's answer, `field` the property, `kafka_code` 40.
    """

def effective_group_config(group: Mapping[str, str], broker: Mapping[str, str]) -> dict[str, Any]:
    """Tell what is in force for a share group: what it has set, clamped to what the broker allows now, or else what the broker has.

    Returns:
        An int, a bool or a text by name, for every property of a group.

    Raises:
        ConfigError: a text is no value of its property.
    """

def group_config_entries(
    group: Mapping[str, str], broker: Mapping[str, str], defaults: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """List the properties of a share group as DescribeConfigs answers them (`Configs` of a resource of type 32).

    A group that has set nothing has them too. A value is the one that the group has set, in Kafka's spelling; what is in force may
    be clamped (`effective_group_config`).

    Args:
        group: what the group has set, text by name.
        broker: the broker's properties; what it lacks has Kafka's default.
        defaults: what this server has for groups that set nothing, by the names of a group's properties, instead of both.

    Returns:
        A dict for each: `name`, `value`, `readOnly`, `configSource` (8 group, 4 broker, 5 default), `isSensitive`, `synonyms`
        (`name`, `value`, `source`), `configType`, `documentation`.
    """

def check_write_state(key: KeyLike, state: WriteState) -> int:
    """Check the form of a write as every share coordinator does, without one.

    Returns:
        How many state batches it has.

    Raises:
        InvalidRequestError: the key or the request is malformed; `field`, `index` and `value` say where.
        LimitExceededError: the write has more state batches than allowed.
    """

def encode_write_states(version: int, group: str, writes: list[tuple[str, int, WriteState]]) -> bytes:
    """The bytes of WriteShareGroupState (RPC 85) without its header: those of `encode_message` for the same content.

    Args:
        version: version of the message.
        group: the group.
        writes: `(topic_id, partition, state)` of each share partition. Topics come in the order in which they are first named.

    Raises:
        ValueError: a topic id is none.
        WireDecodeError: the group is longer than the format can say.
        UnsupportedVersionError: there is no such version.
    """

def decode_write_results(version: int, data: bytes) -> list[tuple[str, int, int, str | None]]:
    """Decode an answer to WriteShareGroupState (RPC 85): for each share partition `(topic_id, partition, error_code,
    error_message)`, the topic id in URL-safe base64.

    Raises:
        WireDecodeError: the bytes are no such answer.
        UnsupportedVersionError: there is no such version.
    """

def decode_record(key: bytes, value: bytes | None) -> dict[str, Any]:
    """Read a record of `__share_group_state` (Kafka: `ShareCoordinatorRecordSerde`).

    Args:
        key: key of the record.
        value: value of the record; `None` for a tombstone.

    Returns:
        A dict of the form in which Kafka's own dump tool prints it: `{"key": {"type": "0" or "1", "data": {…}}, "value":
        {"version": "0", "data": {…}} or None}`, names in camelCase, topic ids in URL-safe base64; type 0 is a snapshot, 1 an
        update. Tagged fields that this release does not know are not shown. Elsewhere topic ids are hyphenated; whatever takes
        a topic id takes this form too.

    Raises:
        WireDecodeError: the bytes are not such a record; `position` and `kind` say where and why.
        UnsupportedVersionError: the type of the key, or the version of the value, is not known.
    """

def encode_record(record: dict[str, Any]) -> tuple[bytes, bytes | None]:
    """The bytes of a record of `__share_group_state`.

    Args:
        record: as `decode_record` gives it.

    Returns:
        Key and value; the value of a tombstone is `None`.

    Raises:
        ValueError: a field is missing, or does not fit; the text names it.
        WireDecodeError: a text or an array is longer than the format can say.
    """

def encode_state(
    key: KeyLike,
    batches: StateBatchesLike,
    *,
    snapshot_epoch: int,
    state_epoch: int,
    leader_epoch: int,
    start_offset: int,
    delivery_complete_count: int,
    incomplete: bool,
) -> tuple[bytes, bytes | None]:
    """The bytes of the one record that folds to a state: a snapshot, or an update where the snapshot is missing, so that the state
    stays known as incomplete. It tells no times.

    Args:
        key: a `SharePartitionKey`, or a tuple like it.
        batches: an iterable of `StateBatch` or tuples like it.
        snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, incomplete: as in `ShareState`.

    Returns:
        Key and value.

    Raises:
        ArgumentError: an argument does not fit; the text names it.
        WireDecodeError: the group is longer than the format can say.
    """

def offset_reset_duration_ms(strategy: str) -> int | None:
    """Return the time that `share.auto.offset.reset` goes back, in ms; `None` for `latest` and `earliest`.

    Raises:
        ConfigError: the text is none of the values of the property.
    """

def simple_assignment(
    members: Mapping[str, tuple[Sequence[str], Sequence[tuple[str, Sequence[int]]]]],
    topics: Sequence[tuple[str, Sequence[int]]],
) -> dict[str, list[tuple[str, list[int]]]]:
    """Spread partitions over the members of a share group (Kafka: `SimpleAssignor`).

    Every partition of a subscribed topic has a member, several when there are more members than partitions; members with the
    same topics differ by one partition at most; what is assigned already moves only as far as the balance needs. The same input
    has the same output.

    Args:
        members: by member id, the topic ids that the member subscribes to, and what it has now as (topic id, partitions).
        topics: (topic id, partitions that can be assigned) of every topic that exists.

    Returns:
        By member id what the member is to have, as (topic id, partitions).

    Raises:
        UnknownPartitionError: a member subscribes to a topic that is not in `topics`.
        ValueError: a topic id is not one.
    """

def state_partition(group: str, topic_id: TopicIdLike, partition: int, partitions: int) -> int:
    """The partition of `__share_group_state` that a share partition belongs to (Kafka: `ShareCoordinatorService.partitionFor`).

    Args:
        group, topic_id, partition: the share partition.
        partitions: number of partitions of the state topic, at least 1.

    Raises:
        ArgumentValueError: `topic_id` is no topic id, or `partitions` is 0.
    """

def combine_state_batches(current: StateBatchesLike, new: StateBatchesLike, start_offset: int = -1) -> list[StateBatch]:
    """Merge state batches: at every offset the higher delivery count wins, then the higher state id
    (Kafka: `PersisterStateBatchCombiner`).

    Args:
        current: an iterable of `StateBatch` or tuples like it, in any order, overlapping or not.
        new: the same.
        start_offset: what lies below it is cut off; -1 cuts nothing.

    Returns:
        Sorted, disjoint and coalesced batches. An inverted batch covers nothing.
    """

def coordinator_key(group: str, topic_id: TopicIdLike, partition: int) -> str:
    """The text by which a share partition finds its coordinator: group, topic id in URL-safe base64 and partition, with colons
    between (Kafka: `SharePartitionKey.asCoordinatorKey`).
    """

def parse_coordinator_key(text: str) -> SharePartitionKey:
    """Read the text by which a share partition finds its coordinator, as a `SharePartitionKey`. The group may hold colons.

    Raises:
        ValueError: it is no such text.
    """
