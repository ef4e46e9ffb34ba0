"""Single requests to a broker, by kio's classes: for what no client library sends as it is."""

from __future__ import annotations

import io
import socket
import struct
from typing import Any, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.protocol import Entity

_Response = TypeVar("_Response", bound=Entity)

#: What comes before the body of an answer whose header has tagged fields.
_FLEXIBLE_HEADER = 5
_TIMEOUT_S = 60.0


def ask(port: int, request: Any, response: type[_Response]) -> _Response:
    """Send a request of a flexible version over a connection of its own, and read its answer."""
    body = io.BytesIO()
    entity_writer(type(request))(body, request)
    payload = struct.pack(">hhih", request.__api_key__, request.__version__, 1, -1) + b"\0" + body.getvalue()
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
        connection.sendall(struct.pack(">i", len(payload)) + payload)
        with connection.makefile("rb") as answers:
            (length,) = struct.unpack(">i", answers.read(4))
            answer = answers.read(length)
    read, _ = entity_reader(response)(answer, _FLEXIBLE_HEADER)
    return read
