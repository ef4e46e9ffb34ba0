"""Requests by their keys, and the versions of each: those of the codec, within what a caller can say and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from share_state._core import api_table

__all__ = ["API_NAMES", "API_VERSIONS", "spoken", "spoken_since"]

_TABLE: Final = api_table()
API_NAMES: Final = {api_key: name for api_key, (name, _, _, _) in _TABLE.items()}

PRODUCE: Final = 0
FETCH: Final = 1
LIST_OFFSETS: Final = 2
METADATA: Final = 3
FIND_COORDINATOR: Final = 10
JOIN_GROUP: Final = 11
HEARTBEAT: Final = 12
LEAVE_GROUP: Final = 13
SYNC_GROUP: Final = 14
DESCRIBE_GROUPS: Final = 15
LIST_GROUPS: Final = 16
SASL_HANDSHAKE: Final = 17
VERSIONS: Final = 18
INIT_PRODUCER_ID: Final = 22
OFFSET_FOR_LEADER_EPOCH: Final = 23
DESCRIBE_CONFIGS: Final = 32
ALTER_CONFIGS: Final = 33
SASL_AUTHENTICATE: Final = 36
DELETE_GROUPS: Final = 42
INCREMENTAL_ALTER_CONFIGS: Final = 44
DESCRIBE_CLUSTER: Final = 60
LIST_CONFIG_RESOURCES: Final = 74
SHARE_GROUP_HEARTBEAT: Final = 76
DESCRIBE_SHARE_GROUPS: Final = 77
SHARE_FETCH: Final = 78
SHARE_ACKNOWLEDGE: Final = 79
INITIALIZE_STATE: Final = 83
READ_STATE: Final = 84
WRITE_STATE: Final = 85
DELETE_STATE: Final = 86
READ_STATE_SUMMARY: Final = 87
DESCRIBE_SHARE_GROUP_OFFSETS: Final = 90
ALTER_SHARE_GROUP_OFFSETS: Final = 91
DELETE_SHARE_GROUP_OFFSETS: Final = 92

#: Keys of the requests of a share-partition leader to its share coordinator.
STATE_APIS: Final = (INITIALIZE_STATE, READ_STATE, WRITE_STATE, DELETE_STATE, READ_STATE_SUMMARY)


def spoken(api_key: int, *, since: int | None = None, until: int | None = None) -> tuple[int, int]:
    """Give the oldest and newest version of a request that the codec has, within bounds where a caller has some."""
    _, oldest, newest, _ = _TABLE[api_key]
    return (oldest if since is None else max(oldest, since), newest if until is None else min(newest, until))


#: Versions in which the client sends each request: from Kafka 2.8 on, and what speaks the same protocol.
API_VERSIONS: Final = {
    **{api_key: spoken(api_key) for api_key in _TABLE},
    # The newest that names topics.
    PRODUCE: spoken(PRODUCE, until=12),
    # The reader of answers (`decode_fetch_answer`) ends there.
    FETCH: spoken(FETCH, until=17),
    # From here on all topics are asked for by null, and coordinators by the type of their keys.
    METADATA: spoken(METADATA, since=1),
    FIND_COORDINATOR: spoken(FIND_COORDINATOR, since=1),
    # Of members of ordinary groups, without the names of lasting members, and without their protocol, which SyncGroup 5 demands.
    JOIN_GROUP: spoken(JOIN_GROUP, since=2),
    HEARTBEAT: spoken(HEARTBEAT, since=1),
    LEAVE_GROUP: spoken(LEAVE_GROUP, since=1),
    SYNC_GROUP: spoken(SYNC_GROUP, since=1, until=4),
    # A login whose messages are in requests, and whose answer tells the life of the session.
    SASL_HANDSHAKE: spoken(SASL_HANDSHAKE, since=1),
    SASL_AUTHENTICATE: spoken(SASL_AUTHENTICATE, since=2),
    VERSIONS: spoken(VERSIONS, until=3),
}


def spoken_since(oldest: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """Give the versions of every request for a caller that needs newer ones of some, by their keys."""
    return {**API_VERSIONS, **{api_key: (since, API_VERSIONS[api_key][1]) for api_key, since in oldest.items()}}
