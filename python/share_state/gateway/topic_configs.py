"""Configurations of topics: upstream's, which is asked for them."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from share_state.gateway.topic_names import is_topic_name
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.kafka import codes
from share_state.kafka.client.apis import DESCRIBE_CONFIGS
from share_state.kafka.errors import BrokerTooOldError

__all__ = ["TOPIC", "TopicConfigs"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: The type of a topic (``ConfigResource.Type``).
TOPIC: Final = 2
#: Code and message of the answer where upstream answers nothing.
_NOT_OFFERED: Final = (codes.UNSUPPORTED_VERSION, "Upstream does not describe or alter configurations.")
_NO_ANSWER: Final = (codes.REQUEST_TIMED_OUT, "Upstream cannot be reached.")
_UNKNOWN: Final = (codes.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
_INVALID: Final = (codes.INVALID_TOPIC_EXCEPTION, "The request attempted to perform an operation on an invalid topic.")


class TopicConfigs:
    """Asks upstream.

    Args:
        upstream: the cluster with the topics.
        relays: whether clients administer topics through the gateway. Else a topic that upstream does not describe to the gateway
            has no entries: who lists topics asks for them too, and only the right to read them is needed.
    """

    def __init__(self, upstream: Upstream, *, relays: bool) -> None:
        self._upstream = upstream
        self.relays = relays

    async def names(self) -> list[str]:
        """Ask upstream for the names of all topics.

        Raises:
            UpstreamError: no broker can be asked.
        """
        return sorted(topic.name for topic in await self._upstream.all_topics())

    async def describe(self, names: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return what upstream answers about topics, by name: ``errorCode``, ``errorMessage`` and ``configs``."""
        rows = [{"resourceType": TOPIC, "resourceName": name, "configurationKeys": None} for name in names]
        asked = {"resources": rows, "includeSynonyms": True, "includeDocumentation": True}
        told = await self._told(DESCRIBE_CONFIGS, "results", names, asked)
        if self.relays:
            return told
        refused = [name for name, row in told.items() if row["errorCode"] in _NOT_FOR_US]
        return told | await self._without_entries(refused)

    async def alter(
        self, api_key: int, resources: Collection[dict[str, Any]], validate_only: bool
    ) -> dict[str, tuple[int, str | None]]:
        """Have upstream alter topics by a request of this key; returns code and message by name."""
        asked = {"resources": list(resources), "validateOnly": validate_only}
        told = await self._told(api_key, "responses", [row["resourceName"] for row in resources], asked)
        return {name: (row["errorCode"], row["errorMessage"]) for name, row in told.items()}

    async def _told(self, api_key: int, field: str, names: Collection[str], asked: dict[str, Any]) -> dict[str, dict[str, Any]]:
        if not names:
            return {}
        found: dict[str, dict[str, Any]] = {}
        code, message = _NO_ANSWER
        try:
            answer = await (await self._upstream.control.any()).request(api_key, asked)
            found = {row["resourceName"]: row for row in answer[field]}
        except BrokerTooOldError:
            code, message = _NOT_OFFERED
        except UpstreamError as lost:
            _LOG.warning("upstream cannot be reached for configurations: %s", lost)
        return {name: found.get(name) or _row(code, message) for name in names}

    async def _without_entries(self, names: Collection[str]) -> dict[str, dict[str, Any]]:
        """Say of topics only whether they exist."""
        found = {name: _row(*_INVALID) for name in names if not is_topic_name(name)}
        legal = [name for name in names if name not in found]
        try:
            there = await self._upstream.topics(legal)
        except UpstreamError:
            return found | {name: _row(*_NO_ANSWER) for name in legal}
        return found | {name: _row(codes.NONE, "") if name in there else _row(*_UNKNOWN) for name in legal}


#: Codes of upstream where the gateway's account has no right to know, or upstream no such request.
_NOT_FOR_US: Final = frozenset({codes.TOPIC_AUTHORIZATION_FAILED, codes.UNSUPPORTED_VERSION})


def _row(code: int, message: str) -> dict[str, Any]:
    return {"errorCode": code, "errorMessage": message, "configs": []}
