"""A share coordinator on a socket: the server behind ``share-state coordinator``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self, SupportsIndex

from share_state._core import decode_message, encode_message
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.kafka import codes
from share_state.kafka.client.apis import FIND_COORDINATOR, METADATA, SASL_HANDSHAKE, STATE_APIS, VERSIONS, spoken
from share_state.kafka.client.peers import Address
from share_state.kafka.coordinator_answers import Answers
from share_state.kafka.coordinator_states import Topic
from share_state.kafka.framing import MAX_FRAME, Request, read_frame, request_of, response_bytes
from share_state.kafka.logins import AUTHENTICATE, Login, Users, longest_of_stranger
from share_state.kafka.queued_bytes import QueuedBytes
from share_state.persister import Persister
from share_state.util.admission import ACCEPTED_AT_ONCE, Admission, connections_allowed, listen_longer
from share_state.util.closing import cancel_all, stop_accepting
from share_state.util.handshakes import Handshakes

__all__ = ["MAX_CONNECTIONS", "MAX_QUEUED", "ShareCoordinatorServer", "Topic", "serve_in_thread"]

_LOG = logging.getLogger("share_state.coordinator")
#: The requests that are answered, and in which versions.
_VERSIONS: Final = {
    METADATA: spoken(METADATA, since=12),
    FIND_COORDINATOR: spoken(FIND_COORDINATOR, since=4),
    VERSIONS: spoken(VERSIONS, until=4),
    **{api_key: spoken(api_key) for api_key in STATE_APIS},
}
#: These too where users log in.
_LOGIN_VERSIONS: Final = {SASL_HANDSHAKE: spoken(SASL_HANDSHAKE, since=1), AUTHENTICATE: spoken(AUTHENTICATE, since=2)}
#: Elements of all arrays of a request altogether: each becomes an object, and all of them before any is looked at.
_MAX_ELEMENTS: Final = 100_000
#: Number of connections that there may be.
MAX_CONNECTIONS: Final = 4000
#: Bytes of all requests that are not answered yet.
MAX_QUEUED: Final = 256 << 20
#: Bytes of the length before a frame.
_LENGTH: Final = 4
#: Bytes of a connection that are read ahead of its reader.
_READ_AHEAD: Final = 8 << 10
#: Number of requests that may wait for the disk together.
_WORKERS: Final = 64
#: Seconds for the TLS handshake and for the login, until an answer is taken, and without a request
#: (``connections.max.idle.ms``).
_LOGIN_TIME: Final = 20.0
_ANSWER_TIME: Final = 60.0
_IDLE: Final = 600.0
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
        max_connections: the number of connections (``max.connections``), of which one address has half at most. The limit of
            open files, which is raised as far as they need, may leave room for fewer.
        max_queued: bytes of all requests that are not answered yet (``queued.max.request.bytes``), at least those of the longest
            one. Beyond it, who has sent most loses its connection.

    Raises:
        ValueError: ``max_queued`` has no room for the longest request.
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
        max_connections: int = MAX_CONNECTIONS,
        max_queued: int = MAX_QUEUED,
    ) -> None:
        if max_queued < max_frame + _LENGTH:
            raise ValueError(f"max_queued is {max_queued}; expected at least {max_frame + _LENGTH}, for one request of max_frame")
        self._answers = Answers(store, topics, node_id, cluster_id)
        self._ssl_context = ssl_context
        self._users = None if users is None else Users(users)
        self._versions = _VERSIONS if users is None else {**_VERSIONS, **_LOGIN_VERSIONS}
        self._max_frame = max_frame
        self._max_connections = max_connections
        self._admission = _admission(max_connections)
        self._handshakes = Handshakes(ssl_context, seconds=_LOGIN_TIME, most=max_connections)
        self._queued = QueuedBytes(max_queued)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        #: Threads for the connections that wait for the disk together; a store like ours syncs once for all of them.
        self._workers: ThreadPoolExecutor | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen, and give the address; port 0 takes any that is free.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="share-state-coordinator")
        # A handshake is no connection yet, and has a descriptor too.
        allowed = connections_allowed(self._max_connections, _LOG, descriptors=1 if self._ssl_context is None else 2)
        self._admission = _admission(allowed)
        self._handshakes = Handshakes(self._ssl_context, seconds=_LOGIN_TIME, most=allowed)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._handshakes.before(self._protocol), host, port, backlog=ACCEPTED_AT_ONCE)
        listen_longer(self._server)
        name = self._server.sockets[0].getsockname()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Stop listening and close every connection; an answer that is being worked out is not sent any more."""
        if self._server is not None:
            await stop_accepting(self._server)
        await self._handshakes.close()
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
        if api_key == VERSIONS:
            return _api_versions(version, request_of(payload), self._versions)
        oldest, newest = _VERSIONS.get(api_key, (0, -1))
        if not oldest <= version <= newest:
            raise UnsupportedVersionError(f"request {api_key} version {version} is not known")
        request = request_of(payload)
        asked = decode_message(api_key, version, request.body, max_elements=_MAX_ELEMENTS)
        # The store may wait for a disk; other connections go on meanwhile.
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._workers, self._answers.answer, api_key, version, asked, here)
        return response_bytes(api_key, version, request.correlation_id, encode_message(api_key, version, answer, response=True))

    def _protocol(self) -> asyncio.Protocol:
        return asyncio.StreamReaderProtocol(_Reader(self._queued), self._client)

    def _answered(self, reader: asyncio.StreamReader, payload: bytes) -> None:
        if isinstance(reader, _Reader):
            self._queued.remove(reader, len(payload) + _LENGTH)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        name = writer.get_extra_info("sockname")
        peer = writer.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if (refusal := self._admission.enter(address)) is not None:
            _LOG.warning("%s: closed a new one: host=%s", refusal, address)
            writer.transport.abort()
            return
        try:
            await self._serve(reader, writer, Address(name[0], name[1]))
            # What was answered last is still sent.
            writer.close()
        except (WireDecodeError, UnsupportedVersionError) as wrong:
            _LOG.warning("closed the connection of %r: %s", peer, wrong)
        except TimeoutError:
            _LOG.info("closed the connection of %r, which took too long", peer)
        except (OSError, asyncio.IncompleteReadError):
            _LOG.info("%r disconnected", peer)
        except asyncio.CancelledError:
            # By close(): the task ends here, and asyncio has nobody to tell.
            _LOG.debug("closed the connection of %r", peer)
        finally:
            self._admission.leave(address)
            if isinstance(reader, _Reader):
                self._queued.forget(reader)
            if not writer.is_closing():
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: Address) -> None:
        if self._users is not None:
            async with asyncio.timeout(_LOGIN_TIME):
                if not await self._let_in(Login(self._users), reader, writer, here):
                    return
        while True:
            async with asyncio.timeout(_IDLE):
                payload = await read_frame(reader, self._max_frame)
            if payload is None:
                return
            answer = await self.respond(payload, here)
            if answer is None:
                return
            self._answered(reader, payload)
            writer.write(answer)
            async with asyncio.timeout(_ANSWER_TIME):
                await writer.drain()

    async def _let_in(self, login: Login, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: Address) -> bool:
        """Authenticate a client; before that it may ask for versions and for nothing else."""
        while not login.over and not login.failed:
            payload = await read_frame(reader, self._max_frame, longest_of_stranger)
            if payload is None:
                return False
            self._answered(reader, payload)
            writer.write(await self._introduction(login, payload, here))
            await writer.drain()
        return login.over

    async def _introduction(self, login: Login, payload: bytes, here: Address) -> bytes:
        api_key, version = _api_of(payload)
        if api_key == VERSIONS and (answer := await self.respond(payload, here)) is not None:
            return answer
        if _LOGIN_VERSIONS.get(api_key) != (version, version):
            raise UnsupportedVersionError(f"request {api_key} version {version} of a client that has not logged in")
        request = request_of(payload)
        asked = decode_message(api_key, version, request.body)
        said = login.handshake(asked) if api_key == SASL_HANDSHAKE else await login.authenticate(asked)
        return response_bytes(api_key, version, request.correlation_id, encode_message(api_key, version, said, response=True))


