"""The table of requests that clients may send: key, versions, and who answers."""

from __future__ import annotations

import contextlib
import logging
import struct
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

from share_state._core import decode_message, encode_message
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.counts import Counts
from share_state.gateway.limits import Limits, WorkBytes
from share_state.gateway.net import Net
from share_state.gateway.refusals import REFUSALS
from share_state.gateway.requests import Client
from share_state.kafka import codes
from share_state.kafka.client.apis import FETCH, PRODUCE, SASL_HANDSHAKE, SHARE_ACKNOWLEDGE, SHARE_FETCH, VERSIONS, spoken
from share_state.kafka.framing import Request, request_of, response_bytes
from share_state.kafka.logins import longest_of_stranger

__all__ = ["Api", "Dispatch"]

_LOG: Final = logging.getLogger("share_state.gateway")
_KEY: Final = struct.Struct(">hh")
_FIRST_FLEXIBLE: Final = 3
#: ShareFetch and ShareAcknowledge: their lists of acknowledgements may be long.
_SHARE: Final = frozenset({SHARE_FETCH, SHARE_ACKNOWLEDGE})
_TOO_LATE: Final = "The client is logged in already"

#: Produce and Fetch. librdkafka takes a broker without them for one too old for records with headers, and never starts. It
#: sends neither; who does needs the relay, or the upstream.
_LISTED: Final = {PRODUCE: spoken(PRODUCE, until=9), FETCH: spoken(FETCH, until=12)}

#: Answers a message with a message.
Handler = Callable[[Client, int, dict[str, Any]], Awaitable[dict[str, Any]]]


class Relays(Protocol):
    """Answers frames with frames, without taking them apart."""

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        """Answer a request; ``None`` ends the connection."""

    def refuse(self, payload: bytes, code: int, client: Client) -> bytes | None:
        """Answer it with an error."""


class Api(NamedTuple):
    """A request that is answered here, and in which versions."""

    oldest: int
    newest: int
    handler: Handler


