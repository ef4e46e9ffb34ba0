"""A stand-in for a broker that is read: it keeps each Fetch until a test answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from share_state.gateway.counts import Counts
from share_state.gateway.upstream.lanes import BrokerLanes
from share_state.gateway.upstream.reader import PartitionReader, Source
from share_state.kafka.client.fetch import Answer
from share_state.kafka.client.fetch import decode as decode_answer
from share_state.kafka.client.peers import Address, Node
from tests.gateway.topics.rings import Rings
from tests.gateway.wire.codec import Message, decode

NODE = Node(7, Address("seven", 9092))
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
TAILS = [f"tail 7/1/{number}" for number in range(4)]
BACK = "back 7/1"


class Sent(NamedTuple):
    """A Fetch that waits for its answer."""

    lane: str
    version: int
    message: Message
    done: Callable[[Any], None]

    @property
    def offsets(self) -> dict[int, int]:
        """Offsets that it asks for, by partition."""
        return {row["partition"]: row["fetchOffset"] for topic in self.message["topics"] for row in topic["partitions"]}

    @property
    def session(self) -> tuple[int, int]:
        """Its id and epoch."""
        return self.message["sessionId"], self.message["sessionEpoch"]


class _Connection:
    def __init__(self, broker: Broker, lane: str) -> None:
        self.broker = broker
        self.lane = lane

    def version_of(self, api_key: int) -> int:
        return {1: self.broker.version}[api_key]

    async def ask(self, api_key: int, version: int, body: bytes, take_apart: Any) -> Any:
        assert (api_key, take_apart) == (1, decode_answer)
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(what: Any) -> None:
            if not answered.done():
                (answered.set_exception if isinstance(what, Exception) else answered.set_result)(what)

        self.broker.sent.append(Sent(self.lane, version, decode(1, version, body), done))
        return await answered


class Broker:
    """A broker, what it is asked, and the readers of its partitions."""

    def __init__(self, *, version: int = 13) -> None:
        self.version = version
        self.sent: list[Sent] = []
        self.opened: dict[str, _Connection] = {}
        self.is_away: Exception | None = None
        #: Answers that the readers were given, and lanes that they lost.
        self.taken: list[tuple[dict[PartitionReader, int], Answer]] = []
        self.lost: list[tuple[Node, list[PartitionReader], Exception]] = []
        self.readers = SimpleNamespace(
            upstream=SimpleNamespace(lane=self._lane),
            has_made_up_ids=False,
            counts=Counts(),
            take=lambda wanted, answer: self.taken.append((wanted, answer)),
            lost=lambda *what: self.lost.append(what),
        )
        self.lanes = BrokerLanes(cast("Any", self.readers), NODE, 1)

    def _lane(self, name: str) -> Any:
        async def connection(node: Node) -> _Connection:
            assert node == NODE
            if self.is_away is not None:
                raise self.is_away
            return self.opened.setdefault(name, _Connection(self, name))

        return SimpleNamespace(connection=connection)

    def reader(self, partition: int, tail: int = 0, *, wanted: tuple[int, ...] | None = None) -> PartitionReader:
        """Reader for a ring that waits for the records from its end on, or from other offsets."""
        made = PartitionReader(cast("Any", self.readers), Rings(), "t", Source(TOPIC_ID, partition, 1))
        made.lanes = self.lanes
        made.life, made.tail = 1, tail
        made.wanted = set((tail,) if wanted is None else wanted)
        return made

    async def turns(self) -> None:
        """Let everything happen that needs no answer."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def asks(self, *readers: PartitionReader) -> Sent:
        """Have the tails of readers read; gives the Fetch."""
        count = len(self.sent)
        for one in readers:
            self.lanes.read_tail(one)
        await self.turns()
        assert len(self.sent) == count + 1
        return self.sent[-1]

    async def answers(self, sent: Sent, session_id: int = 0, *, code: int = 0, throttle_ms: int = 0) -> Answer:
        """Answer a Fetch."""
        answer = Answer(throttle_ms, code, session_id, [], b"frame")
        sent.done(answer)
        await self.turns()
        return answer


def run(test: Callable[[Broker], Coroutine[Any, Any, None]], **options: int) -> None:
    async def whole() -> None:
        wrong: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        broker = Broker(**options)
        await test(broker)
        await broker.lanes.close()
        assert len(asyncio.all_tasks()) == 1
        assert wrong == []

    asyncio.run(whole())
