"""A broker that serves a state log from a directory, and says of topics and groups what a test wants. Sockets on loopback."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import share_state as ss
from share_state.kafka.framing import MAX_FRAME, read_frame, request_of, response_bytes
from share_state.operate.reading.plain import STATE_TOPIC
from share_state.util.closing import stop_accepting
from tests.operate.live.fake_configs import base64_id, described_configs
from tests.operate.live.fake_logs import NOT_AUTHORIZED, read_log

FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR, LIST_GROUPS, VERSIONS, CONFIGS, DESCRIBE = 1, 2, 3, 10, 16, 18, 32, 77
STATE_TOPIC_ID = UUID(int=77)
OUT_OF_RANGE, GROUP_DENIED = 1, 30
_HEAD = struct.Struct(">qi")


@dataclass
class FakeCluster:
    """Broker that leads everything.

    Attributes:
        log: the directory of a store, or of a broker's state topic.
        state_partitions: how many there are; 0 for no state topic.
        ends: the log end offset of each partition of each topic, by its name and id.
        members: by group, members as DescribeShareGroups has them.
        configs: of each group.
        denied: API keys that are answered with a missing right.
        log_starts: of state partitions whose log does not start at 0.
        brokers: how many there are; the first leads everything and is the only one that answers.
        replicas, in_sync: of each state partition.
        cluster_configs: of the broker and of topics, by their names; the broker is ``1``.
        unsupported: API keys that the broker does not know.
        logs: record batches of partitions of topics, by name and number; where there are none, they may not be read.
        stable: last stable offsets of partitions that have an open transaction.
        aborted: producer id and first offset of the aborted transactions of partitions.
    """

    log: Path
    state_partitions: int = 1
    ends: dict[tuple[str, UUID], list[int]] = field(default_factory=dict)
    members: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    denied: set[int] = field(default_factory=set)
    log_starts: dict[int, int] = field(default_factory=dict)
    state_topic_id: UUID = STATE_TOPIC_ID
    brokers: int = 1
    replicas: list[int] = field(default_factory=lambda: [1])
    in_sync: list[int] = field(default_factory=lambda: [1])
    cluster_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    unsupported: set[int] = field(default_factory=set)
    logs: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)
    stable: dict[tuple[str, int], int] = field(default_factory=dict)
    aborted: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    #: Times of the records of each partition of a topic, by its name; a record a place in the log.
    times: dict[str, list[Sequence[int]]] = field(default_factory=dict)
    #: Operations that a principal may do with a topic, as the bits of an answer have it.
    operations: int = -(2**31)
    #: Code with which answers to Fetch are refused as a whole.
    fetch_code: int = 0
    #: Codes with which the next answers about a partition are refused, in turn, by API key.
    codes: dict[int, list[int]] = field(default_factory=dict)
    #: API keys that are never answered.
    silent: set[int] = field(default_factory=set)
    #: Starts of the logs of other topics, by name and number; ends of state partitions that are told instead of the true ones.
    starts: dict[tuple[str, int], int] = field(default_factory=dict)
    told_ends: dict[int, int] = field(default_factory=dict)
    #: Called before each answer to Fetch.
    before_fetch: Callable[[], None] = lambda: None
    port: int = 0
    #: Names of topics that somebody asked for and that a broker would have created.
    created: set[str] = field(default_factory=set)
    #: Offsets that were fetched from, by state partition.
    fetched: dict[int, list[int]] = field(default_factory=dict)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _idle: threading.Event = field(default_factory=threading.Event)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def is_left(self) -> bool:
        """True once no connection is open."""
        return self._idle.wait(10)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[FakeCluster]:
        """Listen, on the same port again after the first time."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            await stop_accepting(server)
            for writer in list(self._writers):
                writer.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self._idle.clear()
        try:
            while (payload := await read_frame(reader, MAX_FRAME)) is not None:
                request = request_of(payload)
                asked = {} if request.api_key == VERSIONS else ss.decode_message(request.api_key, request.version, request.body)
                if request.api_key in self.silent:
                    continue
                answer = self._answer(request.api_key, asked)
                if request.api_key == FETCH and not any(
                    row["records"] or row["errorCode"] for topic in answer["responses"] for row in topic["partitions"]
                ):
                    await asyncio.sleep(0.02)
                body = ss.encode_message(request.api_key, request.version, answer, response=True)
                writer.write(response_bytes(request.api_key, request.version, request.correlation_id, body))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            if not self._writers:
                self._idle.set()
            writer.close()

    def _refusal(self, api_key: int) -> int:
        """The code with which the next answer is refused, if there is one."""
        waiting = self.codes.get(api_key)
        return waiting.pop(0) if waiting else 0

    def _answer(self, api_key: int, asked: Mapping[str, Any]) -> dict[str, Any]:
        handlers = {
            VERSIONS: self._versions,
            METADATA: self._metadata,
            LIST_OFFSETS: self._offsets,
            FETCH: self._fetch,
            FIND_COORDINATOR: self._coordinators,
            LIST_GROUPS: self._groups,
            DESCRIBE: self._described,
            CONFIGS: self._configs,
        }
        return handlers[api_key](asked)

    def _versions(self, _asked: Mapping[str, Any]) -> dict[str, Any]:
        newest = {
            FETCH: 17,
            LIST_OFFSETS: 9,
            METADATA: 13,
            FIND_COORDINATOR: 6,
            LIST_GROUPS: 5,
            VERSIONS: 3,
            CONFIGS: 4,
            DESCRIBE: 1,
        }
        keys = [
            # Of coordinators only those of many groups at once are told, which librdkafka does not ask for.
            {"apiKey": key, "minVersion": 4 if key == FIND_COORDINATOR else 0, "maxVersion": version}
            for key, version in newest.items()
            if key not in self.unsupported
        ]
        return {"errorCode": 0, "apiKeys": keys, "throttleTimeMs": 0}

    def _topics(self) -> dict[str, tuple[UUID, int]]:
        topics = {name: (topic_id, len(ends)) for (name, topic_id), ends in self.ends.items()}
        return topics | ({STATE_TOPIC: (self.state_topic_id, self.state_partitions)} if self.state_partitions else {})

    def _metadata(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        topics = self._topics()
        wanted = asked["topics"] or []
        if asked["allowAutoTopicCreation"]:
            self.created |= {row["name"] for row in wanted if row["name"] is not None} - topics.keys()
        self.before_fetch()
        names = {base64_id(topic_id): name for name, (topic_id, _) in topics.items()}
        rows = []
        for row in wanted:
            name = names.get(row["topicId"]) if row["name"] is None else row["name"]
            rows.append({"topicId": row["topicId"], **self._topic(name, None if name is None else topics.get(name))})
        return {
            "throttleTimeMs": 0,
            "brokers": [
                {"nodeId": node, "host": "127.0.0.1", "port": self.port, "rack": None} for node in range(1, self.brokers + 1)
            ],
            "clusterId": "fake",
            "controllerId": 1,
            "topics": rows,
            "errorCode": 0,
        }

    def _topic(self, name: str | None, known: tuple[UUID, int] | None) -> dict[str, Any]:
        if known is None:
            return {"errorCode": 3, "name": name, "isInternal": False, "partitions": [], "topicAuthorizedOperations": -(2**31)}
        code = NOT_AUTHORIZED if METADATA in self.denied and name == STATE_TOPIC else self._refusal(METADATA)
        topic_id, partitions = known
        rows = [
            {
                "errorCode": 0,
                "partitionIndex": index,
                "leaderId": 1,
                "leaderEpoch": 0,
                "replicaNodes": self.replicas,
                "isrNodes": self.in_sync,
                "offlineReplicas": [],
            }
            for index in range(partitions)
        ]
        return {
            "errorCode": code,
            "name": name,
            "topicId": base64_id(topic_id),
            "isInternal": name == STATE_TOPIC,
            "partitions": [] if code else rows,
            "topicAuthorizedOperations": self.operations,
        }

    def _offsets(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "throttleTimeMs": 0,
            "topics": [
                {
                    "name": topic["name"],
                    "partitions": [self._offset(topic["name"], row, asked["isolationLevel"]) for row in topic["partitions"]],
                }
                for topic in asked["topics"]
            ],
        }

    def _offset(self, name: str, row: Mapping[str, Any], isolation: int) -> dict[str, Any]:
        index = row["partitionIndex"]
        if name == STATE_TOPIC:
            offset = self.log_starts.get(index, 0) if row["timestamp"] == -2 else self.told_ends.get(index, self.end(index))
        else:
            offset = next(ends for (topic, _), ends in self.ends.items() if topic == name)[index]
            offset = self.stable.get((name, index), offset) if isolation else offset
            if row["timestamp"] >= 0:
                times = self.times[name][index]
                offset = next((at for at, ms in enumerate(times) if ms >= row["timestamp"]), -1)
            elif row["timestamp"] == -2:
                offset = self.starts.get((name, index), 0)
        code = NOT_AUTHORIZED if LIST_OFFSETS in self.denied else self._refusal(LIST_OFFSETS)
        return {"partitionIndex": index, "errorCode": code, "timestamp": -1, "offset": offset, "leaderEpoch": 0}

    def batches(self, partition: int) -> list[tuple[int, bytes]]:
        """The first offset and the bytes of each batch of the log, as the disk has them at the moment."""
        found = []
        for segment in sorted((self.log / f"__share_group_state-{partition}").glob("*.log")):
            data, at = segment.read_bytes(), 0
            while at + _HEAD.size <= len(data):
                base_offset, length = _HEAD.unpack_from(data, at)
                found.append((base_offset, data[at : at + _HEAD.size + length]))
                at += _HEAD.size + length
        return found

    def end(self, partition: int) -> int:
        batches = self.batches(partition)
        if not batches:
            return 0
        base_offset, data = batches[-1]
        (last_delta,) = struct.unpack_from(">i", data, 23)
        return base_offset + int(last_delta) + 1

    def _fetch(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names = {base64_id(topic_id): name for (name, topic_id) in self.ends} | {base64_id(self.state_topic_id): STATE_TOPIC}
        told = [
            {
                "topicId": topic["topicId"],
                "partitions": [self._read(names[topic["topicId"]], row, asked["isolationLevel"]) for row in topic["partitions"]],
            }
            for topic in asked["topics"]
        ]
        return {"throttleTimeMs": 0, "errorCode": self.fetch_code, "sessionId": 0, "responses": told}

    def _read(self, name: str, row: Mapping[str, Any], isolation: int) -> dict[str, Any]:
        partition = row["partition"]
        if name == STATE_TOPIC:
            return self._fetched(partition, row["fetchOffset"])
        place = (name, partition)
        told = read_log(row, self.logs.get(place), self.stable.get(place), self.aborted.get(place, []), isolation)
        if not told["errorCode"]:
            start, code = self.starts.get(place, 0), self._refusal(FETCH)
            told["logStartOffset"] = start
            told["errorCode"] = code or (0 if start <= row["fetchOffset"] <= told["highWatermark"] else OUT_OF_RANGE)
            told["records"] = told["records"] if not told["errorCode"] else b""
        return told

    def _fetched(self, partition: int, offset: int) -> dict[str, Any]:
        self.fetched.setdefault(partition, []).append(offset)
        batches, end, start = self.batches(partition), self.end(partition), self.log_starts.get(partition, 0)
        code = NOT_AUTHORIZED if FETCH in self.denied else self._refusal(FETCH)
        code = code or (0 if start <= offset <= end else OUT_OF_RANGE)
        records = b""
        if not code and batches:
            # The batch that holds the offset comes whole, and some thousand bytes of what follows, cut where they are full.
            ends = [base for base, _ in batches[1:]] + [end]
            wanted = [data for (_, data), after in zip(batches, ends, strict=True) if after > offset]
            records = b"".join(wanted)[: max(4000, len(wanted[0]) if wanted else 0)]
        return {
            "partitionIndex": partition,
            "errorCode": code,
            "highWatermark": end,
            "lastStableOffset": end,
            "logStartOffset": start,
            "abortedTransactions": None,
            "preferredReadReplica": -1,
            "records": records,
        }

    def _coordinators(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        rows = [
            {"key": key, "nodeId": 1, "host": "127.0.0.1", "port": self.port, "errorCode": 0, "errorMessage": None}
            for key in asked["coordinatorKeys"]
        ]
        return {"throttleTimeMs": 0, "coordinators": rows}

    def _groups(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["typesFilter"] == ["share"]
        rows = [
            {"groupId": group, "protocolType": "share", "groupState": "Stable", "groupType": "share"} for group in self.members
        ]
        return {"throttleTimeMs": 0, "errorCode": 0, "groups": rows}

    def _described(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"throttleTimeMs": 0, "groups": [self._group(group) for group in asked["groupIds"]]}

    def _group(self, group: str) -> dict[str, Any]:
        code = GROUP_DENIED if DESCRIBE in self.denied else 0 if group in self.members else 69
        members = [] if code else self.members[group]
        return {
            "errorCode": code,
            "errorMessage": None,
            "groupId": group,
            "groupState": "" if code else "Stable" if members else "Empty",
            "groupEpoch": 3,
            "assignmentEpoch": 3,
            "assignorName": "simple",
            "members": members,
            "authorizedOperations": -(2**31),
        }

    def _configs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return described_configs(asked, self.configs, self.cluster_configs, denied=CONFIGS in self.denied)


@contextmanager
def served(cluster: FakeCluster) -> Iterator[FakeCluster]:
    """Serve from a thread, for a command in a process of its own."""
    loop = asyncio.new_event_loop()
    begun, ended = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with cluster.serving():
            begun.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert begun.wait(10)
        yield cluster
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
