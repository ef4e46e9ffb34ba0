"""What is asked of a cluster, on a client that answers as it is told, and what its refusals become."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, Self

import pytest
from confluent_kafka import KafkaError, KafkaException

from share_state.analysis.history_row import HistoryRow
from share_state.dead_letters import (
    Asking,
    Cause,
    ClusterRefusedError,
    GroupSettings,
    Letters,
    NoSuchTopicError,
    Source,
    UnknownGroupError,
    source_of,
)
from share_state.payloads import Payload
from share_state.reading.failures import ClusterReadError, NoAnswerError
from tests.python.dead_letters.fake_target import Topics
from tests.python.dead_letters.test_letters import HEADERS

CLUSTER = "kafka://nowhere:9092"
QUEUE, LIMIT = "errors.deadletterqueue.topic.name", "share.delivery.count.limit"


class Client:
    """An administrator's client with one answer, or one error, for every question."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def _future(self, name: str) -> Future[Any]:
        future: Future[Any] = Future()
        answer = self.answers[name]
        if isinstance(answer, int):
            future.set_exception(KafkaException(KafkaError(answer)))
        else:
            future.set_result(answer)
        return future

    def describe_configs(self, resources: list[Any], **_: object) -> dict[Any, Future[Any]]:
        return {resources[0]: self._future("configs")}

    def describe_topics(self, _collection: object, **_: object) -> dict[str, Future[Any]]:
        return {"retry": self._future("operations")}

    def poll(self, _timeout: float) -> int:
        return 0


def asking(monkeypatch: pytest.MonkeyPatch, known: int | None = None, **answers: Any) -> Asking:
    made = Asking(CLUSTER, {}, 1.0)
    made._asked = Client(**answers)
    topic = SimpleNamespace(error=None if known is None else KafkaError(known))
    monkeypatch.setattr("share_state.dead_letters.cluster.topics", lambda *asked: {asked[-1]: topic})
    return made


