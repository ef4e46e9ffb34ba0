"""The lab's codec beside kio's own, and its batches beside a client's reading of them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import random
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map

from tests.gateway.wire import CodecError, api_key, decode, encode, flexible, name_of, versions
from tests.gateway.wire.batches import batch, headers, marker, rebased, whole_bytes
from tests.python.kio_oracle import kio_bytes

#: What the lab speaks.
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


def drawn(chance: random.Random, schema: type[Any]) -> Any:
    """Any instance of a class of kio."""
    hints = typing.get_type_hints(schema)
    fields = {field.name: value(chance, hints[field.name], field.metadata) for field in dataclasses.fields(schema)}
    return schema(**fields)


#: Values of a field by its type; numbers are drawn by their size.
SIMPLE: Mapping[str, Callable[[random.Random], Any]] = {
    "error_code": lambda chance: chance.choice(list(ErrorCode)),
    "string": lambda chance: "".join(chance.choices("aé日 0", k=chance.randrange(9))),
    "bytes": lambda chance: chance.randbytes(chance.randrange(9)),
    "records": lambda chance: chance.randbytes(chance.randrange(9)),
    "bool": lambda chance: chance.random() < 0.5,
    "uuid": lambda chance: uuid.UUID(int=chance.getrandbits(128)),
    "timedelta_i32": lambda chance: dt.timedelta(milliseconds=chance.randrange(-(2**31), 2**31)),
    "datetime_i64": lambda chance: dt.datetime.fromtimestamp(chance.randrange(2**31), dt.UTC),
    **{
        f"int{bits}": lambda chance, bits=bits: chance.randrange(-(1 << bits - 1), 1 << bits - 1)  # type: ignore[misc]
        for bits in (8, 16, 32, 64)
    },
}


def value(chance: random.Random, hint: Any, metadata: Mapping[str, Any]) -> Any:
    options = typing.get_args(hint)
    if types.NoneType in options:
        if chance.random() < 0.2:
            return None
        hint = next(one for one in options if one is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        return tuple(value(chance, typing.get_args(hint)[0], metadata) for _ in range(chance.randrange(3)))
    kind = metadata.get("kafka_type")
    return drawn(chance, hint) if kind is None else SIMPLE[kind](chance)


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
