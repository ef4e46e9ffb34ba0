"""Errors as answers to requests that are passed on, as Kafka writes them (``getErrorResponse``).

An answer with one error has a row of formats, one letter a field. Where each topic, partition, group or transaction has an error
of its own, the request is read as far as it names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from share_state._core import decode_message, encode_message
from share_state.gateway.opaque_requests import MAX_ELEMENTS, OpaqueRequest
from share_state.kafka.client.metadata import ZERO_ID
from share_state.kafka.framing import frame, request_of, response_bytes

__all__ = ["error_answer"]

_PRODUCE: Final = 0
_NEVER: Final = 1 << 15


#: By key: the first flexible version, and from which version on an answer has which fields. ``t`` throttle time, ``e`` error,
#: ``m`` message, ``a`` nothing in an array or bytes, ``n`` no array, ``s`` no string, ``z`` an empty one, ``b`` false, ``i`` and
#: ``l`` 0 in four and eight bytes, ``w``, ``g`` and ``q`` -1 in two, four and eight, ``0`` no struct, ``u`` no UUID.
_WHOLE: Final[dict[int, tuple[int, tuple[tuple[int, str], ...]]]] = {
    11: (6, ((0, "egzzza"), (2, "tegzzza"), (7, "tegsszza"), (9, "tegsszbza"))),
    12: (4, ((0, "e"), (1, "te"))),
    13: (4, ((0, "e"), (1, "te"), (3, "tea"))),
    14: (4, ((0, "ea"), (1, "tea"), (5, "tessa"))),
    22: (2, ((0, "teqw"), (6, "teqwqw"))),
    25: (3, ((0, "te"),)),
    26: (3, ((0, "te"), (5, "teqw"))),
    29: (2, ((0, "tema"),)),
    35: (2, ((3, "tea"),)),
    38: (2, ((0, "ezzlllzat"), (3, "ezzzzlllzat"))),
    39: (2, ((0, "elt"),)),
    40: (2, ((0, "elt"),)),
    41: (2, ((0, "eat"),)),
    43: (2, ((1, "tea"),)),
    45: (0, ((0, "tema"), (1, "tbema"))),
    46: (0, ((0, "tema"),)),
    47: (_NEVER, ((0, "eta"),)),
    48: (1, ((0, "temn"),)),
    50: (0, ((0, "tema"),)),
    55: (0, ((0, "ea"), (2, "emaa"))),
    57: (0, ((0, "tema"), (2, "tem"))),
    64: (0, ((0, "tem"),)),
    66: (0, ((0, "teaa"),)),
    68: (0, ((0, "temsii0"),)),
    71: (0, ((0, "teuiaiiba"),)),
    72: (0, ((0, "te"),)),
    80: (0, ((0, "tem"),)),
    81: (0, ((0, "tem"),)),
    88: (0, ((0, "temziiiinnnnin"), (1, "temziiilnnnnbin"))),
}


def error_answer(payload: bytes, code: int, message: str | None = None) -> bytes | None:
    """Return the frame that answers a request with an error; ``None`` where its API is not known, or has no answer.

    Raises:
        WireDecodeError: the request cannot be read.
    """
    api_key, version = (int.from_bytes(payload[at : at + 2], "big", signed=True) for at in (0, 2))
    if api_key in _BY_TABLE:
        return _by_table(payload, code)
    if api_key in _WHOLE:
        flexible_since, formats = _WHOLE[api_key]
        form = next((form for since, form in reversed(formats) if since <= version), None)
        if form is None:
            return None
        request = OpaqueRequest(payload, flexible_since)
        _put(request, form, code, message)
    elif api_key in _BY_ROW:
        flexible_since, write = _BY_ROW[api_key]
        request = OpaqueRequest(payload, flexible_since)
        write(request, code, message)
    else:
        return None
    request.end(reads=False)
    return frame(bytes(request.answer))


def _put(request: OpaqueRequest, form: str, code: int, message: str | None) -> None:
    numbers = {"t": ("i", 0), "e": ("h", code), "b": ("b", 0), "i": ("i", 0), "l": ("q", 0), "0": ("b", -1)}
    numbers |= {"w": ("h", -1), "g": ("i", -1), "q": ("q", -1), "u": ("qq", 0)}
    others: dict[str, tuple[str, str | int | None]] = {
        "m": ("s", message),
        "s": ("s", None),
        "z": ("s", ""),
        "a": ("c", 0),
        "n": ("c", None),
    }
    for letter in form:
        one, value = numbers.get(letter) or others[letter]
        request.put(one, *[value] * len(one))


def _rows(request: OpaqueRequest, write: Callable[[], None]) -> None:
    """Answer each element of an array that comes next."""
    count = request.count()
    request.put("c", count)
    for _ in range(count):
        write()


def _partitions(request: OpaqueRequest, write: Callable[[bytes], None], *, has_ids: bool = False, bare: bool = False) -> None:
    """Answer each partition of each topic; ``bare`` for a list of nothing but numbers."""

    def topic() -> None:
        if has_ids:
            request.answer += request.take(16)
        else:
            request.put("s", request.text())
        _rows(request, partition)
        request.end()

    def partition() -> None:
        write(request.take(4))
        request.end(reads=not bare)

    _rows(request, topic)


def _offset_commit(request: OpaqueRequest, code: int, _message: str | None) -> None:
    version = request.version
    request.text()
    request.take(4)
    request.text()
    if version >= 7:  # noqa: PLR2004  these are numbers of versions
        request.text()
    if version <= 4:  # noqa: PLR2004
        request.take(8)
    if version >= 3:  # noqa: PLR2004
        request.put("i", 0)
    _committed(request, code, has_ids=version >= 10, has_epochs=version >= 6)  # noqa: PLR2004


def _txn_offset_commit(request: OpaqueRequest, code: int, _message: str | None) -> None:
    version = request.version
    request.text()
    request.text()
    request.take(8 + 2)
    if version >= 3:  # noqa: PLR2004  as above
        request.take(4)
        request.text()
        request.text()
    request.put("i", 0)
    _committed(request, code, has_ids=version >= 6, has_epochs=version >= 2)  # noqa: PLR2004


def _committed(request: OpaqueRequest, code: int, *, has_ids: bool, has_epochs: bool) -> None:
    def partition(index: bytes) -> None:
        request.answer += index
        request.put("h", code)
        request.take(8 + 4 * has_epochs)
        request.text()

    _partitions(request, partition, has_ids=has_ids)


def _offset_fetch(request: OpaqueRequest, code: int, message: str | None) -> None:
    version = request.version
    if version < 8:  # noqa: PLR2004  as above
        # The first version has no place for the error of a group: no partition is answered.
        _put(request, "a" if version < 2 else "ae" if version == 2 else "tae", code, message)  # noqa: PLR2004
        return
    request.put("i", 0)

    def topic() -> None:
        if version >= 10:  # noqa: PLR2004
            request.take(16)
        else:
            request.text()
        request.take(4 * request.count())
        request.end(writes=False)

    def group() -> None:
        request.put("s", request.text())
        if version >= 9:  # noqa: PLR2004
            request.text()
            request.take(4)
        for _ in range(request.count()):
            topic()
        _put(request, "ae", code, message)
        request.end()

    _rows(request, group)


def _add_partitions(request: OpaqueRequest, code: int, message: str | None) -> None:
    if request.version >= 4:  # noqa: PLR2004  as above
        _put(request, "tea", code, message)
        return
    request.text()
    request.take(8 + 2)
    request.put("i", 0)

    def partition(index: bytes) -> None:
        request.answer += index
        request.put("h", code)

    _partitions(request, partition, bare=True)


def _delete_records(request: OpaqueRequest, code: int, _message: str | None) -> None:
    request.put("i", 0)

    def partition(index: bytes) -> None:
        request.take(8)
        request.answer += index
        request.put("qh", -1, code)

    _partitions(request, partition)


def _named(before: str, after: str, *, has_tags: bool = False, end: str = "") -> Callable[[OpaqueRequest, int, str | None], None]:
    """Return what answers each name of a list, with these fields before the name and after it."""

    def write(request: OpaqueRequest, code: int, message: str | None) -> None:
        request.put("i", 0)

        def row() -> None:
            name = request.text()
            _put(request, before, code, message)
            request.put("s", name)
            _put(request, after, code, message)
            request.end(reads=has_tags)

        _rows(request, row)
        _put(request, end, code, message)

    return write


def _counted(fields: str) -> Callable[[OpaqueRequest, int, str | None], None]:
    """Return what answers each element of a list without its name."""

    def write(request: OpaqueRequest, code: int, message: str | None) -> None:
        request.put("i", 0)

        def row() -> None:
            _put(request, fields, code, message)
            request.end(reads=False)

        _rows(request, row)

    return write


#: By key: the first flexible version, and what writes the answer.
_BY_ROW: Final[dict[int, tuple[int, Callable[[OpaqueRequest, int, str | None], None]]]] = {
    8: (8, _offset_commit),
    9: (6, _offset_fetch),
    21: (2, _delete_records),
    24: (3, _add_partitions),
    28: (3, _txn_offset_commit),
    30: (2, _counted("em")),
    31: (2, _counted("ema")),
    65: (0, _named("e", "zilqwa")),
    69: (0, _named("em", "ziizai")),
    75: (0, _named("e", "ubai", has_tags=True, end="0")),
    89: (0, _named("em", "zii0ai")),
}


def _by_table(payload: bytes, code: int) -> bytes | None:
    request = request_of(payload)
    api_key, version = request.api_key, request.version
    asked = decode_message(api_key, version, request.body, trailing=True, max_elements=MAX_ELEMENTS)
    if api_key == _PRODUCE and asked["acks"] == 0:
        return None
    body = encode_message(api_key, version, _BY_TABLE[api_key](asked, code), response=True)
    return response_bytes(api_key, version, request.correlation_id, body)


def _topic(row: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {field: row[field] for field in fields if field in row}


def _produced(asked: dict[str, Any], code: int) -> dict[str, Any]:
    def partitions(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"index": one["index"], "errorCode": code, "baseOffset": -1} for one in row["partitionData"]]

    rows = [{**_topic(row, "name", "topicId"), "partitionResponses": partitions(row)} for row in asked["topicData"]]
    return {"responses": rows}


def _fetched(asked: dict[str, Any], code: int) -> dict[str, Any]:
    def partitions(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"partitionIndex": one["partition"], "errorCode": code, "highWatermark": -1, "records": b""}
            for one in row["partitions"]
        ]

    rows = [{**_topic(row, "topic", "topicId"), "partitions": partitions(row)} for row in asked["topics"]]
    return {"errorCode": code, "sessionId": 0, "responses": rows}


def _ends(asked: dict[str, Any], code: int) -> dict[str, Any]:
    def partitions(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"errorCode": code, "partition": one["partition"], "leaderEpoch": -1, "endOffset": -1} for one in row["partitions"]
        ]

    return {"topics": [{"topic": row["topic"], "partitions": partitions(row)} for row in asked["topics"]]}


def _deleted(asked: dict[str, Any], code: int) -> dict[str, Any]:
    rows = asked.get("topics") or [{"name": name} for name in asked.get("topicNames") or ()]
    return {"responses": [{**row, "errorCode": code} for row in rows]}


#: What has tables, and an error for each topic or partition.
_BY_TABLE: Final[dict[int, Callable[[dict[str, Any], int], dict[str, Any]]]] = {
    0: _produced,
    1: _fetched,
    19: lambda asked, code: {"topics": [{"name": row["name"], "topicId": ZERO_ID, "errorCode": code} for row in asked["topics"]]},
    20: _deleted,
    23: _ends,
    37: lambda asked, code: {"results": [{"name": row["name"], "errorCode": code} for row in asked["topics"]]},
}
