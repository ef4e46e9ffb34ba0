"""Nothing of a client is answered before it is known who it is (``SaslServerAuthenticator``).

Until then it may ask for versions, choose a mechanism and prove who it is. A client that fails to is told so and loses its
connection, both after a delay, so that guessing is slow (``connection.failed.authentication.delay.ms``).
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Mapping
from typing import Final

from share_state._core import decode_message, encode_message
from share_state.errors import ConfigError, UnsupportedVersionError, WireDecodeError
from share_state.gateway.dispatch import Dispatch
from share_state.gateway.requests import Client
from share_state.kafka import codes
from share_state.kafka.bearer_tokens import TokenValidator
from share_state.kafka.client.apis import SASL_HANDSHAKE, VERSIONS, spoken
from share_state.kafka.framing import request_of, response_bytes
from share_state.kafka.logins import AUTHENTICATE, Login, Users
from share_state.util.admission import Admission

__all__ = ["Authentication"]

_LOG: Final = logging.getLogger("share_state.gateway.clients")
#: Version 0 of the handshake is followed by bare tokens instead of requests; no client of this decade sends it.
_VERSIONS: Final = {SASL_HANDSHAKE: spoken(SASL_HANDSHAKE, since=1), AUTHENTICATE: spoken(AUTHENTICATE)}
_FAILED_DELAY: Final = 0.1
_KEY: Final = struct.Struct(">hh")


class Authentication:
    """Stands before the requests: lets through those of clients that are known.

    Args:
        dispatch: answers them.
        users: passwords by name, for PLAIN and SCRAM; ``None`` where nobody has one.
        tokens: decides about tokens, for OAUTHBEARER; ``None`` where none counts.
        admission: counts the connections of principals.

    Attributes:
        succeeded: clients that were let in.
        failed: clients that were sent away.

    Raises:
        ConfigError: nobody could be let in.
    """

    def __init__(
        self, dispatch: Dispatch, users: Mapping[str, str] | None, tokens: TokenValidator | None, admission: Admission
    ) -> None:
        if users is not None and not users:
            raise ConfigError("no user may log in", field="users")
        self.succeeded = 0
        self.failed = 0
        self._dispatch = dispatch
        self._users = None if users is None else Users(users)
        self._tokens = tokens
        self._admission = admission
        if self.is_needed:
            dispatch.offer_logins(_VERSIONS)

    @property
    def is_needed(self) -> bool:
        """Whether clients have to log in; else everybody is let in."""
        return self._users is not None or self._tokens is not None

    def meet(self, client: Client) -> None:
        """Take note of a client that has connected."""
        client.login = Login(self._users, self._tokens) if self.is_needed else None

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        """Answer a request; ``None`` closes the connection.

        Raises:
            WireDecodeError: it is no request.
            UnsupportedVersionError: its version is not known, or it comes too early.
        """
        login = client.login
        if login is None:
            return await self._dispatch.respond(client, payload)
        if client.is_refused:
            return None
        if len(payload) < _KEY.size:
            raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
        api_key, version = _KEY.unpack_from(payload)
        if api_key == VERSIONS:
            return await self._dispatch.respond(client, payload)
        oldest, newest = _VERSIONS.get(api_key, (0, -1))
        if not oldest <= version <= newest:
            raise UnsupportedVersionError(f"request {api_key} version {version} of a client that has not logged in")
        request = request_of(payload)
        client.client_id = request.client_id
        asked = decode_message(api_key, version, request.body)
        said = login.handshake(asked) if api_key == SASL_HANDSHAKE else await login.authenticate(asked)
        if login.over and (refusal := self._admission.know(principal := f"User:{login.name}", client.principal)) is not None:
            said = login.refuse(codes.SASL_AUTHENTICATION_FAILED, refusal)
        if login.failed:
            self.failed += 1
            _LOG.warning("a login failed: user=%r reason=%s %s", login.name, login.wrong, client)
            await asyncio.sleep(_FAILED_DELAY)
        elif login.over:
            self.succeeded += 1
            client.principal = principal
            client.login = None
            _LOG.debug("a login succeeded: %s", client)
        return response_bytes(api_key, version, request.correlation_id, encode_message(api_key, version, said, response=True))
