"""A name is one kind of group at a time: what would make an ordinary group of a share group's name is refused.

These requests are passed on as they are, and only as much of one is read as its refusal needs. Whatever else is asked of an
ordinary group, upstream answers right by itself: it knows no group of this name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from share_state.gateway.opaque_answers import error_answer
from share_state.gateway.opaque_requests import OpaqueRequest
from share_state.kafka import codes

__all__ = ["refusal_of"]


class _Joining(NamedTuple):
    """A request that makes a group of another kind.

    Attributes:
        flexible_since: its first flexible version.
        code: of its refusal.
        kind: what the name is not, where the answer says so.
        texts: how many texts stand before the name of the group.
    """

    flexible_since: int
    code: int
    kind: str | None = None
    texts: int = 0


#: OffsetCommit, JoinGroup, TxnOffsetCommit, ConsumerGroupHeartbeat, StreamsGroupHeartbeat.
_JOINING: Final = {
    8: _Joining(8, codes.GROUP_ID_NOT_FOUND),
    11: _Joining(6, codes.INCONSISTENT_GROUP_PROTOCOL),
    28: _Joining(3, codes.GROUP_ID_NOT_FOUND, texts=1),
    68: _Joining(0, codes.GROUP_ID_NOT_FOUND, "consumer"),
    88: _Joining(0, codes.GROUP_ID_NOT_FOUND, "streams"),
}


def refusal_of(payload: bytes, is_share_group: Callable[[str], bool]) -> bytes | None:
    """Return the answer to a request that names a share group as another kind; ``None`` for any other request.

    Raises:
        WireDecodeError: it ends too early.
    """
    joining = _JOINING.get(int.from_bytes(payload[:2], "big", signed=True))
    if joining is None:
        return None
    request = OpaqueRequest(payload, joining.flexible_since)
    for _ in range(joining.texts):
        request.text()
    group = request.text() or ""
    if not is_share_group(group):
        return None
    text = None if joining.kind is None else f"Group {group} is not a {joining.kind} group."
    return error_answer(payload, joining.code, text)
