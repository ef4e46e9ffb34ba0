"""The table of requests that clients may send: key, versions, and who answers."""

from __future__ import annotations

import logging
import struct
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from share_state._core import decode_message, encode_message
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.gateway.requests import Client
from share_state.kafka import codes
from share_state.kafka.framing import Request, request_of, response_bytes

__all__ = ["API_VERSIONS", "SHARE_FETCH", "Api", "Dispatch"]

_LOG: Final = logging.getLogger("share_state.gateway")
API_VERSIONS: Final = 18
SHARE_FETCH: Final = 78
_KEY: Final = struct.Struct(">hh")
_FIRST_FLEXIBLE: Final = 3

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

    Attributes:
        relayed: answers what is not in the table, and the versions of that; nothing by default.
    """

    def __init__(
        self,
        apis: dict[int, Api],
        share_fetch: Callable[[Client, int, int, dict[str, Any]], Awaitable[bytes]],
        share_fetch_versions: tuple[int, int],
        features: Callable[[int], dict[str, Any]],
    ) -> None:
        self._apis = apis
        self._share_fetch = share_fetch
        self._features = features
        self._versions = {key: (api.oldest, api.newest) for key, api in apis.items()}
        self._versions[API_VERSIONS] = (0, 4)
        self._versions[SHARE_FETCH] = share_fetch_versions
        self.relayed: Opaque | None = None
        self.relayed_versions: dict[int, tuple[int, int]] = {}
        #: Requests by key, and those of them that were refused as malformed.
        self.counts: dict[int, int] = {}
        self.malformed = 0

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        """Answer a request.

        Raises:
            WireDecodeError: it is no request: the connection has to be closed.
            UnsupportedVersionError: its version is not known, and it was told before which are.
        """
        if len(payload) < _KEY.size:
            raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
        api_key, version = _KEY.unpack_from(payload)
        self.counts[api_key] = self.counts.get(api_key, 0) + 1
        oldest, newest = self._versions.get(api_key, (0, -1))
        if api_key == API_VERSIONS:
            return self._api_versions(client, request_of(payload))
        if not oldest <= version <= newest:
            low, high = self.relayed_versions.get(api_key, (0, -1))
            if self.relayed is not None and low <= version <= high:
                return await self.relayed(client, payload)
            hint = "; it is upstream's, and there is no relay" if api_key in _LISTED else ""
            raise UnsupportedVersionError(f"request {api_key} version {version} is not served{hint}")
        request = request_of(payload)
        client.client_id = request.client_id
        try:
            # What follows a message is passed over, as Kafka does: librdkafka sends more than there is in some versions.
            asked = decode_message(api_key, version, request.body, trailing=True)
        except WireDecodeError as wrong:
            self.malformed += 1
            message = f"request {api_key} version {version} of {client.client_id!r}: {wrong}"
            raise WireDecodeError(message, position=wrong.position, kind=wrong.kind) from None
        if api_key == SHARE_FETCH:
            return await self._share_fetch(client, version, request.correlation_id, asked)
        answer = await self._apis[api_key].handler(client, version, asked)
        body = encode_message(api_key, version, answer, response=True)
        return response_bytes(api_key, version, request.correlation_id, body)

    def offered(self) -> dict[int, tuple[int, int]]:
        """Give the versions of every request that is answered."""
        return {**_LISTED, **self.relayed_versions, **self._versions}

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
                answer["errorCode"] = codes.INVALID_REQUEST
        body = encode_message(API_VERSIONS, version, answer, response=True)
        return response_bytes(API_VERSIONS, version, request.correlation_id, body)


def _is_software_name(name: str) -> bool:
    """``ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN``."""
    inner = name.replace("-", "").replace(".", "")
    return bool(inner) and inner.isascii() and inner.isalnum() and name[0].isalnum() and name[-1].isalnum()
