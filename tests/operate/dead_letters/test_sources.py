"""Questions to a cluster, and the errors that its refusals become."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self
from uuid import UUID

import pytest

from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.dead_letters import (
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
from share_state.operate.payloads import Payload
from share_state.operate.reading.failures import ClusterReadError, NoAnswerError
from share_state.operate.reading.plain import SCHEME
from tests.operate.dead_letters.fake_target import Topics
from tests.operate.dead_letters.test_letters import HEADERS
from tests.operate.live.fake_cluster import CONFIGS, METADATA, FakeCluster, served

CLUSTER = "kafka://nowhere:9092"
QUEUE, LIMIT = "errors.deadletterqueue.topic.name", "share.delivery.count.limit"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with served(FakeCluster(tmp_path, ends={("retry", UUID(int=1)): [0]})) as serving:
        yield serving


def asking(cluster: FakeCluster, timeout: float = 5.0) -> Asking:
    return Asking(SCHEME + cluster.bootstrap, {}, timeout)


def test_a_cluster_tells_its_id(cluster: FakeCluster) -> None:
    assert asking(cluster).cluster_id() == "fake"


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
def test_a_group_tells_its_queue_and_its_limit(cluster: FakeCluster, told: dict[str, str], settings: GroupSettings) -> None:
    cluster.configs["workers"] = told
    asked = asking(cluster)
    assert asked.group("workers") == settings
    assert source_of(asked, "workers") == ("workers", settings.queue, settings.delivery_count_limit)
    assert source_of(asked, "workers", from_history=True).queue is None
    # Its configuration may be closed to who names the queue.
    cluster.denied = {CONFIGS}
    assert source_of(asked, "workers", queue="other").queue == "other"
    with pytest.raises(ClusterRefusedError, match="the principal needs DESCRIBE_CONFIGS on the group workers") as refused:
        asked.group("workers")
    assert (refused.value.field, refused.value.value, refused.value.kafka_code) == ("group", "workers", 30)


def test_a_cluster_that_does_not_answer_is_told(cluster: FakeCluster) -> None:
    cluster.silent = {CONFIGS}
    with pytest.raises(NoAnswerError, match=r"^no answer within 0\.2 s$"):
        asking(cluster, 0.2).group("workers")


READ, WRITE, ALL = 1 << 3, 1 << 4, 1 << 2


@pytest.mark.parametrize(("may", "missing"), [(ALL, None), (READ | WRITE, None), (READ, "WRITE"), (WRITE, "READ"), (0, "WRITE")])
def test_a_target_has_to_be_open_for_writing_and_reading(cluster: FakeCluster, may: int, missing: str | None) -> None:
    cluster.operations = may
    if missing is None:
        asking(cluster).check_target("retry")
        return
    with pytest.raises(ClusterRefusedError, match=f"the principal needs {missing} on the topic retry") as raised:
        asking(cluster).check_target("retry")
    assert (raised.value.field, raised.value.value, raised.value.kafka_code) == ("to", "retry", 29)


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (3, NoSuchTopicError, "topic retry is not in the cluster"),
        (29, ClusterRefusedError, "the principal needs DESCRIBE on the topic retry"),
        (17, ClusterReadError, "topic retry: code 17"),
    ],
)
def test_a_target_that_is_not_there_or_hidden_is_told(cluster: FakeCluster, code: int, kind: type[Exception], text: str) -> None:
    cluster.codes = {METADATA: [code]}
    with pytest.raises(kind, match=text):
        asking(cluster).check_target("retry")


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
    monkeypatch.setattr("share_state.operate.dead_letters.sources.TopicLog", topics)
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

    monkeypatch.setattr("share_state.operate.dead_letters.sources.everything", history)
    monkeypatch.setattr("share_state.operate.dead_letters.sources.topic_names", lambda *_, **__: {"topic-id": "orders"})
    (letter,) = Letters(CLUSTER, Source("workers", None, 2))
    assert (letter.topic, letter.topic_id, letter.first_offset, letter.cause) == ("orders", "topic-id", 7, Cause.DELIVERY_LIMIT)
    assert list(Letters(CLUSTER, Source("others", None, 2))) == []
    with pytest.raises(UnknownGroupError) as raised:
        list(Letters(CLUSTER, Source("nobody", None, 2)))
    assert raised.value.there == ("others", "workers")
