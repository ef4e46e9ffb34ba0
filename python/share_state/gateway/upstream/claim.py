"""The claim of a gateway on its upstream: a place in an ordinary consumer group there, for all other gateways to see.

Two gateways with a PATH each would both deliver every record of a group. Each has one member in the group :data:`GROUP`, whose
client id names its PATH, and none starts beside a live member of another PATH. What the claim does not keep out is a gateway
that began while upstream could not be asked: it is told in the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
import zlib
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from share_state.errors import ShareStateError, StoreError
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.kafka import codes
from share_state.kafka.client.apis import (
    DESCRIBE_GROUPS,
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
)
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.coordinators import OF_GROUPS, find_coordinators

__all__ = ["GROUP", "Claim"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: The group, and how the client ids of its members begin; what follows is the cluster id that is kept in PATH.
GROUP: Final = "share-state-gateway"
_PREFIX: Final = GROUP + "-"
_NEEDS: Final = frozenset({FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP, DESCRIBE_GROUPS})
#: Milliseconds after which a gateway that is silent has no claim any more (the least that brokers take by default,
#: ``group.min.session.timeout.ms``), and seconds between two heartbeats.
_SESSION_MS: Final = 6000
_BEAT: Final = 2.0
#: Seconds after which the claim of another gateway is one of a gateway that lives: a session, and one more where a group of
#: several waits for who has to join again.
_LIVES: Final = 14.0
#: Seconds that a start waits for upstream, and an end.
_PATIENCE: Final = 2.0
_LAST: Final = 1.0
#: Seconds between two looks, for a place of ours and for one of others.
_AGAIN: Final = 0.01
_LATER: Final = 0.25
#: Seconds between two questions to a coordinator that is about to be there, and the codes by which it is told.
_SOON: Final = 0.05
_COMING: Final = frozenset({codes.COORDINATOR_LOAD_IN_PROGRESS, codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR})


_Row = TypeVar("_Row")


class _RefusedError(Exception):
    """The group cannot be joined or looked at now, with Kafka's code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code={code} ({codes.name_of(code)})")
        self.code = code


