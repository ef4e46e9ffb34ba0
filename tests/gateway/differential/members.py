"""ShareGroupHeartbeat and ShareGroupDescribe: members come, stay, are fenced and go."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Model
from tests.gateway.differential.view import View
from tests.gateway.patience import wait_until
from tests.gateway.wire.codec import Message

_HEARTBEAT, _DESCRIBE = "ShareGroupHeartbeat", "ShareGroupDescribe"
#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
_NOT_YET = frozenset({14, 15, 16})


class Membership:
    """The members of one group: who they are is the same on both servers, their epochs are each server's own."""

    def __init__(self, model: Model, group: str, topics: list[str]) -> None:
        self.model = model
        self.group = group
        self.topics = topics
        self.members: dict[str, list[str]] = {}

    def heartbeat(self, member: str, epoch: int, **more: Any) -> Message:
        """A request of one member."""
        return {"groupId": self.group, "memberId": member, "memberEpoch": epoch, **more}

    def join(self) -> str:
        """Another member comes, and both servers come to rest."""
        chance = self.model.chance
        member = self.model.new_member_id()
        topics = chance.sample(self.topics, chance.randint(1, len(self.topics)))
        self.members[member] = topics
        rack = {"rackId": "r1"} if chance.random() < 0.3 else {}
        step = Step("join", _HEARTBEAT, 1, lambda _: self.heartbeat(member, 0, subscribedTopicNames=topics, **rack))
        self._learn(member, self.model.duel.exchange(step))
        self.settle()
        return member

    def enter(self, view: View, member: str) -> None:
        """Join a server until its coordinator is there."""

        def joined() -> bool:
            view.connection("admin").ask("FindCoordinator", 4, {"coordinatorKeys": [self.group]})
            message = self.heartbeat(member, 0, subscribedTopicNames=self.members[member])
            answer = self.model.duel.exchange_with(view, Step("join", _HEARTBEAT, 1, lambda _: message))
            assert isinstance(answer, dict), answer
            view.member_epochs[member] = answer["memberEpoch"]
            return answer["errorCode"] not in _NOT_YET

        wait_until(joined, f"{view.name} coordinates {self.group}")

    def settle(self) -> None:
        """Heartbeat until each server has given everything out and everybody has heard of it."""
        for view in self.model.duel.views:
            wait_until(partial(self._is_settled, view), f"{view.name} has assigned {self.group}", seconds=30)

    def _is_settled(self, view: View) -> bool:
        for member in self.members:
            answer = self.model.duel.exchange_with(
                view,
                Step("settle", _HEARTBEAT, 1, partial(self._steady, member)),
            )
            assert isinstance(answer, dict), answer
            assert answer["errorCode"] in {0, *_NOT_YET}, answer
            if answer["errorCode"] == 0:
                view.member_epochs[member] = answer["memberEpoch"]
        describe = Step("settle", _DESCRIBE, 1, lambda _: {"groupIds": [self.group]})
        answer = self.model.duel.exchange_with(view, describe)
        assert isinstance(answer, dict), answer
        (group,) = answer["groups"]
        if group["errorCode"] or group["assignmentEpoch"] != group["groupEpoch"]:
            return False
        assigned: set[tuple[str, int]] = set()
        for member in group["members"]:
            if member["memberEpoch"] != group["groupEpoch"]:
                return False
            assigned |= {
                (one["topicName"], number) for one in member["assignment"]["topicPartitions"] for number in one["partitions"]
            }
        subscribed = {topic for topics in self.members.values() for topic in topics}
        wanted = {place for place in self.model.places if place[0] in subscribed}
        return assigned >= wanted and len(group["members"]) == len(self.members)

    def _steady(self, member: str, view: View) -> Message:
        return self.heartbeat(member, view.member_epochs[member])

    def _learn(self, member: str, answers: tuple[Any, Any]) -> None:
        for view, answer in zip(self.model.duel.views, answers, strict=True):
            if isinstance(answer, dict) and answer["errorCode"] in _NOT_YET:
                view.member_epochs[member] = 0
            elif isinstance(answer, dict) and answer["errorCode"] == 0:
                view.member_epochs[member] = answer["memberEpoch"]

    def steady(self) -> None:
        """A heartbeat that changes nothing, with or without the topics."""
        if not self.members:
            return
        chance = self.model.chance
        member = chance.choice(list(self.members))
        more = {"subscribedTopicNames": self.members[member]} if chance.random() < 0.4 else {}
        self.model.duel.ask(
            Step("heartbeat", _HEARTBEAT, 1, lambda view: self.heartbeat(member, view.member_epochs[member], **more))
        )

    def fenced(self) -> None:
        """An epoch that is not the member's."""
        if not self.members:
            return
        member = self.model.chance.choice(list(self.members))
        off = self.model.chance.choice((1, 7, -1000))

        def build(view: View) -> Message:
            epoch = view.member_epochs[member] + off
            return self.heartbeat(member, epoch if epoch > 0 else view.member_epochs[member] + 3)

        self.model.duel.ask(Step("stale member epoch", _HEARTBEAT, 1, build))

    def refused(self) -> None:
        """Requests that are wrong by themselves, and members and groups that nobody knows."""
        chance = self.model.chance
        fresh = self.model.new_member_id()
        cases: list[tuple[str, dict[str, Any]]] = [
            ("unknown member", {"memberId": fresh, "memberEpoch": 3}),
            ("unknown member leaves", {"memberId": fresh, "memberEpoch": -1}),
            ("unknown group", {"groupId": f"no-{fresh}", "memberId": fresh, "memberEpoch": 3}),
            ("unknown group is left", {"groupId": f"no-{fresh}", "memberId": fresh, "memberEpoch": -1}),
            ("empty group", {"groupId": ""}),
            ("empty member", {"memberId": ""}),
            ("long member", {"memberId": "m" * 37}),
            ("empty rack", {"memberId": fresh, "rackId": "", "subscribedTopicNames": self.topics}),
            ("strange epoch", {"memberId": fresh, "memberEpoch": -2}),
            ("joins without topics", {"memberId": fresh, "subscribedTopicNames": None}),
            ("joins with no topics", {"memberId": fresh, "subscribedTopicNames": []}),
        ]
        label, change = chance.choice(cases)
        self.model.duel.ask(Step(f"heartbeat: {label}", _HEARTBEAT, 1, lambda _: {**self.heartbeat(fresh, 0), **change}))

    def describe(self) -> None:
        """The group at rest, and others."""
        chance = self.model.chance
        groups = chance.sample([self.group, "nobody", ""], chance.randint(1, 3))
        more = {"includeAuthorizedOperations": chance.random() < 0.3}
        self.model.duel.ask(Step("describe", _DESCRIBE, 1, lambda _: {"groupIds": groups, **more}))

    def leave(self) -> None:
        """A member goes; a second goodbye finds nobody."""
        if not self.members:
            return
        member = self.model.chance.choice(list(self.members))
        del self.members[member]
        for _ in range(2):
            self.model.duel.ask(Step("leave", _HEARTBEAT, 1, lambda _: self.heartbeat(member, -1)))
        if self.members:
            self.settle()

    def leave_all(self) -> None:
        """Everybody goes."""
        while self.members:
            self.leave()
