"""The brokers of a hostile upstream: servers on a loop of their own, one port each."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

from share_state.util.closing import cancel_all, stop_accepting
from tests.gateway.hostile.answering import Broker
from tests.gateway.hostile.cluster import Cluster
from tests.gateway.hostile.faults import Faults
from tests.gateway.hostile.fetching import FetchSessions, fetch, has_enough
from tests.gateway.hostile.grouping import GROUP_APIS, Groups
from tests.gateway.wire.codec import Message, api_key, decode, encode, flexible, name_of

_API_VERSIONS, _PRODUCE = 18, 0
_UNSUPPORTED_VERSION = 35
#: Versions offered unless a test says otherwise: lowest and highest.
OFFERED: Mapping[str, tuple[int, int]] = {
    "ApiVersions": (0, 3),
    "Metadata": (0, 12),
    "Fetch": (4, 13),
    "ListOffsets": (1, 7),
    "OffsetForLeaderEpoch": (2, 4),
    "Produce": (3, 8),
}
WITH_CONFIGS: Mapping[str, tuple[int, int]] = {**OFFERED, "DescribeConfigs": (1, 4), "IncrementalAlterConfigs": (0, 1)}
#: As Redpanda, or Kafka before 2.8: no version knows ids of topics.
WITHOUT_IDS: Mapping[str, tuple[int, int]] = {**OFFERED, "Metadata": (0, 8), "Fetch": (4, 11), "ListOffsets": (1, 4)}


class Asked(NamedTuple):
    """A request that a broker has got."""

    node: int
    name: str
    version: int
    message: Message


class HostileUpstream(Cluster):
    """The cluster with its servers; a context manager. Faults and topics may be changed at any time."""

    def __init__(
        self, brokers: int = 1, *, offered: Mapping[str, tuple[int, int]] = OFFERED, ids: bool = True, sessions: bool = True
    ) -> None:
        super().__init__(brokers)
        self.faults = Faults()
        self.groups = Groups()
        self.asked: list[Asked] = []
        self._offered = {api_key(name): range(low, high + 1) for name, (low, high) in offered.items()}
        self._ids = ids
        self._sessions = FetchSessions() if sessions else None
        self._addresses: dict[int, tuple[str, int]] = {}
        self._servers: dict[int, asyncio.Server] = {}
        self._connections: dict[asyncio.Task[None], tuple[int, asyncio.StreamWriter]] = {}
        self._loop = asyncio.new_event_loop()
        self._news = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hostile upstream", daemon=True)
        self.changed = self._tell

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return ",".join(f"{host}:{port}" for host, port in self._addresses.values())

    def requests(self, name: str) -> list[Asked]:
        """The requests of one API so far."""
        return [asked for asked in list(self.asked) if asked.name == name]

    def start(self) -> None:
        """Listen; a broker that has been stopped comes back to its port."""
        if not self._thread.is_alive():
            self._thread.start()
        for node in self.brokers:
            self.start_broker(node)

    def start_broker(self, node: int) -> None:
        """Have one broker listen."""
        self._do(self._listen(node))

    def stop_broker(self, node: int) -> None:
        """Close a broker's port and its connections."""
        self._do(self._hang_up(node, listening=False))

    def drop_connections(self, node: int) -> None:
        """Close a broker's connections; it takes new ones."""
        self._do(self._hang_up(node, listening=True))

    def stop(self) -> None:
        """Close everything."""
        for node in list(self._servers):
            self.stop_broker(node)

    kill = stop

    def restart(self, *, killed: bool = False) -> None:
        """Close everything and listen again: topics stay, sessions of Fetch do not."""
        del killed
        self.stop()
        if self._sessions is not None:
            self._sessions.forget_all()
        self.start()

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        self._do(_some_turns())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _do(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30.0)

    def _tell(self) -> None:
        def wake() -> None:
            self._news.set()
            self._news = asyncio.Event()

        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(wake)

    async def _listen(self, node: int) -> None:
        if node in self._servers:
            return
        port = self._addresses.get(node, ("", 0))[1]

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections[task] = (node, writer)
            try:
                await self._serve(node, reader, writer)
            except asyncio.CancelledError:
                # Hung up; nobody is told, since it is this server that was asked to.
                writer.transport.abort()
            finally:
                del self._connections[task]
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

        server = await asyncio.start_server(serve, "127.0.0.1", port, limit=16 * 1024 * 1024)
        self._servers[node] = server
        self._addresses[node] = ("127.0.0.1", server.sockets[0].getsockname()[1])

    async def _hang_up(self, node: int, *, listening: bool) -> None:
        if not listening and (server := self._servers.pop(node, None)) is not None:
            await stop_accepting(server)
        await cancel_all([task for task, (of, _) in self._connections.items() if of == node])

    async def _serve(self, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                (length,) = struct.unpack(">i", await reader.readexactly(4))
                request = await reader.readexactly(length)
                key, version, correlation, client = struct.unpack_from(">hhih", request)
                if key not in self._offered:
                    return
                answer_version, body = 0, b""
                if version in self._offered[key]:
                    start = 10 + max(client, 0) + flexible(key, version)
                    asked = decode(key, version, request[start:])
                    self.asked.append(Asked(node, name_of(key), version, asked))
                    answer_version = version
                    client_id = request[10 : 10 + max(client, 0)].decode()
                    body = encode(key, version, await self._answer(node, key, version, asked, client_id), response=True)
                    if key == _PRODUCE and asked["acks"] == 0:
                        continue
                elif key == _API_VERSIONS:
                    asked = {}
                    body = encode(key, 0, self._api_versions(0, _UNSUPPORTED_VERSION), response=True)
                else:
                    return
                tags = b"\0" if key != _API_VERSIONS and flexible(key, answer_version) else b""
                if not await self._send(writer, key, asked, struct.pack(">i", correlation) + tags, body):
                    return

    async def _send(self, writer: asyncio.StreamWriter, key: int, asked: Message, head: bytes, body: bytes) -> bool:
        """Send an answer as the faults will have it; whether the connection goes on."""
        faults = self.faults
        if faults.silent(key, asked):
            await asyncio.Event().wait()
        if faults.delayed(key, asked):
            await asyncio.sleep(faults.delay_seconds)
        if faults.closed(key, asked):
            return False
        if faults.nonsense(key, asked):
            body = faults.chance.randbytes(max(len(body), 64))
        if faults.misnumbered(key, asked):
            head = struct.pack(">i", struct.unpack_from(">i", head)[0] + 1000) + head[4:]
        frame = struct.pack(">i", len(head) + len(body)) + head + body
        if faults.endless(key, asked):
            frame = struct.pack(">i", 2_000_000_000) + frame[4:]
        if faults.cut(key, asked):
            writer.write(frame[: len(frame) // 2])
            await writer.drain()
            return False
        if faults.dripped(key, asked):
            for byte in frame:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(faults.drip_seconds)
            return True
        writer.write(frame)
        await writer.drain()
        return True

    async def _answer(self, node: int, key: int, version: int, asked: Message, client_id: str) -> Message:
        broker = Broker(node, self, self.faults, self._addresses, self._ids)
        name = name_of(key)
        if name == "Fetch":
            return await self._fetch(broker, version, asked)
        answers = {
            "ApiVersions": lambda: self._api_versions(version, 0),
            "Metadata": lambda: broker.metadata(version, asked),
            "ListOffsets": lambda: broker.list_offsets(version, asked),
            "OffsetForLeaderEpoch": lambda: broker.ends_of_epochs(version, asked),
            "DescribeConfigs": lambda: broker.describe_configs(version, asked),
            "IncrementalAlterConfigs": lambda: broker.alter_configs(asked),
            "AlterConfigs": lambda: broker.alter_configs(asked, anew=True),
            "CreatePartitions": lambda: broker.create_partitions(asked),
            "Produce": lambda: broker.produce(version, asked),
        }
        with self.lock:
            if name in GROUP_APIS:
                return self.groups.answer(name, version, asked, client_id, (node, *self._addresses[node]))
            return answers[name]()

    async def _fetch(self, broker: Broker, version: int, asked: Message) -> Message:
        """Wait for data as a broker does: until there is enough, or for as long as the client will."""
        until = self._loop.time() + asked["maxWaitMs"] / 1000
        while True:
            news = self._news
            with self.lock:
                if has_enough(broker, self._sessions, version, asked) or self._loop.time() >= until:
                    return fetch(broker, self._sessions, version, asked)
            with suppress(TimeoutError):
                # Not wait_for: in Python 3.11 it forgets that it was cancelled when there is news at the same moment.
                async with asyncio.timeout_at(until):
                    await news.wait()

    def _api_versions(self, version: int, code: int) -> Message:
        keys = [
            {"apiKey": key, "minVersion": offered[0], "maxVersion": offered[-1]} for key, offered in sorted(self._offered.items())
        ]
        return {"errorCode": code, "apiKeys": keys, **({"throttleTimeMs": self.faults.throttle_ms} if version >= 1 else {})}


async def _some_turns() -> None:
    """Let what was aborted end: that takes some turns of the loop."""
    for _ in range(5):
        await asyncio.sleep(0)
