"""Limits on what clients may take up: frames, bytes that wait, answers that are not read, time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Access, Limits, ShareGateway
from share_state.gateway.limits import AnswerBytes, WorkBytes
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.kafka.queued_bytes import QueuedBytes
from tests.gateway.hostile.upstream import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.serving import TOPIC, fetch, heartbeat, serving, topic_id, upstream
from tests.gateway.wire.codec import api_key, encode
from tests.gateway.wire.connection import Connection, Disconnected, request_header

API_VERSIONS = b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff"
MIB = 1 << 20


def connected(gateway: ShareGateway, receive_buffer: int | None = None) -> socket.socket:
    made = socket.socket()
    made.settimeout(60)
    if receive_buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    made.connect(gateway.address)
    return made


def is_closed(connection: socket.socket) -> bool:
    """Read to the end, however long it takes."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


def holds_records(answer: dict[str, Any]) -> bool:
    """Returns true if a ShareFetch has brought any; a share partition without news is not listed."""
    return any(partition["acquiredRecords"] for topic in answer["responses"] for partition in topic["partitions"])


@pytest.mark.parametrize(
    ("api_key", "length", "is_taken"),
    [(78, 8 * MIB, True), (78, 8 * MIB + 1, False), (79, 8 * MIB, True), (79, 8 * MIB + 1, False), (3, MIB, True),
     (3, MIB + 1, False), (76, MIB + 1, False), (0x7000, MIB + 1, False)],
)  # fmt: skip
def test_frames_have_an_end(bootstrap: str, tmp_path: Path, api_key: int, length: int, is_taken: bool) -> None:
    with serving(bootstrap, tmp_path) as gateway, connected(gateway) as connection:
        # Its length and its key: an answer comes only where the rest is waited for, and the next request is garbage.
        connection.sendall(struct.pack(">ih", length, api_key))
        if is_taken:
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        else:
            assert is_closed(connection)


