"""A real broker with topics, and with a listener that asks for TLS and SASL."""

from __future__ import annotations

import contextlib
import io
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization
from kio.schema.create_topics.v7.request import CreatableTopic, CreateTopicsRequest
from kio.schema.types import TopicName
from kio.serial import entity_writer
from kio.static.primitive import i16, i32

from share_state.kafka import KafkaPersister
from share_state.types import SharePartitionKey
from tests.kafka import broker as plain

USERS = {"admin": "admin-secret", "clerk": "clerk-secret"}
SCRAM_USER = ("scrammer", "scram-secret")
_LOGIN = "org.apache.kafka.common.security"


class RealBroker:
    """A running broker of one release."""

    def __init__(self, broker: plain.Broker, secured_port: int, authority: trustme.CA) -> None:
        self._broker = broker
        self.secured_port = secured_port
        self.authority = authority
        self.port = broker.port
        self.bootstrap = broker.bootstrap
        self.start, self.stop, self.kill = broker.start, broker.stop, broker.kill

    def add_scram_user(self) -> None:
        """Make a user known who can log in by SCRAM."""
        name, secret = SCRAM_USER
        # A request may change a user's credentials only once.
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            self._broker.tool(
                "kafka.admin.ConfigCommand", "--bootstrap-server", self.bootstrap, "--alter",
                "--entity-type", "users", "--entity-name", name, "--add-config", f"{mechanism}=[password={secret}]",
            )  # fmt: skip

    def create_topic(self, name: str, partitions: int) -> str:
        """Make a topic and give its id."""
        topic = CreatableTopic(
            name=TopicName(name),
            num_partitions=i32(partitions),
            replication_factor=i16(1),
            assignments=(),
            configs=(),
        )
        body = io.BytesIO()
        entity_writer(CreateTopicsRequest)(body, CreateTopicsRequest(topics=(topic,), validate_only=False))
        payload = struct.pack(">hhih", 19, 7, 1, 0) + b"\0" + body.getvalue()
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(struct.pack(">i", len(payload)) + payload)
            assert connection.recv(4)
        with KafkaPersister(self.bootstrap) as client:
            while not (found := client.topic_ids([name])):
                pass
            # Every partition of the state topic is loaded, so that no test meets a coordinator that is not yet there.
            for number in range(30):
                client.read_summary(SharePartitionKey(f"warm-{number}", found[name], 0))
        return found[name]


@contextlib.contextmanager
def running(version: str, directory: Path) -> Iterator[RealBroker]:
    """A broker that is up; it is gone afterwards, whatever happens."""
    authority = trustme.CA()
    (directory / "broker.pem").write_bytes(_keystore(authority))
    port, controller_port, secured_port = _free_ports(3)
    broker = plain.Broker(version, directory, port, controller_port)
    broker.format(_settings(broker, secured_port))
    try:
        broker.start()
        yield RealBroker(broker, secured_port, authority)
    finally:
        broker.stop()


def _settings(broker: plain.Broker, secured_port: int) -> dict[str, str]:
    users = "".join(f' user_{name}="{secret}"' for name, secret in USERS.items())
    scram = f"{_LOGIN}.scram.ScramLoginModule required;"
    secured = f"SECURED://127.0.0.1:{secured_port}"
    return {
        "listeners": f"PLAINTEXT://{broker.bootstrap},CONTROLLER://127.0.0.1:{broker.controller_port},{secured}",
        "advertised.listeners": f"PLAINTEXT://{broker.bootstrap},{secured}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:ANONYMOUS;User:admin;User:{SCRAM_USER[0]}",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(broker.directory / "broker.pem"),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.secured.plain.sasl.jaas.config": f"{_LOGIN}.plain.PlainLoginModule required{users};",
        "listener.name.secured.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.secured.scram-sha-512.sasl.jaas.config": scram,
    }


def _keystore(authority: trustme.CA) -> bytes:
    certificate = authority.issue_cert("127.0.0.1", key_type=trustme.KeyType.RSA)
    # Kafka reads PKCS 8 only.
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return key + b"".join(blob.bytes() for blob in certificate.cert_chain_pems)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(opened.getsockname()[1]) for opened in held]
