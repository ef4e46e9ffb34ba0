"""Errors of the client name the field and the value, the code and the broker, and never a secret."""

from __future__ import annotations

import asyncio
import queue
import ssl
import sys
from typing import Any

import pytest

import share_state as ss
from share_state.errors import ConfigError, InvalidRequestError
from share_state.kafka import (
    AsyncKafkaPersister,
    CoordinatorUnavailableError,
    KafkaPersister,
    PersisterClosedError,
    Plain,
    RetryPolicy,
    Scram,
    SecurityOptions,
    blocking,
    operations,
)
from share_state.kafka.cluster import UnavailableError
from share_state.kafka.connection import Connection, ConnectionOptions, _is_about_our_certificate
from share_state.kafka.peers import API_VERSIONS, PERSISTER_APIS, Address, LostError, Node, spoken
from share_state.kafka.security import UnconvincedError
from tests.python.kafka_persister.scripted import (
    FIND,
    KEY,
    TOPIC,
    WRITE,
    ScriptedBroker,
    TestClock,
    error,
    held,
    persister,
    run,
    write,
)

NODE = Node(4, Address("host", 9092))


@pytest.mark.parametrize("login", [("a\0b", "secret"), ("alice", "se\0cret"), ("\0", ""), ("", "\0")])
def test_plain_cannot_send_a_zero_character(login: tuple[str, str]) -> None:
    with pytest.raises(ConfigError) as refused:
        Plain(*login)
    expected = ("a user name or password of PLAIN contains a zero character", "username", None)
    assert (str(refused.value), refused.value.field, refused.value.value) == expected


@pytest.mark.parametrize("name", ["SCRAM-SHA-1", "scram-sha-256", ""])
def test_a_mechanism_of_scram_is_one_of_two(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Scram("alice", "secret", name)
    expected = (f"{name!r} is not one of SCRAM-SHA-256, SCRAM-SHA-512", "name", name)
    assert (str(refused.value), refused.value.field, refused.value.value) == expected
    assert Scram("alice", "secret").name == "SCRAM-SHA-512"


def test_scram_says_which_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scramp", None)
    with pytest.raises(ConfigError) as refused:
        Scram("alice", "secret", "SCRAM-SHA-256").start()
    assert str(refused.value).startswith("SCRAM needs the package scramp: ")
    assert ".[kafka-scram]" in str(refused.value)
    assert (refused.value.field, refused.value.value) == ("sasl", "SCRAM-SHA-256")


@pytest.mark.parametrize("said", [b"r=other,s=eA==,i=4096", b"e=no", b"\xff"])
def test_scram_says_why_it_is_not_convinced(said: bytes) -> None:
    async def test() -> None:
        conversation = Scram("alice", "secret", "SCRAM-SHA-256").start()
        await conversation.first()
        with pytest.raises(UnconvincedError) as refused:
            await conversation.answer(said)
        assert str(refused.value) not in {"", "None"}

    asyncio.run(test())


def test_a_name_to_check_needs_tls() -> None:
    with pytest.raises(ConfigError, match="server_hostname needs an ssl_context") as refused:
        SecurityOptions(server_hostname="broker")
    assert (refused.value.field, refused.value.value) == ("server_hostname", "broker")


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("SSLV3_ALERT_BAD_CERTIFICATE", True),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", True),
        ("TLSV1_ALERT_UNKNOWN_CA", True),
        ("TLSV1_ALERT_ACCESS_DENIED", True),
        ("TLSV1_ALERT_PROTOCOL_VERSION", False),
        ("CERTIFICATE_VERIFY_FAILED", False),
        ("ACCESS_DENIED", False),
        ("", False),
        (None, False),
    ],
)
def test_an_alert_about_our_certificate_is_told_from_others(reason: str | None, ours: bool) -> None:
    error = ssl.SSLError(1, "text")
    error.reason = reason  # type: ignore[assignment]
    assert _is_about_our_certificate(error) is ours
    if ours:
        options = ConnectionOptions(SecurityOptions(), TestClock(), "tester", 1, 1)
        lost = Connection(NODE, options)._certificate_refused(error)
        assert str(lost) == f"broker 4 (host:9092): our certificate is not taken, or none was shown: {reason}"
        assert (lost.code, lost.sent, lost.retriable) == (58, False, False)


