"""Topics that are made after a member has subscribed, and partitions that are added: assigned without a further question."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.gateway import topic_watch
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED
from tests.gateway.patience import wait_until
from tests.gateway.serving import heartbeat, serving
from tests.gateway.wire.connection import Connection


@pytest.fixture(autouse=True)
def _no_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else looks at topics in this test's life."""
    monkeypatch.setattr("share_state.gateway.gateway._REFRESH", 3600.0)


class Subscriber:
    """A member that says its topics once, and then only that it is there."""

    def __init__(self, connection: Connection, topics: list[str], group: str = "a") -> None:
        self.connection = connection
        self.assigned: dict[str, list[int]] = {}
        self._asked = heartbeat(group, topics)
        self.beat()
        self._asked = {**self._asked, "subscribedTopicNames": None}

    def beat(self) -> dict[str, list[int]]:
        """Send a heartbeat; returns what is assigned, by topic id."""
        answer = self.connection.ask("ShareGroupHeartbeat", 1, self._asked)
        assert answer["errorCode"] == 0, answer
        self._asked["memberEpoch"] = answer["memberEpoch"]
        if answer["assignment"] is not None:
            self.assigned = {one["topicId"]: one["partitions"] for one in answer["assignment"]["topicPartitions"]}
        return self.assigned

    def has(self, upstream: HostileUpstream, **topics: int) -> None:
        """Wait until it has so many partitions of each topic."""
        wanted = {upstream.topics[name].topic_id: list(range(count)) for name, count in topics.items()}
        wait_until(lambda: {topic: sorted(found) for topic, found in self.beat().items()} == wanted, f"{topics} are assigned")


def never_created(upstream: HostileUpstream) -> None:
    asked = upstream.requests("Metadata")
    assert {one.message["allowAutoTopicCreation"] for one in asked} == {False}


def test_a_topic_that_is_made_after_a_member_has_subscribed(tmp_path: Path) -> None:
    with HostileUpstream() as upstream:
        upstream.create("there")
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            member = Subscriber(connection, ["there", "later", "never"])
            member.has(upstream, there=1)
            upstream.create("later", 3)
            member.has(upstream, there=1, later=3)
        # A member that was loaded waits for its topics too.
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            member = Subscriber(connection, ["much later"], "b")
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            member.connection = connection
            assert member.beat() == {}
            upstream.create("much later")
            member.has(upstream, **{"much later": 1})
        never_created(upstream)


def test_more_names_than_one_request_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_watch, "_NAMES", 3)
    with HostileUpstream() as upstream:
        names = [f"t{number}" for number in range(8)]
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            member = Subscriber(connection, names)
            for name in names[::-3]:
                upstream.create(name)
            member.has(upstream, **dict.fromkeys(names[::-3], 1))
            assert max(len(one.message["topics"]) for one in upstream.requests("Metadata")[-3:]) <= 3
        never_created(upstream)


def test_partitions_that_are_added_to_a_topic_in_use(tmp_path: Path) -> None:
    with HostileUpstream() as upstream:
        upstream.create("t")
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            member = Subscriber(connection, ["t"])
            member.has(upstream, t=1)
            fetch = {"groupId": "a", "memberId": member._asked["memberId"], "shareSessionEpoch": 0, "maxWaitMs": 0, "minBytes": 1}
            places = [{"topicId": upstream.topics["t"].topic_id, "partitions": [{"partitionIndex": 0}]}]
            asked = {**fetch, "maxBytes": 1, "maxRecords": 1, "batchSize": 1, "topics": places, "forgottenTopicsData": []}
            assert connection.ask("ShareFetch", 1, asked)["errorCode"] == 0
            upstream.grow("t", 4)
            member.has(upstream, t=4)


def test_partitions_that_are_added_through_the_gateway_are_seen_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_watch, "_IN_USE", 3600.0)
    with HostileUpstream(offered={**OFFERED, "CreatePartitions": (0, 3)}) as upstream:
        upstream.create("t")
        with (
            serving(upstream.bootstrap, tmp_path, relay=True) as gateway,
            Connection(gateway.bootstrap_servers) as connection,
        ):
            member = Subscriber(connection, ["t"])
            member.has(upstream, t=1)
            topic = {"name": "t", "count": 3, "assignments": None}
            asked = {"topics": [topic], "timeoutMs": 1000, "validateOnly": False}
            assert connection.ask("CreatePartitions", 3, asked)["results"][0]["errorCode"] == 0
            member.has(upstream, t=3)
