"""A coordinator of ordinary groups: who is a member is all that it knows. Called under the cluster's lock."""

from __future__ import annotations

import itertools
from collections import defaultdict

from tests.gateway.wire.codec import Message

#: Requests that it answers, beside those that every hostile upstream does.
GROUP_APIS = {
    "FindCoordinator": (0, 4),
    "JoinGroup": (0, 7),
    "Heartbeat": (0, 4),
    "LeaveGroup": (0, 4),
    "SyncGroup": (0, 4),
    "DescribeGroups": (0, 5),
}
_UNKNOWN_MEMBER, _FORBIDDEN, _ID_REQUIRED = 25, 30, 79
_WITH_ID_FIRST = 4


class Groups:
    """The members of each group, by their ids."""

    def __init__(self) -> None:
        #: Their client ids.
        self.members: defaultdict[str, dict[str, str]] = defaultdict(dict)
        #: True if nobody may do anything with groups.
        self.forbidden = False
        self._numbers = itertools.count()

    def answer(self, name: str, version: int, asked: Message, client_id: str, here: tuple[int, str, int]) -> Message:
        """Answer a request; ``here`` is the broker that coordinates every group."""
        code = _FORBIDDEN if self.forbidden else 0
        if name == "FindCoordinator":
            node, host, port = here
            found = {"errorCode": code, "errorMessage": None, "nodeId": node, "host": host, "port": port}
            return {"coordinators": [{"key": key, **found} for key in asked["coordinatorKeys"]]} if version >= 4 else found
        if name == "DescribeGroups":
            return {"groups": [self._described(group, code) for group in asked["groups"]]}
        members = self.members[asked["groupId"]]
        if name == "JoinGroup":
            return self._joined(version, members, asked["memberId"], client_id)
        if name == "LeaveGroup":
            gone = [one["memberId"] for one in asked["members"]] if version >= 3 else [asked["memberId"]]
            for member in gone:
                members.pop(member, None)
            rows = [{"memberId": one, "groupInstanceId": None, "errorCode": 0} for one in gone]
            return {"errorCode": 0, "members": rows} if version >= 3 else {"errorCode": 0}
        answer: Message = {"errorCode": 0 if asked["memberId"] in members else _UNKNOWN_MEMBER}
        return {**answer, "assignment": b""} if name == "SyncGroup" else answer

    def _joined(self, version: int, members: dict[str, str], member: str, client_id: str) -> Message:
        given = member or f"{client_id}-{next(self._numbers)}"
        code = _ID_REQUIRED if version >= _WITH_ID_FIRST and not member else 0
        if code == 0:
            members[given] = client_id
        listed = [{"memberId": one, "metadata": b""} for one in members]
        answer: Message = {"errorCode": code, "generationId": 1, "protocolName": "gateway", "leader": given, "memberId": given}
        return {**answer, "members": listed}

    def _described(self, group: str, code: int) -> Message:
        rows = [
            {"memberId": member, "clientId": client_id, "clientHost": "/host", "memberMetadata": b"", "memberAssignment": b""}
            for member, client_id in self.members[group].items()
        ]
        return {
            "errorCode": code,
            "groupId": group,
            "groupState": "Stable" if rows else "Dead",
            "protocolType": "",
            "protocolData": "",
            "members": [] if code else rows,
        }