def test_a_loss_is_told_again_and_as_unsent() -> None:
    lost = LostError("node", "gone", code=7, sent=True, retriable=False)
    for other, sent in ((lost.again(), True), (lost.unsent(), False)):
        assert other is not lost
        assert (str(other), other.node, other.reason, other.code, other.sent, other.retriable) == (
            "node: gone", "node", "gone", 7, sent, False,
        )  # fmt: skip
    assert LostError("node", "gone", code=7, sent=True).retriable


def test_a_broker_is_named_by_its_id_once_it_is_known() -> None:
    assert str(NODE) == "broker 4 (host:9092)"
    assert str(NODE._replace(id=0)) == "broker 0 (host:9092)"
    assert str(NODE._replace(id=-1)) == "host:9092"


def test_that_there_is_no_coordinator_has_its_code_and_its_broker() -> None:
    error = UnavailableError("not now", code=15, node=NODE)
    assert (str(error), error.code, error.node) == ("not now", 15, NODE)


def test_versions_that_are_spoken() -> None:
    assert spoken(10, since=6) == (6, 6)
    assert spoken(10)[0] < 6
    assert {key: API_VERSIONS[key] for key in (3, 10, 17, 18, 36)} == {
        3: (12, 13),
        10: (6, 6),
        17: (1, 1),
        18: (3, 3),
        36: (2, 2),
    }
    assert PERSISTER_APIS == {83: (0, 0), 84: (0, 0), 85: (0, 1), 86: (0, 0), 87: (0, 1)}


def told(error: PersisterClosedError) -> tuple[Any, ...]:
    return str(error), error.kafka_code, error.attempts, error.outcome_unknown


def test_a_closed_persister_says_so() -> None:
    async def test() -> None:
        client = AsyncKafkaPersister("a:1")
        await client.close()
        for asked in (client.read_summary(KEY), client.topic_ids(["orders"])):
            with pytest.raises(PersisterClosedError) as refused:
                await asked
            assert told(refused.value) == ("the persister is closed", 13, 0, False)

    run(test)
    client = KafkaPersister("a:1")
    client.close()
    client.close()
    for asked in (lambda: client.read_summary(KEY), lambda: client.topic_ids(["orders"]), lambda: client.requests_sent):
        with pytest.raises(PersisterClosedError) as refused:
            asked()
        assert told(refused.value) == ("the persister is closed", 13, 0, False)


def test_operations_are_these_elements_of_their_requests() -> None:
    state = ss.WriteState(1, 2, 3, 4, [ss.StateBatch(5, 6, 2, 1), ss.StateBatch(7, 7, 0, 1)])
    assert operations.initialize(KEY, 1, 2) == (83, "initialize", KEY, {"partition": 0, "stateEpoch": 1, "startOffset": 2}, 64)
    assert operations.read(KEY, 3) == (84, "read", KEY, {"partition": 0, "leaderEpoch": 3}, 64)
    assert operations.write(KEY, state) == (85, "write", KEY, (TOPIC, 0, state), 64 + 2 * 22)
    assert operations.delete(KEY) == (86, "delete", KEY, {"partition": 0}, 64)
    assert operations.summary(KEY) == (87, "read the summary of", KEY, {"partition": 0, "leaderEpoch": 0}, 64)


def test_answers_of_operations_are_read() -> None:
    batch = {"firstOffset": 5, "lastOffset": 6, "deliveryState": 2, "deliveryCount": 1}
    read = operations.read_result({"stateEpoch": 1, "startOffset": 2, "stateBatches": [batch]})
    assert read == ss.ReadStateResult(1, 2, [ss.StateBatch(5, 6, 2, 1)])
    summary = {"stateEpoch": 1, "leaderEpoch": 2, "startOffset": 3}
    assert operations.summary_result({**summary, "deliveryCompleteCount": 4}) == ss.StateSummary(1, 2, 3, 4)
    assert operations.summary_result(summary) == ss.StateSummary(1, 2, 3, -1)