class _Reader(asyncio.StreamReader):
    """Counts bytes from when they arrive until the request that they belong to is answered."""

    def __init__(self, queued: QueuedBytes) -> None:
        super().__init__(_READ_AHEAD)
        self._queued = queued
        self._from: asyncio.BaseTransport | None = None

    def set_transport(self, transport: asyncio.BaseTransport) -> None:
        self._from = transport
        super().set_transport(transport)

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        self._queued.add(self, len(bytes(data)))
        super().feed_data(data)

    def cut_off(self, why: str) -> None:
        if isinstance(self._from, asyncio.Transport):
            _LOG.warning("closed the connection of %r: %s", self._from.get_extra_info("peername"), why)
            self._from.abort()


def _admission(connections: int) -> Admission:
    return Admission(connections, (connections + 1) // 2, connections)


def _api_of(payload: bytes) -> tuple[int, int]:
    if len(payload) < _API_KEY.size:
        raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
    api_key, version = _API_KEY.unpack_from(payload)
    return api_key, version


def _api_versions(version: int, request: Request, versions: Mapping[int, tuple[int, int]]) -> bytes:
    oldest, newest = versions[VERSIONS]
    known = oldest <= version <= newest
    code = codes.NONE if known else codes.UNSUPPORTED_VERSION
    if known and version >= _FLEXIBLE_API_VERSIONS:
        decode_message(VERSIONS, version, request.body)
        keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in versions.items()]
        answer = {"errorCode": code, "apiKeys": keys, "throttleTimeMs": 0}
        body = encode_message(VERSIONS, version, answer, response=True)
    else:
        # A version that is not known is answered in version 0, so that the client can choose another.
        keys_alone = b"".join(struct.pack(">hhh", key, low, high) for key, (low, high) in versions.items())
        throttle = bytes(4) if known and version > 0 else b""
        body = struct.pack(">hi", code, len(versions)) + keys_alone + throttle
    return response_bytes(VERSIONS, version, request.correlation_id, body)


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
