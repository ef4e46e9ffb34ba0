"""The same load on three persisters: ours to be awaited, ours that blocks, and Kafka's ``DefaultStatePersister``.

A load has so many share partitions of one group and so many workers; each worker writes to its own share partitions in turn,
the next write when the last is answered. A write moves the start offset by ten and has two state batches.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from share_state import StateBatch, WriteState
from share_state.kafka import AsyncKafkaPersister, KafkaPersister
from share_state.types import SharePartitionKey
from tests.kafka import home
from tests.kafka.broker import Broker

#: Records that a write is about.
BATCH = 10


@dataclass(frozen=True, slots=True)
class Round:
    """What one round took. Times in ns; the latencies are those of each write; CPU time is the client's whole process."""

    nanos: int
    cpu_nanos: int
    requests: int
    latencies: list[int]


class Load(Protocol):
    """A persister under load."""

    name: str

    def round(self, concurrency: int, writes: int) -> Round:
        """Make so many writes, so many at a time."""

    def close(self) -> None:
        """Give up the connection."""


class _Keys:
    """The share partitions of one group, and how often each was written."""

    def __init__(self, group: str, topic_id: str, partitions: int) -> None:
        self._keys = [SharePartitionKey(group, topic_id, number) for number in range(partitions)]
        self._written = [0] * partitions

    def of_worker(self, worker: int, concurrency: int) -> range:
        return range(worker, len(self._keys), concurrency)

    def write(self, partition: int) -> tuple[SharePartitionKey, WriteState]:
        start = BATCH * self._written[partition]
        self._written[partition] += 1
        middle = start + BATCH // 2
        batches = [StateBatch(start, middle - 1, 2, 1), StateBatch(middle, start + BATCH - 1, 0, 1)]
        return self._keys[partition], WriteState(0, 1, start, BATCH // 2, batches)

    def begin(self, bootstrap: str) -> None:
        with KafkaPersister(bootstrap) as persister:
            for key in self._keys:
                persister.initialize_state(key, 0, 0)

    def check(self, bootstrap: str) -> None:
        """Check that the last write of every share partition is what the broker has."""
        with KafkaPersister(bootstrap) as persister:
            for key, written in zip(self._keys, self._written, strict=True):
                start = persister.read_summary(key).start_offset
                if start != max(0, BATCH * (written - 1)):
                    raise AssertionError(f"{key!r} was written {written} times and begins at {start}")


class Awaited:
    """``AsyncKafkaPersister``, a task a worker."""

    name = "AsyncKafkaPersister"

    def __init__(self, broker: Broker, topic_id: str, partitions: int) -> None:
        self._keys = _Keys("awaited", topic_id, partitions)
        self._keys.begin(broker.bootstrap)
        self._broker = broker
        self._loop = asyncio.new_event_loop()
        self._persister = AsyncKafkaPersister(broker.bootstrap)

    def round(self, concurrency: int, writes: int) -> Round:
        """See :meth:`Load.round`."""
        return self._loop.run_until_complete(self._round(concurrency, writes))

    async def _round(self, concurrency: int, writes: int) -> Round:
        left, latencies = writes, []

        async def work(worker: int) -> None:
            nonlocal left
            mine = self._keys.of_worker(worker, concurrency)
            turn = 0
            while left > 0:
                left -= 1
                key, state = self._keys.write(mine[turn % len(mine)])
                turn += 1
                began = time.perf_counter_ns()
                await self._persister.write_state(key, state)
                latencies.append(time.perf_counter_ns() - began)

        requests, cpu, start = self._persister.requests_sent, time.process_time_ns(), time.perf_counter_ns()
        await asyncio.gather(*(work(worker) for worker in range(concurrency)))
        nanos = time.perf_counter_ns() - start
        return Round(nanos, time.process_time_ns() - cpu, self._persister.requests_sent - requests, latencies)

    def close(self) -> None:
        """See :meth:`Load.close`."""
        self._loop.run_until_complete(self._persister.close())
        self._loop.close()
        self._keys.check(self._broker.bootstrap)


class Blocking:
    """``KafkaPersister``, a thread a worker."""

    name = "KafkaPersister"

    def __init__(self, broker: Broker, topic_id: str, partitions: int) -> None:
        self._keys = _Keys("blocking", topic_id, partitions)
        self._keys.begin(broker.bootstrap)
        self._broker = broker
        self._persister = KafkaPersister(broker.bootstrap)

    def round(self, concurrency: int, writes: int) -> Round:
        """See :meth:`Load.round`."""
        taking = threading.Lock()
        left = writes

        def work(worker: int) -> list[int]:
            nonlocal left
            latencies: list[int] = []
            mine = self._keys.of_worker(worker, concurrency)
            turn = 0
            while True:
                with taking:
                    if left == 0:
                        return latencies
                    left -= 1
                key, state = self._keys.write(mine[turn % len(mine)])
                turn += 1
                began = time.perf_counter_ns()
                self._persister.write_state(key, state)
                latencies.append(time.perf_counter_ns() - began)

        requests, cpu, start = self._persister.requests_sent, time.process_time_ns(), time.perf_counter_ns()
        with ThreadPoolExecutor(concurrency) as pool:
            latencies = [nanos for taken in pool.map(work, range(concurrency)) for nanos in taken]
        nanos = time.perf_counter_ns() - start
        return Round(nanos, time.process_time_ns() - cpu, self._persister.requests_sent - requests, latencies)

    def close(self) -> None:
        """See :meth:`Load.close`."""
        self._persister.close()
        self._keys.check(self._broker.bootstrap)


class Kafkas:
    """Kafka's own ``DefaultStatePersister``, in a process of its own (``PersisterLoad.java``)."""

    name = "DefaultStatePersister"

    def __init__(self, broker: Broker, topic_id: str, partitions: int) -> None:
        # Its writes are counted where they are made; here the states are begun.
        keys = _Keys("kafkas", topic_id, partitions)
        keys.begin(broker.bootstrap)
        classpath = f"{home.compiled('persister', Path(__file__).parent)}{os.pathsep}{home.libraries(home.JUDGE)}/*"
        arguments = [str(broker.properties), str(broker.port), "kafkas", topic_id, str(partitions)]
        self._process = subprocess.Popen(
            [home.java(), "-Xmx512m", "-cp", classpath, "PersisterLoad", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
        )

    def round(self, concurrency: int, writes: int) -> Round:
        """See :meth:`Load.round`."""
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the process has pipes")
        print(concurrency, writes, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"PersisterLoad has ended with status {self._process.wait()}")
        return Round(**json.loads(line))

    def close(self) -> None:
        """See :meth:`Load.close`."""
        self._process.communicate()