class Claim:
    """Holds the claim from :meth:`take` to :meth:`close`.

    Args:
        upstream: the cluster.
        identity: the cluster id of PATH.
        alongside: whether other gateways may serve the same upstream.
    """

    def __init__(self, upstream: Upstream, identity: str, *, alongside: bool) -> None:
        self._upstream = upstream
        self._client_id = _PREFIX + identity
        self._alongside = alongside
        #: A broker answers nothing else on a connection where somebody waits to join.
        self._questions: Connections | None = None
        self._place: Connections | None = None
        self._member_id = ""
        self._joining: asyncio.Task[int] | None = None
        self._holding: asyncio.Task[None] | None = None
        self._told = ""

    async def take(self) -> None:
        """Take the claim, over from an earlier start of this PATH if need be; without an answer of upstream, begin without it.

        Raises:
            StoreError: another gateway has it, and lives.
        """
        self._questions, self._place = (self._upstream.connections(self._client_id) for _ in range(2))
        began = time.monotonic()
        while True:
            try:
                async with asyncio.timeout(_PATIENCE):
                    is_possible = await self._begin(self._questions)
            except StoreError as taken:
                await self._withdraw(self._questions)
                if time.monotonic() > began + _LIVES:
                    await self.close()
                    raise
                if self._told != str(taken):
                    self._told = str(taken)
                    _LOG.warning("waiting for up to %g s: %s", _LIVES, taken)
                # Of two that came at the same moment one looks first.
                await asyncio.sleep(_LATER * (1 + zlib.crc32(self._client_id.encode()) % 16 / 16))
                continue
            except (TimeoutError, ShareStateError, _RefusedError, *UpstreamError) as why:
                if isinstance(why, _RefusedError) and why.code in _COMING and time.monotonic() < began + _PATIENCE:
                    # A cluster that has had no groups yet makes the topic for them now.
                    await asyncio.sleep(_SOON)
                    continue
                is_possible = self._tell(why)
            break
        if is_possible:
            self._holding = asyncio.get_running_loop().create_task(self._hold())

    async def close(self) -> None:
        """Give the claim up, so that another gateway may begin at once."""
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)
        if self._questions is None or self._place is None:
            return
        if self._member_id or self._joining is not None:
            await self._withdraw(self._questions)
        await asyncio.gather(self._questions.close(), self._place.close())

    async def _withdraw(self, questions: Connections) -> None:
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.gather(self._joining, return_exceptions=True)
        self._joining, self._member_id = None, ""
        try:
            async with asyncio.timeout(_LAST):
                await self._evict(await self._coordinator(questions))
        except (TimeoutError, ShareStateError, _RefusedError, *UpstreamError) as lost:
            _LOG.info("the claim on upstream was not given up: %s", lost)

    async def _begin(self, questions: Connections) -> bool:
        """See who has a claim, and make ours visible; says whether upstream has such groups at all."""
        if not (await questions.any()).offered.keys() >= _NEEDS:
            _LOG.info("upstream has no groups that can be looked at: other gateways that serve it are not seen")
            return False
        if self._joining is not None:
            self._joining.cancel()
        connection = await self._coordinator(questions)
        self._check_others(await self._members(connection))
        await self._evict(connection)
        self._joining = asyncio.get_running_loop().create_task(self._join())
        # Until ours is there, whoever looks sees nothing; who came at the same moment is seen by both.
        while True:
            has_joined = self._joining.done()
            members = await self._members(connection)
            self._check_others(members)
            if has_joined or any(member["clientId"] == self._client_id for member in members):
                break
            await asyncio.sleep(_AGAIN)
        return True

    async def _evict(self, connection: Connection) -> None:
        """Take out whoever has our client id."""
        for member in await self._members(connection):
            if member["clientId"] == self._client_id:
                named = {"memberId": member["memberId"]}
                await connection.request(LEAVE_GROUP, {"groupId": GROUP, **named, "members": [named]})

    async def _hold(self) -> None:
        """Keep the claim alive, and take it again where it was lost."""
        while True:
            try:
                joining, self._joining = self._joining, None
                generation = await (self._join() if joining is None else joining)
                self._told = ""
                if self._questions is not None:
                    self._check_others(await self._members(await self._coordinator(self._questions)))
                code = await self._beat(generation)
                if code == codes.UNKNOWN_MEMBER_ID:
                    self._member_id = ""
                    _LOG.warning("the claim on upstream was lost, or a gateway with a copy of this PATH has taken it over")
            except StoreError as shared:
                _LOG.error("%s", shared)
            except (ShareStateError, _RefusedError, *UpstreamError) as why:
                if not self._tell(why):
                    return
            await asyncio.sleep(_BEAT)

    async def _join(self) -> int:
        """Become a member; returns the generation of the group."""
        if self._place is None:
            raise _RefusedError(codes.COORDINATOR_NOT_AVAILABLE)
        connection = await self._coordinator(self._place)
        metadata = self._client_id.encode()
        asked = {
            "groupId": GROUP,
            "sessionTimeoutMs": _SESSION_MS,
            "rebalanceTimeoutMs": _SESSION_MS,
            "protocolType": "share-state",
            "protocols": [{"name": "gateway", "metadata": metadata}],
        }
        answer = await connection.request(JOIN_GROUP, {**asked, "memberId": self._member_id})
        if answer["errorCode"] == codes.MEMBER_ID_REQUIRED:
            self._member_id = answer["memberId"]
            answer = await connection.request(JOIN_GROUP, {**asked, "memberId": self._member_id})
        if answer["errorCode"] == codes.UNKNOWN_MEMBER_ID:
            self._member_id = ""
        _check(answer)
        self._member_id, generation = answer["memberId"], int(answer["generationId"])
        # The first member says who gets what, which is nothing.
        members = [{"memberId": member["memberId"], "assignment": b""} for member in answer["members"]]
        # Where the group is changing again, the first heartbeat says so.
        await connection.request(SYNC_GROUP, {**self._named(generation), "assignments": members})
        return generation

    async def _beat(self, generation: int) -> int:
        """Say that the member lives; returns the code by which the group says that it has to join again."""
        if self._place is None:
            return codes.UNKNOWN_MEMBER_ID
        connection = await self._coordinator(self._place)
        while True:
            answer = await connection.request(HEARTBEAT, self._named(generation))
            if answer["errorCode"] != codes.NONE:
                return int(answer["errorCode"])
            await asyncio.sleep(_BEAT)

    def _named(self, generation: int) -> dict[str, Any]:
        return {"groupId": GROUP, "generationId": generation, "memberId": self._member_id}

    @staticmethod
    async def _members(connection: Connection) -> list[dict[str, Any]]:
        group = _first((await connection.request(DESCRIBE_GROUPS, {"groups": [GROUP]}))["groups"])
        if group["errorCode"] != codes.GROUP_ID_NOT_FOUND:
            _check(group)
        members: list[dict[str, Any]] = group["members"]
        return members

    def _check_others(self, members: list[dict[str, Any]]) -> None:
        for member in members:
            client_id, host = member["clientId"], member["clientHost"]
            if client_id.startswith(_PREFIX) and client_id != self._client_id and not self._alongside:
                raise StoreError(
                    "another gateway with a PATH of its own serves this upstream, so each record would be delivered twice: "
                    f"cluster id {client_id.removeprefix(_PREFIX)!r} at {host!r}; expected none, or --alongside"
                )

    @staticmethod
    async def _coordinator(connections: Connections) -> Connection:
        told = await find_coordinators(await connections.any(), OF_GROUPS, [GROUP])
        found = _first(list(told.values()))
        if found.error_code != codes.NONE:
            raise _RefusedError(found.error_code)
        return await connections.connection(found.node)

    def _tell(self, why: BaseException) -> bool:
        """Say once why there is no claim; returns whether that may change."""
        is_forbidden = isinstance(why, _RefusedError) and why.code == codes.GROUP_AUTHORIZATION_FAILED
        reason = "upstream did not answer in time" if isinstance(why, TimeoutError) else str(why)
        hint = f"; it takes the right to READ and DESCRIBE group {GROUP}" if is_forbidden else ""
        if reason != self._told:
            self._told = reason
            # That upstream cannot be reached is told elsewhere.
            level = logging.INFO if isinstance(why, UpstreamError) else logging.WARNING
            _LOG.log(level, "other gateways do not see that this one serves upstream: %s%s", reason, hint)
        return not is_forbidden


def _first(rows: list[_Row]) -> _Row:
    if not rows:
        raise _RefusedError(codes.UNKNOWN_SERVER_ERROR)
    return rows[0]


def _check(answer: Mapping[str, Any]) -> None:
    code = answer["errorCode"]
    if code != codes.NONE:
        raise _RefusedError(code)
