"""Configurations of groups and of the gateway (RPC 32, 33, 44, 74)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeAlias

from share_state._core import ShareGroupStore, alter_group_config, broker_config_entries, group_config_entries
from share_state.errors import ConfigError, StoreError
from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.answers import text_of
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.net import Net
from share_state.gateway.requests import Client
from share_state.gateway.topic_configs import TOPIC, TopicConfigs
from share_state.gateway.upstream.cluster import UpstreamError
from share_state.kafka import codes
from share_state.kafka.client.apis import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS
from share_state.logs import named

__all__ = ["Configs"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Types of resources (``ConfigResource.Type``).
_BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP = 4, 8, 16, 32
#: Types of resources that can be listed. There are no loggers and client metrics here.
_LISTABLE: Final = frozenset({TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP})
_DESCRIBE_CONFIGS: Final = 32
#: The operation that gives a value (``AlterConfigOp.OpType``), the only one of AlterConfigs.
_SET: Final = 0
#: Topics that upstream is asked for at once, whose descriptions are long; and lists of entries that are kept.
_TOPICS_AT_ONCE: Final = 100
_MADE: Final = 1000
_TOO_LONG: Final = (codes.INVALID_REQUEST, "The answer has become too long: ask for fewer resources at once.")
_NOT_KEPT: Final = (codes.KAFKA_STORAGE_ERROR, "The configuration could not be kept.")
_REPEATED: Final = (codes.INVALID_REQUEST, "Each resource must appear at most once.")
#: Whose configuration may be asked for: the resource that guards it, and what is said to who may not.
_GUARDED: Final = {
    TOPIC: (Resource.TOPIC, codes.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."),
    _BROKER: (Resource.CLUSTER, codes.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."),
    _GROUP: (Resource.GROUP, codes.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."),
}


#: Type and name.
_Place: TypeAlias = tuple[int, str]


class Configs:
    """Answers what is asked about configurations.

    Args:
        configs: what groups have set.
        groups: the groups, which follow what is set.
        executor: where calls run that wait for a disk.
        node_id: id of the one broker.
        topics: the configurations of topics.
        net: catches what a resource raises.
    """

    def __init__(
        self,
        configs: GroupConfigs,
        groups: ShareGroupStore,
        executor: ThreadPoolExecutor,
        node_id: int,
        topics: TopicConfigs,
        *,
        net: Net,
    ) -> None:
        self._net = net
        self._topics = topics
        self._configs = configs
        self._groups = groups
        self._executor = executor
        self._node_id = node_id
        #: Entries by what they are about: thousands of groups may be asked for that have set nothing.
        self._made: dict[tuple[object, ...], list[dict[str, Any]]] = {}
        #: Alterations are read, changed and written one after the other.
        self._turn = asyncio.Lock()

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeConfigs (RPC 32)."""
        # Each resource is answered once, with all names that are asked of it.
        names: dict[_Place, set[str] | None] = {}
        async for row in self._net.slices.of(asked["resources"]):
            resource, keys = (row["resourceType"], row["resourceName"]), row["configurationKeys"]
            before = names.get(resource, set())
            # As Kafka: no list and an empty one ask for everything.
            names[resource] = before.union(keys) if keys and before is not None else None
        topics = deque(name for kind, name in names if kind == TOPIC)
        told: dict[str, dict[str, Any]] = {}

        async def described(resource: _Place) -> dict[str, Any]:
            code, message = self._refusal(client, *resource)
            kind, name = resource
            if code == codes.NONE and kind == TOPIC:
                if name not in told:
                    told.clear()
                    following = [name, *(topics.popleft() for _ in range(min(len(topics), _TOPICS_AT_ONCE)))]
                    allowed = [one for one in dict.fromkeys(following) if self._refusal(client, TOPIC, one)[0] == codes.NONE]
                    told.update(await self._topics.describe(allowed))
                code, message, entries = (told[name][field] for field in ("errorCode", "errorMessage", "configs"))
            else:
                entries = self._entries(*resource, asked) if code == codes.NONE else []
            keys = names[resource]
            if keys is not None:
                entries = [entry for entry in entries if entry["name"] in keys]
            return {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name, "configs": entries}

        def refuse(resource: _Place, code: int) -> dict[str, Any]:
            is_full = code == codes.COORDINATOR_LOAD_IN_PROGRESS
            code, message = _TOO_LONG if is_full else (code, text_of(code))
            kind, name = resource
            return {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name, "configs": []}

        return {"results": await self._net.rows(client, _DESCRIBE_CONFIGS, names, described, refuse)}

    async def alter(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer IncrementalAlterConfigs (RPC 44); all changes of a resource are made, or none."""
        return await self._answered(client, INCREMENTAL_ALTER_CONFIGS, asked)

    async def replace(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer AlterConfigs (RPC 33): a resource has set what the request names, and nothing else."""
        return await self._answered(client, ALTER_CONFIGS, asked)

    async def _answered(self, client: Client, api_key: int, asked: dict[str, Any]) -> dict[str, Any]:
        times = Counter((row["resourceType"], row["resourceName"]) for row in asked["resources"])
        answers: dict[tuple[int, str], tuple[int, str | None]] = {}
        topics, groups = [], {}
        async for row in self._net.slices.of(asked["resources"]):
            kind, name = row["resourceType"], row["resourceName"]
            refused = _REPEATED if times[kind, name] > 1 else self._refused(client, kind, name)
            if refused is not None:
                answers[kind, name] = refused
            elif kind == TOPIC:
                topics.append(row)
            else:
                groups[name] = row["configs"]
        for name, answer in (await self._topics.alter(api_key, topics, asked["validateOnly"])).items():
            answers[TOPIC, name] = answer
        for name, answer in (await self._altered(groups, asked["validateOnly"], whole=api_key == ALTER_CONFIGS)).items():
            answers[_GROUP, name] = answer
        # As Kafka: each resource of the request is answered, a repeated one as often (ConfigAdminManager.reassemble*Response).
        places = ((row["resourceType"], row["resourceName"]) for row in asked["resources"])
        rows = [
            {"errorCode": code, "errorMessage": message, "resourceType": kind, "resourceName": name}
            async for (kind, name), (code, message) in self._net.slices.of((place, answers[place]) for place in places)
        ]
        return {"responses": rows}

    async def list_resources(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListConfigResources (RPC 74): the groups that have set something, topics and the one broker."""
        if not client.may(Operation.DESCRIBE_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
            return {"errorCode": codes.CLUSTER_AUTHORIZATION_FAILED, "configResources": []}
        # The first version has no types, and lists client metrics alone.
        types = set(asked.get("resourceTypes", (_CLIENT_METRICS,))) or _LISTABLE
        if not types <= _LISTABLE:
            return {"errorCode": codes.UNSUPPORTED_VERSION, "configResources": []}
        found: list[_Place] = []
        if TOPIC in types:
            try:
                topics = await self._topics.names()
            except UpstreamError as lost:
                _LOG.warning("topics were not listed: %s %s", lost, client)
                return {"errorCode": codes.REQUEST_TIMED_OUT, "configResources": []}
            found += [(TOPIC, name) async for name in self._net.slices.of(topics) if client.sees(name)]
        if _BROKER in types:
            found.append((_BROKER, str(self._node_id)))
        if _GROUP in types:
            found += [(_GROUP, group) for group in self._configs.names()]
        await self._net.answers.reserve(client, sum(len(name) + 4 for _, name in found))
        rows = [{"resourceName": name, "resourceType": kind} async for kind, name in self._net.slices.of(found)]
        return {"errorCode": codes.NONE, "configResources": rows}

    def _entries(self, kind: int, name: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the entries of a group or of the gateway; groups that have set the same share them."""
        settings = self._configs.set_by(name) if kind == _GROUP else {}
        with_synonyms, with_documentation = asked["includeSynonyms"], asked.get("includeDocumentation", False)
        key = kind, with_synonyms, with_documentation, *sorted(settings.items())
        found = self._made.get(key)
        if found is None:
            if kind == _GROUP:
                found = group_config_entries(settings, self._configs.broker, self._configs.defaults)
            else:
                found = broker_config_entries(self._configs.broker)
            if not with_synonyms:
                found = [{**entry, "synonyms": []} for entry in found]
            if not with_documentation:
                found = [{**entry, "documentation": None} for entry in found]
            if len(self._made) >= _MADE:
                self._made.clear()
            self._made[key] = found
        return found

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

    def _refused(self, client: Client, kind: int, name: str) -> tuple[int, str] | None:
        """Say why a resource is not altered; ``None`` where it may be."""
        if kind != _GROUP and not (kind == TOPIC and self._topics.relays):
            return codes.INVALID_REQUEST, f"Resource type {kind} is not altered here."
        resource, code, message = _GUARDED[kind]
        return None if client.may(Operation.ALTER_CONFIGS, resource, name) else (code, message)

    async def _altered(
        self, groups: dict[str, list[dict[str, Any]]], validate_only: bool, *, whole: bool
    ) -> dict[str, tuple[int, str | None]]:
        """Alter groups, each as a whole or not at all, with one write for all of them; gives code and message of each.

        As a ``whole``, the changes are all that a group has set afterwards.
        """
        answers: dict[str, tuple[int, str | None]] = {}
        changed: dict[str, dict[str, str]] = {}
        async with self._turn:
            async for group, changes in self._net.slices.of(groups.items()):
                before = self._configs.set_by(group)
                alterations = [(change["name"], change.get("configOperation", _SET), change["value"]) for change in changes]
                try:
                    after = alter_group_config({} if whole else before, alterations, self._configs.broker, name=group)
                except ConfigError as wrong:
                    answers[group] = wrong.kafka_code or codes.INVALID_CONFIG, str(wrong)
                    continue
                answers[group] = codes.NONE, None
                if after != before:
                    changed[group] = after
            if changed and not validate_only and not await self._keep(changed):
                answers |= dict.fromkeys(changed, _NOT_KEPT)
        return answers

    async def _keep(self, changed: dict[str, dict[str, str]]) -> bool:
        """Write what groups have set now, and have it in force; says whether that was possible."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._configs.replace, changed)
            self._configs.changed(changed)
            async for group in self._net.slices.of(changed):
                self._groups.set_group_config(group, self._configs.of(group))
        except StoreError as failed:
            _LOG.error("configurations were not saved: %s: %s", failed, named(group=min(changed), groups=len(changed)))
            return False
        return True
