"""TLS and SASL of connections, by the names that Kafka's own clients have for them."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, NamedTuple, cast

from share_state.errors import ConfigError
from share_state.kafka.client.oauth import bearer_of
from share_state.kafka.client.security import Mechanism, OAuthBearer, Plain, Scram, SecurityOptions
from share_state.util.property_files import PropertyFile, read_properties, trimmed

__all__ = ["ClientSettings", "client_settings", "security_in", "security_of"]

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_CLIENT_ID: Final = "share-state"
_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
_KNOWN: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "ssl.truststore.location",
        "ssl.ca.location",
        "ssl.keystore.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.key.password",
        "ssl.ca.pem",
        "ssl.certificate.pem",
        "ssl.key.pem",
        "enable.ssl.certificate.verification",
        "enable.sasl.oauthbearer.unsecure.jwt",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.token.endpoint.url",
        _IDENTIFICATION,
    }
)
#: Beginnings of names that are about security. One that is not known there may be a misspelling, or more than is done here.
_SECURITY: Final = ("security.", "sasl.", "ssl.", "enable.sasl.", "enable.ssl.", "https.")
#: Names of clients that read and write more than this one. They tune what is not there, and are passed over.
_TUNING: Final = re.compile(
    r"(acks|auto|api|batch|broker|builtin|check|compression|connections|consume|coordinator|debug|default|delivery|dr|enable|events"
    r"|exclude|fetch|group|heartbeat|interceptor|internal|isolation|key|linger|log|max|message|metadata|metric|metrics|offset|on"
    r"|opaque|partition|partitioner|plugin|queue|queued|queuing|receive|reconnect|request|retries|retry|send|session|socket"
    r"|statistics|sticky|test|ticker|topic|transaction|transactional|value)(\.[a-z0-9.]+)?"
    r"|log_level|allow\.auto\.create\.topics|client\.(dns\.lookup|rack|software\.name|software\.version)|bootstrap\.servers"
    r"|(background_event|consume|default_topic_conf|error|log|logger|on_commit|on_delivery|rebalance|resolve|stats|throttle)(_cb)?"
)
_JAAS: Final = re.compile(r"""\b(username|password)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+?))(?=[\s;])""")


class ClientSettings(NamedTuple):
    """Part of the settings of a client that counts here."""

    security: SecurityOptions
    client_id: str


def client_settings(settings: Mapping[str, object] | None) -> ClientSettings:
    """Take the settings of a client in librdkafka's names, or Kafka's; those that only tune another client are passed over.

    Raises:
        ConfigError: a name is not known, or a value cannot be used. Secrets are not part of the text.
    """
    given = dict(settings or {})
    callback = given.pop("oauth_cb", None)
    client_id = str(given.pop("client.id", _CLIENT_ID))
    counts = {name: value for name, value in given.items() if name.startswith(_SECURITY)}
    for name in given.keys() - counts.keys():
        if not _TUNING.fullmatch(name):
            raise ConfigError(f"{name} is not a setting of a client that is known here", field=name)
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in counts.items()}
    return ClientSettings(security_of(texts, cast("Callable[..., Any] | None", callback)), client_id)


def security_of(properties: Mapping[str, str], oauth_cb: Callable[..., Any] | None = None) -> SecurityOptions:
    """Make the security of connections of a client's properties.

    Certificates and keys are PEM files, or their text.

    Args:
        properties: by their names.
        oauth_cb: gives a token and its end to ``sasl.oauthbearer.config``, as that of confluent-kafka.

    Raises:
        ConfigError: a name is not known, or a value cannot be used. Secrets are not part of the text.
    """
    for name in properties:
        if name not in _KNOWN:
            raise ConfigError(f"{name} is not a security property that is known here", field=name)
    properties = trimmed(properties)
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in _PROTOCOLS:
        message = f"security.protocol is {protocol!r}; expected one of {', '.join(_PROTOCOLS)}"
        raise ConfigError(message, field="security.protocol", value=protocol)
    context = _context(properties) if protocol.endswith("SSL") else None
    mechanism = _mechanism(properties, oauth_cb) if protocol.startswith("SASL") else None
    return SecurityOptions(ssl_context=context, sasl=mechanism)


def security_in(path: Path | None) -> SecurityOptions:
    """Make the security of connections of a property file; without one they have none.

    Raises:
        ConfigError: as for :func:`security_of`, with the file in the text; or the file cannot be read.
    """
    found = PropertyFile() if path is None else read_properties(path)
    with found.located(alone=True):
        return security_of(found)


def _context(properties: Mapping[str, str]) -> ssl.SSLContext:
    algorithm = properties.get(_IDENTIFICATION, "https")
    if algorithm.lower() not in {"", "none", "https"}:
        raise ConfigError(
            f"{_IDENTIFICATION} is {algorithm!r}; expected https, or nothing", field=_IDENTIFICATION, value=algorithm
        )
    authority = properties.get("ssl.ca.location") or properties.get("ssl.truststore.location")
    certificate = properties.get("ssl.certificate.location") or properties.get("ssl.keystore.location")
    try:
        # With an authority of its own a client trusts no other, those of the system neither.
        context = ssl.create_default_context(cafile=authority, cadata=properties.get("ssl.ca.pem"))
        if certificate is not None:
            context.load_cert_chain(certificate, properties.get("ssl.key.location"), properties.get("ssl.key.password"))
        if "ssl.certificate.pem" in properties:
            _load_texts(context, properties)
    except (OSError, ValueError) as wrong:
        raise ConfigError(f"TLS cannot be set up with these files: {wrong}", field="ssl", value=authority) from None
    if algorithm.lower() != "https":
        context.check_hostname = False
    if properties.get("enable.ssl.certificate.verification", "true").lower() == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_texts(context: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    """Load a certificate and its key, which the library takes only from a file."""
    with NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{properties['ssl.certificate.pem']}\n{properties.get('ssl.key.pem', '')}\n")
        file.flush()
        context.load_cert_chain(file.name, properties.get("ssl.key.location"), properties.get("ssl.key.password"))


def _mechanism(properties: Mapping[str, str], oauth_cb: Callable[..., Any] | None) -> Mechanism:
    name = properties.get("sasl.mechanism") or properties.get("sasl.mechanisms") or "PLAIN"
    if name == OAuthBearer.name:
        return bearer_of(properties, oauth_cb)
    login = {
        name: quoted or single or bare for name, quoted, single, bare in _JAAS.findall(properties.get("sasl.jaas.config", ""))
    }
    username = properties.get("sasl.username") or login.get("username")
    password = properties.get("sasl.password") or login.get("password")
    if not username or password is None:
        raise ConfigError("sasl.jaas.config names no username and password", field="sasl.jaas.config")
    return Plain(username, password) if name == "PLAIN" else Scram(username, password, name)