def config(**values: str) -> dict[str, SimpleNamespace]:
    return {name: SimpleNamespace(value=value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("told", "settings"),
    [
        ({QUEUE: "dlq.workers", LIMIT: "3"}, GroupSettings("dlq.workers", 3)),
        ({QUEUE: "", LIMIT: "5"}, GroupSettings(None, 5)),
        # Before 4.4.
        ({LIMIT: "5"}, GroupSettings(None, 5)),
        ({}, GroupSettings(None, None)),
    ],
)
def test_a_group_tells_its_queue_and_its_limit(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, str], settings: GroupSettings
) -> None:
    asked = asking(monkeypatch, configs=config(**told))
    assert asked.group("workers") == settings
    assert source_of(asked, "workers") == ("workers", settings.queue, settings.delivery_count_limit)
    assert source_of(asked, "workers", from_history=True).queue is None
    # Its configuration may be closed to who names the queue.
    assert source_of(asking(monkeypatch, configs=30), "workers", queue="other").queue == "other"


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (30, ClusterRefusedError, "the principal needs DESCRIBE_CONFIGS on the group workers, which tells its dead-letter queue"),
        (-185, NoAnswerError, "no answer within 1 s"),
        (15, ClusterReadError, "Coordinator not available"),
    ],
)
def test_a_group_that_cannot_be_asked_is_told(
    monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        asking(monkeypatch, configs=code).group("workers")


@pytest.mark.parametrize(
    ("may", "missing"), [(["ALL"], None), (["READ", "WRITE"], None), (["READ"], "WRITE"), (["WRITE"], "READ"), ([], "WRITE")]
)
def test_a_target_has_to_be_open_for_writing_and_reading(
    monkeypatch: pytest.MonkeyPatch, may: list[str], missing: str | None
) -> None:
    operations = SimpleNamespace(authorized_operations=[SimpleNamespace(name=name) for name in may])
    asked = asking(monkeypatch, operations=operations)
    if missing is None:
        asked.check_target("retry")
        return
    with pytest.raises(ClusterRefusedError, match=f"the principal needs {missing} on the topic retry") as raised:
        asked.check_target("retry")
    assert (raised.value.field, raised.value.value, raised.value.kafka_code) == ("to", "retry", 29)


@pytest.mark.parametrize(
    ("known", "kind", "text"),
    [
        (3, NoSuchTopicError, "topic retry is not in the cluster"),
        (29, ClusterRefusedError, "the principal needs DESCRIBE on the topic retry"),
        (17, ClusterReadError, "Invalid topic"),
    ],
)
def test_a_target_that_is_not_there_or_hidden_is_told(
    monkeypatch: pytest.MonkeyPatch, known: int, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        asking(monkeypatch, known).check_target("retry")


class Opened(Topics):
    """Topics as a reader of them that is open."""

    def __call__(self, *_: object) -> Opened:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def queued(at: int, /, **changed: bytes) -> Payload:
    headers = {**dict(HEADERS), **{f"__dlq.errors.{name}": value for name, value in changed.items()}}
    return Payload("dlq", 0, at, 5, None, None, tuple(headers.items()))


def test_a_queue_is_read_for_one_group_and_what_is_none_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = Payload("dlq", 0, 2, 5, b"key", b"value", ())
    log = [queued(0), queued(1, group=b"others"), foreign, queued(3, offset=b"x"), queued(4, offset=b"18")]
    topics = Opened({"dlq": [log, [queued(0, offset=b"19")._replace(value=b"copy")]]})
    monkeypatch.setattr("share_state.dead_letters.sources.TopicLog", topics)
    reports: list[tuple[int, int]] = []
    letters = Letters(CLUSTER, Source("workers", "dlq", None), progress=lambda done, total: reports.append((done, total)))
    found = list(letters)
    assert [(one.first_offset, one.queue and one.queue.copied) for one in found] == [(17, False), (18, False), (19, True)]
    assert [(one["file"], one["position"]) for one in letters.findings] == [("dlq-0", 2), ("dlq-0", 3)]
    assert "tells of no dead letter and is passed over: it has no header __dlq.errors.group" in letters.findings[0]["message"]
    assert reports[-1] == (6, 6)
    with pytest.raises(NoSuchTopicError, match="the dead-letter queue gone is not in the cluster"):
        list(Letters(CLUSTER, Source("workers", "gone", None)))


class Scan(list[HistoryRow]):
    """Rows of a history with nothing that could not be read."""

    findings: list[object] = []  # noqa: RUF012  none, ever


def row(group: str, to_state: int | None, count: int | None, offset: int | None) -> HistoryRow:
    cause = "archived" if to_state == 4 else "initialised"
    return HistoryRow(group, "topic-id", 0, offset, offset, None, None, to_state, count, cause, 0, 9, 0, 0, 0, 0, 0, 0, None)


def test_a_history_is_read_where_there_is_no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("workers", None, None, None), row("workers", 4, 2, 7), row("others", None, None, None)]

    def history(_source: str, *, group: str | None = None, **_: object) -> Scan:
        return Scan(one for one in rows if group in {None, one.group})

    monkeypatch.setattr("share_state.dead_letters.sources.everything", history)
    monkeypatch.setattr("share_state.dead_letters.sources.topic_names", lambda *_, **__: {"topic-id": "orders"})
    (letter,) = Letters(CLUSTER, Source("workers", None, 2))
    assert (letter.topic, letter.topic_id, letter.first_offset, letter.cause) == ("orders", "topic-id", 7, Cause.DELIVERY_LIMIT)
    assert list(Letters(CLUSTER, Source("others", None, 2))) == []
    with pytest.raises(UnknownGroupError) as raised:
        list(Letters(CLUSTER, Source("nobody", None, 2)))
    assert raised.value.there == ("others", "workers")
