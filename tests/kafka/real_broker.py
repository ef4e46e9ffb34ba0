"""A real broker with topics and with all the listeners of :mod:`tests.kafka.listeners`."""

from __future__ import annotations

import contextlib
import io
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from kio.schema.create_topics.v7.request import CreatableTopic, CreateTopicsRequest
from kio.schema.types import TopicName
from kio.serial import entity_writer
from kio.static.primitive import i16, i32

from share_state.kafka import KafkaPersister
from share_state.types import SharePartitionKey
from tests.kafka.broker import Broker
from tests.kafka.listeners import ACTOR, DESCRIBER, READER, SCRAM_USER, Authority, Ports, secured


class RealBroker:
    """A running broker of one release."""

    def __init__(self, broker: Broker, ports: Ports, authority: Authority) -> None:
        self.broker = broker
        self.ports = ports
        self.authority = authority
        self.port = broker.port
        self.bootstrap = broker.bootstrap

    def restart(self, *, killed: bool) -> None:
        """End it, in order or by SIGKILL, and start it again."""
        self.broker.kill() if killed else self.broker.stop()
        self.broker.start()

    def make_principals_known(self) -> None:
        """Give those of SCRAM their passwords, and who has a single right that one."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        name, secret = SCRAM_USER
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            # A request may change a user's credentials only once.
            changed = UserScramCredentialUpsertion(name, ScramCredentialInfo(mechanism, 4096), secret.encode())
            admin.alter_user_scram_credentials([changed])[name].result()
        cluster, state = (ResourceType.BROKER, "kafka-cluster"), (ResourceType.TOPIC, "__share_group_state")
        rights = (
            (ACTOR, cluster, AclOperation.CLUSTER_ACTION),
            (READER, state, AclOperation.READ),
            (DESCRIBER, state, AclOperation.DESCRIBE),
        )
        granted = [
            AclBinding(*on, ResourcePatternType.LITERAL, f"User:{name}", "*", operation, AclPermissionType.ALLOW)
            for name, on, operation in rights
        ]
        for made in admin.create_acls(granted).values():
            made.result()

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
        self.warm(found[name])
        return found[name]

    def warm(self, topic_id: str) -> None:
        """Have every partition of the state topic loaded, so that no test meets a coordinator that is not yet there."""
        with KafkaPersister(self.bootstrap) as client:
            for number in range(30):
                client.read_summary(SharePartitionKey(f"warm-{number}", topic_id, 0))

    def sasl(self, mechanism: str, *more: str) -> list[str]:
        """Lines of a client's settings, in librdkafka's names."""
        trusted = f"ssl.ca.location={self.authority.root}"
        return ["security.protocol=SASL_SSL", trusted, f"sasl.mechanism={mechanism}", *more]

    def password(self, mechanism: str, name: str, secret: str) -> list[str]:
        """The same for a client that shows a password."""
        return self.sasl(mechanism, f"sasl.username={name}", f"sasl.password={secret}")


@contextlib.contextmanager
def running(version: str, directory: Path) -> Iterator[RealBroker]:
    """A broker that is up; it is gone afterwards, whatever happens."""
    with secured(version, directory) as (broker, ports, authority):
        yield RealBroker(broker, ports, authority)
