"""Ordinary groups, which live upstream: what the gateway asks of them where a relay serves them too."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from share_state.errors import ShareStateError
from share_state.gateway.relay import Relay
from share_state.gateway.upstream.claim import GROUP as CLAIM
from share_state.gateway.upstream.cluster import UpstreamError
from share_state.kafka import codes
from share_state.kafka.client.apis import DELETE_GROUPS, DESCRIBE_GROUPS, LIST_GROUPS
from share_state.kafka.errors import BrokerTooOldError, CoordinatorUnavailableError

__all__ = ["OrdinaryGroups"]

_SHARE: Final = "share"
_CLASSIC: Final = "classic"
#: Upstream has no coordinator yet, and so no group.
_NO_GROUP: Final = frozenset({codes.NOT_COORDINATOR, codes.GROUP_ID_NOT_FOUND})


class OrdinaryGroups:
    """Asks upstream for groups.

    Args:
        relay: the connections to the one upstream broker.
    """

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def listed(self) -> list[dict[str, Any]]:
        """Return rows of ListGroups, without the claim of the gateway.

        Raises:
            CoordinatorUnavailableError: upstream does not say.
        """
        return [row for row in await self._rows() if row["groupId"] != CLAIM]

    async def _rows(self) -> list[dict[str, Any]]:
        """Return all ordinary groups; upstream's own share groups are none of the gateway's."""
        answer = await self._ask(LIST_GROUPS, {"statesFilter": [], "typesFilter": []}, {"errorCode": codes.NONE, "groups": []})
        if answer["errorCode"] != codes.NONE:
            raise _unavailable(f"ListGroups: code {answer['errorCode']}")
        # Before groups had types, all of them were of the first one.
        rows = [{"groupState": "", "groupType": _CLASSIC, **row} for row in answer["groups"]]
        return [row for row in rows if row["groupType"].lower() != _SHARE]

    async def holds(self, group: str) -> bool:
        """Say whether there is an ordinary group of a name.

        Raises:
            CoordinatorUnavailableError: upstream does not say.
        """
        return any(row["groupId"] == group for row in await self._rows())

    async def described(self, groups: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return rows of DescribeGroups by name. One that there is not is missing, or has GROUP_ID_NOT_FOUND and a text.

        Raises:
            CoordinatorUnavailableError: upstream does not say.
        """
        if not groups:
            return {}
        asked = {"groups": list(groups), "includeAuthorizedOperations": False}
        answer = await self._ask(DESCRIBE_GROUPS, asked, {"groups": []})
        is_dead = ("Dead", codes.NONE)
        rows = {row["groupId"]: {"errorMessage": None, **row} for row in answer["groups"]}
        return {
            group: row
            for group, row in rows.items()
            if row["errorCode"] != codes.NOT_COORDINATOR and (row["groupState"], row["errorCode"]) != is_dead
        }

    async def delete(self, groups: Collection[str]) -> dict[str, int]:
        """Delete groups; returns Kafka's code by name.

        Raises:
            CoordinatorUnavailableError: upstream does not say.
        """
        if not groups:
            return {}
        answer = await self._ask(DELETE_GROUPS, {"groupsNames": list(groups)}, {"results": []})
        told = {row["groupId"]: row["errorCode"] for row in answer["results"]}
        return {group: codes.GROUP_ID_NOT_FOUND if code in _NO_GROUP else code for group, code in told.items()}

    async def _ask(self, api_key: int, message: dict[str, Any], nothing: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._relay.ask(api_key, message)
        except BrokerTooOldError:
            # What does not serve the request has no such groups to tell of.
            return nothing
        except UpstreamError as lost:
            raise _unavailable(str(lost)) from lost


def _unavailable(why: str) -> ShareStateError:
    return CoordinatorUnavailableError(why, kafka_code=codes.COORDINATOR_NOT_AVAILABLE)
