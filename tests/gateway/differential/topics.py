"""The topics of a differential: byte for byte the same records in the same batches on both clusters."""

from __future__ import annotations

import random

from tests.gateway.patience import PATIENCE_S, wait_until
from tests.gateway.records import create_topic
from tests.gateway.wire import Connection
from tests.gateway.wire.batches import TRANSACTIONAL, batch
from tests.gateway.wire.codec import Message

#: Nothing is in it.
EMPTY = "d-empty"
#: Transactions are in it, committed and aborted.
TRANSACTIONS = "d-tx"
#: Partitions of each topic.
TOPICS = {"d-many": 4, "d-one": 1, TRANSACTIONS: 1, EMPTY: 2}
#: Records of each partition of the first two.
RECORDS = 400
_TRANSACTIONS = 12
_TIMESTAMP = 1_700_000_000_000
#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS.
_LATER = frozenset({14, 15, 16, 51})


def make(bootstrap: str, seed: int, prefix: str) -> list[str]:
    """Make the topics on a cluster and fill them; their names."""
    names = [prefix + name for name in TOPICS]
    for name, partitions in TOPICS.items():
        # The times of the records are old: for the log, which would drop them, and for its segment, which would end at the
        # next marker of a transaction. A broker's answer ends where a segment does, that of a gateway does not.
        create_topic(bootstrap, prefix + name, partitions, configs={"retention.ms": "-1", "segment.ms": str(10**15)})
    chance = random.Random(seed)  # noqa: S311 - test data
    with Connection(bootstrap.partition(",")[0]) as connection:
        for partition in range(TOPICS["d-many"]):
            _fill(connection, prefix + "d-many", partition, chance, sizes=(10,))
        _fill(connection, prefix + "d-one", 0, chance, sizes=range(1, 25))
        _transactions(connection, prefix + TRANSACTIONS, chance)
    return names


def _fill(connection: Connection, topic: str, partition: int, chance: random.Random, sizes: range | tuple[int, ...]) -> None:
    """Batches of these sizes, with times that no clock has given."""
    at = 0
    while at < RECORDS:
        count = min(chance.choice(sizes), RECORDS - at)
        values = [chance.randbytes(chance.randrange(1, 60)) for _ in range(count)]
        assert produce_batch(connection, topic, partition, batch(values, timestamp=_TIMESTAMP + at)) == at
        at += count


def _transactions(connection: Connection, topic: str, chance: random.Random) -> None:
    """Transactions of one batch each, committed and aborted in turn of chance; only the producer's id is a cluster's own."""
    name = topic
    wait_until(
        lambda: connection.ask("FindCoordinator", 1, {"key": name, "keyType": 1})["errorCode"] == 0, "a transaction coordinator"
    )
    made = _patiently(connection, "InitProducerId", 1, {"transactionalId": name, "transactionTimeoutMs": 60_000})
    producer = {"transactionalId": name, "producerId": made["producerId"], "producerEpoch": made["producerEpoch"]}
    sequence = 0
    for _ in range(_TRANSACTIONS):
        values = [chance.randbytes(8) for _ in range(chance.randrange(1, 9))]
        _patiently(connection, "AddPartitionsToTxn", 1, {
            **{f"v3AndBelow{key[0].upper()}{key[1:]}": value for key, value in producer.items()},
            "v3AndBelowTopics": [{"name": topic, "partitions": [0]}],
        })  # fmt: skip
        records = batch(
            values,
            timestamp=_TIMESTAMP,
            attributes=TRANSACTIONAL,
            producer_id=made["producerId"],
            producer_epoch=made["producerEpoch"],
            base_sequence=sequence,
        )
        sequence += len(values)
        produce_batch(connection, topic, 0, records, transaction=name)
        _patiently(connection, "EndTxn", 1, {**producer, "committed": chance.random() < 0.6})


def _patiently(connection: Connection, name: str, version: int, message: Message) -> Message:
    """Ask until neither the coordinator nor the last transaction is in the way."""
    answers: list[Message] = []

    def done() -> bool:
        answers.append(connection.ask(name, version, message))
        return not _error_of(answers[-1]) & _LATER

    wait_until(done, name)
    assert _error_of(answers[-1]) == {0}, answers[-1]
    return answers[-1]


def _error_of(answer: Message) -> set[int]:
    if "resultsByTopicV3AndBelow" in answer:
        topics = answer["resultsByTopicV3AndBelow"]
        return {one["partitionErrorCode"] for topic in topics for one in topic["resultsByPartition"]}
    return {answer["errorCode"]}


def produce_batch(connection: Connection, topic: str, partition: int, records: bytes, *, transaction: str | None = None) -> int:
    """The base offset that a batch got."""
    wanted = {"name": topic, "partitionData": [{"index": partition, "records": records}]}
    message = {"transactionalId": transaction, "acks": -1, "timeoutMs": round(PATIENCE_S * 1000), "topicData": [wanted]}
    (told,) = connection.ask("Produce", 8, message)["responses"][0]["partitionResponses"]
    assert told["errorCode"] == 0, told
    return int(told["baseOffset"])
