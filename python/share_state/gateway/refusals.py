"""Answers that hold an error and nothing else, as Kafka fills them (``getErrorResponse``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from share_state.gateway.answers import text_of
from share_state.kafka.client.metadata import ZERO_ID

__all__ = [
    "NOT_ASKED",
    "REFUSALS",
    "refused_classic",
    "refused_cluster",
    "refused_coordinator",
    "refused_group",
    "refused_heartbeat",
    "refused_offsets",
    "refused_topic",
]

#: "Was not asked what the client may do" (``AUTHORIZED_OPERATIONS_OMITTED``).
NOT_ASKED: Final = -(1 << 31)
_BROKERS: Final = 1


def refused_topic(name: str | None, topic_id: str, code: int) -> dict[str, Any]:
    """Return a topic of Metadata."""
    return {
        "errorCode": code,
        "name": name,
        "topicId": topic_id,
        "isInternal": False,
        "partitions": [],
        "topicAuthorizedOperations": NOT_ASKED,
    }


def refused_coordinator(code: int, message: str | None) -> dict[str, Any]:
    """Return a row of FindCoordinator."""
    return {"nodeId": -1, "host": "", "port": -1, "errorCode": code, "errorMessage": message}


def refused_classic(group: str, code: int, message: str | None = None, state: str = "") -> dict[str, Any]:
    """Return a group of DescribeGroups."""
    return {
        "errorCode": code,
        "errorMessage": message,
        "groupId": group,
        "groupState": state,
        "protocolType": "",
        "protocolData": "",
        "members": [],
        "authorizedOperations": NOT_ASKED,
    }


def refused_cluster(code: int, message: str | None) -> dict[str, Any]:
    """Return the answer of DescribeCluster."""
    return {
        "errorCode": code,
        "errorMessage": message,
        "endpointType": _BROKERS,
        "clusterId": "",
        "controllerId": -1,
        "brokers": [],
        "clusterAuthorizedOperations": NOT_ASKED,
    }


def refused_heartbeat(code: int, message: str | None = None) -> dict[str, Any]:
    """Return the answer of ShareGroupHeartbeat."""
    return {
        "errorCode": code,
        "errorMessage": message,
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def refused_group(group: str, code: int, message: str | None) -> dict[str, Any]:
    """Return a group of ShareGroupDescribe."""
    return {
        "errorCode": code,
        "errorMessage": message,
        "groupId": group,
        "groupState": "",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "assignorName": "",
        "members": [],
        "authorizedOperations": NOT_ASKED,
    }


def refused_offsets(code: int, message: str | None = None) -> dict[str, Any]:
    """Return the answer of AlterShareGroupOffsets and DeleteShareGroupOffsets."""
    return {"errorCode": code, "errorMessage": message, "responses": []}


def _list_offsets(asked: dict[str, Any], code: int) -> dict[str, Any]:
    row = {"errorCode": code, "timestamp": -1, "offset": -1, "leaderEpoch": -1}
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [{"partitionIndex": one["partitionIndex"], **row} for one in topic["partitions"]],
            }
            for topic in asked["topics"]
        ]
    }


def _metadata(asked: dict[str, Any], code: int) -> dict[str, Any]:
    rows = asked["topics"] or ()
    return {
        "brokers": [],
        "clusterId": None,
        "controllerId": -1,
        "topics": [refused_topic(row["name"] or "", row.get("topicId", ZERO_ID), code) for row in rows],
        "clusterAuthorizedOperations": NOT_ASKED,
        "errorCode": code,
    }


def _find_coordinator(asked: dict[str, Any], code: int) -> dict[str, Any]:
    row = refused_coordinator(code, text_of(code))
    keys = asked.get("coordinatorKeys")
    return row if keys is None else {"coordinators": [{"key": key, **row} for key in keys]}


def _configs(asked: dict[str, Any], code: int) -> list[dict[str, Any]]:
    return [
        {
            "errorCode": code,
            "errorMessage": text_of(code),
            "resourceType": row["resourceType"],
            "resourceName": row["resourceName"],
        }
        for row in asked["resources"]
    ]


def _groups(asked: dict[str, Any], code: int) -> dict[str, Any]:
    rows = [{"groupId": group, "errorCode": code, "errorMessage": None} for group in dict.fromkeys(asked["groupsNames"])]
    return {"results": rows}


#: The answer to a request that failed as a whole, by its key.
REFUSALS: Final[dict[int, Callable[[dict[str, Any], int], dict[str, Any]]]] = {
    2: _list_offsets,
    3: _metadata,
    10: _find_coordinator,
    15: lambda asked, code: {"groups": [refused_classic(group, code) for group in asked["groups"]]},
    16: lambda _, code: {"errorCode": code, "groups": []},
    32: lambda asked, code: {"results": [{**row, "configs": []} for row in _configs(asked, code)]},
    33: lambda asked, code: {"responses": _configs(asked, code)},
    42: _groups,
    44: lambda asked, code: {"responses": _configs(asked, code)},
    60: lambda _, code: refused_cluster(code, text_of(code)),
    74: lambda _, code: {"errorCode": code, "configResources": []},
    76: lambda _, code: refused_heartbeat(code, text_of(code)),
    77: lambda asked, code: {"groups": [refused_group(group, code, text_of(code)) for group in asked["groupIds"]]},
    90: lambda asked, code: {
        "groups": [{"groupId": row["groupId"], "topics": [], "errorCode": code, "errorMessage": None} for row in asked["groups"]]
    },
    91: lambda _, code: refused_offsets(code, text_of(code)),
    92: lambda _, code: refused_offsets(code, text_of(code)),
}
