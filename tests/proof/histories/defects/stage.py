"""Stage of the scenarios: a server with topics of its own making, log starts that move, compaction, and views."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Producer

from tests.gateway.groups import configure_group
from tests.gateway.patience import PATIENCE_S, wait_until
from tests.gateway.records import create_topic, topic_metadata
from tests.gateway.wire import Connection
from tests.gateway.wire.batches import batch, headers
from tests.proof.histories.defects.member import Member
from tests.proof.histories.system import Line, Server

_PRODUCE: Final = 9
_BROKER: Final = 4
_STATE_TOPIC: Final = "__share_group_state"
#: A topic that is compacted as soon as there is something to compact. Batches are a second apart, so each begins a segment.
COMPACTED: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.001", "max.compaction.lag.ms": "100",
}  # fmt: skip
_FIRST_BATCH_AT: Final = 1_700_000_000_000


class Stage:
    """A server on which scenarios have topics and groups of their own; after its ``with`` no member has a connection."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._topics: list[Topic] = []
        with Connection(server.upstream) as connection:
            change = {"name": "log.cleaner.backoff.ms", "configOperation": 0, "value": "100"}
            resource = {"resourceType": _BROKER, "resourceName": "", "configs": [change]}
            (answer,) = connection.ask("IncrementalAlterConfigs", 1, {"resources": [resource]})["responses"]
        assert answer["errorCode"] == 0, answer

    def written(self, action: Callable[[], None]) -> None:
        """Do what makes a broker write state, and wait until it has. A gateway's state is elsewhere."""
        before = self._state_records()
        action()
        wait_until(lambda: before is None or self._state_records() != before, "the state is written")

    def _state_records(self) -> int | None:
        """The end offsets of the state topic, added up; none where there is none."""
        with Connection(self.server.direct) as connection:
            found = connection.ask("Metadata", 8, {"topics": [{"name": _STATE_TOPIC}], "allowAutoTopicCreation": False})[
                "topics"
            ][0]
        if found["errorCode"]:
            return None
        return sum(log_end(self.server.direct, _STATE_TOPIC, one["partitionIndex"]) for one in found["partitions"])

    def topic(self, configs: Mapping[str, str] | None = None, **group: str) -> Topic:
        """A topic of one partition, and a group that begins with its first record; ``group`` has underscores for dots."""
        number = len(self._topics) + 1
        topic = Topic(self.server, f"topic-{number}", f"group-{number}")
        self._topics.append(topic)
        create_topic(self.server.upstream, topic.name, 1, configs=configs)
        with Connection(self.server.upstream) as connection:
            topic.topic_id = connection.ask("Metadata", 12, {"topics": [{"name": topic.name}]})["topics"][0]["topicId"]
        named = {name.replace("_", "."): value for name, value in group.items()}
        configure_group(self.server.direct, topic.group, **{"share.auto.offset.reset": "earliest", **named})
        return topic

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        for topic in self._topics:
            topic.disconnect()


def log_end(bootstrap: str, topic: str, partition: int) -> int:
    """The end offset of a log."""
    with Connection(bootstrap) as connection:
        asked = {"name": topic, "partitions": [{"partitionIndex": partition, "timestamp": -1, "currentLeaderEpoch": -1}]}
        answer = connection.ask("ListOffsets", 6, {"replicaId": -1, "isolationLevel": 0, "topics": [asked]})
    return int(answer["topics"][0]["partitions"][0]["offset"])


