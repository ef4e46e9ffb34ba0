"""Share groups and ordinary groups as one client meets them: what a broker answers, a gateway with a relay has to."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message

_SHARE_MEMBER, _CONSUMER = "B" * 22, "C" * 22
#: Ids and epochs are a server's own.
_OWN = frozenset(
    {"memberId", "clientHost", "throttleTimeMs", "topicId", "groupEpoch", "assignmentEpoch", "memberEpoch", "members"}
)


def meet(bootstrap: str, topic: str) -> dict[str, Any]:
    """Make groups of each kind and ask each as the other kind; the answers by what was asked."""
    with Connection(bootstrap) as connection:
        return _Kinds(connection, topic).asked()


class _Kinds:
    """A share group with a member and one without, a classic group and a consumer group, each with a member."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self._connection = connection
        self._topic = topic
        self._found: dict[str, Any] = {}

    def asked(self) -> dict[str, Any]:
        for group in ("busy-share", "free-share", "classic", "consumer"):
            wait_until(partial(self._coordinated, group), f"the coordinator of {group}")
        for group in ("busy-share", "free-share"):
            wait_until(partial(self._is_joined, group), f"a member of {group}")
        assert self._beat("free-share", -1)["errorCode"] == 0
        member = self._join("classic")["memberId"]
        generation = self._join("classic", member)["generationId"]
        mine = {"groupId": "classic", "generationId": generation, "memberId": member}
        protocol = {"protocolType": "consumer", "protocolName": "range"}
        self._ask("SyncGroup", 5, {**mine, **protocol, "assignments": [{"memberId": member, "assignment": b""}]})
        wait_until(lambda: self._consume("consumer")["errorCode"] == 0, "a member of a consumer group")
        self._as_others()
        self._note(
            "delete all", "DeleteGroups", 2, {"groupsNames": ["busy-share", "free-share", "classic", "consumer", "absent"]}
        )
        self._ask("LeaveGroup", 5, {"groupId": "classic", "members": [{"memberId": member}]})
        self._ask("ConsumerGroupHeartbeat", 1, {"groupId": "consumer", "memberId": _CONSUMER, "memberEpoch": -1})
        self._note("delete again", "DeleteGroups", 2, {"groupsNames": ["classic", "consumer", "classic"]})
        # A name that is free again is free for every kind.
        self._found["a share group again"] = self._beat("classic", 0, [self._topic])["errorCode"]
        self._found["a classic group again"] = self._join("free-share")["errorCode"]
        return self._found

    def _as_others(self) -> None:
        for group in ("busy-share", "free-share"):
            self._found[f"join {group}"] = self._join(group)
            self._found[f"join {group} again"] = self._join(group, "x")
            self._found[f"consume {group}"] = self._consume(group)
            for generation, member in ((-1, ""), (1, "x")):
                self._note(f"commit {group} {generation}", "OffsetCommit", 8, self._commit(group, generation, member))
            self._note(f"classic {group}", "DescribeGroups", 6, {"groups": [group]})
            self._note(f"classic {group} before", "DescribeGroups", 5, {"groups": [group]})
            self._note(f"sync {group}", "SyncGroup", 5, {"groupId": group, "generationId": 1, "memberId": "x", "assignments": []})
            self._note(f"beat {group}", "Heartbeat", 4, {"groupId": group, "generationId": 1, "memberId": "x"})
            self._note(f"fetch {group}", "OffsetFetch", 8, {"groups": [{"groupId": group, "topics": None}]})
        for group in ("classic", "consumer", "absent"):
            if group != "absent":
                # Of an unknown group the gateway asks a member to join again.
                for epoch, topics in ((0, [self._topic]), (1, None), (-1, None)):
                    self._found[f"share {group} {epoch}"] = self._beat(group, epoch, topics)
                self._note(f"alter {group}", "AlterShareGroupOffsets", 0, {"groupId": group, "topics": []})
            self._note(f"share {group}", "ShareGroupDescribe", 1, {"groupIds": [group]})
            self._note(
                f"forget {group}", "DeleteShareGroupOffsets", 0, {"groupId": group, "topics": [{"topicName": self._topic}]}
            )
            self._note(f"offsets {group}", "DescribeShareGroupOffsets", 0, {"groups": [{"groupId": group, "topics": None}]})
            self._note(f"classic {group}", "DescribeGroups", 6, {"groups": [group, "busy-share"]})
            self._note(f"classic {group} before", "DescribeGroups", 4, {"groups": [group], "includeAuthorizedOperations": True})
        for filters in ({}, {"typesFilter": ["classic"]}, {"typesFilter": ["share", "consumer"]}, {"statesFilter": ["stable"]}):
            rows = self._ask("ListGroups", 5, filters)["groups"]
            self._found[f"list {filters}"] = sorted(tuple(row.values()) for row in rows)

    def _coordinated(self, group: str) -> bool:
        # Loading, or not there yet: 14 to 16.
        found = self._ask("FindCoordinator", 3, {"key": group, "keyType": 0}), self._ask("ListGroups", 5, {})
        described = self._ask("DescribeGroups", 5, {"groups": [group]})["groups"]
        return all(one["errorCode"] == 0 for one in (*found, *described))

    def _is_joined(self, group: str) -> bool:
        return bool(self._beat(group, 0, [self._topic])["errorCode"] == 0)

    def _beat(self, group: str, epoch: int, topics: list[str] | None = None) -> Message:
        asked = {"groupId": group, "memberId": _SHARE_MEMBER, "memberEpoch": epoch, "subscribedTopicNames": topics}
        return self._ask("ShareGroupHeartbeat", 1, asked)

    def _join(self, group: str, member: str = "") -> Message:
        times = {"sessionTimeoutMs": 30_000, "rebalanceTimeoutMs": 30_000}
        protocol = {"protocolType": "consumer", "protocols": [{"name": "range", "metadata": b"\0\1\0\0\0\0\0\0\0\0"}]}
        return self._connection.ask("JoinGroup", 9, {"groupId": group, "memberId": member, **times, **protocol})

    def _consume(self, group: str) -> Message:
        asked = {"groupId": group, "memberId": _CONSUMER, "memberEpoch": 0, "rebalanceTimeoutMs": 30_000}
        told = self._ask("ConsumerGroupHeartbeat", 1, {**asked, "subscribedTopicNames": [self._topic], "topicPartitions": []})
        return {name: told[name] for name in ("errorCode", "errorMessage")}

    def _commit(self, group: str, generation: int, member: str) -> Message:
        topics = [{"name": self._topic, "partitions": [{"partitionIndex": 0, "committedOffset": 0}]}]
        return {"groupId": group, "generationIdOrMemberEpoch": generation, "memberId": member, "topics": topics}

    def _note(self, label: str, name: str, version: int, message: Message) -> None:
        answer = self._ask(name, version, message)
        if name == "DeleteGroups":
            # In the order of a server's own.
            answer["results"].sort(key=lambda row: str(row["groupId"]))
        self._found[label] = answer

    def _ask(self, name: str, version: int, message: Message) -> Message:
        answer = _masked(self._connection.ask(name, version, message))
        assert isinstance(answer, dict)
        return answer


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _masked(inner) for name, inner in value.items() if name not in _OWN or not inner}
    return [_masked(inner) for inner in value] if isinstance(value, list) else value
