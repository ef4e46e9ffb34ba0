"""The five requests of a persister: what is asked about a share partition, checked before it leaves, and what comes back.

The checks are those of the share coordinator's own rules (:class:`share_state.ShareCoordinator`), so a call that the
coordinator could only refuse, or that an older broker would take to its harm, is refused here and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from share_state._core import (
    ReadStateResult,
    ShareCoordinator,
    StateSummary,
    WriteState,
    check_write_state,
    coordinator_key,
    encode_message,
)
from share_state.errors import ArgumentValueError, InvalidRequestError, WireDecodeError
from share_state.types import SharePartitionKey, StateBatch

__all__ = [
    "DELETE",
    "READ",
    "WRITE",
    "Operation",
    "delete",
    "initialize",
    "normal",
    "read",
    "read_for",
    "read_result",
    "summary",
    "summary_result",
    "write",
]

#: Knows no state and learns none: it only checks what a request says.
_CHECKING = ShareCoordinator()
#: Bytes of a state batch in a request, and of all the rest, about.
_BATCH_SIZE, _FIXED_SIZE = 22, 64
#: Share partitions whose key is remembered as it was spelled for the wire.
_KEYS: Final = 1 << 16
READ, WRITE, DELETE = 84, 85, 86
_FIND_COORDINATOR, _INITIALIZE, _SUMMARY = 10, 83, 87


class Operation(NamedTuple):
    """A request about one share partition.

    Attributes:
        api_key: the RPC.
        name: what it does, for messages.
        key: the share partition; its topic id is in base64.
        asked: the element of the request; a write's is topic id, partition and the ``WriteState`` itself.
        size: bytes that it takes there, about.
    """

    api_key: int
    name: str
    key: SharePartitionKey
    asked: Any
    size: int


def normal(key: SharePartitionKey) -> SharePartitionKey:
    """Spell the key with its topic id in base64, as messages do.

    Raises:
        InvalidRequestError: the group is not text that can be sent.
        ValueError: the topic id is none.
    """
    return _normal(*key)


# By type as well, so that what only compares equal to a number is still refused.
@lru_cache(_KEYS, typed=True)
def _normal(group: str, topic_id: str, partition: int) -> SharePartitionKey:
    try:
        text = coordinator_key(group, topic_id, partition)
        encode_message(_FIND_COORDINATOR, 6, {"keyType": 2, "coordinatorKeys": [text]})
    except (ArgumentValueError, UnicodeEncodeError, WireDecodeError) as wrong:
        if isinstance(wrong, ArgumentValueError) and wrong.field != "group":
            raise
        raise InvalidRequestError(f"the group cannot be sent: {wrong}", field="groupId") from None
    group, topic_id, _ = text.rsplit(":", 2)
    return SharePartitionKey(group, topic_id, partition)


def initialize(key: SharePartitionKey, state_epoch: int, start_offset: int) -> Operation:
    """InitializeShareGroupState (83)."""
    _CHECKING.initialize(*key, state_epoch, start_offset, wall_ms=0)
    return _operation(_INITIALIZE, "initialize", key, {"stateEpoch": state_epoch, "startOffset": start_offset})


def read(key: SharePartitionKey, leader_epoch: int) -> Operation:
    """ReadShareGroupState (84)."""
    _unless_uninitialized(lambda: _CHECKING.read(*key, leader_epoch, wall_ms=0))
    return _operation(READ, "read", key, {"leaderEpoch": leader_epoch})


def read_for(write: Operation) -> Operation:
    """ReadShareGroupState (84) by the leader whose write waits for it."""
    _, _, state = write.asked
    return read(write.key, state.leader_epoch)._replace(name=write.name)


def write(key: SharePartitionKey, state: WriteState) -> Operation:
    """WriteShareGroupState (85)."""
    batches = check_write_state(key, state)
    return Operation(WRITE, "write", key, (key.topic_id, key.partition, state), _FIXED_SIZE + _BATCH_SIZE * batches)


def delete(key: SharePartitionKey) -> Operation:
    """DeleteShareGroupState (86)."""
    _CHECKING.delete(*key)
    return _operation(DELETE, "delete", key, {})


def summary(key: SharePartitionKey) -> Operation:
    """ReadShareGroupStateSummary (87); the coordinator does not look at the leader epoch."""
    _CHECKING.summary(*key)
    return _operation(_SUMMARY, "read the summary of", key, {"leaderEpoch": 0})


def read_result(answer: dict[str, Any]) -> ReadStateResult:
    """Take what ReadShareGroupState answered."""
    batches = [
        StateBatch(batch["firstOffset"], batch["lastOffset"], batch["deliveryState"], batch["deliveryCount"])
        for batch in answer["stateBatches"]
    ]
    return ReadStateResult(answer["stateEpoch"], answer["startOffset"], batches)


def summary_result(answer: dict[str, Any]) -> StateSummary:
    """Take what ReadShareGroupStateSummary answered; a broker without version 1 does not count what is complete."""
    complete = answer.get("deliveryCompleteCount", -1)
    return StateSummary(answer["stateEpoch"], answer["leaderEpoch"], answer["startOffset"], complete)


def _operation(api_key: int, name: str, key: SharePartitionKey, fields: dict[str, Any]) -> Operation:
    return Operation(api_key, name, key, {"partition": key.partition, **fields}, _FIXED_SIZE)


def _unless_uninitialized(check: Callable[[], object]) -> None:
    """Run a check that ends at the latest where state would be needed."""
    try:
        check()
    except InvalidRequestError as refused:
        if refused.field is not None:
            raise
