"""Questions to a running cluster by callers without an event loop: a client on a thread of its own, and its failures as ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from share_state.errors import ConfigError, WireDecodeError
from share_state.kafka import codes
from share_state.kafka.client.client import MAX_FRAME, Client
from share_state.kafka.client.connection import ConnectionOptions
from share_state.kafka.client.log_reader import Bounds, LogReader, Record
from share_state.kafka.client.on_thread import LoopThread
from share_state.kafka.client.peers import LostError, parse_bootstrap
from share_state.kafka.client.security_properties import client_settings
from share_state.kafka.clock import LoopClock
from share_state.kafka.errors import KafkaPersisterError
from share_state.operate.reading.failures import ClusterReadError, NoAnswerError, ReadNotAllowedError
from share_state.operate.reading.plain import SCHEME, STATE_TOPIC

__all__ = ["PATIENCE", "ClusterReader", "Record", "ask"]

_Answer = TypeVar("_Answer")

#: Seconds to wait for an answer of the cluster unless a caller says otherwise.
PATIENCE: Final = 10.0


@contextmanager
def _failing_as_ours(patience: float, topic: str | None = None, asked: str = "") -> Iterator[None]:
    """Turn the failures of the client within the block into ours.

    Args:
        patience: seconds after which an answer counts as none.
        topic: the topic that is read; None where a missing right is about something else.
        asked: words for what is asked, for the error of an answer that does not come.

    Raises:
        ReadNotAllowedError: the principal may not read the topic.
        NoAnswerError: no answer came in time.
        ClusterReadError: any other failure, with Kafka's code if it has one.
    """
    try:
        yield
    except LostError as lost:
        if lost.code == codes.REQUEST_TIMED_OUT:
            raise NoAnswerError(patience, asked) from None
        raise ClusterReadError(str(lost)) from None
    except KafkaPersisterError as refused:
        if topic is not None and refused.kafka_code == codes.TOPIC_AUTHORIZATION_FAILED:
            right = f"the principal needs {ReadNotAllowedError.operation} on the topic {topic}, and no other right"
            denied = ReadNotAllowedError(f"{refused}: {right}", kafka_code=refused.kafka_code)
            denied.topic = topic
            raise denied from None
        raise ClusterReadError(str(refused), kafka_code=refused.kafka_code) from None
    except WireDecodeError as damaged:
        raise ClusterReadError(f"{topic}: a batch cannot be read: {damaged}") from None
    except ConfigError as wrong:
        raise ClusterReadError(f"the client's settings: {wrong}") from None


class ClusterReader:
    """Reads partitions of topics. A context manager, for one thread at a time.

    It joins no group and changes nothing. It needs READ on the topics and no other right.

    Args:
        source: ``host:port[,host:port...]`` of some brokers, or the same after ``kafka://``.
        settings: further settings of the client, in librdkafka's names.
        patience: seconds to wait for an answer of the cluster.
        committed: leaves out records of open and aborted transactions.
        max_bytes: of one answer; a batch that is larger comes whole.
    """

    def __init__(
        self,
        source: str,
        settings: Mapping[str, object] | None,
        patience: float,
        *,
        committed: bool = False,
        max_bytes: int = 1 << 20,
    ) -> None:
        self._source = source.removeprefix(SCHEME)
        self._settings = settings
        self.patience = patience
        self._reading = {"isolation": int(committed), "max_bytes": max_bytes}
        self._thread: LoopThread | None = None

    def __enter__(self) -> Self:
        """Make the client; the cluster is asked by the first question.

        Raises:
            ClusterReadError: an invalid address, or a setting that is not known.
        """
        try:
            bootstrap = parse_bootstrap(self._source)
        except ConfigError as wrong:
            raise ClusterReadError(str(wrong)) from None
        with _failing_as_ours(self.patience):
            security, client_id = client_settings(self._settings)
        options = ConnectionOptions(
            security, LoopClock(), client_id, self.patience, self.patience, max_frame=MAX_FRAME, trailing=True
        )
        self._client = Client(bootstrap, options)
        self._logs = LogReader(self._client, patience=self.patience, **self._reading)
        self._thread = LoopThread("share-state-ask")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            thread.run(self._client.close())
            thread.close()

    def check_open(self) -> None:
        """Refuse what is asked of a reader that is not open.

        Raises:
            ClusterReadError: it is not.
        """
        if self._thread is None:
            raise _not_open()

    def ask(
        self, question: Callable[[Client], Coroutine[Any, Any, _Answer]], topic: str | None = None, asked: str = ""
    ) -> _Answer:
        """Return the answer to a question; the other arguments are those of :func:`_failing_as_ours`."""
        return self._run(question(self._client), topic, asked)

    def partitions(self, topic: str) -> int | None:
        """Return the number of partitions of a topic; None where there is no such topic.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        found = self._run(self._logs.topic(topic), topic)
        return None if found is None else len(found.leaders)

    def state_partitions(self) -> int:
        """Return the number of partitions of the state topic.

        Raises:
            ClusterReadError: there is no state topic, or the cluster does not answer, or refuses.
        """
        there = self.partitions(STATE_TOPIC)
        if there is None:
            text = f"there is no topic {STATE_TOPIC} (a cluster makes it when its first share group comes)"
            raise ClusterReadError(text, kafka_code=codes.UNKNOWN_TOPIC_OR_PARTITION)
        return there

    def bounds(self, topic: str, partition: int) -> Bounds:
        """Return where a partition, which there is, begins and ends.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        return self._run(self._logs.bounds(topic, partition), topic)

    def records(self, topic: str, partition: int, start: int, end: int) -> Generator[Record]:
        """Iterate over the records of a partition, in order. It ends early where the last ones are gone.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses. The code is OFFSET_OUT_OF_RANGE where the log begins
                after the next offset, or ends before it.
        """
        batches = self._logs.records(topic, partition, start, end)
        place = f" for {topic}-{partition}"
        try:
            while True:
                records = self._run(_next(batches), topic, place)
                if records is None:
                    return
                yield from records
        finally:
            if self._thread is not None:
                self._thread.run(batches.aclose())

    def remaining(self, topic: str, partition: int, start: int, end: int) -> Iterator[Record]:
        """Iterate over the records of a partition that are left: a log that was pruned meanwhile begins later.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        next_offset = start
        while next_offset < end:
            try:
                for record in self.records(topic, partition, next_offset, end):
                    next_offset = record[0] + 1
                    yield record
            except ClusterReadError as error:
                if error.kafka_code != codes.OFFSET_OUT_OF_RANGE:
                    raise
                log_start = self.bounds(topic, partition).start
                if log_start <= next_offset:
                    return  # The last records of the log are gone.
                next_offset = log_start
            else:
                return

    def _run(self, work: Coroutine[Any, Any, _Answer], topic: str | None = None, asked: str = "") -> _Answer:
        if self._thread is None:
            work.close()
            raise _not_open()
        with _failing_as_ours(self.patience, topic, asked):
            return self._thread.run(work)


def _not_open() -> ClusterReadError:
    return ClusterReadError("the reader of a cluster is not open; it is a context manager")


async def _next(batches: AsyncGenerator[list[Record]]) -> list[Record] | None:
    return await anext(batches, None)


def ask(
    source: str,
    settings: Mapping[str, object] | None,
    patience: float | None,
    question: Callable[[Client], Coroutine[Any, Any, _Answer]],
    asked: str = "",
) -> _Answer:
    """Return the answer to a question, which is about no topic that is read.

    Raises:
        ClusterReadError: the cluster does not answer, or refuses.
    """
    with ClusterReader(source, settings, PATIENCE if patience is None else patience) as reader:
        return reader.ask(question, asked)
