"""Configurations of groups and of the gateway (RPC 32, 44, 74)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from share_state._core import ShareGroupStore, alter_group_config, broker_config_entries, group_config_entries
from share_state.errors import ConfigError, ShareStateError
from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.requests import Client
from share_state.kafka import codes
from share_state.logs import named

__all__ = ["Configs"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Types of resources (``ConfigResource.Type``).
_TOPIC, _BROKER, _GROUP = 2, 4, 32
#: Of which a list may be asked for: these, loggers of brokers and client metrics.
_LISTABLE: Final = frozenset({_TOPIC, _BROKER, 8, 16, _GROUP})
_REPEATED: Final = (codes.INVALID_REQUEST, "Each resource must appear at most once.")
#: Whose configuration may be asked for: the resource that guards it, and what is said to who may not.
_GUARDED: Final = {
    _TOPIC: (Resource.TOPIC, codes.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."),
    _BROKER: (Resource.CLUSTER, codes.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."),
    _GROUP: (Resource.GROUP, codes.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."),
}


class Configs:
    """Answers what is asked about configurations.

    Args:
        configs: what groups have set.
        groups: the groups, which follow what is set.
        executor: where calls run that wait for a disk.
        node_id: id of the one broker.
    """

    def __init__(self, configs: GroupConfigs, groups: ShareGroupStore, executor: ThreadPoolExecutor, node_id: int) -> None:
        self._configs = configs
        self._groups = groups
        self._executor = executor
        self._node_id = node_id
        #: Alterations are read, changed and written one after the other.
        self._turn = asyncio.Lock()

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeConfigs (RPC 32)."""
        return {"results": [self._described(client, row, asked) for row in asked["resources"]]}

    async def alter(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer IncrementalAlterConfigs (RPC 44); all changes of a resource are made, or none."""
        rows = []
        times = Counter((resource["resourceType"], resource["resourceName"]) for resource in asked["resources"])
        for resource in asked["resources"]:
            is_repeated = times[resource["resourceType"], resource["resourceName"]] > 1
            code, message = (
                _REPEATED if is_repeated else await self._altered(client, resource, validate_only=asked["validateOnly"])
            )
            rows.append(
                {
                    "errorCode": code,
                    "errorMessage": message,
                    "resourceType": resource["resourceType"],
                    "resourceName": resource["resourceName"],
                }
            )
        return {"responses": rows}

    async def list_resources(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListConfigResources (RPC 74): the groups that have set something."""
        if not client.may(Operation.DESCRIBE_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
            return {"errorCode": codes.CLUSTER_AUTHORIZATION_FAILED, "configResources": []}
        types = asked.get("resourceTypes")
        if types and not _LISTABLE.issuperset(types):
            return {"errorCode": codes.UNSUPPORTED_VERSION, "configResources": []}
        # Version 0 knows client metrics alone, of which there are none.
        groups = self._configs.names() if types is not None and (not types or _GROUP in list(types)) else []
        return {
            "errorCode": codes.NONE,
            "configResources": [{"resourceName": group, "resourceType": _GROUP} for group in groups],
        }

    def _described(self, client: Client, row: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        kind, name, keys = row["resourceType"], row["resourceName"], row["configurationKeys"]
        code, message = self._refusal(client, kind, name)
        entries: list[dict[str, Any]] = []
        if code == codes.NONE and kind == _GROUP:
            entries = group_config_entries(self._configs.set_by(name), self._configs.broker, self._configs.defaults)
        elif code == codes.NONE and kind == _BROKER:
            entries = broker_config_entries(self._configs.broker)
        if keys is not None:
            entries = [entry for entry in entries if entry["name"] in keys]
        if not asked["includeSynonyms"]:
            entries = [{**entry, "synonyms": []} for entry in entries]
        if not asked.get("includeDocumentation", False):
            entries = [{**entry, "documentation": None} for entry in entries]
        return {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name, "configs": entries}

    def _refusal(self, client: Client, kind: int, name: str) -> tuple[int, str]:
        """Say why a resource is not described; 0 where it is, with the empty text of Kafka's answer."""
        if kind == _GROUP and not name:
            return codes.INVALID_REQUEST, "Group name must not be empty"
        if kind not in _GUARDED:
            return codes.INVALID_REQUEST, f"Unsupported resource type {kind}."
        resource, code, message = _GUARDED[kind]
        if not client.may(Operation.DESCRIBE_CONFIGS, resource, CLUSTER_NAME if resource == Resource.CLUSTER else name):
            return code, message
        if kind == _BROKER and name != str(self._node_id):
            return codes.INVALID_REQUEST, f"Unexpected broker id, expected {self._node_id} but received {name}"
        return codes.NONE, ""

    async def _altered(self, client: Client, resource: dict[str, Any], *, validate_only: bool) -> tuple[int, str | None]:
        kind, group = resource["resourceType"], resource["resourceName"]
        if kind != _GROUP:
            return codes.INVALID_REQUEST, f"Resource type {kind} is not altered here."
        if not client.may(Operation.ALTER_CONFIGS, Resource.GROUP, group):
            return codes.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."
        alterations = [(change["name"], change["configOperation"], change["value"]) for change in resource["configs"]]
        try:
            async with self._turn:
                settings = alter_group_config(self._configs.set_by(group), alterations, self._configs.broker, name=group)
                if not validate_only:
                    await asyncio.get_running_loop().run_in_executor(self._executor, self._configs.replace, group, settings)
        except ConfigError as wrong:
            return wrong.kafka_code or codes.INVALID_CONFIG, str(wrong)
        except ShareStateError as failed:
            _LOG.error("a configuration was not saved: %s: %s", failed, named(group=group))
            return codes.KAFKA_STORAGE_ERROR, "The configuration could not be kept."
        else:
            if not validate_only:
                self._configs.changed(group)
                self._groups.set_group_config(group, self._configs.of(group))
            return codes.NONE, None
