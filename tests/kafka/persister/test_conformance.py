"""The suite that the other persisters pass, over a socket: against our server and against real brokers.

A real cluster knows topics by ids that it has given, so the suite's ids are exchanged on the way; and its groups are made
again for each test.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import share_state as ss
from share_state.errors import ShareStateError
from share_state.kafka import KafkaPersister, ShareCoordinatorServer, serve_in_thread
from share_state.kafka.clock import RetryPolicy
from share_state.persister import MemoryPersister, Persister
from tests.kafka.real_broker import RealBroker
from tests.state import test_persisters as suite

#: That of the suite that asks for the exact class of a refusal: ours are subclasses of them.
EXACT_CLASSES = "test_a_refusal_has_its_code_and_changes_nothing"
#: Rules that are ours before they are a release's: they must fail there, or a difference is gone unnoticed.
NOT_YET = {
    ("4.3.1", "test_a_late_write_takes_nothing_back"): "start offset and count go back before Kafka 4.4 (PR #23074, #23112)",
    ("4.3.1", "test_a_repeated_initialisation_wipes_nothing"): "deliberate difference I1",
    ("4.4.0", "test_a_repeated_initialisation_wipes_nothing"): "deliberate difference I1",
}
QUICK = RetryPolicy(initial_seconds=0.2, maximum_seconds=2.0)

for _name, _test in vars(suite).items():
    if _name.startswith("test_") and _name != EXACT_CLASSES:
        globals()[_name] = _test


class Exchanging:
    """A persister whose keys are exchanged for those of a cluster."""

    def __init__(self, persister: Persister, exchange: Callable[[ss.SharePartitionKey], ss.SharePartitionKey]) -> None:
        self._persister = persister
        self._exchange = exchange

    def reset_state(self, key: ss.SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        self._persister.reset_state(self._exchange(key), state_epoch, start_offset)

    def read_state(self, key: ss.SharePartitionKey, leader_epoch: int) -> ss.ReadStateResult:
        return self._persister.read_state(self._exchange(key), leader_epoch)

    def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
        self._persister.write_state(self._exchange(key), state)

    def delete_state(self, key: ss.SharePartitionKey) -> None:
        self._persister.delete_state(self._exchange(key))

    def read_summary(self, key: ss.SharePartitionKey) -> ss.StateSummary:
        return self._persister.read_summary(self._exchange(key))


class Cluster:
    """A real broker, its topics, and a persister over it."""

    def __init__(self, broker: RealBroker) -> None:
        self.broker = broker
        names = {suite.TOPIC: "orders", suite.OTHERS[2].topic_id: "jobs"}
        self.topic_ids = {topic_id: broker.create_topic(name, 2) for topic_id, name in names.items()}
        self.persister = KafkaPersister(broker.bootstrap, retry=QUICK)
        self._tests = 0

    def for_a_test(self) -> Exchanging:
        self._tests += 1
        prefix = f"{self._tests}-"

        def exchange(key: ss.SharePartitionKey) -> ss.SharePartitionKey:
            group, topic_id, partition = key
            return ss.SharePartitionKey(group and prefix + group, self.topic_ids.get(topic_id, topic_id), partition)

        return Exchanging(self.persister, exchange)


@pytest.fixture(scope="module")
def clusters(real_brokers: Callable[[str], RealBroker]) -> Iterator[Callable[[str], Cluster]]:
    with contextlib.ExitStack() as stack:
        made: dict[str, Cluster] = {}

        def cluster(version: str) -> Cluster:
            if version not in made:
                made[version] = Cluster(real_brokers(version))
                stack.callback(made[version].persister.close)
            return made[version]

        yield cluster


VERSIONS = ("4.4.0", "4.3.1")
REAL = [pytest.param(version, marks=[pytest.mark.kafka, pytest.mark.timeout(600)]) for version in VERSIONS]


@pytest.fixture(params=["ours", *REAL])
def persister(request: pytest.FixtureRequest, clusters: Callable[[str], Cluster]) -> Iterator[Persister]:
    if request.param == "ours":
        coordinator = ShareCoordinatorServer(MemoryPersister())
        with serve_in_thread(coordinator) as (host, port), KafkaPersister(f"{host}:{port}", retry=QUICK) as kafka:
            yield kafka
        return
    reason = NOT_YET.get((request.param, request.node.originalname))
    if reason is not None:
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    yield clusters(request.param).for_a_test()


@pytest.mark.parametrize(
    ("error", "code", "call"),
    [refusal[1:] for refusal in suite.REFUSALS],
    ids=[refusal[0] for refusal in suite.REFUSALS],
)
def test_a_refusal_is_one_of_its_class_and_changes_nothing(
    persister: Persister, error: type[ShareStateError], code: int | None, call: Callable[[Persister], Any]
) -> None:
    suite.begun(persister)
    persister.write_state(suite.KEY, suite.write(6, suite.ARCHIVED_TWICE, complete=5))
    before = (persister.read_state(suite.KEY, 1), persister.read_summary(suite.KEY))
    with pytest.raises(error) as refused:
        call(persister)
    assert refused.value.kafka_code == code
    assert (persister.read_state(suite.KEY, 1), persister.read_summary(suite.KEY)) == before


def test_the_suite_is_run() -> None:
    tests = [name for name in vars(suite) if name.startswith("test_")]
    assert EXACT_CLASSES in tests
    assert {test for _, test in NOT_YET} <= set(tests)
    assert len(tests) >= 12


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_what_was_confirmed_outlives_the_broker(version: str, killed: bool, clusters: Callable[[str], Cluster]) -> None:
    cluster = clusters(version)
    key = ss.SharePartitionKey(f"outlives-{killed}", cluster.topic_ids[suite.TOPIC], 1)
    # A broker takes seconds to come back.
    with KafkaPersister(cluster.broker.bootstrap, retry=RetryPolicy(attempts=30, maximum_seconds=2.0)) as kafka:
        kafka.reset_state(key, 1, 0)
        for offset in range(100):
            kafka.write_state(key, suite.write(offset, [ss.StateBatch(offset, offset + 9, 2, 1)], complete=10))
        before = kafka.read_state(key, 1)
        cluster.broker.restart(killed=killed)
        # On the same persister: it finds its way back by itself.
        assert kafka.read_state(key, 1) == before == ss.ReadStateResult(1, 99, [ss.StateBatch(99, 108, 2, 1)])
        kafka.write_state(key, suite.write(109, [], complete=0))
        assert kafka.read_summary(key).start_offset == 109
    cluster.broker.warm(key.topic_id)
