"""The server answers as Kafka does, codes and texts included: to what was recorded, and to a broker live."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import share_state as ss
from share_state.kafka import ShareCoordinatorServer, Topic, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.operate.analysis.topic_id import base64_id
from share_state.persister import MemoryPersister, Persister
from tests.kafka.real_broker import RealBroker
from tests.kafka.server import answers
from tests.kafka.server.answers import NEWEST, OLDER, VERSIONS, Message, ask, scenario

ID = "zaqk6kZrRv24zZ5f5qL_tQ"


def our_answers(store: Persister | None = None) -> list[Message]:
    coordinator = ShareCoordinatorServer(store or MemoryPersister(), topics={"orders": Topic(ID, 3)})
    with serve_in_thread(coordinator) as address:
        return asyncio.run(ask(address, ID, scenario()))


def recorded(version: str = NEWEST) -> list[Message]:
    given: list[Message] = json.loads(answers.recorded(version).read_text(encoding="utf-8"))
    return given


def test_every_answer_of_the_server_is_that_of_kafka_but_for_what_is_named() -> None:
    steps, ours, theirs = scenario(), our_answers(), recorded()
    assert len(steps) == len(ours) == len(theirs) == 99
    differing = 0
    for step, mine, kafkas in zip(steps, ours, theirs, strict=True):
        assert (mine != kafkas) == bool(step.ours), (step, mine, kafkas)
        differing += bool(step.ours)
    assert differing == 8


def test_the_older_release_answers_as_the_newest_but_for_what_is_named() -> None:
    steps, older, newest = scenario(OLDER), recorded(OLDER), recorded()
    assert len(steps) == len(older) == 96
    differing = Counter(step.older for step in steps)
    assert (differing[answers.TAKES_EPOCHS], differing[answers.OTHER_TEXT], differing[answers.GOES_BACK]) == (5, 2, 2)
    # What only the newest is asked stands at the end, so the answers of both are in step.
    for step, theirs, others, mine in zip(steps, older, newest[: len(steps)], our_answers()[: len(steps)], strict=True):
        assert (theirs != others) == bool(step.older), (step, theirs, others)
        # And so is the server's.
        assert (theirs != mine) == bool(step.older or step.ours), (step, theirs, mine)
        if step.older == answers.OTHER_TEXT:
            assert without_text(theirs) == without_text(others)


def without_text(answer: Message) -> Message:
    """An answer with its codes alone."""
    copied: Message = json.loads(json.dumps(answer))
    for topic in copied["results"]:
        for partition in topic["partitions"]:
            del partition["errorMessage"]
    return copied


def test_a_store_that_takes_many_at_once_answers_the_same(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state", partitions=3) as store:
        assert our_answers(store) == our_answers()


def test_what_is_refused_on_purpose_is_refused_with_a_reason() -> None:
    refused = [
        partition
        for step, answer in zip(scenario(), our_answers(), strict=True)
        if step.ours not in {"", answers.FENCES} and "results" in answer
        for topic in answer["results"]
        for partition in topic["partitions"]
    ]
    assert [partition["errorCode"] for partition in refused] == [42] * 7
    assert all(partition["errorMessage"] for partition in refused)


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_real_broker_answers_as_recorded(version: str, real_brokers: Callable[[str], RealBroker]) -> None:
    broker = real_brokers(version)
    topic_id = base64_id(broker.create_topic("asked", 3))
    given = asyncio.run(ask(Address("127.0.0.1", broker.port), topic_id, scenario(version)))
    if os.environ.get("RECORD_ANSWERS"):
        text = "[\n" + ",\n".join(json.dumps(answer, sort_keys=True) for answer in given) + "\n]\n"
        answers.recorded(version).write_text(text, encoding="utf-8")
    assert given == recorded(version)