def test_a_group_that_cannot_be_sent_is_refused_and_keys_are_spelled_in_base64() -> None:
    spelled = KEY._replace(topic_id="00010203-0405-0607-0809-0a0b0c0d0e0f", group="a:b")
    assert operations.normal(spelled) == ("a:b", TOPIC, 0)
    for group in ("\ud800", "g" * 32_760):
        with pytest.raises(InvalidRequestError, match=r"^the group cannot be sent: ") as refused:
            operations.normal(KEY._replace(group=group))
        assert refused.value.field == "groupId"


def test_a_persister_that_nobody_closes_does_not_keep_the_process() -> None:
    with KafkaPersister("a:1") as client:
        assert (client._thread.daemon, client._thread.name) == (True, "share-state-kafka")


@pytest.mark.parametrize("kind", [AsyncKafkaPersister, KafkaPersister])
def test_options_reach_the_connections(kind: Any) -> None:
    def options(client: Any) -> ConnectionOptions:
        found = client._client._cluster._connections._options
        if kind is KafkaPersister:
            client.close()
        assert isinstance(found, ConnectionOptions)
        return found

    usual = options(kind("a:1"))
    assert (usual.client_id, usual.connect_timeout, usual.request_timeout) == ("share-state", 10.0, 30.0)
    security, clock = SecurityOptions(sasl=Plain("alice", "secret")), TestClock()
    chosen = options(kind("a:1", security=security, client_id="me", connect_timeout=1, request_timeout=2, clock=clock))
    assert (chosen.security, chosen.client_id, chosen.connect_timeout, chosen.request_timeout) == (security, "me", 1, 2)
    assert chosen.clock is clock


def test_a_thread_that_is_interrupted_gives_its_call_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def acquire(self) -> None:
            raise KeyboardInterrupt

    answer = blocking._Answer()
    answer._ready = Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        answer.wait()
    assert answer.done()

    with KafkaPersister("a:1") as client:
        abandoned: queue.Queue[Any] = queue.Queue()
        monkeypatch.setattr(client._client.calls, "start", lambda _call: None)
        monkeypatch.setattr(client._client.calls, "abandon", abandoned.put)
        monkeypatch.setattr(blocking, "_Answer", lambda: answer)
        with pytest.raises(KeyboardInterrupt):
            client.read_summary(KEY)
        assert abandoned.get(timeout=60).result is answer


def test_a_call_without_a_coordinator_says_what_the_broker_said() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            address = await broker.start()
            async with persister(address, retry=RetryPolicy(attempts=1)) as client:
                broker.always[FIND] = error(15, "not now")
                with pytest.raises(CoordinatorUnavailableError) as refused:
                    await client.read_summary(KEY)
            node = f"{address.host}:{address.port}"
            said = f"{node}: no coordinator for {KEY!r}: code 15 (COORDINATOR_NOT_AVAILABLE): not now"
            assert str(refused.value) == f"cannot read the summary of {KEY!r}: {said}"
            assert (refused.value.kafka_code, refused.value.node, refused.value.key) == (15, node, KEY)

    run(test)


def test_a_call_that_is_answered_cannot_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            calls = client._client.calls
            started: list[Any] = []
            start = calls.start

            def noted(call: Any) -> None:
                started.append(call)
                start(call)

            monkeypatch.setattr(calls, "start", noted)
            await client.initialize_state(KEY, 1, 0)
            release = asyncio.Event()
            broker.script[WRITE].append(held(release))
            following = asyncio.create_task(client.write_state(KEY, write(start_offset=5)))
            await broker.until(lambda: bool(broker.said(WRITE)))
            # Its share partition is that of the next call by now.
            calls.abandon(started[0])
            release.set()
            await following
            assert broker.store.read_summary(KEY).start_offset == 5

    run(test)
