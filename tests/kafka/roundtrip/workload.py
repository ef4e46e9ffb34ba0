"""Workload of a broker: topics, groups, producers with transactions, and members that work, stall and vanish."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewTopic

from share_state import SharePartitionKey
from tests.kafka.broker import Broker
from tests.kafka.home import REPOSITORY
from tests.kafka.roundtrip.member import Plan
from tests.kafka.roundtrip.wire import Coordinator

#: Partitions of each topic.
TOPICS = {"orders": 2, "audit": 1, "tx": 1}


class Group(NamedTuple):
    """A share group: what it reads and its limits."""

    topics: list[str]
    config: dict[str, str]


WORKERS, TX_WORKERS, LEAVER, STALLER = "workers", "tx-workers", "leaver", "staller"
GROUPS = {
    WORKERS: Group(["orders", "audit"], {"share.record.lock.duration.ms": "1000", "share.delivery.count.limit": "3"}),
    TX_WORKERS: Group(["tx"], {"share.record.lock.duration.ms": "1500", "share.isolation.level": "read_committed"}),
    LEAVER: Group(["orders"], {"share.record.lock.duration.ms": "15000"}),
    # Its one member has the records to itself, and lets the first locks run out.
    STALLER: Group(["audit"], {"share.record.lock.duration.ms": "1000"}),
}

#: Settings that let members join and be missed quickly, and a broker come back quickly after it was killed.
BROKER_SETTINGS = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "3000",
}

STATE_TOPIC = "__share_group_state"
#: Acknowledgements after which a record never comes back.
SETTLING = frozenset({"ACCEPT", "REJECT", "GAP"})
_SEGMENT_BYTES = 32768

#: Seconds that members work at least in one phase, unless the broker is killed.
_SECONDS = 5.0

#: Bytes that members write before the kill and before they are told to leave, about thirty an acknowledgement.
_BYTES_BEFORE_KILL = 30_000
_BYTES_OF_A_PHASE = 90_000

#: Seconds to wait for what comes by itself.
_PATIENCE = 60.0

#: By then every partition has more records than are deleted.
_DELETE_AT_TURN = 8
DELETED = 60


class Acknowledged(NamedTuple):
    """Acknowledgement that the broker has answered."""

    group: str
    topic: str
    partition: int
    offset: int
    kind: str
    delivery_count: int
    error: int | None


def _ends(member: subprocess.Popen[bytes], seconds: float) -> bool:
    """Returns true if the member ends by itself. The client library may not come back from closing a consumer; then the
    member is killed, and has vanished as others do on purpose.
    """
    try:
        member.wait(seconds)
    except subprocess.TimeoutExpired:
        member.kill()
        return False
    return True


def _wait_for_work(directory: Path, members: list[subprocess.Popen[bytes]], size: int, also: Callable[[], bool]) -> None:
    """Wait until the members have written ``size`` bytes, and for one thing more."""
    while sum(output.stat().st_size for output in directory.iterdir()) < size or not also():
        assert any(member.poll() is None for member in members), "the members ended before they had done enough"
        time.sleep(0.05)


def admin_of(broker: Broker) -> AdminClient:
    """A client for administration; it has to outlive its answers."""
    return AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})


def _described(admin: AdminClient, name: str) -> Any:
    """Description of a topic by the broker, once it has heard of it from the controller."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return admin.describe_topics(TopicCollection([name]))[name].result()
        except KafkaException as error:
            unknown = error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
            if not unknown or time.monotonic() > until:
                raise


def create_topic(broker: Broker, name: str, partitions: int) -> str:
    """Make a topic; its id, hyphenated."""
    admin = admin_of(broker)
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
    topic_id = _described(admin, name).topic_id
    bits = (topic_id.get_most_significant_bits(), topic_id.get_least_significant_bits())
    high, low = (part & (2**64 - 1) for part in bits)
    return str(UUID(int=high << 64 | low))


