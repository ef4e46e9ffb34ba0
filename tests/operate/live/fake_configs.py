"""Configurations as a broker describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
