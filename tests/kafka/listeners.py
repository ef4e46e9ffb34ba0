"""The listeners of a broker that asks who is there: SASL over TLS, certificates on both sides, and one behind a proxy."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

import trustme
from cryptography.hazmat.primitives import serialization

from tests.kafka.broker import Broker, free_ports

#: Users of PLAIN, with their passwords.
USERS = {name: f"{name}-secret" for name in ("admin", "actor", "clerk", "reader", "describer")}
SCRAM_USER = ("scrammer", "scram-secret")
#: May do everything, by a token and by a certificate.
BEARER, LEADER = "bearer", "leader"
#: Known, and without any right, by whichever way.
CLERK = "clerk"
#: Known, and granted CLUSTER_ACTION on the cluster and nothing else.
ACTOR = "actor"
#: Known, and granted READ or DESCRIBE on the state topic and nothing else.
READER, DESCRIBER = "reader", "describer"

_LOGIN = "org.apache.kafka.common.security"
_BEARER_HANDLER = f"{_LOGIN}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"


class Ports(NamedTuple):
    """Ports at which a broker listens beside its plain listener, and the proxy to which clients are sent."""

    secured: int
    mutual: int
    proxied: int
    proxy: int

    @classmethod
    def free(cls) -> Self:
        """Ports nobody uses now; all are held until the last is found, so that they differ."""
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in cls._fields]
            return cls(*(int(opened.getsockname()[1]) for opened in held))


class Authority:
    """Issues certificates, as files and as contexts."""

    def __init__(self, directory: Path) -> None:
        self._authority = trustme.CA()
        self._directory = directory
        self.root = directory / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.root))
        self.broker = directory / "broker.pem"
        self._issue("127.0.0.1", "broker", self.broker)

    def client(self, name: str) -> Path:
        """Give the file with the key and the certificate of a client."""
        path = self._directory / f"client-{name}.pem"
        if not path.exists():
            self._issue(f"{name}@example.org", name, path)
        return path

    def context(self, client: str | None = None) -> ssl.SSLContext:
        """Give a context that trusts the broker, and shows a certificate if it is to."""
        context = ssl.create_default_context(cafile=self.root)
        if client is not None:
            context.load_cert_chain(self.client(client))
        return context

    def _issue(self, identity: str, name: str, path: Path) -> None:
        issued = self._authority.issue_cert(identity, common_name=name, key_type=trustme.KeyType.RSA)
        # Kafka reads PKCS 8 only.
        key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(key + b"".join(blob.bytes() for blob in issued.cert_chain_pems))


def settings(broker: Broker, ports: Ports, authority: Authority) -> Mapping[str, str]:
    """The lines of ``server.properties`` that make the listeners; the authorizer lets in who is named, and no one else."""
    users = "".join(f' user_{name}="{secret}"' for name, secret in USERS.items())
    scram = f"{_LOGIN}.scram.ScramLoginModule required;"
    places = {"SECURED": ports.secured, "MUTUAL": ports.mutual, "PROXIED": ports.proxied}
    listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in places.items()}
    advertised = {**listeners, "PROXIED": f"PROXIED://127.0.0.1:{ports.proxy}"}
    plain = f"PLAINTEXT://{broker.bootstrap}"
    mechanisms = {
        "plain.sasl.jaas.config": f"{_LOGIN}.plain.PlainLoginModule required{users};",
        "scram-sha-256.sasl.jaas.config": scram,
        "scram-sha-512.sasl.jaas.config": scram,
        "oauthbearer.sasl.jaas.config": f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required;",
        "oauthbearer.sasl.server.callback.handler.class": _BEARER_HANDLER,
    }
    return {
        "listeners": ",".join([plain, f"CONTROLLER://127.0.0.1:{broker.controller_port}", *listeners.values()]),
        "advertised.listeners": ",".join([plain, *advertised.values()]),
        "listener.security.protocol.map": (
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL,MUTUAL:SSL,PROXIED:PLAINTEXT"
        ),
        "inter.broker.listener.name": "PLAINTEXT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": ";".join(f"User:{name}" for name in ("ANONYMOUS", "admin", SCRAM_USER[0], BEARER, LEADER)),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.broker),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        **{f"listener.name.secured.{name}": value for name, value in mechanisms.items()},
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.truststore.type": "PEM",
        "listener.name.mutual.ssl.truststore.location": str(authority.root),
        "listener.name.mutual.ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
    }


def token(principal: str, *, lasts: float = 3600.0) -> str:
    """An unsecured JWS (RFC 7515, ``"alg": "none"``), which Kafka's handler for tests takes at its word."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": principal, "iat": now - 10, "exp": now + lasts})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


@contextlib.contextmanager
def secured(version: str, directory: Path) -> Iterator[tuple[Broker, Ports, Authority]]:
    """A running broker with all of it; it is gone afterwards, whatever happens."""
    ports, (port, controller_port) = Ports.free(), free_ports(2)
    authority = Authority(directory)
    broker = Broker(version, directory, port, controller_port)
    broker.format(settings(broker, ports, authority))
    try:
        broker.start()
        yield broker, ports, authority
    finally:
        broker.stop()
