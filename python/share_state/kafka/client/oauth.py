"""Tokens of OAUTHBEARER from a client's properties: unsecured ones, those of a token endpoint, those of a callback."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final

from share_state.errors import ConfigError
from share_state.kafka.client.security import OAuthBearer, UnconvincedError

__all__ = ["bearer_of"]

_CONFIG: Final = "sasl.oauthbearer.config"
_ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
#: Seconds that a token endpoint may take.
_TIMEOUT_S: Final = 10.0
_LIFE_S: Final = 3600


def bearer_of(properties: Mapping[str, str], callback: Callable[..., Any] | None) -> OAuthBearer:
    """Make the mechanism of properties in librdkafka's names.

    Raises:
        ConfigError: they name no source of tokens.
    """
    config = properties.get(_CONFIG, "")
    if callback is not None:
        # A token, and when it ends, which a connection that is opened now need not know.
        return OAuthBearer(lambda: str(callback(config)[0]))
    if properties.get("sasl.oauthbearer.method", "default").lower() == "oidc":
        if _ENDPOINT not in properties:
            raise ConfigError(f"OAUTHBEARER by oidc needs {_ENDPOINT}", field=_ENDPOINT)
        return OAuthBearer(lambda: _of_endpoint(properties))
    if properties.get("enable.sasl.oauthbearer.unsecure.jwt", "false").lower() != "true":
        message = "OAUTHBEARER needs oauth_cb, sasl.oauthbearer.method=oidc or enable.sasl.oauthbearer.unsecure.jwt=true"
        raise ConfigError(message, field="sasl.mechanism", value="OAUTHBEARER")
    values = dict(pair.partition("=")[::2] for pair in config.split())
    if not values.get("principal"):
        raise ConfigError(f"{_CONFIG} names no principal", field=_CONFIG)
    return OAuthBearer(lambda: _unsecured(values))


def _unsecured(values: Mapping[str, str]) -> str:
    """Make a token that nobody has signed, as librdkafka does for tests."""
    now = int(time.time())
    claims: dict[str, Any] = {
        values.get("principalClaimName", "sub"): values["principal"],
        "iat": now,
        "exp": now + int(values.get("lifeSeconds", _LIFE_S)),
    }
    if scope := values.get("scope"):
        claims[values.get("scopeClaimName", "scope")] = scope.split(",")
    parts = (urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, claims))
    return ".".join(parts) + "."


def _of_endpoint(properties: Mapping[str, str]) -> str:
    """Ask a token endpoint as a client with credentials (RFC 6749, section 4.4)."""
    url = properties[_ENDPOINT]
    form = {"grant_type": "client_credentials"}
    if scope := properties.get("sasl.oauthbearer.scope"):
        form["scope"] = scope
    login = f"{properties.get('sasl.oauthbearer.client.id', '')}:{properties.get('sasl.oauthbearer.client.secret', '')}"
    headers = {"Accept": "application/json", "Authorization": f"Basic {b64encode(login.encode()).decode()}"}
    if not url.lower().startswith(("http://", "https://")):
        raise UnconvincedError(f"{_ENDPOINT} is {url!r}; expected http:// or https://")
    request = urllib.request.Request(url, urllib.parse.urlencode(form).encode(), headers)  # noqa: S310  checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return str(json.load(answer)["access_token"])
    except (OSError, urllib.error.URLError, ValueError, KeyError, TypeError) as wrong:
        raise UnconvincedError(f"the token endpoint {url} gave no token: {wrong}") from None
