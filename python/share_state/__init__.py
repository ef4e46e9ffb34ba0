"""The share-partition state engine of Kafka's share groups (KIP-932), as a library."""

from importlib import import_module
from typing import TYPE_CHECKING

from share_state import logs
from share_state._core import (
    Acquired,
    DeadLetters,
    GroupConfig,
    History,
    HistoryScan,
    NoOpStatePersister,
    PendingWrites,
    ReadStateResult,
    Scan,
    ShareCoordinator,
    ShareFetchContext,
    ShareGroupStore,
    SharePartition,
    SharePartitions,
    ShareSessions,
    StateStore,
    StateSummary,
    WriteState,
    __version__,
    api_table,
    combine_state_batches,
    coordinator_key,
    decode_message,
    decode_record,
    encode_message,
    encode_record,
    fold_path,
    parse_coordinator_key,
    scan_path,
    simple_assignment,
    state_partition,
)
from share_state.errors import (
    ArgumentRangeError,
    ArgumentTypeError,
    ArgumentValueError,
    ConfigError,
    CorruptLogError,
    CorruptStateError,
    EnginePoisonedError,
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRecordStateError,
    InvalidRequestError,
    InvalidShareSessionEpochError,
    LimitExceededError,
    NotAHistoryError,
    PersisterError,
    RowError,
    SessionLimitError,
    ShareGroupError,
    SharePartitionNotActiveError,
    ShareSessionNotFoundError,
    ShareStateError,
    StoreError,
    UnknownPartitionError,
    UnsupportedVersionError,
    WireDecodeError,
)
from share_state.types import (
    AcknowledgeType,
    AcquiredRange,
    AcquireMode,
    ControlType,
    DeadLetter,
    Decision,
    FetchedBatch,
    HeartbeatAnswer,
    InFlight,
    LockTime,
    PendingWrite,
    Record,
    RecordState,
    SharePartitionKey,
    StateBatch,
    WallTime,
)

if TYPE_CHECKING:
    from share_state.analysis.anomaly import Anomaly, AnomalyConfig, AnomalyKind, Severity
    from share_state.analysis.history import history
    from share_state.analysis.history_row import HistoryCause, HistoryRow
    from share_state.analysis.search import anomalies, find_anomalies
    from share_state.analysis.states import StateRow, states, states_of_rows

#: What looks at logs, by the modules of `share_state.analysis`: a running engine needs none of them. Each comes when it is used.
_LATER = {
    name: module
    for module, names in {
        "anomaly": ("Anomaly", "AnomalyConfig", "AnomalyKind", "Severity"),
        "history": ("history",),
        "history_row": ("HistoryCause", "HistoryRow"),
        "search": ("anomalies", "find_anomalies"),
        "states": ("StateRow", "states", "states_of_rows"),
    }.items()
    for name in names
}

open = StateStore  # noqa: A001  reads as share_state.open(path)

__all__ = [
    "AcknowledgeType",
    "AcquireMode",
    "Acquired",
    "AcquiredRange",
    "Anomaly",
    "AnomalyConfig",
    "AnomalyKind",
    "ArgumentRangeError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "ConfigError",
    "ControlType",
    "CorruptLogError",
    "CorruptStateError",
    "DeadLetter",
    "DeadLetters",
    "Decision",
    "EnginePoisonedError",
    "FencedLeaderEpochError",
    "FencedStateEpochError",
    "FetchedBatch",
    "GroupConfig",
    "HeartbeatAnswer",
    "History",
    "HistoryCause",
    "HistoryRow",
    "HistoryScan",
    "InFlight",
    "InvalidRecordStateError",
    "InvalidRequestError",
    "InvalidShareSessionEpochError",
    "LimitExceededError",
    "LockTime",
    "NoOpStatePersister",
    "NotAHistoryError",
    "PendingWrite",
    "PendingWrites",
    "PersisterError",
    "ReadStateResult",
    "Record",
    "RecordState",
    "RowError",
    "Scan",
    "SessionLimitError",
    "Severity",
    "ShareCoordinator",
    "ShareFetchContext",
    "ShareGroupError",
    "ShareGroupStore",
    "SharePartition",
    "SharePartitionKey",
    "SharePartitionNotActiveError",
    "SharePartitions",
    "ShareSessionNotFoundError",
    "ShareSessions",
    "ShareStateError",
    "StateBatch",
    "StateRow",
    "StateStore",
    "StateSummary",
    "StoreError",
    "UnknownPartitionError",
    "UnsupportedVersionError",
    "WallTime",
    "WireDecodeError",
    "WriteState",
    "__version__",
    "anomalies",
    "api_table",
    "combine_state_batches",
    "coordinator_key",
    "decode_message",
    "decode_record",
    "encode_message",
    "encode_record",
    "find_anomalies",
    "fold_path",
    "history",
    "logs",
    "open",
    "parse_coordinator_key",
    "scan_path",
    "simple_assignment",
    "state_partition",
    "states",
    "states_of_rows",
]


def __getattr__(name: str) -> object:
    """Import what is not there yet."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"share_state.analysis.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Name what is there, and what comes later."""
    return sorted({*globals(), *__all__})
