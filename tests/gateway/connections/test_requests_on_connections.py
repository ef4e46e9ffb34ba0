"""Requests and the parts that answer them: tables, versions, permissions, what is counted, and requests that are none."""

from __future__ import annotations

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from share_state.errors import ShareStateError, UnsupportedVersionError, WireDecodeError
from share_state.gateway import Limits
from share_state.gateway.access import Access
from share_state.gateway.counts import Counts
from share_state.gateway.dispatch import Api, Dispatch
from share_state.gateway.net import Net
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.kafka.logins import longest_of_stranger
from tests.gateway.wire.codec import Message, decode, encode, flexible
from tests.gateway.wire.connection import request_header

CLUSTER, FETCH, DELETE, SHARE_FETCH, SHARE_ACKNOWLEDGE, VERSIONS, PRODUCE = 60, 1, 42, 78, 79, 18, 0
LIMITS = Limits(frame=8000, other_frame=1000, relayed_frame=9000, work=10_000)


class Table:
    """A table with two requests, and what has been asked of it."""

    def __init__(self, *, relays: bool = False, answer: Message | None = None) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.answer: Message = {"errorCode": 0, "errorMessage": None, "clusterId": "c", "controllerId": 1, "brokers": []}
        self.answer |= {"endpointType": 1, "clusterAuthorizedOperations": 0, **(answer or {})}
        #: Raised for requests of members.
        self.wrong: Exception | None = None
        self.counts = Counts()
        apis = {CLUSTER: Api(0, 1, self._handle), DELETE: Api(1, 2, self._delete)}
        self.dispatch = Dispatch(apis, self._share, self._features, limits=LIMITS, counts=self.counts, net=Net(self.counts))
        if relays:
            self.dispatch.relay = SimpleNamespace()
            self.dispatch.relayed_versions = {PRODUCE: (3, 9), FETCH: (4, 12), CLUSTER: (0, 3), 22: (2, 2)}

    def respond(self, client: Client, payload: bytes) -> bytes | None:
        return asyncio.run(self.dispatch.respond(client, payload))

    async def _handle(self, client: Client, version: int, asked: Message) -> Message:
        self.asked.append((client, version, asked))
        return self.answer

    async def _delete(self, client: Client, version: int, asked: Message) -> Message:
        self.asked.append((client, version, asked))
        return {"results": []}

    async def _share(self, client: Client, payload: bytes) -> bytes:
        self.asked.append((client, payload))
        if self.wrong is not None:
            raise self.wrong
        return b"a whole frame"

    def _features(self, version: int) -> Message:
        self.asked.append(("features", version))
        return {"finalizedFeaturesEpoch": version}

    def counted(self) -> dict[int, int]:
        """Number of requests timed, by API key."""
        return {key: sum(times.buckets) for key, times in self.counts.request_times.items()}


def client() -> Client:
    return Client(1, "host", Address("here", 1), Access(), "User:ANONYMOUS")


def request(key: int, version: int, message: Message, *, name: str | None = "me") -> bytes:
    return request_header(key, version, 77, name) + encode(key, version, message)


def answered(key: int, version: int, frame: bytes | None) -> Message:
    """The message in an answer, whose header is checked."""
    assert frame is not None
    assert struct.unpack_from(">ii", frame) == (len(frame) - 4, 77)
    start = 8 + (key != VERSIONS and flexible(key, version))
    return decode(key, version, frame[start:], response=True)


def test_a_request_reaches_its_handler_with_who_asks() -> None:
    table, asks = Table(), client()
    told = answered(CLUSTER, 1, table.respond(asks, request(CLUSTER, 1, {"endpointType": 2})))
    assert told["clusterId"] == "c"
    assert table.asked == [(asks, 1, {"includeClusterAuthorizedOperations": False, "endpointType": 2})]
    assert asks.client_id == "me"
    # An answer without a code of its own, an older version without tagged fields, nobody's name.
    assert answered(DELETE, 1, table.respond(asks, request(DELETE, 1, {"groupsNames": ["g"]}, name=None)))["results"] == []
    assert table.asked[1] == (asks, 1, {"groupsNames": ["g"]})
    assert asks.client_id == ""
    assert table.counted() == {CLUSTER: 1, DELETE: 1}
    assert (dict(table.counts.request_errors), table.counts.malformed) == ({}, 0)
    assert 0 <= table.counts.request_times[CLUSTER].total < 60


def test_errors_of_whole_answers_are_counted() -> None:
    table = Table(answer={"errorCode": 31})
    for _ in range(2):
        assert answered(CLUSTER, 0, table.respond(client(), request(CLUSTER, 0, {})))["errorCode"] == 31
    assert dict(table.counts.request_errors) == {(CLUSTER, 31): 2}


