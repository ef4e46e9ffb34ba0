"""A share coordinator on a socket: the server behind ``share-state coordinator``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

from share_state._core import decode_message, encode_message
from share_state.closing import cancel_all, stop_accepting
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.kafka import codes
from share_state.kafka.coordinator_answers import Answers
from share_state.kafka.coordinator_states import Topic
from share_state.kafka.framing import MAX_FRAME, Request, read_frame, request_of, response_bytes
from share_state.kafka.logins import Login, Users
from share_state.kafka.peers import PERSISTER_APIS, Address, spoken
from share_state.persister import Persister

__all__ = ["ShareCoordinatorServer", "Topic", "serve_in_thread"]

_LOG = logging.getLogger("share_state.coordinator")
_HANDSHAKE, _API_VERSIONS, _AUTHENTICATE = 17, 18, 36
#: The requests that are answered, and in which versions.
_VERSIONS: Final = {
    3: spoken(3, since=12),
    10: spoken(10, since=4),
    _API_VERSIONS: (0, 4),
    **PERSISTER_APIS,
}
#: These too where users log in.
_LOGIN_VERSIONS: Final = {_HANDSHAKE: spoken(_HANDSHAKE, since=1), _AUTHENTICATE: spoken(_AUTHENTICATE, since=2)}
#: The longest frame of somebody who is not yet let in, bytes (``sasl.server.max.receive.size``).
_MAX_STRANGERS_FRAME: Final = 512 << 10
#: How many requests may wait for the disk together.
_WORKERS: Final = 64
_API_KEY: Final = struct.Struct(">hh")
_FLEXIBLE_API_VERSIONS: Final = 3


class ShareCoordinatorServer:
    """Serves the share coordinator's RPCs (83 to 87), FindCoordinator, Metadata and ApiVersions over TCP, from any persister.

    Like Kafka, it handles the requests of one connection in order, and closes a connection that sends anything else than a
    request.

    Args:
        store: where the state is kept: ``share_state.open(path)``, or a ``MemoryPersister``. The caller closes it.
        topics: the topics that exist, by name. With ``None`` every topic exists, with any number of partitions.
        node_id: id of this broker.
        cluster_id: id of the cluster.
        ssl_context: for TLS, of purpose ``ssl.Purpose.CLIENT_AUTH``.
        users: who may log in with SASL PLAIN or SCRAM: passwords by name. ``None`` lets everybody in.
        max_frame: the longest request, bytes (``socket.request.max.bytes``).
    """

    def __init__(
        self,
        store: Persister,
        *,
        topics: Mapping[str, Topic] | None = None,
        node_id: int = 1,
        cluster_id: str = "share-state-coordinator",
        ssl_context: ssl.SSLContext | None = None,
        users: Mapping[str, str] | None = None,
        max_frame: int = MAX_FRAME,
    ) -> None:
        self._answers = Answers(store, topics, node_id, cluster_id)
        self._ssl_context = ssl_context
        self._users = None if users is None else Users(users)
        self._versions = _VERSIONS if users is None else {**_VERSIONS, **_LOGIN_VERSIONS}
        self._max_frame = max_frame
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        #: So many connections may wait for the disk together; a store like ours syncs once for all of them.
        self._workers: ThreadPoolExecutor | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen, and give the address; port 0 takes any that is free.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="share-state-coordinator")
        self._server = await asyncio.start_server(self._client, host, port, ssl=self._ssl_context)
        name = self._server.sockets[0].getsockname()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Stop listening and close every connection; an answer that is being worked out is not sent any more."""
        if self._server is not None:
            await stop_accepting(self._server)
        await cancel_all(self._clients)
        if self._server is not None:
            await self._server.wait_closed()
        if self._workers is not None:
            await asyncio.to_thread(self._workers.shutdown)
            self._workers = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def respond(self, payload: bytes, here: Address) -> bytes | None:
        """Answer one request: frame for frame; ``None`` closes the connection.

        Raises:
            WireDecodeError: it is no request.
            UnsupportedVersionError: its version is not known.
        """
        api_key, version = _api_of(payload)
        if api_key == _API_VERSIONS:
            return _api_versions(version, request_of(payload), self._versions)
        oldest, newest = _VERSIONS.get(api_key, (0, -1))
        if not oldest <= version <= newest:
            raise UnsupportedVersionError(f"request {api_key} version {version} is not known")
        request = request_of(payload)
        asked = decode_message(api_key, version, request.body)
        # The store may wait for a disk; other connections go on meanwhile.
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._workers, self._answers.answer, api_key, version, asked, here)
        return response_bytes(api_key, version, request.correlation_id, encode_message(api_key, version, answer, response=True))

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        name = writer.get_extra_info("sockname")
        peer = writer.get_extra_info("peername")
        try:
            await self._serve(reader, writer, Address(name[0], name[1]))
            # What was answered last is still sent.
            writer.close()
        except (WireDecodeError, UnsupportedVersionError) as wrong:
            _LOG.warning("closed the connection of %r: %s", peer, wrong)
        except (OSError, asyncio.IncompleteReadError):
            _LOG.info("%r disconnected", peer)
        except asyncio.CancelledError:
            # By close(): the task ends here, and asyncio has nobody to tell.
            _LOG.debug("closed the connection of %r", peer)
        finally:
            if not writer.is_closing():
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: Address) -> None:
        if self._users is not None and not await self._let_in(Login(self._users), reader, writer, here):
            return
        while (payload := await read_frame(reader, self._max_frame)) is not None:
            answer = await self.respond(payload, here)
            if answer is None:
                return
            writer.write(answer)
            await writer.drain()

    async def _let_in(self, login: Login, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: Address) -> bool:
        """Authenticate a client; before that it may ask for versions and for nothing else."""
        while not login.over and not login.failed:
            payload = await read_frame(reader, min(self._max_frame, _MAX_STRANGERS_FRAME))
            if payload is None:
                return False
            writer.write(await self._introduction(login, payload, here))
            await writer.drain()
        return login.over

    async def _introduction(self, login: Login, payload: bytes, here: Address) -> bytes:
        api_key, version = _api_of(payload)
        if api_key == _API_VERSIONS and (answer := await self.respond(payload, here)) is not None:
            return answer
        if _LOGIN_VERSIONS.get(api_key) != (version, version):
            raise UnsupportedVersionError(f"request {api_key} version {version} of a client that has not logged in")
        request = request_of(payload)
        asked = decode_message(api_key, version, request.body)
        said = login.handshake(asked) if api_key == _HANDSHAKE else await login.authenticate(asked)
        return response_bytes(api_key, version, request.correlation_id, encode_message(api_key, version, said, response=True))


