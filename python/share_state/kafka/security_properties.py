"""TLS and SASL of connections, by the names that Kafka's own clients have for them."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Final

from share_state.errors import ConfigError
from share_state.kafka.security import Mechanism, Plain, Scram, SecurityOptions

__all__ = ["security_of"]

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_KNOWN: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "ssl.truststore.location",
        "ssl.ca.location",
        "ssl.keystore.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
    }
)
_JAAS: Final = re.compile(r"""\b(username|password)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+?))(?=[\s;])""")


def security_of(properties: Mapping[str, str]) -> SecurityOptions:
    """Make the security of connections of a client's properties.

    Certificates and keys are PEM files.

    Raises:
        ConfigError: a name is not known, or a value cannot be used. Secrets are not part of the text.
    """
    for name in properties:
        if name not in _KNOWN:
            raise ConfigError(f"{name} is not a security property that is known here", field=name)
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in _PROTOCOLS:
        message = f"security.protocol is {protocol!r}; expected one of {', '.join(_PROTOCOLS)}"
        raise ConfigError(message, field="security.protocol", value=protocol)
    context = _context(properties) if protocol.endswith("SSL") else None
    mechanism = _mechanism(properties) if protocol.startswith("SASL") else None
    return SecurityOptions(ssl_context=context, sasl=mechanism)


def _context(properties: Mapping[str, str]) -> ssl.SSLContext:
    authority = properties.get("ssl.ca.location") or properties.get("ssl.truststore.location")
    certificate = properties.get("ssl.certificate.location") or properties.get("ssl.keystore.location")
    try:
        context = ssl.create_default_context(cafile=authority)
        if certificate is not None:
            context.load_cert_chain(certificate, properties.get("ssl.key.location"), properties.get("ssl.key.password"))
    except (OSError, ValueError) as wrong:
        raise ConfigError(f"TLS cannot be set up with these files: {wrong}", field="ssl", value=authority) from None
    if properties.get("ssl.endpoint.identification.algorithm") == "":
        context.check_hostname = False
    return context


def _mechanism(properties: Mapping[str, str]) -> Mechanism:
    login = {
        name: quoted or single or bare for name, quoted, single, bare in _JAAS.findall(properties.get("sasl.jaas.config", ""))
    }
    username = properties.get("sasl.username") or login.get("username")
    password = properties.get("sasl.password") or login.get("password")
    if not username or password is None:
        raise ConfigError("sasl.jaas.config names no username and password", field="sasl.jaas.config")
    name = properties.get("sasl.mechanism", "PLAIN")
    return Plain(username, password) if name == "PLAIN" else Scram(username, password, name)
