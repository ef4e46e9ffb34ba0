"""Questions of tests about configurations, and the answers that they expect."""

from __future__ import annotations

from typing import Any

from tests.gateway.orchard import Orchard
from tests.gateway.wire.codec import Message

TOPIC, BROKER, GROUP = 2, 4, 32
SET, REMOVE, APPEND, SUBTRACT = 0, 1, 2, 3
#: Sources of a value: a group, a static broker configuration, a default.
BY_GROUP, BY_BROKER, BY_DEFAULT = 8, 4, 5
TIMEOUT, LOCK, LIMIT, RESET = (
    "share.session.timeout.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.auto.offset.reset",
)
#: Options of a gateway, so that each source of a value is there.
OPTIONS: dict[str, Any] = {
    "groups": {RESET: "earliest", LIMIT: "3"},
    "broker": {"group.share.record.lock.duration.ms": "20000", "group.share.max.size": "17"},
    "node_id": 5,
}


def describe(there: Orchard, *resources: tuple[int, str, list[str] | None], version: int = 4, **more: bool) -> list[Message]:
    rows = [{"resourceType": kind, "resourceName": name, "configurationKeys": keys} for kind, name, keys in resources]
    asked = {"resources": rows, "includeSynonyms": False, **more}
    answer = there.ask("DescribeConfigs", version, asked)
    assert list(answer) == ["results"]
    results: list[Message] = answer["results"]
    return results


def result(kind: int, name: str, code: int = 0, message: str = "", configs: list[Message] | None = None) -> Message:
    return {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name, "configs": configs or []}


def config(name: str, value: str, source: int, *, read_only: bool = False, kind: int = 3, **more: Any) -> Message:
    return {
        "name": name,
        "value": value,
        "readOnly": read_only,
        "configSource": source,
        "isSensitive": False,
        "synonyms": [],
        "configType": kind,
        "documentation": None,
        **more,
    }


def alter(there: Orchard, *resources: Message, version: int = 1, only_check: bool = False) -> list[Message]:
    answer = there.ask("IncrementalAlterConfigs", version, {"resources": list(resources), "validateOnly": only_check})
    assert list(answer) == ["responses"]
    responses: list[Message] = answer["responses"]
    return responses


def replace(there: Orchard, *resources: Message, version: int = 2, only_check: bool = False) -> list[Message]:
    """AlterConfigs: a resource has what is named afterwards, and nothing else."""
    answer = there.ask("AlterConfigs", version, {"resources": list(resources), "validateOnly": only_check})
    assert list(answer) == ["responses"]
    responses: list[Message] = answer["responses"]
    return responses


def whole(name: str, *rows: tuple[str, str | None], kind: int = GROUP) -> Message:
    """All that a resource is to have."""
    return {"resourceType": kind, "resourceName": name, "configs": [{"name": config, "value": value} for config, value in rows]}


def changes(name: str, *rows: tuple[str, int, str | None], kind: int = GROUP) -> Message:
    configs = [{"name": config, "configOperation": how, "value": value} for config, how, value in rows]
    return {"resourceType": kind, "resourceName": name, "configs": configs}


def altered(name: str, code: int = 0, message: str | None = None, kind: int = GROUP) -> Message:
    return {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name}


def values(there: Orchard, group: str) -> dict[str, str]:
    """Values that a group has set itself."""
    (row,) = describe(there, (GROUP, group, None))
    return {config["name"]: config["value"] for config in row["configs"] if config["configSource"] == BY_GROUP}