def _api_of(payload: bytes) -> tuple[int, int]:
    if len(payload) < _API_KEY.size:
        raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
    api_key, version = _API_KEY.unpack_from(payload)
    return api_key, version


def _api_versions(version: int, request: Request, versions: Mapping[int, tuple[int, int]]) -> bytes:
    oldest, newest = versions[_API_VERSIONS]
    known = oldest <= version <= newest
    code = codes.NONE if known else codes.UNSUPPORTED_VERSION
    if known and version >= _FLEXIBLE_API_VERSIONS:
        decode_message(_API_VERSIONS, version, request.body)
        keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in versions.items()]
        answer = {"errorCode": code, "apiKeys": keys, "throttleTimeMs": 0}
        body = encode_message(_API_VERSIONS, version, answer, response=True)
    else:
        # A version that is not known is answered in version 0, so that the client can choose another.
        keys_alone = b"".join(struct.pack(">hhh", key, low, high) for key, (low, high) in versions.items())
        throttle = bytes(4) if known and version > 0 else b""
        body = struct.pack(">hi", code, len(versions)) + keys_alone + throttle
    return response_bytes(_API_VERSIONS, version, request.correlation_id, body)


@contextlib.contextmanager
def serve_in_thread(coordinator: ShareCoordinatorServer, host: str = "127.0.0.1", port: int = 0) -> Iterator[Address]:
    """Run a coordinator on an event loop in its own thread, for programs without one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="share-state-coordinator", daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(coordinator.start(host, port), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(coordinator.close(), loop).result()
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