def test_requests_of_members_pass_as_they_are() -> None:
    table, asks = Table(), client()
    # Whatever they hold is read elsewhere.
    payloads = [request_header(key, version, 77, "me") + b"\7" for key in (SHARE_FETCH, SHARE_ACKNOWLEDGE) for version in (1, 2)]
    assert [table.respond(asks, payload) for payload in payloads] == [b"a whole frame"] * 4
    assert table.asked == [(asks, payload) for payload in payloads]
    assert asks.client_id == "me"
    assert table.counted() == {SHARE_FETCH: 2, SHARE_ACKNOWLEDGE: 2}
    table.wrong = WireDecodeError("too short", position=3, kind="truncated")
    with pytest.raises(WireDecodeError) as caught:
        table.respond(asks, payloads[1])
    assert str(caught.value) == "request 78 version 2 of 'me': too short"
    assert (caught.value.position, caught.value.kind, table.counts.malformed) == (3, "truncated", 1)


def test_clients_have_names_for_the_log_and_are_let_in_until_their_login_fails() -> None:
    one = client()
    one.client_id, one.software = "me", "lab 1"
    assert str(one) == "client='me' host=host principal='User:ANONYMOUS' software='lab 1'"
    assert not one.is_refused
    for failed in (False, True):
        one.login = SimpleNamespace(failed=failed)  # type: ignore[assignment]
        assert one.is_refused == failed


def refused(table: Table, payload: bytes, asks: Client | None = None) -> ShareStateError:
    with pytest.raises(ShareStateError) as caught:
        table.respond(asks or client(), payload)
    assert table.asked == []
    return caught.value


@pytest.mark.parametrize(
    ("key", "version", "text", "counts_as"),
    [
        (CLUSTER, 2, "request 60 version 2 is not served", CLUSTER),
        (CLUSTER, -1, "request 60 version -1 is not served", CLUSTER),
        (DELETE, 0, "request 42 version 0 is not served", DELETE),
        (SHARE_FETCH, 0, "request 78 version 0 is not served", SHARE_FETCH),
        (SHARE_FETCH, 3, "request 78 version 3 is not served", SHARE_FETCH),
        (SHARE_ACKNOWLEDGE, 0, "request 79 version 0 is not served", SHARE_ACKNOWLEDGE),
        (SHARE_ACKNOWLEDGE, 3, "request 79 version 3 is not served", SHARE_ACKNOWLEDGE),
        (999, 0, "request 999 version 0 is not served", -1),
        (22, -1, "request 22 version -1 is not served", -1),
        (-1, 0, "request -1 version 0 is not served", -1),
        (PRODUCE, 9, "request 0 version 9 is not served; it is upstream's, and there is no relay", -1),
        (FETCH, 12, "request 1 version 12 is not served; it is upstream's, and there is no relay", -1),
    ],
)
def test_what_is_not_served_is_named(key: int, version: int, text: str, counts_as: int) -> None:
    table = Table()
    wrong = refused(table, struct.pack(">hhih", key, version, 77, -1))
    assert isinstance(wrong, UnsupportedVersionError)
    assert str(wrong) == text
    assert table.counted() == {counts_as: 1}


@pytest.mark.parametrize(("payload", "position"), [(b"", 0), (b"\0\x3c\0", 3)])
def test_what_is_shorter_than_a_key_and_a_version_is_no_request(payload: bytes, position: int) -> None:
    table = Table()
    wrong = refused(table, payload)
    assert isinstance(wrong, WireDecodeError)
    assert (str(wrong), wrong.position, wrong.kind) == ("a request ends within its header", position, "truncated")
    assert table.counted() == {}


def test_a_request_that_ends_too_early_is_malformed() -> None:
    table = Table()
    for length, message in enumerate((b"", b"\0"), start=1):
        wrong = refused(table, request_header(CLUSTER, 1, 77, "it's") + message)
        assert isinstance(wrong, WireDecodeError)
        assert str(wrong).startswith("""request 60 version 1 of "it's": """)
        assert len(str(wrong)) > 40
        assert (wrong.position, wrong.kind) == (length - 1, "1 bytes needed, 0 left")
        assert table.counts.malformed == length
    assert table.counted() == {CLUSTER: 2}
    # A header that ends too early is none of those.
    refused(table, b"\0\x3c\0\0\0")
    assert table.counts.malformed == 2


def test_what_follows_a_message_is_skipped() -> None:
    table = Table()
    assert answered(CLUSTER, 1, table.respond(client(), request(CLUSTER, 1, {"endpointType": 1}) + b"more"))["clusterId"] == "c"
    version = request(VERSIONS, 3, {"clientSoftwareName": "a", "clientSoftwareVersion": "b"}) + b"more"
    assert answered(VERSIONS, 3, table.respond(client(), version))["errorCode"] == 0


