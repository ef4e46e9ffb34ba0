"""Two real brokers answer the same, and a gateway as a real broker; and what a proxy changes in an answer is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.gateway.differential.duel import Duel
from tests.gateway.differential.known import KNOWN
from tests.gateway.differential.match import match, score
from tests.gateway.differential.view import View
from tests.gateway.process import GatewayProcess
from tests.gateway.tools.compare import Side
from tests.gateway.upstreams import kraft
from tests.gateway.wire import api_key
from tests.gateway.wire.codec import Message
from tests.gateway.wire.mutator import Mutator
from tests.kafka.broker import Broker
from tests.seeds import seed

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

COMPARED = 1500
#: Answers to compare of a gateway, and the least number of them for each request.
COMPARED_OF_A_GATEWAY = 2000
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


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Broker]]:
    with ExitStack() as stack:
        rooms = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
        yield [stack.enter_context(kraft.with_share_groups(room, kraft.PATIENT)) for room in rooms]


def test_two_brokers_answer_the_same(brokers: list[Broker], tell: Callable[[str], None]) -> None:
    one, other = brokers
    duel = Duel(View("real", Side.broker(one.bootstrap)), View("other", Side.broker(other.bootstrap)))
    match(duel, 1, COMPARED)
    tell(f"differential: {duel.requests} requests, {duel.compared} answers compared")
    assert not duel.differences, score(duel)
    assert duel.compared >= COMPARED
    # Of every kind of answer there was one at least.
    asked = {name for name, _ in duel.codes}
    assert {"ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat", "ShareGroupDescribe", "DescribeShareGroupOffsets"} <= asked
    assert {0, 42, 100, 121, 122, 123} <= {code for _, code in duel.codes}


def test_a_gateway_answers_as_a_broker(tmp_path_factory: pytest.TempPathFactory, tell: Callable[[str], None]) -> None:
    drawn = seed(1000)
    tell(f"differential of the gateway: seed {drawn}")
    with ExitStack() as stack:
        upstream = stack.enter_context(kraft.without_share_groups(tmp_path_factory.mktemp("upstream")))
        settings = {**kraft.SHARE_SETTINGS, **kraft.PATIENT}
        gateway = stack.enter_context(GatewayProcess(tmp_path_factory.mktemp("gateway"), upstream.bootstrap, settings, "--relay"))
        # A model of its own: other tests have left groups in theirs, which a list shows.
        model = stack.enter_context(kraft.with_share_groups(tmp_path_factory.mktemp("model"), kraft.PATIENT))
        duel = Duel(View("real", Side.broker(model.bootstrap)), View("gateway", Side.broker(gateway.bootstrap)), KNOWN)
        match(duel, drawn, COMPARED_OF_A_GATEWAY)
    tell(f"differential of the gateway: {duel.requests} requests, {duel.compared} answers compared: {dict(duel.apis)}")
    assert not duel.differences, score(duel)
    assert duel.compared >= COMPARED_OF_A_GATEWAY
    assert {name: duel.apis[name] for name, least in AT_LEAST.items() if duel.apis[name] < least} == {}
    assert [what for what in HELD if not duel.contents[what]] == []


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
def test_what_is_changed_is_found(brokers: list[Broker], name: str, change: Any, request: pytest.FixtureRequest) -> None:
    one, other = brokers
    with Mutator(other.bootstrap, api_key(name), change) as proxy:
        duel = Duel(View("real", Side.broker(one.bootstrap)), View("other", Side(proxy.bootstrap, other.bootstrap)))
        # Seeds of its own: the topics of the last run are still there. Not every thousand answers have what is changed.
        seed = 100 + request.node.callspec.indices["name"] + 10 * request.node.callspec.indices["change"]
        for more in range(4):
            match(duel, seed + 1000 * more, 1000 * (more + 1))
            if proxy.changed:
                break
    assert proxy.changed
    assert duel.differences
    assert all(name in difference.label for difference in duel.differences)
