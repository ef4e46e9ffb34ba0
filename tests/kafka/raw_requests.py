"""Single requests to a broker, by kio's classes: for what no client library sends as it is."""

from __future__ import annotations

import io
import socket
import struct
from types import TracebackType
from typing import Any, Self, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.protocol import Entity

_Response = TypeVar("_Response", bound=Entity)

#: Bytes before the body of an answer whose header has tagged fields.
_FLEXIBLE_HEADER = 5
_TIMEOUT_S = 60.0


class Connection:
    """A connection on which one request is under way at a time."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_TIMEOUT_S)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def ask(self, request: Any, response: type[_Response]) -> _Response:
        """Send a request of a flexible version, and read its answer."""
        body = io.BytesIO()
        entity_writer(type(request))(body, request)
        payload = struct.pack(">hhih", request.__api_key__, request.__version__, 1, -1) + b"\0" + body.getvalue()
        self._socket.sendall(struct.pack(">i", len(payload)) + payload)
        (length,) = struct.unpack(">i", self._answers.read(4))
        read, _ = entity_reader(response)(self._answers.read(length), _FLEXIBLE_HEADER)
        return read

    def close(self) -> None:
        """End it; as often as one likes."""
        self._answers.close()
        self._socket.close()


def ask(bootstrap: str, request: Any, response: type[_Response]) -> _Response:
    """Send a request over a connection of its own, and read its answer."""
    with Connection(bootstrap) as connection:
        return connection.ask(request, response)