class Topic:
    """A topic with one partition, its group, and the history of both."""

    def __init__(self, server: Server, name: str, group: str) -> None:
        self.name = name
        self.group = group
        self.topic_id = ""
        self.lines: list[Line] = []
        self.end = 0
        self._server = server
        self._members: list[Member] = []
        self._joined = self._batches = 0

    def member(self) -> Member:
        """A member that has joined."""
        self._joined += 1
        member = Member(self, f"m{self._joined}", self._server.direct)
        self._members.append(member)
        return member

    def members(self, count: int) -> list[Member]:
        """Members that have joined."""
        return [self.member() for _ in range(count)]

    def disconnect(self) -> None:
        """Every member loses its connection: the server was killed, or the scenario is over."""
        for member in self._members:
            member.close()
        self._members.clear()

    def produce(self, *sizes: int, keys: Sequence[Sequence[str]] | None = None) -> None:
        """Produce batches of so many records each, exactly as they are to lie in the log."""
        for number, size in enumerate(sizes):
            self._batches += 1
            named = None if keys is None else [key.encode() for key in keys[number]]
            values = [b"%d" % offset for offset in range(self.end, self.end + size)]
            at = _FIRST_BATCH_AT + 1000 * self._batches
            self._append(batch(values, keys=named, timestamp=at))
            self._there(size)

    def abort(self, size: int) -> None:
        """Produce one batch in a transaction, and abort it: so many records and a marker."""
        producer = Producer({
            "bootstrap.servers": self._server.upstream, "transactional.id": self.name, "linger.ms": 500, "log_level": 0,
        })  # fmt: skip
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for offset in range(self.end, self.end + size):
            producer.produce(self.name, b"%d" % offset, partition=0)
        producer.flush(PATIENCE_S)
        producer.abort_transaction(PATIENCE_S)
        wait_until(lambda: log_end(self._server.upstream, self.name, 0) == self.end + size + 1, "the transaction has ended")
        self.end += size + 1

    def delete_before(self, offset: int) -> None:
        """Move the log start."""
        with Connection(self._server.upstream) as connection:
            asked = {"name": self.name, "partitions": [{"partitionIndex": 0, "offset": offset}]}
            answer = connection.ask("DeleteRecords", 2, {"topics": [asked], "timeoutMs": round(PATIENCE_S * 1000)})
        (row,) = answer["topics"][0]["partitions"]
        assert (row["errorCode"], row["lowWatermark"]) == (0, offset), row
        self.lines.append({"type": "retained", "t": time.monotonic_ns(), **self.place, "from": offset})

    def followed(self, offset: int) -> None:
        """Wait until a gateway shows that it knows of the log start: what it has read ahead it gives to members until then."""
        if self._server.upstream != self._server.direct:
            wait_until(lambda: self.view()["start_offset"] >= offset, f"the gateway knows that the log starts at {offset}")

    def compacted(self, offset: int, first: int) -> None:
        """Wait until a read at an offset finds the batch that begins at another one: compaction has removed what was between."""
        wait_until(lambda: self._read(offset) == first, f"nothing is left between {offset} and {first}")

    def view(self) -> Line:
        """Ask for the offsets as an administrator does; what the answer says, which is an event too."""
        asked = {"groupId": self.group, "topics": [{"topicName": self.name, "partitions": [0]}]}
        rows: list[Line] = []

        def answered() -> bool:
            sent = time.monotonic_ns()
            with Connection(self._server.direct) as connection:
                (answer,) = connection.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"]
            rows[:] = [{**row, "sent": sent} for topic in answer["topics"] for row in topic["partitions"] if not row["errorCode"]]
            return bool(rows)

        wait_until(answered, f"offsets of {self.group}")
        (row,) = rows
        shown = {"start_offset": row["startOffset"], "leader_epoch": row["leaderEpoch"], "lag": row["lag"]}
        if row["startOffset"] >= 0:
            self.tell("view", sent=row["sent"], **shown)
        return shown

    @property
    def place(self) -> Line:
        """Topic and partition."""
        return {"topic": self.name, "partition": 0}

    def tell(self, kind: str, **fields: Any) -> None:
        """Write down an event of the share partition, which ends now."""
        self.note(kind, **self.place, **fields)

    def note(self, kind: str, **fields: Any) -> None:
        """Write down an event of the group."""
        self.lines.append({"type": kind, "t": time.monotonic_ns(), "group": self.group, **fields})

    def _append(self, data: bytes) -> None:
        with Connection(self._server.upstream) as connection:
            wait_until(lambda: topic_metadata(connection, self.name)["errorCode"] == 0, "the topic is there")
            partition = {"index": 0, "records": data}
            asked = {"acks": -1, "timeoutMs": round(PATIENCE_S * 1000)}
            topic = {"name": self.name, "partitionData": [partition]}
            answer = connection.ask("Produce", _PRODUCE, {"transactionalId": None, **asked, "topicData": [topic]})
        (row,) = answer["responses"][0]["partitionResponses"]
        assert (row["errorCode"], row["baseOffset"]) == (0, self.end), row

    def _there(self, size: int) -> None:
        span = {"first": self.end, "last": self.end + size - 1}
        self.lines.append({"type": "produce", "t": time.monotonic_ns(), **self.place, **span})
        self.end += size

    def _read(self, offset: int) -> int:
        """The base offset of the first batch that a read brings."""
        with Connection(self._server.upstream) as connection:
            partition = {"partition": 0, "fetchOffset": offset, "partitionMaxBytes": 1 << 20}
            asked = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 20, "isolationLevel": 0, "sessionId": 0, "sessionEpoch": -1}
            topics = [{"topic": self.name, "partitions": [partition]}]
            answer = connection.ask("Fetch", 11, {"replicaId": -1, **asked, "topics": topics}, complete=False)
        (row,) = answer["responses"][0]["partitions"]
        return next((head.base_offset for head in headers(row["records"] or b"")), -1)
