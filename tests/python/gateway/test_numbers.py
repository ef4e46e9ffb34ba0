"""Numbers and words of a gateway that no client sees: what is logged, counted and listed."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state._core import decode_message, encode_message
from share_state.errors import StoreError
from share_state.gateway import readings
from share_state.gateway.access import Access
from share_state.gateway.counts import Counts
from share_state.gateway.dispatch import Dispatch
from share_state.gateway.limits import Limits
from share_state.gateway.requests import Client
from share_state.gateway.truncation import Truncation
from share_state.kafka.peers import Address

API_VERSIONS = 18
READER = cast("Any", SimpleNamespace(topic="t", topic_id="an id", partition=3, served=()))


def _served(*, is_ready: bool, waiting: int) -> SimpleNamespace:
    engine = SimpleNamespace(
        counters=lambda: {"lock_timeouts": 2, "dead_lettered": 1}, state_counts=lambda: {"available": 4, "acquired": 0}
    )
    key = SimpleNamespace(group="g", partition=3)
    return SimpleNamespace(key=key, reader=READER, engine=engine, is_ready=is_ready, waiting=[None] * waiting)


def test_share_partitions_are_counted_by_what_they_do() -> None:
    served = [_served(is_ready=True, waiting=2), _served(is_ready=False, waiting=1), _served(is_ready=False, waiting=3)]
    scrape = readings._Scrape()
    parts = SimpleNamespace(manager=SimpleNamespace(all=lambda: served))
    asyncio.run(readings._share_partitions(scrape, cast("Any", parts)))
    place = ("g", "t", "3")
    assert scrape.found == {
        "share_gateway_watched_partitions": [((), 6)],
        "share_gateway_share_partitions": [(("active",), 1), (("loading",), 2)],
        "share_gateway_lock_timeouts": [(place, 2)],
        "share_gateway_dead_lettered_records": [(place, 1)],
        "share_gateway_in_flight_records": [((*place, "Available"), 4), ((*place, "Acquired"), 0)],
    }


def _truncated(log_truncated: Any, *, rewinds: bool = True) -> None:
    async def test() -> None:
        with ThreadPoolExecutor(1) as executor:
            store = SimpleNamespace(log_truncated=log_truncated)
            Truncation(cast("Any", store), executor, cast("Any", None), rewinds=rewinds).begin([READER], 7)
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(test())


def test_a_truncation_names_what_was_cut(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "share_state.gateway")
    asked: list[tuple[str, int, int]] = []

    def log_truncated(*place: Any) -> int:
        asked.append(place)
        return 2

    _truncated(log_truncated, rewinds=False)
    assert asked == []
    _truncated(log_truncated)
    assert asked == [("an id", 3, 7)]
    place = "topic='t' topic_id='an id' partition=3"
    assert caplog.messages == [f"the states of 2 groups were truncated at offset 7: {place}"]

    def fails(*_place: Any) -> int:
        raise StoreError("it is full")

    _truncated(fails)
    assert caplog.messages[1:] == [f"states were not truncated at offset 7: it is full: {place}"]


@pytest.mark.parametrize(
    ("version", "software", "code", "listed", "known"),
    [
        (3, "client-1.0", 0, 1, "client-1.0 2"),
        (4, "a", 0, 1, "a 2"),
        (3, "-client", 42, 0, ""),
        (3, "", 42, 0, ""),
        (9, "a", 35, 1, ""),
    ],
)
def test_versions_are_listed_for_who_names_itself(version: int, software: str, code: int, listed: int, known: str) -> None:
    dispatch = Dispatch({}, cast("Any", None), (1, 2), lambda _version: {}, limits=Limits(), counts=Counts())
    client = Client(1, "client", Address("here", 1), Access())
    asked = {"clientSoftwareName": software, "clientSoftwareVersion": "2"}
    body = encode_message(API_VERSIONS, min(version, 4), asked)
    payload = API_VERSIONS.to_bytes(2) + version.to_bytes(2) + (5).to_bytes(4) + b"\xff\xff\0" + body
    answer = asyncio.run(dispatch.respond(client, payload))
    assert answer is not None
    assert int.from_bytes(answer[4:8]) == 5
    told = decode_message(API_VERSIONS, 0 if version > 4 else version, answer[8:], response=True)
    assert (told["errorCode"], bool(told["apiKeys"]), client.software) == (code, bool(listed), known)
