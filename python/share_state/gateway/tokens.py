"""Who decides about tokens of OAUTHBEARER: signatures by the keys of a file, or nobody at all, for tests.

Signatures need the package ``pyjwt`` (extra ``gateway``).
"""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from share_state.errors import ConfigError
from share_state.kafka.bearer_tokens import TokenRefusedError
from share_state.util.extras import require

__all__ = ["SignedTokens", "UnsecuredTokens"]

#: Seconds that the clock of whoever makes the tokens may differ (``sasl.oauthbearer.clock.skew.seconds``).
_SKEW: Final = 30
#: A key fits algorithms of its own kind alone, so a public key never passes for a secret.
_ALGORITHMS: Final = (
    *(f"{family}{bits}" for family in ("RS", "PS", "HS") for bits in (256, 384, 512)),
    *("ES256", "ES384", "ES512", "EdDSA"),
)


class SignedTokens:
    """Takes tokens that a key of a JSON Web Key Set has signed (``OAuthBearerValidatorCallbackHandler``).

    The principal is the claim ``sub``. ``exp`` has to be there. Keys of kind ``oct`` are shared secrets.

    Args:
        path: the key set.
        audience: what ``aud`` has to name (``sasl.oauthbearer.expected.audience``); empty for no check.
        issuer: what ``iss`` has to be (``sasl.oauthbearer.expected.issuer``); ``None`` for no check.

    Raises:
        ConfigError: the file is no key set. Keys are not part of the text.
        MissingPackageError: the package is not installed.
    """

    def __init__(self, path: Path, *, audience: Collection[str] = (), issuer: str | None = None) -> None:
        require("gateway", "jwt")
        import jwt  # noqa: PLC0415  an extra

        self._jwt = jwt
        self._audience = list(audience)
        self._issuer = issuer
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            keys = jwt.PyJWKSet.from_dict(found).keys
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error}", field="oauth_jwks", value=str(path)) from None
        except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError):
            raise ConfigError(f"{path} is not a JSON Web Key Set", field="oauth_jwks", value=str(path)) from None
        self._keys = {key.key_id: key for key in keys}

    def __call__(self, token: str) -> str:
        """Return the name of whoever a token is of.

        Raises:
            TokenRefusedError: it does not count.
        """
        try:
            key_id = self._jwt.get_unverified_header(token).get("kid")
            key = self._keys.get(key_id) if key_id is not None or len(self._keys) != 1 else next(iter(self._keys.values()))
            if key is None:
                raise TokenRefusedError(f"no key has the id {key_id!r}", field="kid", value=key_id)
            claims = self._jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience or None,
                issuer=self._issuer,
                leeway=_SKEW,
                options={"require": ["exp", "sub"], "verify_aud": bool(self._audience)},
            )
        except self._jwt.PyJWTError as wrong:
            raise TokenRefusedError(str(wrong), field="token") from None
        return _subject(claims)


class UnsecuredTokens:
    """Takes tokens without a signature: everybody is who they say. For tests alone.

    As Kafka's ``OAuthBearerUnsecuredValidatorCallbackHandler``, which brokers have where nothing else is configured.
    """

    def __call__(self, token: str) -> str:
        """Return the name that a token has.

        Raises:
            TokenRefusedError: it is none, it has a signature, or its time is over.
        """
        try:
            header, content, signature = token.split(".")
            claims = _json(content)
            if signature or _json(header).get("alg") != "none":
                raise TokenRefusedError("the token is signed, and the gateway has no key to verify it", field="token")
            is_over = float(claims["exp"]) + _SKEW <= time.time()
        except (ValueError, KeyError, TypeError):
            raise TokenRefusedError("the token is malformed", field="token") from None
        if is_over:
            raise TokenRefusedError("the token has expired", field="exp", value=claims["exp"])
        return _subject(claims)


def _json(part: str) -> dict[str, Any]:
    found = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(found, dict):
        raise TypeError
    return found


def _subject(claims: dict[str, Any]) -> str:
    name = claims.get("sub")
    if not isinstance(name, str) or not name:
        raise TokenRefusedError("the token has no subject", field="sub", value=name)
    return name
