"""Connection to a broker: requests go out at once, answers find their request by correlation id."""

from __future__ import annotations

import asyncio
import os
import ssl
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from share_state._core import __version__, decode_message, encode_message
from share_state.errors import ShareStateError, WireDecodeError
from share_state.kafka import codes
from share_state.kafka.client.apis import API_NAMES, API_VERSIONS, VERSIONS
from share_state.kafka.client.authentication import authenticate, check
from share_state.kafka.client.peers import LostError, Node
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import Clock, Timer, within
from share_state.kafka.errors import (
    AuthenticationFailedError,
    BadAnswerError,
    BrokerTooOldError,
    BrokerUnreachableError,
)
from share_state.kafka.framing import MAX_FRAME, Frames, Request, frame, request_bytes, response_start

__all__ = ["Connection", "ConnectionOptions"]

T = TypeVar("T")

#: Share of a session's life after which a connection is not used any more (KIP-368).
_SESSION_SHARE: Final = 0.85
#: Bytes of a long answer that arrive in the time for one, so that waiting for the rest is worth while.
_PROGRESS: Final = 64 << 10
_KEY: Final = struct.Struct(">h")
_MAX_CORRELATION_ID: Final = 0x7FFF_FFFF


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options that all connections have in common.

    Attributes:
        security: TLS and SASL.
        clock: measures the time-outs.
        client_id: name of the client, for the broker's logs and quotas.
        connect_timeout: seconds for connecting, TLS and SASL together.
        request_timeout: seconds that an answer may take. One that is long and is arriving has them again.
        max_frame: bytes that an answer may have.
        apis: the versions of each request that we speak.
        needs: what a broker that lacks a request is told to be.
        trailing: whether an answer may be longer than its message: Kafka's own clients do not look, and some servers send
            more.
    """

    security: SecurityOptions
    clock: Clock
    client_id: str
    connect_timeout: float
    request_timeout: float
    max_frame: int = MAX_FRAME
    apis: Mapping[int, tuple[int, int]] = field(default_factory=lambda: API_VERSIONS)
    needs: str = "share groups need Kafka 4.2 with share.version 1 or higher"
    trailing: bool = False


@dataclass(slots=True)
class _Pending:
    api_key: int
    #: Takes the answer apart; what that raises ends the connection.
    decode: Callable[[bytes], Any]
    #: Called once, with what was decoded or with why there is nothing.
    done: Callable[[Any], None]
    timer: Timer
    #: Bytes of a frame that had arrived when the time was over.
    arrived: int = 0


class Connection:
    """An open connection; made by :meth:`open`."""

    def __init__(self, node: Node, options: ConnectionOptions) -> None:
        self.node = node
        self.requests = 0
        self._options = options
        self._versions: dict[int, tuple[int, int]] = {}
        self._pending: dict[int, _Pending] = {}
        self._correlation_id = 0
        self._lost: LostError | None = None
        self._retired = False
        self._retirement: Timer | None = None
        self._transport: asyncio.Transport | None = None
        self._frames = Frames(options.max_frame, self._take, self._ended)

    @classmethod
    async def open(cls, node: Node, options: ConnectionOptions) -> Connection:
        """Connect, agree on versions and authenticate.

        Raises:
            LostError: this failed in a way that another attempt may not.
            KafkaPersisterError: it will fail again.
        """
        connection = cls(node, options)
        try:
            await within(options.clock, options.connect_timeout, connection._set_up())
        except TimeoutError:
            late = connection._loss("connecting took too long", code=codes.REQUEST_TIMED_OUT, sent=False)
            connection._fail(late)
            raise late.again() from None
        except LostError as lost:
            if lost.retriable:
                raise lost.unsent() from None
            if lost.code == codes.SASL_AUTHENTICATION_FAILED:
                raise AuthenticationFailedError(str(lost), kafka_code=lost.code, node=str(node)) from None
            raise BadAnswerError(str(lost), kafka_code=lost.code, node=str(node)) from None
        except BaseException:
            connection._fail(connection._loss("not connected", sent=False))
            raise
        return connection

    @property
    def usable(self) -> bool:
        """True if a new request may be sent."""
        return self._lost is None and not self._retired

    @property
    def offered(self) -> dict[int, tuple[int, int]]:
        """The oldest and newest version of each request that the broker takes."""
        return dict(self._versions)

    def version_of(self, api_key: int) -> int:
        """Return the newest version of a request that both sides have.

        Raises:
            BrokerTooOldError: there is none.
        """
        oldest, newest = self._options.apis[api_key]
        theirs = self._versions.get(api_key)
        if theirs is None or theirs[0] > newest or theirs[1] < oldest:
            has = "does not have it" if theirs is None else f"has versions {theirs[0]} to {theirs[1]}"
            message = (
                f"{self.node}: {_name(api_key)} version {oldest} to {newest} is needed, the broker {has}; {self._options.needs}"
            )
            raise BrokerTooOldError(message, kafka_code=codes.UNSUPPORTED_VERSION, node=str(self.node))
        return min(newest, theirs[1])

    async def request(self, api_key: int, message: dict[str, Any], version: int | None = None) -> dict[str, Any]:
        """Send a request, in the newest version that both sides have, and wait for its answer.

        A cancelled wait leaves the connection in order.

        Raises:
            LostError: there will be no answer.
            BrokerTooOldError: the broker does not have the request.
        """
        version = self.version_of(api_key) if version is None else version
        body = encode_message(api_key, version, message)
        return await self.ask(api_key, version, body, _decoder(api_key, trailing=self._options.trailing))

    async def ask(self, api_key: int, version: int, body: bytes, decode: Callable[[int, bytes, int], T]) -> T:
        """Send a request and wait for its answer; the arguments are those of :meth:`send`.

        Raises:
            LostError: there will be no answer.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def done(what: T | LostError) -> None:
            # Who has stopped waiting has nothing to be told.
            if answer.done():
                return
            if isinstance(what, LostError):
                answer.set_exception(what)
            else:
                answer.set_result(what)

        self.send(api_key, version, body, decode, done)
        return await answer

    def send(
        self,
        api_key: int,
        version: int,
        body: bytes,
        decode: Callable[[int, bytes, int], T],
        done: Callable[[T | LostError], None],
    ) -> None:
        """Send a request at once.

        Args:
            api_key: of the request.
            version: of the request.
            body: the request after its header.
            decode: takes the version, the frame of the answer without its length, and where the message starts in it.
            done: called once, with what was decoded, or with why there is no answer.

        Raises:
            LostError: the connection is closed.
        """

        def take_apart(answer: bytes) -> T:
            return decode(version, answer, response_start(api_key, version, answer))

        transport, correlation_id = self._next()
        self._expect(api_key, correlation_id, take_apart, done)
        transport.write(request_bytes(Request(api_key, version, correlation_id, self._options.client_id, body)))

    def send_frame(self, payload: bytes, done: Callable[[bytes | LostError], None] | None) -> None:
        """Send somebody's request as it is, but for its correlation id.

        Args:
            payload: the request with its header, without the length.
            done: called once, with the answer and its header, or with why there is none; ``None`` where none is expected.

        Raises:
            LostError: the connection is closed.
        """
        transport, correlation_id = self._next()
        if done is not None:
            (api_key,) = _KEY.unpack_from(payload)
            self._expect(api_key, correlation_id, lambda answer: answer, done)
        transport.write(frame(payload[:4] + correlation_id.to_bytes(4, "big") + payload[8:]))

    def _next(self) -> tuple[asyncio.Transport, int]:
        if self._lost is not None or self._transport is None:
            raise self._loss("the connection is closed", sent=False)
        correlation_id = self._correlation_id
        self._correlation_id = (correlation_id + 1) & _MAX_CORRELATION_ID
        self.requests += 1
        return self._transport, correlation_id

    def _expect(
        self,
        api_key: int,
        correlation_id: int,
        decode: Callable[[bytes], Any],
        done: Callable[[Any], None],
    ) -> None:
        self._pending[correlation_id] = _Pending(api_key, decode, done, self._timer(correlation_id))

    def _timer(self, correlation_id: int) -> Timer:
        return self._options.clock.call_later(self._options.request_timeout, lambda: self._expire(correlation_id))

    async def close(self) -> None:
        """Close the connection; requests without answer are lost."""
        self._fail(self._loss("the connection was closed by us", sent=True))

    async def _set_up(self) -> None:
        security = self._options.security
        host, port = self.node.address
        try:
            self._transport, _ = await asyncio.get_running_loop().create_connection(
                lambda: self._frames,
                host,
                port,
                ssl=security.ssl_context,
                server_hostname=(security.server_hostname or host) if security.ssl_context else None,
            )
        except ssl.SSLCertVerificationError as error:
            message = f"{self.node}: its certificate is not trusted: {error.verify_message}"
            raise AuthenticationFailedError(message, kafka_code=codes.SASL_AUTHENTICATION_FAILED, node=str(self.node)) from error
        except ssl.SSLError as error:
            if _is_about_our_certificate(error):
                raise self._certificate_refused(error) from error
            raise BrokerUnreachableError(
                f"{self.node}: no TLS: {error}", kafka_code=codes.NETWORK_EXCEPTION, node=str(self.node)
            ) from error
        except OSError as error:
            # asyncio puts its own words in place of the system's; numbers of a name that is not known are not the system's.
            number = error.errno or 0
            reason = (os.strerror(number) if number > 0 else error.strerror) or str(error) or type(error).__name__
            raise self._loss(reason, sent=False) from error
        await self._learn_versions()
        if security.sasl is not None:
            lifetime_ms = await authenticate(security.sasl, str(self.node), self.request)
            if lifetime_ms > 0:
                self._retirement = self._options.clock.call_later(lifetime_ms / 1000 * _SESSION_SHARE, self._retire)

    async def _learn_versions(self) -> None:
        ours = {"clientSoftwareName": "share-state", "clientSoftwareVersion": __version__}
        oldest, newest = self._options.apis[VERSIONS]
        answer = await self.request(VERSIONS, ours, newest)
        if answer["errorCode"] == codes.UNSUPPORTED_VERSION and oldest < newest:
            answer = await self.request(VERSIONS, ours, oldest)
        if answer["errorCode"] == codes.UNSUPPORTED_VERSION:
            message = f"{self.node}: the broker does not have ApiVersions version {oldest}; {self._options.needs}"
            raise BrokerTooOldError(message, kafka_code=codes.UNSUPPORTED_VERSION, node=str(self.node))
        check(answer, "ApiVersions", str(self.node))
        self._versions = {api["apiKey"]: (api["minVersion"], api["maxVersion"]) for api in answer["apiKeys"]}

    def _ended(self, why: Exception | None, within: bool) -> None:
        if isinstance(why, ShareStateError):
            reason = f"what came is no answer: {why}"
            self._fail(self._loss(reason, code=codes.UNKNOWN_SERVER_ERROR, sent=True, retriable=False))
            return
        if isinstance(why, ssl.SSLError) and _is_about_our_certificate(why):
            # With TLS 1.3 a broker looks at our certificate when we take the connection for made.
            self._fail(self._certificate_refused(why))
            return
        lost = "closed the connection within an answer" if within else "closed the connection"
        if why is not None:
            lost = (why.strerror if isinstance(why, OSError) else None) or str(why) or type(why).__name__
        self._fail(self._loss(lost, sent=True))

    def _take(self, payload: bytes) -> None:
        correlation_id = int.from_bytes(payload[:4], "big", signed=True)
        pending = self._pending.get(correlation_id)
        if pending is None:
            raise WireDecodeError(f"no request has correlation id {correlation_id}", position=0, kind="correlation")
        answer = pending.decode(payload)
        del self._pending[correlation_id]
        pending.timer.cancel()
        pending.done(answer)
        self._close_when_retired()

    def _expire(self, correlation_id: int) -> None:
        pending, arrived = self._pending.get(correlation_id), self._frames.arrived
        if pending is None:
            return
        if arrived - pending.arrived >= _PROGRESS:
            pending.arrived, pending.timer = arrived, self._timer(correlation_id)
            return
        # The broker answers in order, so nothing after this request can be answered either.
        seconds = self._options.request_timeout
        reason = f"{_name(pending.api_key)} was not answered in {seconds:g} s"
        self._fail(self._loss(reason, code=codes.REQUEST_TIMED_OUT, sent=True))

    def _retire(self) -> None:
        self._retired = True
        self._close_when_retired()

    def _close_when_retired(self) -> None:
        if self._retired and not self._pending:
            self._fail(self._loss("the session is over", sent=False))

    def _certificate_refused(self, error: ssl.SSLError) -> LostError:
        reason = f"our certificate is not taken, or none was shown: {error.reason}"
        return self._loss(reason, code=codes.SASL_AUTHENTICATION_FAILED, sent=False, retriable=False)

    def _loss(self, reason: str, *, code: int = codes.NETWORK_EXCEPTION, sent: bool, retriable: bool = True) -> LostError:
        return LostError(str(self.node), reason, code=code, sent=sent, retriable=retriable)

    def _fail(self, lost: LostError) -> None:
        if self._lost is not None:
            return
        self._lost = lost
        if self._retirement is not None:
            self._retirement.cancel()
        if self._transport is not None:
            self._transport.abort()
        pending, self._pending = self._pending, {}
        for request in pending.values():
            request.timer.cancel()
            request.done(lost.again())


def _name(api_key: int) -> str:
    return API_NAMES.get(api_key, f"request {api_key}")


def _decoder(api_key: int, *, trailing: bool) -> Callable[[int, bytes, int], dict[str, Any]]:
    def decode(version: int, frame: bytes, start: int) -> dict[str, Any]:
        body = frame[start:]
        if api_key == VERSIONS and int.from_bytes(body[:2], "big") == codes.UNSUPPORTED_VERSION:
            # Said in version 0, whatever was asked, so that anybody can read it.
            return {"errorCode": codes.UNSUPPORTED_VERSION, "apiKeys": []}
        return decode_message(api_key, version, body, response=True, trailing=trailing)

    return decode


def _is_about_our_certificate(error: ssl.SSLError) -> bool:
    """Return true if it is an alert of the other side about our certificate (RFC 8446, section 6.2), in OpenSSL's words."""
    reason = error.reason or ""
    return "ALERT" in reason and any(word in reason for word in ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED"))
