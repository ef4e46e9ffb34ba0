"""A broker that does what a test says, and a clock that a test moves. Real sockets on loopback, no waiting for time."""

from __future__ import annotations

import asyncio
import functools
import inspect
import struct
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, TypeVar, cast

import share_state as ss
from share_state.kafka import AsyncKafkaPersister, RetryPolicy, SecurityOptions, ShareCoordinatorServer
from share_state.kafka.client.peers import Address
from share_state.kafka.framing import MAX_FRAME, Request, read_frame, request_of, response_bytes
from share_state.persister import MemoryPersister

T = TypeVar("T")

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEY = ss.SharePartitionKey("workers", TOPIC, 0)
METADATA, FIND, HANDSHAKE, VERSIONS, AUTHENTICATE = 3, 10, 17, 18, 36
INITIALIZE, READ, WRITE, DELETE, SUMMARY = 83, 84, 85, 86, 87
#: Longer than any wait between attempts, so that the clock can tell them apart.
CONNECT_TIMEOUT, REQUEST_TIMEOUT = 500.0, 1000.0


def run(test: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a test on a loop of its own; nothing may be left on it."""

    async def whole() -> T:
        result = await test()
        # Closed transports are told on the next turns.
        for _ in range(20):
            await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    return asyncio.run(whole())


Test = Callable[..., Coroutine[Any, Any, None]]


def decorator_of(runner: Callable[[Test], object], gives: int) -> Callable[[Test], Callable[..., None]]:
    """Make a decorator of coroutine tests that a runner runs. It gives them so many arguments; the others are fixtures."""

    def decorate(test: Test) -> Callable[..., None]:
        @functools.wraps(test)
        def whole(**given: object) -> None:
            runner(functools.partial(test, **given))

        signature = inspect.signature(test)
        parameters = list(signature.parameters.values())[gives:]
        cast("Any", whole).__signature__ = signature.replace(parameters=parameters)
        return whole

    return decorate


on_loop = decorator_of(run, 0)


class Timer:
    def __init__(self, delay: float, callback: Callable[[], object]) -> None:
        self.delay = delay
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class TestClock:
    """Waits between attempts are over at once and remembered; time-outs are up when the test says so."""

    __test__ = False

    def __init__(self, drawn: float = 0.5, *, hold_waits: bool = False) -> None:
        self.drawn = drawn
        self.hold_waits = hold_waits
        self.waits: list[float] = []
        self.waited = asyncio.Event()
        self.timers: list[Timer] = []

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        timer = Timer(delay, callback)
        if delay >= CONNECT_TIMEOUT:
            self.timers.append(timer)
            return timer
        self.waits.append(delay)
        self.waited.set()
        if self.hold_waits:
            self.timers.append(timer)
        else:
            asyncio.get_running_loop().call_soon(lambda: None if timer.cancelled else callback())
        return timer

    def random(self) -> float:
        return self.drawn

    def expire(self, delay: float) -> int:
        """Let all time-outs of this length be up; how many there were."""
        due = [timer for timer in self.timers if timer.delay == delay and not timer.cancelled]
        for timer in due:
            timer.cancelled = True
            timer.callback()
        return len(due)


class Turn(NamedTuple):
    """A request that a broker has to answer."""

    broker: ScriptedBroker
    connection: int
    request: Request
    payload: bytes
    here: Address
    writer: asyncio.StreamWriter

    async def usual(self) -> bytes | None:
        return await self.broker.respond(self.payload, self.here)

    def answer(self, message: dict[str, Any]) -> bytes:
        body = ss.encode_message(self.request.api_key, self.request.version, message, response=True)
        return response_bytes(self.request.api_key, self.request.version, self.request.correlation_id, body)

    def asked(self) -> dict[str, Any]:
        return ss.decode_message(self.request.api_key, self.request.version, self.request.body)


#: Bytes to send, or None to close the connection.
Action = Callable[[Turn], Awaitable[bytes | None]]


class ScriptedBroker(ShareCoordinatorServer):
    """Answers as usual, except where the script says otherwise. Reads on while an answer is held back."""

    def __init__(self, **options: Any) -> None:
        self.store = MemoryPersister()
        super().__init__(self.store, **options)
        self.script: defaultdict[int, deque[Action]] = defaultdict(deque)
        self.always: dict[int, Action] = {}
        self.extra_versions: dict[int, tuple[int, int]] = {}
        self.seen: list[tuple[int, dict[str, Any]]] = []
        self.connections = 0
        self.arrived = asyncio.Event()

    def said(self, api_key: int) -> list[dict[str, Any]]:
        return [message for key, message in self.seen if key == api_key]

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until the requests that have arrived fulfil a condition."""
        while not reached():
            self.arrived.clear()
            await self.arrived.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: Address) -> None:
        connection = self.connections
        self.connections += 1
        turns: asyncio.Queue[Turn | None] = asyncio.Queue()
        answering = asyncio.create_task(self._answer(turns, writer))
        try:
            while (payload := await read_frame(reader, MAX_FRAME)) is not None:
                api_key, version = struct.unpack_from(">hh", payload)
                request = request_of(payload)
                turn = Turn(self, connection, request, payload, here, writer)
                self.seen.append((api_key, ss.decode_message(api_key, version, request.body)))
                self.arrived.set()
                turns.put_nowait(turn)
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def _answer(self, turns: asyncio.Queue[Turn | None], writer: asyncio.StreamWriter) -> None:
        while (turn := await turns.get()) is not None:
            key = turn.request.api_key
            script = self.script[key]
            action = script.popleft() if script else self.always.get(key, self._as_usual)
            answer = await action(turn)
            if answer is None:
                writer.transport.abort()
                return
            writer.write(answer)

    async def _as_usual(self, turn: Turn) -> bytes | None:
        answer = await turn.usual()
        if turn.request.api_key == VERSIONS and self.extra_versions and answer is not None:
            message = ss.decode_message(VERSIONS, turn.request.version, answer[8:], response=True)
            known = {api["apiKey"]: (api["minVersion"], api["maxVersion"]) for api in message["apiKeys"]}
            known.update(self.extra_versions)
            message["apiKeys"] = [
                {"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in known.items() if high >= 0
            ]
            return turn.answer(message)
        return answer

    async def respond(self, payload: bytes, here: Address) -> bytes | None:
        """The answer of a memory persister needs no thread; so a test's steps stay in order."""
        return await super().respond(payload, here)


async def close(_turn: Turn) -> bytes | None:
    """Close the connection and do nothing."""
    return None


async def work_and_close(turn: Turn) -> bytes | None:
    """Do what was asked, and close the connection instead of saying so."""
    await turn.usual()
    return None


#: Fields that an answer has beside the code, where it would show state.
_NOTHING_READ: Final[dict[int, dict[str, Any]]] = {
    READ: {"stateEpoch": 0, "startOffset": 0, "stateBatches": []},
    SUMMARY: {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0},
}


def error(code: int, message: str | None = "no") -> Action:
    """Answer all that was asked with this code."""

    async def act(turn: Turn) -> bytes | None:
        asked = turn.asked()
        if turn.request.api_key == FIND:
            found = [
                {"key": key, "nodeId": -1, "host": "", "port": -1, "errorCode": code, "errorMessage": message}
                for key in asked["coordinatorKeys"]
            ]
            return turn.answer({"throttleTimeMs": 0, "coordinators": found})
        nothing = _NOTHING_READ.get(turn.request.api_key, {})
        results = [
            {
                "topicId": topic["topicId"],
                "partitions": [
                    {"partition": partition["partition"], "errorCode": code, "errorMessage": message, **nothing}
                    for partition in topic["partitions"]
                ],
            }
            for topic in asked["topics"]
        ]
        return turn.answer({"results": results})

    return act


def held(release: asyncio.Event) -> Action:
    """Answer as usual, once released."""

    async def act(turn: Turn) -> bytes | None:
        await release.wait()
        return await turn.usual()

    return act


def persister(
    *addresses: Address,
    clock: TestClock | None = None,
    security: SecurityOptions | None = None,
    retry: RetryPolicy | None = None,
) -> AsyncKafkaPersister:
    return AsyncKafkaPersister(
        [f"{address.host}:{address.port}" for address in addresses],
        security=security,
        connect_timeout=CONNECT_TIMEOUT,
        request_timeout=REQUEST_TIMEOUT,
        retry=retry,
        clock=clock or TestClock(),
    )


def write(start_offset: int = -1, first: int = 0, last: int = 9) -> ss.WriteState:
    return ss.WriteState(1, 1, start_offset, -1, [ss.StateBatch(first, last, 2, 1)])


def partitions_of(message: dict[str, Any]) -> list[int]:
    return [partition["partition"] for topic in message["topics"] for partition in topic["partitions"]]