class Dispatch:
    """Answers frames.

    Args:
        apis: the requests by key, without ApiVersions, ShareFetch and ShareAcknowledge.
        share: answers those two, frames with frames.
        features: gives the features that ApiVersions tells, for its version.
        limits: what clients may take up.
        counts: where requests are counted.
        net: catches what handlers raise.

    Attributes:
        relay: answers what is not in the table; nothing by default.
        relayed_versions: the versions of that.
    """

    def __init__(
        self,
        apis: dict[int, Api],
        share: Callable[[Client, bytes], Awaitable[bytes]],
        features: Callable[[int], dict[str, Any]],
        *,
        limits: Limits,
        counts: Counts,
        net: Net,
    ) -> None:
        self._apis = apis
        self._share = share
        self._features = features
        self._limits = limits
        self._work = WorkBytes(limits.work)
        self._logins: dict[int, tuple[int, int]] = {}
        self._versions = {key: (api.oldest, api.newest) for key, api in apis.items()}
        self._versions[VERSIONS] = spoken(VERSIONS, until=4)
        self._versions |= {key: spoken(key) for key in _SHARE}
        self.relay: Relays | None = None
        self.relayed_versions: dict[int, tuple[int, int]] = {}
        self._counts = counts
        self._net = net

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        """Answer a request.

        Raises:
            WireDecodeError: it is no request: the connection has to be closed.
            UnsupportedVersionError: its version is not known, and it was told before which are.
        """
        if len(payload) < _KEY.size:
            raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
        api_key, version = _KEY.unpack_from(payload)
        began = time.monotonic()
        try:
            async with self._work.of(len(payload)):
                return await self._respond(client, api_key, version, payload)
        finally:
            # Only keys that are served: clients make up the others.
            is_known = api_key in self._versions or api_key in self.relayed_versions
            self._counts.request_times[api_key if is_known else -1].observe(time.monotonic() - began)

    async def _respond(self, client: Client, api_key: int, version: int, payload: bytes) -> bytes | None:
        oldest, newest = self._versions.get(api_key, (0, -1))
        if api_key == VERSIONS:
            return self._api_versions(client, request_of(payload))
        if api_key in self._logins:
            return self._too_late(request_of(payload))
        if not oldest <= version <= newest:
            low, high = self.relayed_versions.get(api_key, (0, -1))
            if self.relay is not None and low <= version <= high:
                return await self._relayed(self.relay, client, payload)
            hint = "; it is upstream's, and there is no relay" if api_key in _LISTED else ""
            raise UnsupportedVersionError(f"request {api_key} version {version} is not served{hint}")
        request = request_of(payload)
        client.client_id = request.client_id
        if api_key in _SHARE:
            with self._malformed(client, api_key, version):
                return await self._share(client, payload)
        with self._malformed(client, api_key, version):
            # What follows a message is skipped, as Kafka does: librdkafka sends more than there is in some versions.
            elements = self._limits.elements
            asked = decode_message(api_key, version, request.body, trailing=True, max_elements=elements)
        return await self._answered(client, request, asked)

    @contextlib.contextmanager
    def _malformed(self, client: Client, api_key: int, version: int) -> Iterator[None]:
        """Count a request that cannot be read, and say which it is."""
        try:
            yield
        except WireDecodeError as wrong:
            self._counts.malformed += 1
            message = f"request {api_key} version {version} of {client.client_id!r}: {wrong}"
            raise WireDecodeError(message, position=wrong.position, kind=wrong.kind) from None

    async def _relayed(self, relay: Relays, client: Client, payload: bytes) -> bytes | None:
        """Have a request passed on, for a client that may do everything: upstream sees one account for all."""
        with self._malformed(client, *_KEY.unpack_from(payload)):
            if client.may(Operation.ALL, Resource.CLUSTER, CLUSTER_NAME):
                return await relay.respond(client, payload)
            _LOG.warning("a request was not forwarded: permission for everything is needed: %s", client)
            return relay.refuse(payload, codes.CLUSTER_AUTHORIZATION_FAILED, client)

    async def _answered(self, client: Client, request: Request, asked: dict[str, Any]) -> bytes:
        """Have a handler answer; what it raises is a fault of ours, and becomes the answer."""
        api_key, version, correlation_id = request.api_key, request.version, request.correlation_id
        try:
            answer = await self._apis[api_key].handler(client, version, asked)
            body = await self._net.encoded(api_key, version, answer)
        except Exception as wrong:  # noqa: BLE001  the connection lives
            code = self._net.caught(wrong, client, api_key, _group_in(asked))
            answer = REFUSALS[api_key](asked, code)
            body = encode_message(api_key, version, answer, response=True)
        if error_code := answer.get("errorCode"):
            self._counts.request_errors[api_key, error_code] += 1
        return response_bytes(api_key, version, correlation_id, body)

    def offer_logins(self, versions: Mapping[int, tuple[int, int]]) -> None:
        """List the requests of a login, which are answered before; who is let in sends none."""
        self._logins = dict(versions)

    def longest(self, client: Client, api_key: int | None) -> int:
        """Return the bytes that a request of a client may have; ``None`` while its API key is not known."""
        limits = self._limits
        if client.login is not None:
            return longest_of_stranger(api_key)
        if api_key is None:
            return limits.relayed_frame if self.relay is not None else limits.frame
        if api_key in _SHARE:
            return limits.frame
        return limits.relayed_frame if api_key in self.relayed_versions and api_key not in self._versions else limits.other_frame

    def offered(self) -> dict[int, tuple[int, int]]:
        """Return the versions of every request that is answered."""
        return {**_LISTED, **self.relayed_versions, **self._versions, **self._logins}

    @staticmethod
    def _too_late(request: Request) -> bytes:
        """Refuse a login of somebody who is let in (``KafkaApis.handleSaslHandshakeRequest``)."""
        answer: dict[str, Any] = {"errorCode": codes.ILLEGAL_SASL_STATE}
        if request.api_key == SASL_HANDSHAKE:
            answer["mechanisms"] = []
        else:
            answer |= {"errorMessage": _TOO_LATE, "authBytes": b""}
        body = encode_message(request.api_key, request.version, answer, response=True)
        return response_bytes(request.api_key, request.version, request.correlation_id, body)

    def _api_versions(self, client: Client, request: Request) -> bytes:
        oldest, newest = self._versions[VERSIONS]
        keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in sorted(self.offered().items())]
        answer: dict[str, Any] = {"errorCode": codes.NONE, "apiKeys": keys, "throttleTimeMs": 0}
        version = request.version
        if not oldest <= version <= newest:
            # Answered in version 0, so that the client can choose another one, of this request alone (KIP-511).
            answer["errorCode"], version = codes.UNSUPPORTED_VERSION, 0
            answer["apiKeys"] = [key for key in keys if key["apiKey"] == VERSIONS]
        elif version >= _FIRST_FLEXIBLE:
            asked = decode_message(VERSIONS, version, request.body, trailing=True)
            software = asked["clientSoftwareName"], asked["clientSoftwareVersion"]
            if all(_is_software_name(name) for name in software):
                client.software = " ".join(software)
                answer |= self._features(version)
            else:
                answer |= {"errorCode": codes.INVALID_REQUEST, "apiKeys": []}
        body = encode_message(VERSIONS, version, answer, response=True)
        return response_bytes(VERSIONS, version, request.correlation_id, body)


def _group_in(asked: dict[str, Any]) -> object:
    """Return the group, or the groups, that a request names; ``None`` for none."""
    return next((asked[name] for name in ("groupId", "groupIds", "groups", "groupsNames") if name in asked), None)


def _is_software_name(name: str) -> bool:
    """``ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN``."""
    inner = name.replace("-", "").replace(".", "")
    return bool(inner) and inner.isascii() and inner.isalnum() and name[0].isalnum() and name[-1].isalnum()
