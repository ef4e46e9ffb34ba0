"""The lab's codec beside kio's own, and its batches beside a client's reading of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map

from tests.gateway.wire import CodecError, api_key, decode, encode, flexible, name_of, versions
from tests.gateway.wire.batches import batch, headers, marker, rebased, whole_bytes
from tests.gateway.wire.chance import drawn
from tests.kafka.wire.kio_oracle import kio_bytes

#: Requests that the lab speaks.
COMPARED = frozenset({
    "Produce", "Fetch", "ListOffsets", "Metadata", "FindCoordinator", "DescribeGroups", "ListGroups", "ApiVersions",
    "OffsetForLeaderEpoch", "DescribeConfigs", "DeleteGroups", "IncrementalAlterConfigs", "DescribeCluster",
    "ListConfigResources", "ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge",
    "DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets",
})  # fmt: skip
MESSAGES = [(key, version, response) for key in api_key_map for version in versions(key) for response in (False, True)]


def test_every_message_of_every_version_goes_there_and_back() -> None:
    for key, version, response in MESSAGES:
        data = encode(key, version, {}, response=response)
        assert encode(key, version, decode(key, version, data, response=response), response=response) == data
        with pytest.raises(CodecError, match="bytes too many"):
            decode(key, version, data + b"\0", response=response)
        decode(key, version, data + b"\0", response=response, complete=False)
    assert len(MESSAGES) == 604


def test_kio_writes_the_same_bytes() -> None:
    chance = random.Random(1)  # noqa: S311 - test data
    counted = 0
    for key, version, response in MESSAGES:
        if name_of(key) not in COMPARED:
            continue
        schema: Any = (load_response_schema if response else load_request_schema)(key, version)
        for _ in range(10):
            data = kio_bytes(drawn(chance, schema))
            assert encode(key, version, decode(key, version, data, response=response), response=response) == data
            counted += 1
    assert counted == 10 * 206


def test_what_is_not_a_message_is_an_error() -> None:
    chance = random.Random(1)  # noqa: S311 - test data
    refused = 0
    for _ in range(3000):
        key, version, response = chance.choice(MESSAGES)
        try:
            decode(key, version, chance.randbytes(chance.randrange(60)), response=response)
        except CodecError:
            refused += 1
    assert refused > 2000
    with pytest.raises(CodecError, match="has no"):
        encode(api_key("ShareFetch"), 2, {"memberid": "m"})
    with pytest.raises(CodecError):
        encode(api_key("ShareFetch"), 2, {"maxWaitMs": "long"})


def test_names_and_keys() -> None:
    assert (api_key("ShareFetch"), name_of(78), versions(78)[-1]) == (78, "ShareFetch", 2)
    assert (flexible(3, 8), flexible(3, 9)) == (False, True)


def test_batches_say_what_they_hold() -> None:
    data = batch([b"a", None, b"c"], base_offset=7, leader_epoch=3) + marker(base_offset=10, producer_id=5, commit=False)
    first, second = headers(data)
    assert (first.base_offset, first.last_offset, first.leader_epoch, first.records, first.magic) == (7, 9, 3, 3, 2)
    assert (second.base_offset, second.producer_id, second.attributes) == (10, 5, 0x30)
    assert list(headers(data[:-1])) == [first]
    assert whole_bytes(data[:-1]) == len(batch([b"a", None, b"c"]))
    (moved,) = headers(rebased(batch([b"a"]), 100, 9))
    assert (moved.base_offset, moved.leader_epoch) == (100, 9)
    assert moved.crc == next(headers(batch([b"a"]))).crc
    (holed,) = headers(batch([b"a"], last_offset_delta=9))
    assert (holed.last_offset, holed.records) == (9, 1)
