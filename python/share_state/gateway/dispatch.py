"""The table of requests that clients may send: key, versions, and who answers."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from share_state._core import decode_message, encode_message
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.counts import Counts
from share_state.gateway.limits import Limits, WorkBytes
from share_state.gateway.requests import Client
from share_state.kafka import codes
from share_state.kafka.framing import Request, request_of, response_bytes

__all__ = ["API_VERSIONS", "MAX_STRANGERS_FRAME", "SHARE_FETCH", "Api", "Dispatch"]

_LOG: Final = logging.getLogger("share_state.gateway")
API_VERSIONS: Final = 18
SHARE_FETCH: Final = 78
SASL_HANDSHAKE: Final = 17
_KEY: Final = struct.Struct(">hh")
_FIRST_FLEXIBLE: Final = 3
#: ShareFetch and ShareAcknowledge: their lists of acknowledgements may be long.
_ACKNOWLEDGING: Final = frozenset({SHARE_FETCH, 79})
#: The longest request of somebody who is not let in yet, bytes (``sasl.server.max.receive.size``).
MAX_STRANGERS_FRAME: Final = 512 << 10
_TOO_LATE: Final = "The client is logged in already"

#: Produce and Fetch. librdkafka takes a broker without them for one too old for records with headers, and never starts. It
#: sends neither; who does needs the relay, or the upstream.
_LISTED: Final = {0: (3, 9), 1: (4, 12)}

#: Answers a message with a message.
Handler = Callable[[Client, int, dict[str, Any]], Awaitable[dict[str, Any]]]
#: Answers a frame with a frame, without taking it apart.
Opaque = Callable[[Client, bytes], Awaitable[bytes | None]]


class Api(NamedTuple):
    """A request that is answered here, and in which versions."""

    oldest: int
    newest: int
    handler: Handler


class Dispatch:
    """Answers frames.

    Args:
        apis: the requests by key, without ApiVersions and ShareFetch.
        share_fetch: answers ShareFetch with a whole frame: client, version, correlation id, message.
        share_fetch_versions: its oldest and newest version.
        features: gives the features that ApiVersions tells, for its version.
        limits: what clients may take up.
        counts: where requests are counted.

    Attributes:
        relayed: answers what is not in the table, and the versions of that; nothing by default.
    """

    def __init__(
        self,
        apis: dict[int, Api],
        share_fetch: Callable[[Client, int, int, dict[str, Any]], Awaitable[bytes]],
        share_fetch_versions: tuple[int, int],
        features: Callable[[int], dict[str, Any]],
        *,
        limits: Limits,
        counts: Counts,
    ) -> None:
        self._apis = apis
        self._share_fetch = share_fetch
        self._features = features
        self._limits = limits
        self._work = WorkBytes(limits.work)
        self._logins: dict[int, tuple[int, int]] = {}
        self._versions = {key: (api.oldest, api.newest) for key, api in apis.items()}
        self._versions[API_VERSIONS] = (0, 4)
        self._versions[SHARE_FETCH] = share_fetch_versions
        self.relayed: Opaque | None = None
        self.relayed_versions: dict[int, tuple[int, int]] = {}
        self._counts = counts

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
        if api_key == API_VERSIONS:
            return self._api_versions(client, request_of(payload))
        if api_key in self._logins:
            return self._too_late(request_of(payload))
        if not oldest <= version <= newest:
            low, high = self.relayed_versions.get(api_key, (0, -1))
            if self.relayed is not None and low <= version <= high:
                if client.may(Operation.ALL, Resource.CLUSTER, CLUSTER_NAME):
                    return await self.relayed(client, payload)
                raise UnsupportedVersionError(
                    f"request {api_key} goes upstream, where {client.principal} needs permission for everything"
                )
            hint = "; it is upstream's, and there is no relay" if api_key in _LISTED else ""
            raise UnsupportedVersionError(f"request {api_key} version {version} is not served{hint}")
        request = request_of(payload)
        client.client_id = request.client_id
        try:
            # What follows a message is skipped, as Kafka does: librdkafka sends more than there is in some versions.
            asked = decode_message(api_key, version, request.body, trailing=True)
        except WireDecodeError as wrong:
            self._counts.malformed += 1
            message = f"request {api_key} version {version} of {client.client_id!r}: {wrong}"
            raise WireDecodeError(message, position=wrong.position, kind=wrong.kind) from None
        if api_key == SHARE_FETCH:
            return await self._share_fetch(client, version, request.correlation_id, asked)
        answer = await self._apis[api_key].handler(client, version, asked)
        if code := answer.get("errorCode"):
            self._counts.request_errors[api_key, code] += 1
        body = encode_message(api_key, version, answer, response=True)
        return response_bytes(api_key, version, request.correlation_id, body)

    def offer_logins(self, versions: Mapping[int, tuple[int, int]]) -> None:
        """List the requests of a login, which are answered before; who is let in sends none."""
        self._logins = dict(versions)

    def longest(self, client: Client, api_key: int | None) -> int:
        """Return the bytes that a request of a client may have; ``None`` while its API key is not known."""
        limits = self._limits
        if client.login is not None:
            return MAX_STRANGERS_FRAME
        if api_key is None:
            return limits.relayed_frame if self.relayed is not None else limits.frame
        if api_key in _ACKNOWLEDGING:
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
        oldest, newest = self._versions[API_VERSIONS]
        keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in sorted(self.offered().items())]
        answer: dict[str, Any] = {"errorCode": codes.NONE, "apiKeys": keys, "throttleTimeMs": 0}
        version = request.version
        if not oldest <= version <= newest:
            # Answered in version 0, so that the client can choose another one.
            answer["errorCode"], version = codes.UNSUPPORTED_VERSION, 0
        elif version >= _FIRST_FLEXIBLE:
            asked = decode_message(API_VERSIONS, version, request.body, trailing=True)
            software = asked["clientSoftwareName"], asked["clientSoftwareVersion"]
            if all(_is_software_name(name) for name in software):
                client.software = " ".join(software)
                answer |= self._features(version)
            else:
                answer |= {"errorCode": codes.INVALID_REQUEST, "apiKeys": []}
        body = encode_message(API_VERSIONS, version, answer, response=True)
        return response_bytes(API_VERSIONS, version, request.correlation_id, body)


def _is_software_name(name: str) -> bool:
    """``ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN``."""
    inner = name.replace("-", "").replace(".", "")
    return bool(inner) and inner.isascii() and inner.isalnum() and name[0].isalnum() and name[-1].isalnum()
