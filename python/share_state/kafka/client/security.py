"""Authentication of a client: TLS with a context of the standard library, SASL with one of four mechanisms.

A mechanism is a conversation: :meth:`Mechanism.start` returns an object that receives each message of the broker.
"""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

from share_state.errors import ConfigError
from share_state.util.extras import how_to_install

__all__ = ["Conversation", "Mechanism", "OAuthBearer", "Plain", "Scram", "SecurityOptions", "UnconvincedError"]

_SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")


class UnconvincedError(Exception):
    """The broker did not prove that it knows the credentials."""


class Conversation(Protocol):
    """Conversation of an authentication in progress."""

    async def first(self) -> bytes:
        """Return the message that opens it."""

    async def answer(self, said: bytes) -> bytes | None:
        """Take the broker's message and return the next one, or ``None`` at the end.

        Raises:
            UnconvincedError: the broker's message is wrong.
        """

    def check_ended(self) -> None:
        """Check the broker's proof, once it has accepted the client.

        Raises:
            UnconvincedError: the broker has not proved that it knows the credentials.
        """


class Mechanism(Protocol):
    """A SASL mechanism with its credentials."""

    @property
    def name(self) -> str:
        """The name of the mechanism on the wire."""

    def start(self) -> Conversation:
        """Start an authentication."""


@dataclass(frozen=True, slots=True)
class SecurityOptions:
    """Security of the connections.

    Attributes:
        ssl_context: for TLS, such as ``ssl.create_default_context(cafile=...)``; client certificates are loaded into it.
        server_hostname: the name to check the brokers' certificates against, if it differs from their address.
        sasl: the mechanism, or ``None`` for none.
    """

    ssl_context: ssl.SSLContext | None = None
    server_hostname: str | None = None
    sasl: Mechanism | None = None

    def __post_init__(self) -> None:
        if self.server_hostname is not None and self.ssl_context is None:
            raise ConfigError("server_hostname needs an ssl_context", field="server_hostname", value=self.server_hostname)


@dataclass(frozen=True, slots=True)
class Plain:
    """PLAIN (RFC 4616). It sends the password in clear text: use it over TLS."""

    username: str
    password: str = field(repr=False)

    name = "PLAIN"

    def __post_init__(self) -> None:
        if "\0" in self.username or "\0" in self.password:
            # The value is left out of the error: it may be the password.
            raise ConfigError("a user name or password of PLAIN contains a zero character", field="username")

    def start(self) -> Conversation:
        """See :meth:`Mechanism.start`."""
        return _OneMessage(f"\0{self.username}\0{self.password}".encode())


class _OneMessage:
    """Return nothing: the first message says everything."""

    def __init__(self, message: bytes) -> None:
        self._message = message

    async def first(self) -> bytes:
        return self._message

    async def answer(self, _said: bytes) -> bytes | None:
        return None

    def check_ended(self) -> None:
        """Check nothing: PLAIN does not authenticate the broker."""


@dataclass(frozen=True, slots=True)
class Scram:
    """SCRAM-SHA-256 or SCRAM-SHA-512 (RFC 5802, 7677), by the package ``scramp`` (extra ``kafka-scram``)."""

    username: str
    password: str = field(repr=False)
    name: str = "SCRAM-SHA-512"

    def __post_init__(self) -> None:
        if self.name not in _SCRAM:
            raise ConfigError(f"{self.name!r} is not one of {', '.join(_SCRAM)}", field="name", value=self.name)

    def start(self) -> Conversation:
        """See :meth:`Mechanism.start`."""
        return _ScramConversation(self)


class _ScramConversation:
    def __init__(self, scram: Scram) -> None:
        try:
            import scramp  # type: ignore[import-untyped]  # noqa: PLC0415  an extra: only who uses SCRAM needs it
        except ImportError:
            raise ConfigError(
                f"SCRAM needs the package scramp: {how_to_install('kafka-scram')}", field="sasl", value=scram.name
            ) from None
        self._client = scramp.ScramClient([scram.name], scram.username, scram.password)
        self._error = scramp.ScramException
        self._steps = 0

    async def first(self) -> bytes:
        return cast("str", self._client.get_client_first()).encode()

    async def answer(self, said: bytes) -> bytes | None:
        self._steps += 1
        try:
            if self._steps == 1:
                # Thousands of hash rounds would block the event loop.
                await asyncio.to_thread(self._client.set_server_first, said.decode())
                return cast("str", self._client.get_client_final()).encode()
            self._client.set_server_final(said.decode())
        except (self._error, ValueError) as wrong:
            raise UnconvincedError(str(wrong)) from None
        return None

    def check_ended(self) -> None:
        if self._steps < 2:  # noqa: PLR2004  the server's first and final message
            raise UnconvincedError("the broker accepted the login before it proved that it knows the password")


#: Returns a token on request. It may be a coroutine function; an ordinary function runs in a thread.
TokenCallback = Callable[[], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class OAuthBearer:
    """OAUTHBEARER (RFC 7628): a callback returns a token for each connection."""

    token: TokenCallback = field(repr=False)

    name = "OAUTHBEARER"

    def start(self) -> Conversation:
        """See :meth:`Mechanism.start`."""
        return _BearerConversation(self.token)


class _BearerConversation:
    def __init__(self, token: TokenCallback) -> None:
        self._token = token
        self._said: str | None = None

    async def first(self) -> bytes:
        if inspect.iscoroutinefunction(self._token):
            token = await self._token()
        else:
            given = await asyncio.to_thread(self._token)
            token = await given if inspect.isawaitable(given) else given
        if "\x01" in token:
            raise UnconvincedError("the token contains a character that cannot be sent")
        return f"n,,\x01auth=Bearer {token}\x01\x01".encode()

    async def answer(self, said: bytes) -> bytes | None:
        if not said or self._said is not None:
            return None
        # Why the token is not taken, as JSON; the broker says so with a code once this is acknowledged.
        self._said = said.decode(errors="replace")
        return b"\x01"

    def check_ended(self) -> None:
        if self._said is not None:
            raise UnconvincedError(self._said)
