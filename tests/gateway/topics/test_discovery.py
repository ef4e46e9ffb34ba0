"""Coordinators that a relay asks upstream for, without a cluster."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway import Limits
from share_state.gateway.access import Access
from share_state.gateway.answers import text_of
from share_state.gateway.counts import Counts
from share_state.gateway.discovery import Discovery
from share_state.gateway.identity import Identity
from share_state.gateway.net import Net
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address, LostError

HERE = Address("here", 9092)
NONE, NOT_AVAILABLE = 0, 15
GROUP, TRANSACTION = 0, 1


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


def found(made: Discovery, key_type: int) -> int:
    """Code of the answer for a key of a type."""
    asked = {"keyType": key_type, "coordinatorKeys": ["g"]}
    (row,) = asyncio.run(made.find_coordinator(Client(1, "client", HERE, Access()), 6, asked))["coordinators"]
    return int(row["errorCode"])


def test_a_relay_asks_upstream_until_it_coordinates_groups() -> None:
    upstream = Upstream(NOT_AVAILABLE)
    net = Net(Counts())
    made = Discovery(cast("Any", None), Identity("cluster", 7), 5, advertised=None, relay=cast("Relay", upstream), net=net)
    assert [found(made, GROUP), found(made, TRANSACTION)] == [NONE, NOT_AVAILABLE]
    upstream.code = None
    assert [found(made, GROUP), found(made, TRANSACTION)] == [NONE, NOT_AVAILABLE]
    upstream.code = NONE
    assert [found(made, GROUP), found(made, TRANSACTION)] == [NONE, NONE]
    assert upstream.asked == [(GROUP, "g"), (TRANSACTION, "g")] * 3
    # Of groups it has said that it does.
    found(made, GROUP)
    found(made, TRANSACTION)
    assert upstream.asked[6:] == [(TRANSACTION, "g")]


@pytest.mark.parametrize("answer", [{"errorCode": 15}, {"coordinators": [{"errorCode": 15}]}])
def test_upstream_is_asked_in_both_forms_at_once(answer: dict[str, Any]) -> None:
    asked: list[tuple[int, dict[str, Any]]] = []

    async def request(api_key: int, message: dict[str, Any]) -> dict[str, Any]:
        asked.append((api_key, message))
        return answer

    async def connection(_node: object) -> Any:
        return SimpleNamespace(request=request)

    upstream = SimpleNamespace(lane=lambda _name: SimpleNamespace(connection=connection))
    options = SimpleNamespace(upstream=(HERE,), limits=Limits())
    counts = Counts()
    relay = Relay(cast("Any", upstream), cast("Any", None), cast("Any", options), counts=counts, net=Net(counts))
    assert asyncio.run(relay.find_coordinator(TRANSACTION, "t")) == NOT_AVAILABLE
    assert asked == [(10, {"key": "t", "keyType": TRANSACTION, "coordinatorKeys": ["t"]})]


def test_every_error_has_a_text() -> None:
    assert text_of(NONE) is None
    assert text_of(NOT_AVAILABLE) == "The coordinator is not available."
    assert text_of(87) == text_of(-1) == "The server experienced an unexpected error when processing the request."
