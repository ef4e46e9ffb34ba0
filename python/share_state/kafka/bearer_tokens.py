"""The server's side of OAUTHBEARER (RFC 7628): what a client says first, and who decides about its token."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

from share_state.errors import ShareStateError

__all__ = ["INVALID_TOKEN", "TokenRefusedError", "TokenValidator", "token_of"]

#: Answer to a client whose token is not taken, whatever the reason (``OAuthBearerSaslServer``).
INVALID_TOKEN: Final = '{"status":"invalid_token"}'  # noqa: S105  no secret
_FIRST: Final = re.compile(rb"n,(?:a=(?P<acting>[^,]*))?,\x01(?P<pairs>(?:[A-Za-z]+=[^\x01]*\x01)+)\x01")
_BEARER: Final = re.compile(rb"(?i:bearer) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)")

#: Takes a token and gives the name of whoever it is of; may be a coroutine function. A plain function runs in a thread.
#: It raises :class:`TokenRefusedError` for a token that does not count.
TokenValidator = Callable[[str], str | Awaitable[str]]


class TokenRefusedError(ShareStateError):
    """A token does not let its bearer in. The text is for the log; the client is not told."""


def token_of(said: bytes) -> tuple[str, str]:
    """Read a client's first message (``OAuthBearerClientInitialResponse``).

    Returns:
        The token, and the name that the client asks to act under; empty where it asks for none.

    Raises:
        TokenRefusedError: it is not such a message.
    """
    found = _FIRST.fullmatch(said)
    if found is None:
        raise TokenRefusedError("the first message of OAUTHBEARER is malformed", field="authBytes")
    pairs = dict(pair.split(b"=", 1) for pair in found["pairs"].split(b"\x01")[:-1])
    bearer = _BEARER.fullmatch(pairs.get(b"auth", b""))
    if bearer is None:
        raise TokenRefusedError("the first message of OAUTHBEARER holds no bearer token", field="authBytes")
    try:
        acting_for = (found["acting"] or b"").decode()
    except UnicodeDecodeError:
        raise TokenRefusedError("the authorization id of OAUTHBEARER is not UTF-8", field="authBytes") from None
    return bearer["token"].decode("ascii"), acting_for.replace("=2C", ",").replace("=3D", "=")
