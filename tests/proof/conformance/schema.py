"""Fields that each kind of operation may have.

A runner that overlooks a field agrees with things it never looked at, so an unknown field or an unknown
operation is an error, not a warning.
"""

from __future__ import annotations

from .recordings import FormatError, Json, Scenario
from .skips import refuse_unplayable

_COMMON = frozenset({"op", "partition_index", "state", "states", "expect", "group_config"})
_WRITES = frozenset({"persister_writes", "dlq_enqueued"})

SHARE_PARTITION_OPS: dict[str, frozenset[str]] = {
    "create": frozenset({"config"}),
    "inject_state": frozenset(),
    "initialize": frozenset({"persister_read", "offset_lookup"}) | _WRITES,
    "acquire": frozenset(
        {
            "member",
            "mode",
            "batch_size",
            "max_fetch_records",
            "fetch_offset",
            "isolation",
            "fetched_batches",
            "aborted_transactions",
        }
    ),
    "acknowledge": frozenset({"member", "batches"}) | _WRITES,
    "release_session": frozenset({"member"}) | _WRITES,
    "lock_timeout": frozenset({"member", "first", "last"}) | _WRITES,
    "advance_clock": frozenset({"ms", "lock_timeouts_fired"}),
    "persister_completes": frozenset({"async_id"}) | _WRITES,
    "dead_letters_complete": frozenset({"async_id"}) | _WRITES,
    "move_log_start_offset": frozenset({"log_start_offset"}),
    "next_fetch_offset": frozenset(),
    "can_acquire_records": frozenset(),
    "mark_fenced": frozenset(),
    "set_find_next_fetch_offset": frozenset({"value"}),
    "find_last_acknowledged": frozenset(),
    "schedule_lock": frozenset({"member", "first", "last"}),
    "write_state": frozenset({"batches"}) | _WRITES,
}

_SCENARIO = frozenset({"name", "source", "tags", "ops", "final", "reference_quirks", "quirk_at_op", "threw"})
_STATE = frozenset(
    {
        "partition_index",
        "status",
        "start_offset",
        "end_offset",
        "state_epoch",
        "delivery_complete_count",
        "find_next_fetch_offset",
        "read_gap_window",
        "batches",
    }
)
_GROUP_CONFIG = frozenset(
    {
        "partitionMaxRecordLocksOrDefault",
        "recordLockDurationMsOrDefault",
        "deliveryCountLimitOrDefault",
        "isRenewAcknowledgeEnabled",
        "errorsDLQTopicName",
        "autoOffsetReset",
    }
)
_TIMEOUT = frozenset({"member", "first", "last", "persister_writes", "dlq_enqueued"})
_LETTER = frozenset({"first", "last", "delivery_count", "cause", "result", "completes_later", "async_id"})
_WRITE = frozenset(
    {
        "leader_epoch",
        "state_epoch",
        "start_offset",
        "delivery_complete_count",
        "batches",
        "result",
        "completes_later",
        "async_id",
    }
)


def require(fields: object, allowed: frozenset[str], where: str) -> None:
    """Refuse fields outside ``allowed``."""
    if not isinstance(fields, dict):
        raise FormatError(f"{where} is not an object")
    unknown = set(fields) - allowed
    if unknown:
        raise FormatError(f"{where} has unknown fields {sorted(unknown)}")


def check_share_partition(scenario: Scenario) -> None:
    """Refuse a share-partition scenario of which some part would not be looked at, and skip one that cannot be played."""
    require(scenario.raw, _SCENARIO, "the scenario")
    refuse_unplayable(scenario.ops, SHARE_PARTITION_OPS)
    for index, op in enumerate(scenario.ops):
        kind = op.get("op")
        if not isinstance(kind, str):
            raise FormatError(f"op {index} is of unknown kind {kind!r}")
        where = f"op {index} ({kind})"
        require(op, _COMMON | SHARE_PARTITION_OPS[kind], where)
        require(op.get("group_config", {}), _GROUP_CONFIG, f"group_config of {where}")
        for state in (*([op["state"]] if "state" in op else ()), *op.get("states", ())):
            require(state, _STATE, f"state of {where}")
        timeouts: list[Json] = op.get("lock_timeouts_fired", [])
        for timeout in timeouts:
            require(timeout, _TIMEOUT, f"lock timeout of {where}")
        for holder in (op, *timeouts):
            for write in holder.get("persister_writes", ()):
                require(write, _WRITE, f"persister write of {where}")
            for letter in holder.get("dlq_enqueued", ()):
                require(letter, _LETTER, f"dead letter of {where}")
