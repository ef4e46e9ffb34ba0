"""Share partitions in an asyncio broker: many on one event loop, with timers for their locks and an orderly end.

python -m examples.asyncio_broker.broker
"""

import asyncio
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Self

import share_state as ss
from share_state.async_persister import (
    AsyncPersister,
    AsyncStateStore,
    drain_writes_async,
    initialize_if_absent_async,
    lead_async,
)

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
ACCEPT = bytes([ss.AcknowledgeType.ACCEPT])
#: Records in a batch of the log.
BATCH = 10


class ServedPartition:
    """A share partition that this broker leads."""

    def __init__(self, engine: ss.SharePartition, persister: AsyncPersister, log_end: int) -> None:
        self.engine = engine
        self._persister = persister
        #: The first offset that no record has.
        self._log_end = log_end
        #: Aborted transactions in the log, as a fetch tells them: (producer id, first offset).
        self.aborted: list[tuple[int, int]] | None = None
        #: Fetches that found nothing wait for it.
        self._news = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        #: Writes that no member waits for.
        self._writing: set[asyncio.Task[None]] = set()
        self._stopped = False

    def read(self, offset: int) -> list[tuple[int, int] | ss.FetchedBatch]:
        """Read the log: the batches from the one that holds an offset on. A broker reads its own log here."""
        return [(first, first + BATCH - 1) for first in range(offset - offset % BATCH, self._log_end, BATCH)]

    async def fetch(self, member: str, max_records: int) -> list[ss.AcquiredRange]:
        """Give records to a member, once there are some; none when all are settled, or the broker ends."""
        while not self._stopped and not self._is_drained():
            offset = self.engine.next_fetch_offset()
            if ranges := self._acquire(member, offset, max_records):
                return ranges
            if self.engine.next_fetch_offset() == offset:
                self._news.clear()
                await self._news.wait()
        # Who else waits has nothing more to wait for.
        self._news.set()
        return []

    async def acknowledge(self, member: str, ranges: list[ss.AcquiredRange]) -> int:
        """Accept records; gives Kafka's code when the answer of the store is there."""
        batches = [(first, last, ACCEPT) for first, last, _ in ranges]
        token = self.engine.acknowledge_batches(member, batches, now_ms=ss.LockTime.now())
        try:
            # The answer is there, also where another drain has carried this write.
            answers = await drain_writes_async(self.engine, self._persister, now_ms=ss.LockTime.now())
        finally:
            self._news.set()
        return 0 if token is None else answers[token]

    def stop(self) -> None:
        """Give out nothing more, and wake who waits."""
        self._stopped = True
        self._news.set()

    async def close(self) -> None:
        """End the timer, and wait for the writes that no member waits for."""
        self.stop()
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._writing)

    def _is_drained(self) -> bool:
        """Tell whether nothing is left: what was read is settled, and there is no more to read, or another leader reads it.

        The start offset alone does not tell: it may stay before records that are archived in memory.
        """
        if self.engine.is_settled:
            return not self.read(self.engine.next_fetch_offset())
        return self.engine.status != "ACTIVE"

    def _acquire(self, member: str, offset: int, max_records: int) -> list[ss.AcquiredRange]:
        if not self.engine.can_acquire():
            return []
        # `aborted`: of a consumer that reads committed records only, the aborted transactions that the fetch told.
        now_ms = ss.LockTime.now()
        ranges = self.engine.acquire(
            member, self.read(offset), fetch_offset=offset, max_records=max_records, now_ms=now_ms, aborted=self.aborted
        )
        self._carry()
        self._arm()
        return ranges

    def _arm(self) -> None:
        """Set the timer to the next lock that runs out."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_ms = self.engine.poll_timeout()
        if due_ms is not None:
            wait_ms = max(0, due_ms - ss.LockTime.now().ms)
            self._timer = asyncio.get_running_loop().call_later(wait_ms / 1000, self._locks_expired)

    def _locks_expired(self) -> None:
        if self.engine.handle_timeout(now_ms=ss.LockTime.now()):
            self._news.set()
        self._carry()
        self._arm()

    def _carry(self) -> None:
        """Have the writes made that no member waits for: any call that takes the time may let locks run out."""
        if self.engine.tokens_to_poll:
            task = asyncio.get_running_loop().create_task(self._drain())
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _drain(self) -> None:
        try:
            await drain_writes_async(self.engine, self._persister, now_ms=ss.LockTime.now())
        finally:
            self._news.set()


class Broker:
    """Leads share partitions as they are asked for."""

    def __init__(self, persister: AsyncPersister, *, leader_epoch: int, config: ss.GroupConfig, log_end: int) -> None:
        self._persister = persister
        self._leader_epoch = leader_epoch
        self._config = config
        self._log_end = log_end
        self._loading: dict[ss.SharePartitionKey, asyncio.Task[ServedPartition]] = {}
        self._served: list[ServedPartition] = []
        self._stopped = False

    async def serve(self, key: ss.SharePartitionKey) -> ServedPartition:
        """Give a share partition; it is loaded once, however many ask."""
        if key not in self._loading:
            self._loading[key] = asyncio.create_task(self._lead(key))
        # A member that goes away while it waits does not take the load with it.
        return await asyncio.shield(self._loading[key])

    def stop(self) -> None:
        """Give out nothing more: members end when they have acknowledged what they hold."""
        self._stopped = True
        for served in self._served:
            served.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.stop()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        await asyncio.gather(*(served.close() for served in self._served))

    async def _lead(self, key: ss.SharePartitionKey) -> ServedPartition:
        try:
            # In Kafka the group coordinator does so, when the group is given the topic.
            await initialize_if_absent_async(self._persister, key, 1, 0)
            engine = await lead_async(self._persister, key, leader_epoch=self._leader_epoch, config=self._config)
        except BaseException:
            # Who asks next tries again.
            del self._loading[key]
            raise
        served = ServedPartition(engine, self._persister, self._log_end)
        self._served.append(served)
        if self._stopped:
            served.stop()
        return served


async def work(broker: Broker, key: ss.SharePartitionKey, member: str, told: Callable[[str, ss.AcquiredRange], None]) -> None:
    """Take records and accept them, a batch at a time. The member "bob" takes one and falls silent."""
    served = await broker.serve(key)
    while ranges := await served.fetch(member, BATCH):
        if member == "bob":
            return
        if await served.acknowledge(member, ranges) == 0:
            for accepted in ranges:
                told(f"{key.group}-{key.partition}", accepted)


async def run(
    path: Path, *, leader_epoch: int, partitions: int, records: int, told: Callable[[str, ss.AcquiredRange], None]
) -> dict[str, int]:
    """Serve until every record is accepted, or until SIGTERM. Each start needs a higher leader epoch."""
    config = ss.GroupConfig(record_lock_duration_ms=200)
    # Opening reads the log, which may take a while.
    store = await asyncio.to_thread(ss.open, path)
    async with (
        AsyncStateStore(store) as states,
        Broker(states, leader_epoch=leader_epoch, config=config, log_end=records) as broker,
        asyncio.TaskGroup() as members,
    ):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, broker.stop)
        for number in range(partitions):
            for member in ("bob", "alice"):
                members.create_task(work(broker, ss.SharePartitionKey("workers", TOPIC, number), member, told))
    return store.counters()


def main() -> None:
    """Serve 100 share partitions of 50 records."""
    deliveries: list[int] = []

    def told(_name: str, accepted: ss.AcquiredRange) -> None:
        deliveries.extend([accepted.delivery_count] * (accepted.last_offset - accepted.first_offset + 1))

    with tempfile.TemporaryDirectory() as directory:
        counters = asyncio.run(run(Path(directory) / "state", leader_epoch=1, partitions=100, records=50, told=told))
    print(f"{len(deliveries)} records accepted, {deliveries.count(2)} of them when bob's locks had run out")
    print(f"{counters['writes']} writes, {counters['fsyncs']} syncs")


if __name__ == "__main__":
    main()