def test_a_request_that_does_not_arrive(bootstrap: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with (
        serving(bootstrap, tmp_path, limits=Limits(frame_time=0.2)) as gateway,
        connected(gateway) as slow,
        Connection(gateway.bootstrap_servers) as other,
    ):
        slow.sendall(API_VERSIONS[:6])
        assert is_closed(slow)
        # A connection between two requests is no such thing.
        assert other.offered()
    with serving(bootstrap, tmp_path / "drip", limits=Limits(frame_time=0.5)) as gateway, connected(gateway) as drip:
        done = threading.Event()

        def send_a_byte_at_a_time() -> None:
            while not done.wait(0.05):
                try:
                    drip.sendall(b"\0")
                except OSError:
                    return

        drip.sendall(struct.pack(">ih", MIB, 3))
        dripping = threading.Thread(target=send_a_byte_at_a_time)
        dripping.start()
        assert is_closed(drip)
        done.set()
        dripping.join()
    texts = [f"closed a connection: a request has not arrived within {seconds} s: " for seconds in (0.2, 0.5)]
    assert [text[: len(begins)] for text, begins in zip(caplog.messages, texts, strict=True)] == texts


def test_many_requests_at_once_are_answered_in_order(bootstrap: str, tmp_path: Path) -> None:
    with serving(bootstrap, tmp_path) as gateway, connected(gateway) as connection:
        count = 5000
        requests = b"".join(API_VERSIONS[:8] + struct.pack(">i", number) + API_VERSIONS[12:] for number in range(count))
        sender = threading.Thread(target=connection.sendall, args=(requests,))
        sender.start()
        answers = connection.makefile("rb")
        for number in range(count):
            (length,) = struct.unpack(">i", answers.read(4))
            assert struct.unpack_from(">i", answers.read(length)) == (number,)
        sender.join()
        assert gateway.server._serving.queued.total == 0


def test_connections_have_an_end(bootstrap: str, tmp_path: Path) -> None:
    with serving(bootstrap, tmp_path, limits=Limits(connections=3)) as gateway:
        held = [Connection(gateway.bootstrap_servers) for _ in range(3)]
        assert all(connection.offered() for connection in held)
        with connected(gateway) as one_more:
            assert is_closed(one_more)
        assert gateway.server.refused == 1
        held[0].close()
        for _ in range(1000):
            # The place is free as soon as the gateway has seen that.
            try:
                with Connection(gateway.bootstrap_servers) as again:
                    again.offered()
                break
            except (Disconnected, OSError):
                continue
        else:
            pytest.fail("the place was not given back")
        for connection in held[1:]:
            assert connection.offered()
            connection.close()


def test_a_silent_connection_is_closed(bootstrap: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "share_state.gateway.clients")
    with serving(bootstrap, tmp_path, limits=Limits(idle=0.2)) as gateway, connected(gateway) as silent:
        assert is_closed(silent)
    assert any(text.startswith("closed a silent connection: ") for text in caplog.messages)


def test_who_has_sent_most_is_cut_off(bootstrap: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with (
        serving(bootstrap, tmp_path, limits=Limits(queued=3 * MIB)) as gateway,
        connected(gateway) as large,
        connected(gateway) as small,
    ):
        small.sendall(struct.pack(">ih", MIB, 3) + bytes(MIB // 2))
        with contextlib.suppress(OSError):
            large.sendall(struct.pack(">ih", 8 * MIB, 78) + bytes(7 * MIB))
        assert is_closed(large)
        small.settimeout(0.2)
        with pytest.raises(TimeoutError):
            small.recv(1)
        assert f"bytes of its requests wait, and those of all clients are more than {3 * MIB}" in caplog.messages[0]


def client(number: int = 1) -> Client:
    return Client(number, "", Address("", 0), Access())


def test_bytes_of_requests() -> None:
    cut: list[str] = []

    class Holder:
        def __init__(self, name: str) -> None:
            self._name = name

        def cut_off(self, why: str) -> None:
            cut.append(f"{self._name}: {why}")

    a, b, c = (Holder(name) for name in "abc")
    queued = QueuedBytes(100)
    queued.add(a, 40)
    queued.add(b, 60)
    assert (queued.total, cut) == (100, [])
    queued.add(c, 1)
    assert (queued.total, cut) == (41, ["b: 60 bytes of its requests wait, and those of all clients are more than 100"])
    queued.remove(b, 60)
    queued.remove(a, 30)
    queued.remove(c, 1)
    assert queued.total == 10
    queued.forget(a)
    queued.forget(a)
    assert queued.total == 0


def test_work_waits_for_its_turn() -> None:
    async def test() -> list[str]:
        work, log = WorkBytes(10_000), list[str]()

        async def one(name: str, count: int, until: asyncio.Event) -> None:
            async with work.of(count):
                log.append(name)
                await until.wait()

        first, second = asyncio.Event(), asyncio.Event()
        tasks = [asyncio.create_task(one("large", 50_000, first)), asyncio.create_task(one("small", 2048, first))]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(one(name, 5000, second)) for name in ("a", "cancelled", "b", "c")]
        await asyncio.sleep(0)
        assert log == ["large", "small"]
        tasks[3].cancel()
        first.set()
        await asyncio.gather(*tasks[:2])
        for _ in range(3):
            await asyncio.sleep(0)
        assert log == ["large", "small", "a", "b"]
        # One that was given its turn, and is cancelled before it takes it, gives it on.
        second.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert work.total == 0
        return log

    assert asyncio.run(test()) == ["large", "small", "a", "b", "c"]


def test_bytes_of_answers() -> None:
    answers, woken = AnswerBytes(1 << 20), list[str]()
    one, two = client(1), client(2)
    assert answers.allowed() == 1 << 18
    answers.hold(one, 1 << 19)
    assert answers.allowed() == 1 << 17
    answers.hold(one, 900_000)
    assert answers.allowed() == 0
    answers.hold(two, 200_000)
    assert answers.free < 0

    def again() -> None:
        woken.append("again")

    answers.wait(again)
    answers.give_back(two)
    assert woken == []
    answers.give_back(one)
    assert (woken, answers.free) == (["again"], 1 << 20)
    answers.leave(again)
    answers.leave(again)
    answers.give_back(one)
    assert (woken, answers.waiting) == (["again"], 0)


@pytest.fixture(scope="module")
def large() -> Iterator[str]:
    with upstream(40, 100_000) as address:
        yield address


def test_who_does_not_read_holds_up_nobody_else(large: str, tmp_path: Path) -> None:
    limits = Limits(answers=2 * MIB, answer_time=3600.0)
    with serving(large, tmp_path, limits=limits) as gateway:
        slow: list[Connection] = []
        with Connection(gateway.bootstrap_servers) as connection:
            place = topic_id(connection)
        for number in range(12):
            connection = Connection(gateway.bootstrap_servers)
            connection._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.ask("ShareGroupHeartbeat", 1, heartbeat(f"group {number}"))

            asked = fetch(f"group {number}", 0, [(place, 0)], maxWaitMs=200, maxBytes=50 << 20)
            connection.send(api_key("ShareFetch"), 1, encode(api_key("ShareFetch"), 1, asked))
            slow.append(connection)
        with Connection(gateway.bootstrap_servers) as other:
            other.ask("ShareGroupHeartbeat", 1, heartbeat("last"))
            # Others are served meanwhile; there may be no records for them.
            answer = other.ask("ShareFetch", 1, fetch("last", 0, [(place, 0)], maxWaitMs=200), complete=False)
            assert answer["errorCode"] == 0
            assert gateway._answers.free > -2 * MIB
            assert gateway.plane.node.figures()["answer_bytes"] < 4 * MIB
            for connection in slow:
                connection.close()
            found = other.ask("ShareFetch", 1, fetch("last", 1, [], maxWaitMs=20_000), complete=False)
            assert found["errorCode"] == 0
            assert holds_records(answer) or holds_records(found)


def test_an_answer_that_is_not_taken_ends_the_connection(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with (
        HostileUpstream() as broker,
        serving(broker.bootstrap, tmp_path, limits=Limits(answer_time=0.3)) as gateway,
        connected(gateway, 4096) as slow,
    ):
        # More than sockets' buffers hold of an answer.
        broker.create(TOPIC)
        broker.append(TOPIC, 0, [bytes(20 * MIB)])
        with Connection(gateway.bootstrap_servers) as connection:
            connection.ask("ShareGroupHeartbeat", 1, heartbeat("slow"))
            place = topic_id(connection)

        key = api_key("ShareFetch")
        body = encode(key, 1, fetch("slow", 0, [(place, 0)], maxWaitMs=20_000, maxBytes=50 << 20))
        request = request_header(key, 1, 7, "slow") + body
        slow.sendall(struct.pack(">i", len(request)) + request)
        # The beginning is read, and then nothing for so long that the gateway is fed up.
        assert len(slow.recv(4, socket.MSG_WAITALL)) == 4
        text = "closed a connection: an answer was not taken within 0.3 s: "
        wait_until(lambda: any(message.startswith(text) for message in caplog.messages), "it is cut off")
        with Connection(gateway.bootstrap_servers) as connection:
            connection.ask("ShareGroupHeartbeat", 1, heartbeat("slow"))
            # What it held is released with its session, and goes to the next one.
            for _ in range(100):
                answer = connection.ask("ShareFetch", 1, fetch("slow", 0, [(place, 0)], maxWaitMs=1000), complete=False)
                if holds_records(answer):
                    break
            else:
                pytest.fail("the records were not released")
            # Answered when the answer before it is taken.
            connection.offered()
            assert gateway._answers.free == gateway.options.limits.answers
            assert gateway.plane.node.figures()["answer_bytes"] == 0
