"""The server's side of SASL: PLAIN, SCRAM and OAUTHBEARER, answered as a Kafka broker does.

The gateway and the share coordinator server let their clients in by it. SCRAM needs the package ``scramp`` (extra
``kafka-scram``); without it only PLAIN is offered to users with passwords.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from share_state.errors import ConfigError
from share_state.kafka import codes
from share_state.kafka.bearer_tokens import INVALID_TOKEN, TokenRefusedError, TokenValidator, token_of

__all__ = ["AUTHENTICATE", "Login", "Users", "longest_of_stranger", "read_users"]

_LOG: Final = logging.getLogger("share_state.logins")
_PLAIN: Final = "PLAIN"
_BEARER: Final = "OAUTHBEARER"
_SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
#: Kafka's least number (``ScramMechanism``).
_ROUNDS: Final = 4096
#: The API key of SaslAuthenticate.
AUTHENTICATE: Final = 36
#: Bytes of the longest request of somebody who has not logged in, and of one with a token of 64 KiB (Kafka: 512 KiB for both,
#: ``sasl.server.max.receive.size``).
_MAX_STRANGERS_FRAME: Final = 4 << 10
_MAX_TOKEN_FRAME: Final = _MAX_STRANGERS_FRAME + (64 << 10)


def longest_of_stranger(api_key: int | None) -> int:
    """Return the bytes that a request may have of somebody who has not logged in; ``None`` while its API key is not known."""
    return _MAX_TOKEN_FRAME if api_key in {None, AUTHENTICATE} else _MAX_STRANGERS_FRAME


def read_users(path: Path) -> dict[str, str]:
    """Read a file with ``NAME:PASSWORD`` on each line; empty lines and those that begin with ``#`` are skipped.

    Raises:
        ConfigError: it cannot be read, or a line is not of that form; the text names the line and not what it holds.
    """
    try:
        # As other tools see lines: a password may hold what Python alone takes for the end of one.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="sasl_users", value=str(path)) from None
    users = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, password = line.partition(":")
        if not name or not password or name in users:
            raise ConfigError(
                f"{path}:{number}: not NAME:PASSWORD, or a name for the second time", field="sasl_users", value=number
            )
        users[name] = password
    if not users:
        raise ConfigError(f"{path} has no user", field="sasl_users", value=str(path))
    return users


class Users:
    """Names and passwords, and what the mechanisms make of them."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = dict(passwords)
        self._keys: dict[tuple[str, str], Any] = {}
        try:
            import scramp  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
        except ImportError:
            self._scramp = None
        else:
            self._scramp = scramp

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that are offered."""
        return [_PLAIN] if self._scramp is None else [_PLAIN, *_SCRAM]

    def knows(self, name: str, password: str) -> bool:
        """Return true if this is the password of that user."""
        return hmac.compare_digest(self._passwords.get(name, "").encode(), password.encode()) and name in self._passwords

    def scram(self, mechanism: str, claimed: Callable[[str], None]) -> tuple[Any, type[Exception]]:
        """Begin a SCRAM conversation: the server's side of it, and what it raises.

        ``claimed`` is called with the name that the client says it has.
        """
        if self._scramp is None:
            raise ConfigError("SCRAM needs the package scramp", field="sasl", value=mechanism)
        rules = self._scramp.ScramMechanism(mechanism)

        def keys(name: str) -> Any:  # noqa: ANN401  scramp has no types
            claimed(name)
            found = self._keys.get((mechanism, name))
            if found is None:
                made = rules.make_auth_info(self._passwords[name], iteration_count=_ROUNDS)
                found = self._keys[mechanism, name] = made
            return found

        return rules.make_server(keys), self._scramp.ScramException


class Login:
    """The authentication of one connection (``SaslServerAuthenticator``).

    Args:
        users: who has a password, for PLAIN and SCRAM; ``None`` where nobody has.
        tokens: decides about tokens, for OAUTHBEARER; ``None`` where no token counts.

    Attributes:
        name: who it is, or claims to be; empty while that is not known.
        over: whether the client is let in.
        failed: whether the connection is to be closed, once the last answer is sent.
        wrong: why, for the log.
    """

    def __init__(self, users: Users | None, tokens: TokenValidator | None = None) -> None:
        self.name = ""
        self.over = False
        self.failed = False
        self.wrong = ""
        self._users = users
        self._tokens = tokens
        self._mechanism: str | None = None
        self._server: Any = None
        self._wrong: type[Exception] = ValueError
        self._token_refused = False

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that are offered."""
        with_password = [] if self._users is None else self._users.mechanisms
        return with_password if self._tokens is None else [*with_password, _BEARER]

    def handshake(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer SaslHandshake."""
        code = codes.NONE
        if self._mechanism is not None:
            code, self.wrong = codes.ILLEGAL_SASL_STATE, "SaslHandshake came twice"
        elif asked["mechanism"] not in self.mechanisms:
            code, self.wrong = codes.UNSUPPORTED_SASL_MECHANISM, f"mechanism {asked['mechanism']!r} is not offered"
        else:
            self._mechanism = asked["mechanism"]
        self.failed = code != codes.NONE
        return {"errorCode": code, "mechanisms": self.mechanisms}

    async def authenticate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer SaslAuthenticate."""
        said: bytes = asked["authBytes"]
        if self._mechanism is None:
            return self.refuse(codes.ILLEGAL_SASL_STATE, "SaslAuthenticate came before SaslHandshake")
        if self._mechanism == _PLAIN:
            return self._plain(said)
        if self._mechanism == _BEARER:
            return await self._bearer(said)
        # Thousands of rounds of a hash when a user comes for the first time: not on the event loop.
        return await asyncio.to_thread(self._scram, said, self._mechanism)

    def _plain(self, said: bytes) -> dict[str, Any]:
        acting_for, _, rest = said.partition(b"\0")
        name, _, password = rest.partition(b"\0")
        try:
            self.name = name.decode()
            known = self._users is not None and self._users.knows(self.name, password.decode())
        except UnicodeDecodeError:
            known = False
        if not known or acting_for not in (b"", name):
            return self.refuse(codes.SASL_AUTHENTICATION_FAILED, "Authentication failed: Invalid username or password")
        self.over = True
        return _content(b"")

    def _scram(self, said: bytes, mechanism: str) -> dict[str, Any]:
        try:
            if self._server is None and self._users is not None:
                self._server, self._wrong = self._users.scram(mechanism, self._claimed)
                self._server.set_client_first(said.decode())
                return _content(self._server.get_server_first().encode())
            self._server.set_client_final(said.decode())
            answer = _content(self._server.get_server_final().encode())
        except (self._wrong, KeyError, ValueError):
            reason = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
            return self.refuse(codes.SASL_AUTHENTICATION_FAILED, reason)
        self.over = True
        return answer

    def _claimed(self, name: str) -> None:
        self.name = name

    async def _bearer(self, said: bytes) -> dict[str, Any]:
        if self._token_refused:
            # The client has acknowledged the message that said so; now the code follows.
            return self.refuse(codes.SASL_AUTHENTICATION_FAILED, INVALID_TOKEN)
        try:
            token, acting_for = token_of(said)
            self.name = await self._bearer_of(token, acting_for)
        except TokenRefusedError as refused:
            _LOG.info("a token was refused: %s", refused)
            self._token_refused = True
            return _content(INVALID_TOKEN.encode())
        self.over = True
        return _content(b"")

    async def _bearer_of(self, token: str, acting_for: str) -> str:
        if self._tokens is None:
            raise TokenRefusedError("tokens are not accepted here", field="authBytes")
        if inspect.iscoroutinefunction(self._tokens):
            found = await self._tokens(token)
        else:
            given = await asyncio.to_thread(self._tokens, token)
            found = await given if inspect.isawaitable(given) else given
        if not isinstance(found, str) or not found:
            raise TokenRefusedError("the token has no subject", field="authBytes")
        if acting_for not in ("", found):
            raise TokenRefusedError(f"the token is of {found!r}, who may not act for {acting_for!r}", field="authBytes")
        return found

    def refuse(self, code: int, reason: str) -> dict[str, Any]:
        """Send the client away, and return the answer that says why."""
        self.over = False
        self.failed = True
        self.wrong = reason
        return {**_content(b""), "errorCode": code, "errorMessage": reason}


def _content(say: bytes) -> dict[str, Any]:
    return {"errorCode": codes.NONE, "errorMessage": None, "authBytes": say, "sessionLifetimeMs": 0}
