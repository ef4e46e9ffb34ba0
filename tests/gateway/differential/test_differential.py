"""A gateway answers as a real broker, also values that no client means; and what a proxy changes in an answer is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from tests.gateway.differential import values
from tests.gateway.differential.duel import Duel
from tests.gateway.differential.known import KNOWN
from tests.gateway.differential.match import match, score
from tests.gateway.differential.topics import produce_batch
from tests.gateway.differential.view import View
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic
from tests.gateway.tools.compare import Side
from tests.gateway.upstreams import kraft
from tests.gateway.wire import Connection, api_key
from tests.gateway.wire.batches import batch
from tests.gateway.wire.codec import Message
from tests.gateway.wire.mutator import Mutator
from tests.kafka.broker import Broker
from tests.seeds import seed

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

#: Answers to compare, and the least number of them for each request.
COMPARED = 2000
AT_LEAST = {
    "ShareFetch": 500,
    "ShareAcknowledge": 300,
    "ShareGroupHeartbeat": 100,
    "ShareGroupDescribe": 20,
    "DescribeShareGroupOffsets": 30,
    "AlterShareGroupOffsets": 15,
    "DeleteShareGroupOffsets": 10,
    "DeleteGroups": 5,
    "ListGroups": 20,
    "IncrementalAlterConfigs": 3,
    "DescribeConfigs": 3,
    "FindCoordinator": 10,
    "Metadata": 5,
    "ListOffsets": 10,
    "ApiVersions": 2,
}
#: Contents that must be in answers without an error, or taken.
HELD = (
    "ShareFetch with records",
    "ShareFetch with records delivered again",
    "ShareFetch with several ranges",
    "ShareAcknowledge with rows and no error",
    "ShareGroupHeartbeat with rows and no error",
    "DescribeShareGroupOffsets with rows and no error",
    "AlterShareGroupOffsets with rows and no error",
    "DeleteShareGroupOffsets with rows and no error",
    "DescribeConfigs with rows and no error",
    "ListGroups with rows and no error",
    *(f"acknowledgements of type {kind}" for kind in range(5)),
)


class Pair(NamedTuple):
    """A broker with share groups, and a gateway over one without. Odd values come last: both keep other states of them."""

    model: Broker
    gateway: GatewayProcess

    def views(self, gateway: str | None = None) -> tuple[View, View]:
        """Both as clients see them; the gateway perhaps through a proxy."""
        other = self.gateway.bootstrap
        return View("real", Side.broker(self.model.bootstrap)), View("gateway", Side(gateway or other, other))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with ExitStack() as stack:
        upstream = stack.enter_context(kraft.without_share_groups(tmp_path_factory.mktemp("upstream")))
        settings = {**kraft.SHARE_SETTINGS, **kraft.PATIENT}
        gateway = stack.enter_context(GatewayProcess(tmp_path_factory.mktemp("gateway"), upstream.bootstrap, settings, "--relay"))
        yield Pair(stack.enter_context(kraft.with_share_groups(tmp_path_factory.mktemp("model"), kraft.PATIENT)), gateway)


def test_a_gateway_answers_as_a_broker(pair: Pair, tell: Callable[[str], None]) -> None:
    drawn = seed(1000)
    tell(f"differential of the gateway: seed {drawn}")
    duel = Duel(*pair.views(), KNOWN)
    match(duel, drawn, COMPARED)
    tell(f"differential of the gateway: {duel.requests} requests, {duel.compared} answers compared: {dict(duel.apis)}")
    assert not duel.differences, score(duel)
    assert duel.compared >= COMPARED
    assert {name: duel.apis[name] for name, least in AT_LEAST.items() if duel.apis[name] < least} == {}
    assert [what for what in HELD if not duel.contents[what]] == []
    assert {0, 42, 100, 121, 122, 123} <= {code for _, code in duel.codes}


def in_partitions(change: Callable[[Message], bool]) -> Callable[[int, int, Message], Message | None]:
    """A change of the first partition that it can be made in."""

    def of(key: int, version: int, answer: Message) -> Message | None:
        del key, version
        partitions = (one for topic in answer.get("responses", ()) for one in topic["partitions"])
        return answer if any(map(change, partitions)) else None

    return of


def one_more_delivery(partition: Message) -> bool:
    for one in partition["acquiredRecords"]:
        one["deliveryCount"] += 1
        return True
    return False


def a_record_less(partition: Message) -> bool:
    for one in partition["acquiredRecords"]:
        one["lastOffset"] -= 1
        return True
    return False


def a_flipped_bit(partition: Message) -> bool:
    if not partition["records"]:
        return False
    # In the checksum of the first batch.
    partition["records"] = partition["records"][:20] + bytes([partition["records"][20] ^ 1]) + partition["records"][21:]
    return True


def a_wrong_acknowledgement_taken(partition: Message) -> bool:
    taken = bool(partition["errorCode"] == 121)
    partition["errorCode"] = 0
    return taken


def another_code(key: int, version: int, answer: Message) -> Message | None:
    del key, version
    return {**answer, "errorCode": 69} if answer["errorCode"] == 25 else None


def more_lag(key: int, version: int, answer: Message) -> Message | None:
    del key
    found = [one for group in answer["groups"] for topic in group["topics"] for one in topic["partitions"] if version >= 1]
    for one in found:
        one["lag"] += 1
    return answer if found else None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ShareFetch", in_partitions(one_more_delivery)),
        ("ShareFetch", in_partitions(a_record_less)),
        ("ShareFetch", in_partitions(a_flipped_bit)),
        ("ShareAcknowledge", in_partitions(a_wrong_acknowledgement_taken)),
        ("ShareGroupHeartbeat", another_code),
        ("DescribeShareGroupOffsets", more_lag),
    ],
    ids=["delivery count", "range", "records", "acknowledgement", "heartbeat", "lag"],
)
def test_what_is_changed_is_found(pair: Pair, name: str, change: Any, request: pytest.FixtureRequest) -> None:
    with Mutator(pair.gateway.bootstrap, api_key(name), change) as proxy:
        duel = Duel(*pair.views(proxy.bootstrap), KNOWN)
        # Seeds of its own: the topics of the last run are still there. Not every thousand answers have what is changed.
        seed = 100 + request.node.callspec.indices["name"] + 10 * request.node.callspec.indices["change"]
        for more in range(4):
            match(duel, seed + 1000 * more, 1000 * (more + 1))
            if proxy.changed:
                break
    assert proxy.changed
    assert duel.differences
    assert all(name in difference.label for difference in duel.differences), score(duel)


def test_values_that_no_client_means_are_answered_as_by_a_broker(pair: Pair) -> None:
    topic, records = "values", 100
    views = pair.views()
    for view in views:
        create_topic(view.side.upstream, topic, 2, configs={"retention.ms": "-1"})
        with Connection(view.side.upstream) as connection:
            for at in range(0, 2000, records):
                produce_batch(connection, topic, 0, batch([b"x"] * records, timestamp=1_700_000_000_000 + at))
    duel = Duel(*views, (*KNOWN, *values.KNOWN, *values.OWN))
    values.try_all(duel, topic, "group")
    for view in views:
        view.close_all()
    assert "Traceback" not in pair.gateway.log()
    assert not duel.differences, score(duel)
    assert duel.compared > 2500
