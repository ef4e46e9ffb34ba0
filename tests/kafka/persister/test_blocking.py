"""The persister for programs without an event loop: any thread, one request for all who ask together."""

from __future__ import annotations

import gc
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import share_state as ss
from share_state.errors import InvalidRequestError
from share_state.kafka import KafkaPersister, PersisterClosedError, ShareCoordinatorServer, Topic, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.persister import MemoryPersister, Persister, drain_writes, lead
from tests.kafka.scripted import KEY, WRITE, write


def test_many_threads_share_one_connection() -> None:
    keys = [KEY._replace(partition=index) for index in range(64)]
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as (host, port), KafkaPersister(f"{host}:{port}") as kafka:
        assert isinstance(kafka, Persister)

        def work(key: ss.SharePartitionKey) -> int:
            kafka.reset_state(key, 1, key.partition)
            for start in range(10):
                kafka.write_state(key, write(start_offset=100 + start))
            return kafka.read_state(key, 1).start_offset

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(work, keys)) == [109] * 64
        # 64 look-ups and 768 calls.
        assert kafka.requests_sent < 832


def test_a_share_partition_is_led_over_it() -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as (host, port), KafkaPersister([f"{host}:{port}"]) as kafka:
        kafka.reset_state(KEY, 0, -1)
        leader = lead(kafka, KEY, leader_epoch=1, latest=100)
        leader.acquire("alice", [(100, 109)], max_records=10, now_ms=0)
        leader.acknowledge("alice", 100, 104, now_ms=1)
        assert list(drain_writes(leader, kafka, now_ms=1).values()) == [0]
        assert lead(kafka, KEY, leader_epoch=2).start_offset == 105
        leader.acknowledge("alice", 105, 109, now_ms=2)
        # Fenced: the member is told that this is not the leader.
        assert list(drain_writes(leader, kafka, now_ms=2).values()) == [6]
        kafka.delete_state(KEY)
        assert kafka.read_summary(KEY).start_offset == -1


def test_topic_ids() -> None:
    coordinator = ShareCoordinatorServer(MemoryPersister(), topics={"orders": Topic(KEY.topic_id, 3)})
    with serve_in_thread(coordinator) as (host, port), KafkaPersister(f"{host}:{port}") as kafka:
        ids = kafka.topic_ids(["orders", "x"])
        # The form of every other API, and not that of messages.
        assert ids == {"orders": "00010203-0405-0607-0809-0a0b0c0d0e0f"}
        with pytest.raises(InvalidRequestError) as refused:
            kafka.read_state(ss.SharePartitionKey("workers", ids["orders"], 0), 1)
        assert refused.value.key == ("workers", ids["orders"], 0)


def test_a_closed_persister_says_so_and_leaves_no_thread() -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as (host, port):
        kafka = KafkaPersister(f"{host}:{port}")
        kafka.reset_state(KEY, 1, 0)
        kafka.close()
        kafka.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "share-state-kafka"]
        with pytest.raises(PersisterClosedError):
            kafka.read_summary(KEY)
        with pytest.raises(PersisterClosedError):
            _ = kafka.requests_sent


def test_closing_while_others_call_ends_every_call() -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as (host, port):
        kafka = KafkaPersister(f"{host}:{port}")
        kafka.reset_state(KEY, 1, 0)
        started = threading.Barrier(5)

        def work(index: int) -> int:
            key = KEY._replace(partition=index)
            done = 0
            started.wait()
            try:
                while True:
                    kafka.reset_state(key, 1, 0)
                    done += 1
            except PersisterClosedError:
                return done

        with ThreadPoolExecutor(4) as pool:
            counts = [pool.submit(work, index) for index in range(4)]
            started.wait()
            kafka.read_summary(KEY)
            kafka.close()
            assert len([count.result(timeout=60) for count in counts]) == 4
    # A connection that nobody closes would be an error of the test.
    gc.collect()


class Interrupting(ShareCoordinatorServer):
    """Interrupts the main thread, once, when a write has come in."""

    interrupted = False

    async def respond(self, payload: bytes, here: Address) -> bytes | None:
        main = threading.main_thread().ident
        if int.from_bytes(payload[:2]) == WRITE and not self.interrupted and main is not None:
            self.interrupted = True
            signal.pthread_kill(main, signal.SIGINT)
        return await super().respond(payload, here)


def test_a_call_given_up_by_ctrl_c_is_still_answered_before_the_next() -> None:
    with serve_in_thread(Interrupting(MemoryPersister())) as (host, port), KafkaPersister(f"{host}:{port}") as kafka:
        kafka.reset_state(KEY, 1, 0)
        with pytest.raises(KeyboardInterrupt):
            kafka.write_state(KEY, write(start_offset=5))
        # It was on the wire, so it was carried out, and a younger one waits for that.
        kafka.write_state(KEY, write(start_offset=6))
        assert kafka.read_summary(KEY).start_offset == 6
