"""The fake coordinator answers as Kafka does, codes and texts included: to what was recorded, and to a broker live."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

import share_state as ss
from share_state.kafka import FakeShareCoordinator, Topic, serve_in_thread
from share_state.kafka.peers import Address
from share_state.persister import MemoryPersister, Persister
from tests.python.kafka_persister.answers import RECORDED, Message, ask, scenario
from tests.python.kafka_persister.real_broker import running

ID = "zaqk6kZrRv24zZ5f5qL_tQ"


def fake_answers(store: Persister | None = None) -> list[Message]:
    coordinator = FakeShareCoordinator(store or MemoryPersister(), topics={"orders": Topic(ID, 3)})
    with serve_in_thread(coordinator) as address:
        return asyncio.run(ask(address, ID, scenario()))


def recorded() -> list[Message]:
    answers: list[Message] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return answers


def test_every_answer_of_the_fake_is_that_of_kafka_but_for_what_is_named() -> None:
    steps, ours, theirs = scenario(), fake_answers(), recorded()
    assert len(steps) == len(ours) == len(theirs) == 99
    differing = 0
    for step, mine, kafkas in zip(steps, ours, theirs, strict=True):
        assert (mine != kafkas) == bool(step.ours), (step, mine, kafkas)
        differing += bool(step.ours)
    assert differing == 7


def test_a_store_that_takes_many_at_once_answers_the_same(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state", partitions=3) as store:
        assert fake_answers(store) == fake_answers()


def test_what_is_refused_on_purpose_is_refused_with_a_reason() -> None:
    refused = [
        partition
        for step, answer in zip(scenario(), fake_answers(), strict=True)
        if step.ours and "results" in answer
        for topic in answer["results"]
        for partition in topic["partitions"]
    ]
    assert [partition["errorCode"] for partition in refused] == [42] * 7
    assert all(partition["errorMessage"] for partition in refused)


@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_a_real_broker_answers_as_recorded(tmp_path: Path) -> None:
    with running("4.4.0", tmp_path) as broker:
        topic_id = broker.create_topic("orders", 3)
        answers = asyncio.run(ask(Address("127.0.0.1", broker.port), topic_id, scenario()))
    if os.environ.get("RECORD_ANSWERS"):
        text = "[\n" + ",\n".join(json.dumps(answer, sort_keys=True) for answer in answers) + "\n]\n"
        RECORDED.write_text(text, encoding="utf-8")
    assert answers == recorded()
