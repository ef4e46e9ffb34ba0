"""Questions about a topic that is not there, to a broker that would create it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import UnknownPartitionError
from share_state.operate.dead_letters import Asking, NoSuchTopicError, TopicLog
from share_state.operate.payloads import PayloadReader
from share_state.operate.reading.cluster import SCHEME
from tests.operate.live.fake_cluster import FakeCluster, served

TYPO = "retyr"


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    with ss.open(tmp_path / "log", partitions=1):
        pass
    return FakeCluster(tmp_path / "log")


Settings = dict[str, object]


def target(source: str, settings: Settings) -> None:
    with pytest.raises(NoSuchTopicError):
        Asking(source, settings, 5.0).check_target(TYPO)


def log(source: str, settings: Settings) -> None:
    with TopicLog(source, settings, 5.0) as opened:
        assert opened.partitions(TYPO) is None


def payloads(source: str, settings: Settings) -> None:
    with PayloadReader(source, client_config=settings) as reader, pytest.raises(UnknownPartitionError):
        list(reader.read(TYPO, 0, [0]))


@pytest.mark.parametrize("asks", [target, log, payloads])
@pytest.mark.parametrize("settings", [{}, {"allow.auto.create.topics": True}], ids=["by-default", "told-to"])
def test_nothing_that_asks_creates_a_topic(
    cluster: FakeCluster, asks: Callable[[str, Settings], None], settings: Settings
) -> None:
    with served(cluster):
        asks(SCHEME + cluster.bootstrap, settings)
    assert cluster.created == set()
