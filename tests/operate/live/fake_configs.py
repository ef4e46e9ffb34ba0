"""Configurations as a broker describes them, and members of groups."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from uuid import UUID

Configs = Mapping[str, Mapping[str, str]]
_GROUP = 32
#: Resource types, and the error of each that may not be described.
_DENIED = {2: 29, 4: 31, _GROUP: 30}


def described_configs(asked: Mapping[str, Any], groups: Configs, others: Configs, *, denied: bool) -> dict[str, Any]:
    """Answer DescribeConfigs from the configurations of groups, and those of brokers and topics, by their names."""
    rows = []
    for resource in asked["resources"]:
        name, kind = resource["resourceName"], resource["resourceType"]
        configs = (groups if kind == _GROUP else others).get(name, {})
        code = _DENIED[kind] if denied else 0
        row = {"errorCode": code, "errorMessage": None, "resourceType": kind, "resourceName": name}
        rows.append({**row, "configs": [] if code else [_entry(*pair) for pair in configs.items()]})
    return {"throttleTimeMs": 0, "results": rows}


def _entry(name: str, value: str) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "readOnly": False,
        "configSource": 1,
        "isSensitive": False,
        "synonyms": [],
        "configType": 0,
        "documentation": None,
    }


def base64_id(topic_id: UUID) -> str:
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def member(member_id: str, assigned: Mapping[UUID, list[int]]) -> dict[str, Any]:
    """A member as DescribeShareGroups has it."""
    return {
        "memberId": member_id,
        "rackId": None,
        "memberEpoch": 3,
        "clientId": "worker",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["orders"],
        "assignment": {
            "topicPartitions": [
                {"topicId": base64_id(topic_id), "topicName": "orders", "partitions": partitions}
                for topic_id, partitions in assigned.items()
            ]
        },
    }
