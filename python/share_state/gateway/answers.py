"""The texts beside Kafka's codes. Codes for members of share groups are chosen in ``rust/gateway/src/node/codes.rs``."""

from __future__ import annotations

from typing import Final

from share_state.kafka import codes

__all__ = ["text_of"]

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


def text_of(code: int) -> str | None:
    """Return the text beside a code; none where there is no error."""
    return None if code == codes.NONE else _TEXTS.get(code, _UNEXPECTED)
