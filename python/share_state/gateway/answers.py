"""Only answers that clients survive: the one place where Kafka's codes are chosen for share consumers.

The Java consumer throws out of ``poll`` on any code of a fetched partition that it does not expect, and each client gives
up for good on some codes of a heartbeat. The rules and who needs them:

| rule | what | because |
|---|---|---|
| R1 | a fetched partition has one of :data:`FETCH_CODES`, else -1 | Java dies on others |
| R2 | a member of a lost group is told 25, so that it joins again | 69 ends every client (the rule is in ``ShareGroupStore``) |
| R4 | no answer takes longer than MaxWait and five seconds | franz-go gives up then |
| R5 | 133 comes after MaxWait | clients try again at once |
| R6 | every acknowledged partition is in the answer | one that is missing counts as refused |
| R9 | CurrentLeader is -1/-1 unless it is a hint | 0/0 means "moved to node 0" to franz-go |

R7 (order) is kept in :mod:`connection`, R8 (merging) and R10 (replacing) by the share sessions, R11 (release) and R12, R13
(what is not checked) in :mod:`share_partitions` and :mod:`share_fetch`.
"""

from __future__ import annotations

from typing import Final

from share_state.kafka import codes

__all__ = ["FETCH_CODES", "MAX_WAIT_MS", "NO_LEADER", "acknowledge_code", "acknowledge_text", "fetch_code", "text_of"]

FETCH_CODES: Final = frozenset(
    {
        codes.UNKNOWN_SERVER_ERROR,
        codes.NONE,
        codes.UNKNOWN_TOPIC_OR_PARTITION,
        codes.NOT_LEADER_OR_FOLLOWER,
        codes.TOPIC_AUTHORIZATION_FAILED,
        codes.FENCED_LEADER_EPOCH,
        codes.OFFSET_NOT_AVAILABLE,
        codes.UNKNOWN_TOPIC_ID,
    }
)
#: R9: node id and epoch.
NO_LEADER: Final = (-1, -1)
#: R4: however long a client is ready to wait. Java's and librdkafka's own time-outs are 30 s and 60 s.
MAX_WAIT_MS: Final = 25_000
#: With one gateway nobody else can have become the leader: the object was fenced and is loaded again.
_LOADED_ANEW: Final = frozenset({codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_LEADER_EPOCH, codes.FENCED_STATE_EPOCH})


def fetch_code(code: int) -> int:
    """Return the code of a fetched partition to a client (R1)."""
    if code in _LOADED_ANEW:
        return codes.NONE
    return code if code in FETCH_CODES else codes.UNKNOWN_SERVER_ERROR


def acknowledge_code(code: int) -> int:
    """Return the code of acknowledgements to a client; any is survived, and goes to the application."""
    # Not KAFKA_STORAGE_ERROR: not every client tries again after that one.
    return codes.UNKNOWN_SERVER_ERROR if code == codes.KAFKA_STORAGE_ERROR else code


_UNEXPECTED: Final = "The server experienced an unexpected error when processing the request."
#: After Kafka's (``Errors``); clients show them and decide by the code.
_TEXTS: Final = {
    codes.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    codes.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    codes.INVALID_GROUP_ID: "The group id is invalid.",
    codes.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    codes.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    codes.INVALID_REQUEST: "The request is malformed, or was sent to a server of another kind.",
    codes.NON_EMPTY_GROUP: "The group is not empty.",
    codes.INVALID_RECORD_STATE: "The record state is invalid. The acknowledgement of delivery could not be completed.",
}
#: What acknowledgements are refused for before a share partition has seen them: Kafka says the code alone.
_WITHOUT_TEXT: Final = frozenset({codes.UNKNOWN_TOPIC_OR_PARTITION, codes.TOPIC_AUTHORIZATION_FAILED, codes.UNKNOWN_TOPIC_ID})


def text_of(code: int) -> str | None:
    """Return the text beside a code; none where there is no error."""
    return None if code == codes.NONE else _TEXTS.get(code, _UNEXPECTED)


def acknowledge_text(code: int) -> str | None:
    """Return the text beside a code of acknowledgements."""
    return None if code in _WITHOUT_TEXT else text_of(code)
