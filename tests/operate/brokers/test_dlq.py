"""`share-state dlq` on real brokers: 4.4 with a dead-letter queue, 4.3 with the archived records of the share state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from share_state.operate.dead_letters import Cause, DeadLetter, Filter, Identity, Intervals, Letters, Source, read_journal
from tests.cli_in_process import run_here
from tests.cli_runner import environment, run
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.patience import PATIENCE_S, wait_until
from tests.gateway.records import create_topic, end_offset
from tests.kafka.broker import Broker
from tests.kafka.home import JUDGE
from tests.kafka.roundtrip.workload import admin_of

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

GROUP, QUEUE = "dlq-workers", "dlq.workers"
#: All records of one are rejected, all of the other are released until the limit.
REJECTED, RELEASED = "dlq-rejected", "dlq-released"
MANY, FEW, LIMIT = 1_200, 3, 2
#: Time of the first record, in ms since the epoch: an hour ago, which retention leaves alone.
BORN = (time.time_ns() // 1_000_000) - 3_600_000


class Dead(NamedTuple):
    """A broker with dead letters."""

    broker: Broker
    cluster: str
    #: 4.4 has a queue.
    has_queue: bool
    #: The letters of each source that there is: the queue, the history.
    letters: list[list[DeadLetter]]


@pytest.fixture(scope="module")
def dead(broker: Broker) -> Dead:
    has_queue = broker.version == JUDGE
    configs = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": str(LIMIT)}
    if has_queue:
        create_topic(broker.bootstrap, QUEUE, 2, configs={"errors.deadletterqueue.group.enable": "true"})
        configs["errors.deadletterqueue.topic.name"] = QUEUE
    configure_group(broker.bootstrap, GROUP, **configs)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for topic, records in ((REJECTED, MANY), (RELEASED, FEW)):
        create_topic(broker.bootstrap, topic, 2)
        for number in range(records):
            producer.produce(
                topic,
                # A tombstone stays one.
                None if number == 2 else b"value %d" % number,
                key=b"key %d" % number,
                partition=number % 2,
                headers=[("n", b"%d" % number), ("n", None)],
                timestamp=BORN + number,
            )
    assert producer.flush(30) == 0
    plans = [
        Plan(bootstrap=broker.bootstrap, group=GROUP, topics=[REJECTED], weights=(0, 0, 1, 0), records=MANY),
        Plan(bootstrap=broker.bootstrap, group=GROUP, topics=[RELEASED], weights=(0, 1, 0, 0), records=FEW * LIMIT),
    ]
    with confluent(plans[0]) as one, confluent(plans[1]) as other:
        assert [member.wait(60) for member in (one, other)] == [0, 0]
        assert one.errors() + other.errors() == []
    cluster = f"kafka://{broker.bootstrap}"
    # The queue, and that it was written, come after the acknowledgement.
    sources = [QUEUE, None] if has_queue else [None]
    return Dead(broker, cluster, has_queue, [settled(cluster, queue) for queue in sources])


def settled(cluster: str, queue: str | None) -> list[DeadLetter]:
    """Dead letters of a queue, or of the history, once it tells of all."""
    found: list[DeadLetter] = []

    def complete() -> bool:
        found[:] = Letters(cluster, Source(GROUP, queue, LIMIT))
        return Intervals(found).count() == MANY + FEW

    wait_until(complete, "every record is dead-lettered")
    return found


def rows(dead: Dead, *arguments: str | Path, status: int = 0) -> list[dict[str, Any]]:
    """Rows that `share-state dlq` prints."""
    ran = run_here("dlq", arguments[0], dead.cluster, GROUP, *arguments[1:], "--format", "jsonl")
    assert ran.returncode == status, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def consumed(dead: Dead, topic: str, partitions: int) -> list[Message]:
    """Every record of a topic."""
    places = [TopicPartition(topic, one, 0) for one in range(partitions)]
    settings = {"bootstrap.servers": dead.broker.bootstrap, "group.id": "dlq-reader", "fetch.wait.max.ms": 10, "log_level": 0}
    consumer = Consumer(settings)
    try:
        end = sum(consumer.get_watermark_offsets(place, timeout=PATIENCE_S)[1] for place in places)
        consumer.assign(places)
        found: list[Message] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(found) < end:
            assert time.monotonic() < deadline, f"{topic} has {len(found)} of {end} records"
            found += consumer.consume(5_000, 0.05)
        return found
    finally:
        consumer.close()


def headers(message: Message) -> list[tuple[str, bytes | None]]:
    return cast("list[tuple[str, bytes | None]]", message.headers() or [])


def redriven_from(message: Message) -> dict[str, Any]:
    name, value = headers(message)[-1]
    assert name == "redriven-from"
    assert isinstance(value, bytes)
    told: dict[str, Any] = json.loads(value)
    return told


def test_it_lists_which_why_and_when(dead: Dead) -> None:
    found = rows(dead, "list")
    by_cause = Counter[tuple[str, str, int]]()
    for row in found:
        by_cause[row["topic"], row["cause"], row["delivery_count"]] += row["last_offset"] - row["first_offset"] + 1
        assert row["timestamp"] > BORN
        assert (row["queue_topic"] == QUEUE, row["message"] is not None) == (dead.has_queue, dead.has_queue)
    assert by_cause == {(REJECTED, "rejected", 1): MANY, (RELEASED, "delivery_limit", LIMIT): FEW}
    # The history tells of the same records, with the same causes.
    for letters in dead.letters:
        for wanted, count in (
            (Filter(topic=REJECTED, partition=1, first_offset=10, last_offset=19), 10),
            (Filter(causes=frozenset({Cause.DELIVERY_LIMIT})), FEW),
            (Filter(until=BORN), 0),
        ):
            assert Intervals(part for letter in letters if (part := wanted.within(letter)) is not None).count() == count


def test_it_shows_their_payloads(dead: Dead) -> None:
    (row,) = rows(dead, "show", "--topic", REJECTED, "--partition", "1", "--offset", "0")
    assert (row["topic"], row["partition"], row["first_offset"], row["missing"]) == (REJECTED, 1, 0, None)
    assert (row["key"]["text"], row["value"]["text"], row["record_timestamp"]) == ("key 1", "value 1", BORN + 1)
    assert [(header["name"], header["value"] and header["value"]["text"]) for header in row["headers"]] == [
        ("n", "1"),
        ("n", None),
    ]


def test_a_redrive_sends_each_as_it_was_and_once(dead: Dead, tmp_path: Path) -> None:
    target, journal = "dlq-released-again", tmp_path / "journal"
    create_topic(dead.broker.bootstrap, target, 3)
    order = ("redrive", "--topic", RELEASED, "--to", target, "--journal", journal)
    dry = rows(dead, *order)
    assert Counter(row["outcome"] for row in dry) == {"would_send": FEW}
    assert not journal.exists()
    assert consumed(dead, target, 3) == []
    sent = rows(dead, *order, "--execute")
    assert [(row["outcome"], row["to_topic"]) for row in sent] == [("sent", target)] * FEW
    messages = {message.key(): message for message in consumed(dead, target, 3)}
    assert len(messages) == FEW
    for number in range(FEW):
        message = messages[b"key %d" % number]
        assert message.value() == (None if number == 2 else b"value %d" % number)
        assert message.timestamp()[1] == BORN + number
        assert headers(message)[:-1] == [("n", b"%d" % number), ("n", None)]
        place = redriven_from(message)
        assert (place["topic"], place["partition"], place["offset"]) == (RELEASED, number % 2, number // 2)
        assert place["group"] == GROUP
        (row,) = [row for row in sent if (row["partition"], row["first_offset"]) == (number % 2, number // 2)]
        assert (row["to_partition"], row["to_offset"]) == (message.partition(), message.offset())


def test_after_a_kill_every_record_is_there_exactly_once(dead: Dead, tmp_path: Path) -> None:
    target, journal = "dlq-rejected-again", tmp_path / "journal"
    create_topic(dead.broker.bootstrap, target, 2)
    places = [TopicPartition(target, one) for one in range(2)]
    order = ["dlq", "redrive", dead.cluster, GROUP, "--topic", REJECTED, "--to", target, "--journal", str(journal), "--execute"]
    # It needs no other client.
    alone = "import sys; sys.modules['confluent_kafka'] = None; from share_state.cli import main; main()"
    killed = subprocess.Popen(
        [sys.executable, "-c", alone, *order, "--rate", "300"], env=environment(), stdout=subprocess.DEVNULL
    )
    try:
        # One batch is confirmed, and some of the next one are in the target.
        wait_until(lambda: sum(end_offset(dead.broker.bootstrap, place) for place in places) > 330, "it is in the middle")
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    admin = admin_of(dead.broker)
    cluster = admin.describe_cluster().result().cluster_id
    state = read_journal(journal, Identity(cluster, GROUP, target))
    assert state is not None
    assert (state.sent_count, len(state.in_doubt)) == (300, 300)
    ran = run(*order, "--settle", "0.5", "--format", "jsonl")
    assert ran.returncode == 0, ran.stderr
    sent = [json.loads(line) for line in ran.stdout.splitlines()]
    found = Counter((place["partition"], place["offset"]) for place in map(redriven_from, consumed(dead, target, 2)))
    assert found == Counter((number % 2, number // 2) for number in range(MANY))
    # Some of those in doubt were in the target, and were not sent again.
    assert 0 < MANY - 300 - len(sent) < 300
    assert f"of those {MANY - 300 - len(sent)} were in doubt and are in the target" in ran.stderr


def test_what_is_gone_is_told_and_not_sent(dead: Dead, tmp_path: Path) -> None:
    target = "dlq-gone-again"
    create_topic(dead.broker.bootstrap, target, 1)
    place = TopicPartition(RELEASED, 0, 1)
    admin = admin_of(dead.broker)
    admin.delete_records([place])[place].result()
    order = ("redrive", "--topic", RELEASED, "--to", target, "--execute", "--journal", tmp_path / "journal")
    found = rows(dead, *order, status=4)
    told = sorted((row["partition"], row["first_offset"], row["outcome"], row["reason"]) for row in found)
    assert told == [(0, 0, "missing", "below_log_start"), (0, 1, "sent", None), (1, 0, "sent", None)]
    assert len(consumed(dead, target, 1)) == 2


@pytest.mark.parametrize("more", [(), ("--execute",)], ids=["dry", "execute"])
def test_a_mistyped_target_is_not_created(dead: Dead, tmp_path: Path, more: tuple[str, ...]) -> None:
    order = ("--topic", RELEASED, "--to", "retyr", "--journal", str(tmp_path / "journal"))
    ran = run("dlq", "redrive", dead.cluster, GROUP, *order, *more)
    assert ran.returncode == 2
    assert "topic retyr is not in the cluster" in ran.stderr
    # All are listed: to ask for one by its name would create it.
    assert "retyr" not in admin_of(dead.broker).list_topics(timeout=PATIENCE_S).topics