class Workload:
    """The clients of one cluster through all its starts."""

    def __init__(self, broker: Broker, seed: int) -> None:
        self.broker = broker
        self.random = random.Random(seed)  # noqa: S311  a workload, not a secret
        #: Acknowledgements that the broker has answered, without what a reset of offsets took back.
        self.acknowledged: list[Acknowledged] = []
        self.vanished = 0
        self.aborted = 0
        #: The log start of the partition whose first records were deleted.
        self.deleted_below = 0
        self.topic_ids: dict[str, str] = {}

    def set_up(self) -> None:
        """Make the topics and configure the groups."""
        admin = admin_of(self.broker)
        self.topic_ids = {name: create_topic(self.broker, name, partitions) for name, partitions in TOPICS.items()}
        with Coordinator(self.broker.port) as coordinator:
            # Nobody's key: asking for its coordinator makes the state topic.
            coordinator.find(SharePartitionKey("nobody", str(UUID(int=1)), 0))
        resources = [
            ConfigResource(
                ConfigResource.Type.GROUP,
                name,
                incremental_configs=[
                    ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
                    for key, value in {"share.auto.offset.reset": "earliest", **group.config}.items()
                ],
            )
            for name, group in GROUPS.items()
        ]
        # Below what a user may set, which is 1 MiB.
        small = ConfigEntry("internal.segment.bytes", str(_SEGMENT_BYTES), incremental_operation=AlterConfigOpType.SET)
        resources.append(ConfigResource(ConfigResource.Type.TOPIC, STATE_TOPIC, incremental_configs=[small]))
        for done in admin.incremental_alter_configs(resources).values():
            done.result()

    def keys(self) -> list[SharePartitionKey]:
        """Every share partition that may have state."""
        return [
            SharePartitionKey(name, self.topic_ids[topic], partition)
            for name, group in GROUPS.items()
            for topic in group.topics
            for partition in range(TOPICS[topic])
        ]

    def run(self, directory: Path, *, delete_records: bool, kill: bool, also: Callable[[], bool] = lambda: True) -> None:
        """Plays a phase: members work while records come, until they have done enough and ``also`` holds, however slow the
        machine is; returns when all members are gone.

        With ``kill`` the broker ends in the middle of it, by SIGKILL, and the members with it.
        """
        plans = [
            (WORKERS, 0.0, 0), (STALLER, 1.5, 0), (WORKERS, 0.0, 150),
            (TX_WORKERS, 0.0, 0), (TX_WORKERS, 0.0, 60),
            (LEAVER, 0.0, 0), (LEAVER, 0.0, 100),
        ]  # fmt: skip
        directory.mkdir()
        begun = time.monotonic()
        with ExitStack() as cleanup:
            members = []
            hung: list[int] = []
            with self._producing(delete_records=delete_records):
                for number, (group, stall, vanish_after) in enumerate(plans):
                    seed = self.random.randrange(2**32)
                    plan = Plan(self.broker.bootstrap, group, GROUPS[group].topics, seed, _PATIENCE, stall, vanish_after)
                    output = cleanup.enter_context((directory / f"{number}-{group}.jsonl").open("w+", encoding="utf-8"))
                    command = [sys.executable, "-m", "tests.kafka.roundtrip.member", json.dumps(plan._asdict())]
                    member = cleanup.enter_context(
                        subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=output)
                    )
                    cleanup.callback(member.kill)
                    members.append((group, vanish_after, member, output))
                working = [member for _, _, member, _ in members]
                if kill:
                    _wait_for_work(directory, working, _BYTES_BEFORE_KILL, lambda: not delete_records or self.deleted_below > 0)
                else:
                    until = begun + _SECONDS
                    _wait_for_work(directory, working, _BYTES_OF_A_PHASE, lambda: time.monotonic() > until and also())
                    for member in working:
                        assert member.stdin is not None
                        member.stdin.close()
                    hung = [number for number, member in enumerate(working) if not _ends(member, 60)]
            if kill:
                # While they work: what they asked last may be written, half written, or never have arrived.
                self.broker.kill()
                for _, _, member, _ in members:
                    member.kill()
            assert len(hung) <= 1, f"members {hung} have not come to an end"
            for number, (group, vanish_after, member, output) in enumerate(members):
                status = member.wait(60)
                may_vanish = vanish_after or kill or number in hung
                assert status in ({0, -signal.SIGKILL} if may_vanish else {0}), f"a member of {group}: {status}"
                self.vanished += status != 0
                output.seek(0)
                self.acknowledged += [Acknowledged(group, *json.loads(line)) for line in output if line.endswith("\n")]

    def forget(self, group: str, topic: str) -> None:
        """Offsets were reset or deleted: what was acknowledged before counts no longer."""
        self.acknowledged = [one for one in self.acknowledged if (one.group, one.topic) != (group, topic)]

    def settled(self) -> Iterator[tuple[SharePartitionKey, int]]:
        """Every offset whose ACCEPT, REJECT or GAP the broker has confirmed."""
        for one in self.acknowledged:
            if one.error is None and one.kind in SETTLING:
                yield SharePartitionKey(one.group, self.topic_ids[one.topic], one.partition), one.offset

    def outcomes(self) -> Counter[tuple[str, bool]]:
        """Acknowledgements by type and success."""
        return Counter((one.kind, one.error is None) for one in self.acknowledged)

    def _delete_records(self) -> None:
        admin = admin_of(self.broker)
        place = TopicPartition("orders", 0, DELETED)
        self.deleted_below = admin.delete_records([place])[place].result().low_watermark

    @contextmanager
    def _producing(self, *, delete_records: bool) -> Iterator[None]:
        """Records come in small batches from the beginning to the end of the block."""
        enough = threading.Event()
        base = {"bootstrap.servers": self.broker.bootstrap, "linger.ms": 0, "log_level": 0}
        plain = Producer({**base, "batch.num.messages": 8})
        transactional = Producer({**base, "transactional.id": "tx", "batch.num.messages": 8})
        transactional.init_transactions(60)
        chance = random.Random(self.random.randrange(2**32))  # noqa: S311  a workload, not a secret

        def produce() -> None:
            for turn in itertools.count():
                if delete_records and turn == _DELETE_AT_TURN:
                    self._delete_records()
                for topic, partitions in (("orders", 2), ("orders", 2), ("audit", 1)):
                    for number in range(chance.randrange(4, 40)):
                        plain.produce(topic, b"%d" % number, partition=chance.randrange(partitions))
                plain.flush(60)
                transactional.begin_transaction()
                for number in range(chance.randrange(1, 20)):
                    transactional.produce("tx", b"%d" % number)
                if chance.random() < 0.3:
                    transactional.flush(60)
                    transactional.abort_transaction(60)
                    self.aborted += 1
                else:
                    transactional.commit_transaction(60)
                if enough.wait(0.1) and not (delete_records and turn < _DELETE_AT_TURN):
                    return

        thread = threading.Thread(target=produce)
        thread.start()
        try:
            yield
        finally:
            enough.set()
            thread.join()
