"""Where clients are led, without a cluster: FindCoordinator, DescribeCluster, and what the relay asks upstream."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway.access import Access
from share_state.gateway.answers import text_of
from share_state.gateway.discovery import Discovery
from share_state.gateway.identity import Identity
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.kafka.peers import Address, LostError

HERE = Address("here", 9092)
NONE, NOT_AVAILABLE, NOT_ALLOWED, INVALID = 0, 15, 30, 42
GROUP, TRANSACTION, SHARE, UNKNOWN = 0, 1, 2, 3


class Upstream:
    """A relay whose upstream answers a code, or is lost."""

    def __init__(self, code: int | None = NONE) -> None:
        self.code = code
        self.asked: list[tuple[int, str]] = []

    async def find_coordinator(self, key_type: int, key: str) -> int:
        self.asked.append((key_type, key))
        if self.code is None:
            raise LostError("broker 1", "gone", code=-1, sent=False)
        return self.code


def discovery(relay: Upstream | None = None, advertised: Address | None = None) -> Discovery:
    return Discovery(cast("Any", None), Identity("cluster", 7), 5, advertised, cast("Relay | None", relay))


def client(*, may_nothing: bool = False) -> Client:
    return Client(1, "client", HERE, Access([] if may_nothing else None))


def found(made: Discovery, key_type: int, *, one: bool = False, asks: Client | None = None) -> tuple[Any, ...]:
    """The row that a key of a type gets: node, host, port, code, text."""
    keys = {"key": "g"} if one else {"coordinatorKeys": ["g"]}
    answer = asyncio.run(made.find_coordinator(asks or client(), 0, {"keyType": key_type, **keys}))
    (row,) = [answer] if one else answer["coordinators"]
    assert row.get("key") == (None if one else "g")
    return row["nodeId"], row["host"], row["port"], row["errorCode"], row["errorMessage"]


@pytest.mark.parametrize(("one", "text"), [(True, "NONE"), (False, "")])
def test_groups_are_coordinated_here(one: bool, text: str) -> None:
    assert found(discovery(), GROUP, one=one) == (5, "here", 9092, NONE, text)
    assert found(discovery(advertised=Address("there", 1)), GROUP, one=one) == (5, "there", 1, NONE, text)


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize(
    ("key_type", "may_nothing", "code"),
    [
        (GROUP, True, NOT_ALLOWED),
        (TRANSACTION, False, NOT_AVAILABLE),
        (SHARE, False, INVALID),
        (UNKNOWN, False, INVALID),
    ],
)
def test_what_is_coordinated_nowhere_has_no_place(one: bool, key_type: int, may_nothing: bool, code: int) -> None:
    row = found(discovery(), key_type, one=one, asks=client(may_nothing=may_nothing))
    assert row == (-1, "", -1, code, text_of(code) if one or key_type == UNKNOWN else "")


def test_the_form_without_a_type_asks_for_a_group() -> None:
    answer = asyncio.run(discovery().find_coordinator(client(), 0, {"key": "g"}))
    assert (answer["nodeId"], answer["errorCode"]) == (5, NONE)


def test_a_relay_asks_upstream_until_it_coordinates_groups() -> None:
    upstream = Upstream(NOT_AVAILABLE)
    made = discovery(upstream)
    assert [found(made, GROUP)[3], found(made, TRANSACTION)[3]] == [NONE, NOT_AVAILABLE]
    upstream.code = None
    assert [found(made, GROUP)[3], found(made, TRANSACTION)[3]] == [NONE, NOT_AVAILABLE]
    upstream.code = NONE
    assert [found(made, GROUP)[3], found(made, TRANSACTION)[3]] == [NONE, NONE]
    assert upstream.asked == [(GROUP, "g"), (TRANSACTION, "g")] * 3
    # Of groups it has said that it does.
    found(made, GROUP)
    found(made, TRANSACTION)
    assert upstream.asked[6:] == [(TRANSACTION, "g")]


def test_the_cluster_is_one_broker() -> None:
    described = asyncio.run(discovery().describe_cluster(client(), 1, {"endpointType": 1}))
    assert described == asyncio.run(discovery().describe_cluster(client(), 0, {}))
    assert described == {
        "errorCode": NONE,
        "errorMessage": None,
        "endpointType": 1,
        "clusterId": "cluster",
        "controllerId": 5,
        "brokers": [{"brokerId": 5, "host": "here", "port": 9092, "rack": None}],
        "clusterAuthorizedOperations": -(1 << 31),
    }
    assert discovery().endpoint(client()) == (5, "here", 9092, None)


@pytest.mark.parametrize(
    ("endpoint", "code", "text"), [(2, 114, "This is an endpoint of brokers."), (9, 115, "Unsupported endpoint type 9")]
)
def test_there_is_no_controller(endpoint: int, code: int, text: str) -> None:
    described = asyncio.run(discovery().describe_cluster(client(), 1, {"endpointType": endpoint}))
    assert (described["errorCode"], described["errorMessage"], described["brokers"]) == (code, text, [])
    assert (described["clusterId"], described["controllerId"], described["endpointType"]) == ("", -1, 1)


@pytest.mark.parametrize("answer", [{"errorCode": 15}, {"coordinators": [{"errorCode": 15}]}])
def test_upstream_is_asked_in_both_forms_at_once(answer: dict[str, Any]) -> None:
    asked: list[tuple[int, dict[str, Any]]] = []

    async def request(api_key: int, message: dict[str, Any]) -> dict[str, Any]:
        asked.append((api_key, message))
        return answer

    async def connection(_node: object) -> Any:
        return SimpleNamespace(request=request)

    upstream = SimpleNamespace(lane=lambda _name: SimpleNamespace(connection=connection))
    relay = Relay(cast("Any", upstream), cast("Any", None), cast("Any", SimpleNamespace(upstream=(HERE,))))
    assert asyncio.run(relay.find_coordinator(TRANSACTION, "t")) == NOT_AVAILABLE
    assert asked == [(10, {"key": "t", "keyType": TRANSACTION, "coordinatorKeys": ["t"]})]


def test_every_error_has_a_text() -> None:
    assert text_of(NONE) is None
    assert text_of(NOT_AVAILABLE) == "The coordinator is not available."
    assert text_of(87) == text_of(-1) == "The server experienced an unexpected error when processing the request."