def test_what_is_offered_is_what_is_answered_first_of_all() -> None:
    own = {CLUSTER: (0, 1), DELETE: (1, 2), SHARE_FETCH: (1, 2), SHARE_ACKNOWLEDGE: (1, 2), VERSIONS: (0, 4)}
    assert Table().dispatch.offered() == {PRODUCE: (3, 9), FETCH: (4, 12), **own}
    table = Table(relays=True)
    table.dispatch.relayed_versions = {PRODUCE: (0, 13), CLUSTER: (0, 3), 22: (2, 2)}
    table.dispatch.offer_logins({17: (1, 1), 36: (0, 2)})
    assert table.dispatch.offered() == {PRODUCE: (0, 13), FETCH: (4, 12), **own, 22: (2, 2), 17: (1, 1), 36: (0, 2)}
    told = answered(VERSIONS, 0, table.respond(client(), request(VERSIONS, 0, {})))
    assert [(row["apiKey"], row["minVersion"], row["maxVersion"]) for row in told["apiKeys"]] == [
        (0, 0, 13), (1, 4, 12), (17, 1, 1), (18, 0, 4), (22, 2, 2), (36, 0, 2), (42, 1, 2), (60, 0, 1), (78, 1, 2), (79, 1, 2),
    ]  # fmt: skip


def test_the_software_of_a_client_is_remembered_where_it_has_a_name() -> None:
    table, asks = Table(), client()
    for version in (3, 4):
        message = {"clientSoftwareName": "some-client", "clientSoftwareVersion": f"1.{version}"}
        assert (
            answered(VERSIONS, version, table.respond(asks, request(VERSIONS, version, message)))["finalizedFeaturesEpoch"]
            == version
        )
        assert asks.software == f"some-client 1.{version}"
    assert table.asked == [("features", 3), ("features", 4)]
    told = answered(
        VERSIONS, 3, table.respond(asks, request(VERSIONS, 3, {"clientSoftwareName": "?", "clientSoftwareVersion": "2"}))
    )
    assert told == {"errorCode": 42, "apiKeys": [], "throttleTimeMs": 0}
    assert asks.software == "some-client 1.4"
    # Older versions tell nothing, and newer ones are answered in the oldest form.
    answered(VERSIONS, 2, table.respond(asks, request(VERSIONS, 2, {})))
    for version in (5, -1):
        told = answered(VERSIONS, 0, table.respond(asks, struct.pack(">hhih", VERSIONS, version, 77, -1) + b"\0anything"))
        assert (told["errorCode"], len(told["apiKeys"])) == (35, 1)
    assert len(table.asked) == 2


@pytest.mark.parametrize(
    ("relays", "key", "length"),
    [
        (False, None, 8000), (True, None, 9000), (False, 78, 8000), (True, 78, 8000), (False, 79, 8000), (True, 79, 8000),
        (False, CLUSTER, 1000), (True, CLUSTER, 1000), (False, PRODUCE, 1000), (True, PRODUCE, 9000), (True, 22, 9000),
        (False, 999, 1000), (True, 999, 1000), (True, VERSIONS, 1000),
    ],
)  # fmt: skip
def test_how_long_requests_may_be(relays: bool, key: int | None, length: int) -> None:
    table, stranger = Table(relays=relays), client()
    assert table.dispatch.longest(client(), key) == length
    stranger.login = SimpleNamespace(failed=False)  # type: ignore[assignment]
    assert table.dispatch.longest(stranger, key) == longest_of_stranger(key)


def test_large_requests_wait_for_each_other() -> None:
    table = Table()
    order: list[str] = []
    goes_on = asyncio.Event()

    async def wait(_client: Client, version: int, _asked: Message) -> Message:
        order.append(f"begins {version}")
        await goes_on.wait()
        return table.answer

    table.dispatch._apis[CLUSTER] = Api(0, 1, wait)

    async def run() -> None:
        # More than half of what may be worked on at once, each.
        large = [request(CLUSTER, version, {}) + bytes(6000) for version in (0, 1)]
        tasks = [asyncio.create_task(table.dispatch.respond(client(), payload)) for payload in large]
        small = asyncio.create_task(table.dispatch.respond(client(), request(DELETE, 2, {"groupsNames": []})))
        assert answered(DELETE, 2, await small)["results"] == []
        assert order == ["begins 0"]
        goes_on.set()
        await asyncio.gather(*tasks)
        assert order == ["begins 0", "begins 1"]

    asyncio.run(run())
