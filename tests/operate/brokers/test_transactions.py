"""Markers, aborted records and an open transaction at the head of a log, as real brokers write them."""

from __future__ import annotations

import asyncio
import shlex
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from share_state.operate.doctor import Tools, diagnose
from share_state.operate.doctor.facts import Facts
from share_state.operate.live import Health, LiveView, SharePartitionView, View
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.patience import wait_until
from tests.gateway.records import create_topic, produce
from tests.gateway.tools.driver import ToolDriver
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

GROUP, TOPIC = "committed", "head-of-log"
RECORDS = 6


def aborted(bootstrap: str, records: int) -> Producer:
    """A producer that has aborted a transaction with so many records."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "aborts", "log_level": 0})
    producer.init_transactions(60)
    producer.begin_transaction()
    written(producer, records)
    abort(bootstrap, producer)
    return producer


def abort(bootstrap: str, producer: Producer) -> None:
    """Abort a transaction, and wait for its marker: a broker may answer before it has written it."""
    producer.abort_transaction(60)

    def end(isolation: str) -> int:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "ends", "isolation.level": isolation})
        offsets: tuple[int, int] = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=60)
        consumer.close()
        return offsets[1]

    wait_until(lambda: end("read_committed") == end("read_uncommitted"), "the marker of the abort")


def written(producer: Producer, records: int) -> None:
    for number in range(records):
        producer.produce(TOPIC, b"%d" % number, partition=0)
    producer.flush(60)


async def looked_at(bootstrap: str) -> tuple[View, SharePartitionView]:
    async with LiveView(bootstrap) as live:
        view = await live.refresh()
    [one] = [one for group in view.groups if group.group == GROUP for one in group.share_partitions]
    return view, one


def test_what_is_at_the_head_of_a_log(broker: Broker) -> None:
    bootstrap = broker.bootstrap
    create_topic(bootstrap, TOPIC, 1)
    produce(bootstrap, TOPIC, [b"%d" % number for number in range(RECORDS)])
    configure_group(bootstrap, GROUP, **{"share.auto.offset.reset": "earliest", "share.isolation.level": "read_committed"})
    with confluent(Plan(bootstrap=bootstrap, group=GROUP, topics=[TOPIC], records=RECORDS), 0) as member:
        member.wait(60)
    # After what was settled: aborted records and their marker, which nobody is there to be given.
    producer = aborted(bootstrap, 5)
    _, one = asyncio.run(looked_at(bootstrap))
    assert (one.lag, one.head is not None and one.head.offset) == (6, None)
    assert (one.verdict.health, one.has_nothing_left) == (Health.OK, True)
    # One record more is one that waits.
    produce(bootstrap, TOPIC, [b"one"])
    _, one = asyncio.run(looked_at(bootstrap))
    assert (one.verdict.health, one.head is not None and one.head.offset) == (Health.NO_MEMBERS, RECORDS + 6)
    # A transaction that stays open holds back what comes after it.
    before_ms = time.time_ns() // 1_000_000
    producer.begin_transaction()
    written(producer, 3)
    produce(bootstrap, TOPIC, [b"behind"] * 20)
    view, one = asyncio.run(looked_at(bootstrap))
    found = one.transaction
    assert found is not None
    assert (found.offset, found.waiting) == (RECORDS + 7, 23)
    assert found.since_ms is not None
    assert before_ms <= found.since_ms <= time.time_ns() // 1_000_000
    # By a clock that is ten minutes ahead it hangs, and Kafka's tool takes the command.
    later = View(view.at_ms + 600_000, view.groups, view.behind, view.problems, view.failures_total)
    [hanging] = [each for each in diagnose(Facts(Tools(bootstrap), later)) if each.check == "open_transaction"]
    with ToolDriver() as tools:
        script, *arguments = shlex.split(hanging.commands[0])
        ran = tools.run(script.removesuffix(".sh"), *arguments)
    assert ran.code == 0, ran
    abort(bootstrap, producer)
    _, one = asyncio.run(looked_at(bootstrap))
    assert one.transaction is None
