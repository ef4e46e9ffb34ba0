"""The net below every handler: what one raises by mistake becomes Kafka's answer for it, and the connection lives on.

An exception is logged once, with the group, the client and the request, and counted. Where a request names several groups or
resources, the error is the answer for the one that failed, and the others are answered.

Rows are made in slices, between which others are served, and are counted. An answer that has become too long is not made longer:
the rest is refused with a code on which clients ask again.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, TypeVar

from share_state._core import api_table, encode_message
from share_state.errors import ShareStateError
from share_state.gateway.counts import Counts
from share_state.gateway.limits import AnswerBytes, Limits, size_of
from share_state.gateway.requests import Client
from share_state.gateway.slices import Slices
from share_state.kafka import codes
from share_state.kafka.framing import compact_length, is_flexible
from share_state.logs import named

__all__ = ["Net"]

_LOG: Final = logging.getLogger("share_state.gateway")
_NAMES: Final = {api_key: name for api_key, (name, *_) in api_table().items()}
_INT32: Final = struct.Struct(">i")
#: Answers whose rows are their last field, and rows of them that are written without a turn for others.
_ROWS_LAST: Final = frozenset({2, 10, 15, 16, 32, 33, 42, 44, 74, 77, 90, 91, 92})
_ROWS_AT_ONCE: Final = 100
_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


class Net:
    """Catches what handlers raise.

    Args:
        counts: where it is counted.
        limits: what clients may take up.

    Attributes:
        limits: the same.
        slices: turns of long requests.
        answers: counts the bytes of answers.
    """

    def __init__(self, counts: Counts, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._counts = counts
        self.slices = Slices(self.limits.slice)
        self.answers = AnswerBytes(self.limits.answers)

    def caught(self, wrong: Exception, client: Client, api_key: int, group: object) -> int:
        """Log and count an exception, and return the code of the answer to it."""
        code = (wrong.kafka_code if isinstance(wrong, ShareStateError) else None) or codes.UNKNOWN_SERVER_ERROR
        self._counts.failures[api_key] += 1
        request = _NAMES.get(api_key, api_key)
        _LOG.error("a request failed: %s: %s %s", wrong, named(request=request, code=code, group=group), client, exc_info=wrong)
        return code

    async def rows(
        self,
        client: Client,
        api_key: int,
        items: Collection[_Item],
        answer: Callable[[_Item], Awaitable[_Row]],
        refuse: Callable[[_Item, int], _Row],
    ) -> list[_Row]:
        """Answer the items of a request one after the other; one that fails is refused with a code."""
        found = []
        room = self.answers.room(client, self.limits.answer)
        async for item in self.slices.of(items):
            if room.is_full:
                found.append(refuse(item, codes.COORDINATOR_LOAD_IN_PROGRESS))
                continue
            try:
                row = await answer(item)
            except Exception as wrong:  # noqa: BLE001  a fault of ours is the answer for one item, not for the others
                row = refuse(item, self.caught(wrong, client, api_key, item))
            room.take(size_of(row))
            found.append(row)
        return found

    async def encoded(self, api_key: int, version: int, answer: dict[str, Any]) -> bytes:
        """Return the bytes of an answer. Rows are written in slices where they are many and stand last, before the tags."""
        field = next((name for name, value in answer.items() if isinstance(value, list) and len(value) > _ROWS_AT_ONCE), None)
        if field is None or api_key not in _ROWS_LAST:
            return encode_message(api_key, version, answer, response=True)

        rows, is_tagged = answer[field], is_flexible(api_key, version)

        def count(elements: int) -> bytes:
            return compact_length(elements) if is_tagged else _INT32.pack(elements)

        nothing = encode_message(api_key, version, {**answer, field: []}, response=True)
        # The struct of an answer ends with its tags, and there are none.
        tags = b"\0" if is_tagged else b""
        head = len(nothing) - len(count(0)) - len(tags)
        parts = [nothing[:head], count(len(rows))]
        async for start in self.slices.of(range(0, len(rows), _ROWS_AT_ONCE)):
            some = rows[start : start + _ROWS_AT_ONCE]
            body = encode_message(api_key, version, {**answer, field: some}, response=True)
            parts.append(body[head + len(count(len(some))) : len(body) - len(tags)])
        return b"".join([*parts, tags])
