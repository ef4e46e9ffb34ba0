"""Two brokers of 4.4.0 in one cluster without share groups, between which a partition's leader can be moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message
from tests.kafka.broker import Broker, cluster_id, free_ports
from tests.kafka.home import JUDGE

#: ELECTION_NOT_NEEDED: the preferred replica leads already.
_NOT_NEEDED = 84
_ELECTION_MS = 30_000
_SETTINGS = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "default.replication.factor": "2",
    "offsets.topic.replication.factor": "2",
    "replica.lag.time.max.ms": "3000",
    "transaction.state.log.replication.factor": "2",
}


class Pair:
    """Broker 1, which is the controller as well, and broker 2."""

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        first, second, quorum = free_ports(3)
        cluster = cluster_id()
        self.brokers: dict[int, Broker] = {}
        for number, port in ((1, first), (2, second)):
            room = directory / f"broker-{number}"
            room.mkdir()
            broker = Broker(JUDGE, room, port, quorum)
            listener = f"PLAINTEXT://127.0.0.1:{port}"
            own = {} if number == 1 else {"process.roles": "broker", "node.id": "2", "listeners": listener}
            broker.format({**_SETTINGS, **own, **settings}, features={"share.version": 0}, cluster=cluster)
            self.brokers[number] = broker

    @property
    def bootstrap(self) -> str:
        """Both brokers."""
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    def start(self) -> None:
        """Start both and wait until each knows of the other."""
        for broker in self.brokers.values():
            broker.start()
        for number in self.brokers:
            self.wait_until_known(number)

    def stop(self) -> None:
        """Stop both, the controller last: the other one says goodbye to it."""
        for broker in reversed(self.brokers.values()):
            broker.stop()

    def kill(self) -> None:
        """Kill both."""
        for broker in self.brokers.values():
            broker.kill()

    def restart(self, *, killed: bool = False) -> None:
        """End both and start them again."""
        self.kill() if killed else self.stop()
        self.start()

    def wait_until_known(self, number: int) -> None:
        """Wait until a broker that runs has heard of all that are there."""
        wait_until(lambda: len(self._metadata(number, [])["brokers"]) == len(self.brokers), f"broker {number} knows both")

    def leader(self, topic: str, partition: int, *, asked: int = 1) -> int:
        """Leader of a partition, as ``asked`` has heard; -1 while none is known."""
        for found in self._metadata(asked, [{"name": topic}])["topics"]:
            for one in found["partitions"]:
                if one["partitionIndex"] == partition:
                    return int(one["leaderId"])
        return -1

    def move_leader(self, topic: str, partition: int, to: int) -> None:
        """Make ``to`` the leader and wait until every broker knows. The topic has both as replicas."""
        order = sorted(self.brokers, key=lambda number: number != to)
        with Connection(self.brokers[1].bootstrap) as connection:
            wanted = {"name": topic, "partitions": [{"partitionIndex": partition, "replicas": order}]}
            answer = connection.ask("AlterPartitionReassignments", 0, {"timeoutMs": _ELECTION_MS, "topics": [wanted]})
            codes = [answer["errorCode"], *(one["errorCode"] for found in answer["responses"] for one in found["partitions"])]
            assert not any(codes), f"the replicas of {topic}-{partition} cannot be reordered: {codes}"
            chosen = {"topicPartitions": [{"topic": topic, "partitions": [partition]}], "timeoutMs": _ELECTION_MS}

            def elected() -> bool:
                answer = connection.ask("ElectLeaders", 2, chosen)
                results = [one["errorCode"] for found in answer["replicaElectionResults"] for one in found["partitionResult"]]
                return answer["errorCode"] == 0 and set(results) <= {0, _NOT_NEEDED}

            wait_until(elected, f"an election of {topic}-{partition}")
        for number in self.brokers:
            self.wait_for_leader(topic, partition, to, asked=number)

    def wait_for_leader(self, topic: str, partition: int, leader: int, *, asked: int) -> None:
        """Wait until a broker has heard who leads a partition."""
        wait_until(lambda: self.leader(topic, partition, asked=asked) == leader, f"broker {asked} knows the leader")

    def _metadata(self, asked: int, topics: list[Message]) -> Message:
        with Connection(self.brokers[asked].bootstrap) as connection:
            return connection.ask("Metadata", 12, {"topics": topics, "allowAutoTopicCreation": False})


@contextmanager
def running(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[Pair]:
    """The two brokers, running; they are gone afterwards, whatever happens."""
    pair = Pair(directory, settings or {})
    try:
        pair.start()
        yield pair
    finally:
        pair.stop()
