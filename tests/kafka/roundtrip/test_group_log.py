"""Our log of share groups, read by Kafka: its dump tool decodes it, and a broker started over it describes the same groups."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import ShareGroupStore
from tests.kafka import broker as kafka
from tests.kafka import home
from tests.kafka.roundtrip.tools import dump_groups, share_groups
from tests.kafka.roundtrip.workload import create_topic

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

_TOPIC_ID = "AAECAwQFBgcICQoLDA0ODw"
_TOPIC = "jobs"
_PARTITIONS = 8
#: The group that is there at the end, with members; another one is empty, a third was deleted.
_GROUP = "workers"
_WALL = 1_700_000_000_000
_RECORD_TYPES = {"10", "11", "12", "13", "14", "15"}


class _Script:
    """Drives a store as a gateway does, a second of wall clock a step."""

    def __init__(self, store: ShareGroupStore, topic_id: str) -> None:
        self.store, self.topic_id, self.wall = store, topic_id, _WALL
        self.epochs: dict[tuple[str, str], int] = {}
        store.set_topics([(_TOPIC, topic_id, _PARTITIONS)])

    def heartbeat(self, group: str, member: str, epoch: int | None = None) -> None:
        """Let a member join, go on or, with -1, leave."""
        self.wall += 1_000
        told = self.epochs.get((group, member), 0) if epoch is None else epoch
        topics = [_TOPIC] if told == 0 else None
        new = self.store.to_initialize(group=group, member=member, member_epoch=told, topics=topics)
        answer = self.store.heartbeat(
            group=group,
            member=member,
            member_epoch=told,
            rack="r-1" if told == 0 else None,
            topics=topics,
            client_id=f"client of {member}",
            client_host="/127.0.0.1",
            now_ms=self.wall,
            wall_ms=self.wall,
            initialized=[(topic, partition) for topic, partition, _, _ in new],
        )
        assert answer.error_code == 0, answer
        self.epochs[group, member] = answer.member_epoch
        self.store.wait(answer.ticket)

    def play(self) -> None:
        """Groups in every state, and every kind of record and tombstone."""
        for member in ("a", "b", "c"):
            self.heartbeat(_GROUP, member)
            self.heartbeat("deleted", member)
        for member in ("a", "b", "c"):
            self.heartbeat("deleted", member, -1)
        code, states, _ = self.store.begin_delete_group("deleted", wall_ms=self.wall)
        assert (code, len(states)) == (0, _PARTITIONS)
        self.store.finish_delete_group("deleted", wall_ms=self.wall)
        altered = [(self.topic_id, _TOPIC, 3)]
        self.store.begin_alter_offsets("empty", altered, wall_ms=self.wall)
        self.store.finish_alter_offsets("empty", altered, wall_ms=self.wall)
        self.heartbeat(_GROUP, "b", -1)
        for member in ("a", "c", "a"):
            self.heartbeat(_GROUP, member)


@pytest.mark.parametrize("rewrite_bytes", [1 << 24, 1_000])
def test_kafkas_dump_tool_reads_what_we_know(rewrite_bytes: int, tmp_path: Path) -> None:
    with ShareGroupStore(tmp_path, rewrite_bytes=rewrite_bytes) as store:
        _Script(store, _TOPIC_ID).play()
        described, partitions = store.describe(_GROUP), store.share_partitions(_GROUP)
        records, pruned = store.counters()["records"], store.counters()["pruned_segments"]
    dump = dump_groups(tmp_path)
    assert dump.codecs == {"none"}
    types = Counter(record["key"]["type"] for record in dump.records)
    assert set(types) == _RECORD_TYPES
    if rewrite_bytes > 1_000:
        assert (len(dump.records), pruned) == (records, 0)
        deleted = {record["key"]["type"] for record in dump.records if record["value"] is None}
        assert deleted == _RECORD_TYPES
    else:
        assert pruned > 0
        assert len(dump.records) < records
    assert _told(dump.records) == (described, partitions)


def _told(records: list[dict[str, Any]]) -> tuple[dict[str, Any], list[Any]]:
    """Group as the latest record of each key tells it, in the words of the store."""
    latest = {json.dumps(record["key"]): (record["key"], record["value"]) for record in records}
    data = {
        (key["type"], key["data"].get("memberId")): value["data"]
        for key, value in latest.values()
        if value is not None and key["data"]["groupId"] == _GROUP
    }
    members = [member for kind, member in sorted(data, key=str) if kind == "10"]
    described = {
        "groupId": _GROUP,
        "groupState": "Stable" if members else "Empty",
        "groupEpoch": data["11", None]["epoch"],
        "assignmentEpoch": data["12", None]["assignmentEpoch"],
        "assignorName": "simple",
        "members": [
            {
                "memberId": member,
                **data["10", member],
                "memberEpoch": data["14", member]["memberEpoch"],
                "assignment": [(topic["topicId"], topic["partitions"]) for topic in data["14", member]["assignedPartitions"]],
            }
            for member in members
        ],
    }
    initialized = data["15", None]["initializedTopics"]
    return described, [(topic["topicId"], topic["topicName"], topic["partitions"]) for topic in initialized]


def test_a_broker_started_over_our_log_describes_our_groups(tmp_path: Path) -> None:
    directory = tmp_path / "broker"
    directory.mkdir()
    settings = {"offsets.topic.num.partitions": "1", "group.share.session.timeout.ms": "60000"}
    with kafka.running(home.JUDGE, directory, settings) as broker:
        topic_id = create_topic(broker, _TOPIC, _PARTITIONS)
        # Asking for the group makes the topic.
        assert "GroupIdNotFoundException" in share_groups(broker, "--describe", "--group", _GROUP, "--state")
        broker.stop()
        with ShareGroupStore(tmp_path / "ours") as store:
            _Script(store, topic_id).play()
            described = store.describe(_GROUP)
            groups = store.groups()
        assert described is not None
        folder = broker.data / "__consumer_offsets-0"
        for old in (path for kind in (".log", ".index", ".timeindex", ".snapshot") for path in folder.glob(f"*{kind}")):
            old.unlink()
        for segment in (tmp_path / "ours" / folder.name).glob("*.log"):
            shutil.copy(segment, folder)
        (broker.data / ".kafka_cleanshutdown").unlink(missing_ok=True)
        broker.start()

        listed = share_groups(broker, "--list").split()
        assert sorted(listed) == sorted(group for group, _ in groups)
        shown = share_groups(broker, "--describe", "--group", _GROUP, "--members", "--verbose")
        rows = {row[1]: row[-3:] for line in shown.splitlines() if (row := line.split()) and row[0] == _GROUP}
        assert rows == {member["memberId"]: _row(member) for member in described["members"]}
        state = share_groups(broker, "--describe", "--group", _GROUP, "--state", "--verbose")
        (row,) = (row for line in state.splitlines() if (row := line.split()) and row[0] == _GROUP)
        epochs = [str(described["groupEpoch"]), str(described["assignmentEpoch"])]
        assert row[3:] == [described["groupState"], *epochs, str(len(rows))]


def _row(member: dict[str, Any]) -> list[str]:
    """Number of partitions, member epoch and assignment, as kafka-share-groups shows them."""
    ((_, partitions),) = member["assignment"]
    return [str(len(partitions)), str(member["memberEpoch"]), f"{_TOPIC}:{','.join(map(str, partitions))}"]
