"""Requests and answers 83 to 87 against kio, an independent implementation, in every version that it has.

The messages are drawn from kio's own schema: a field that ours lacks, or has at another place, shows at once.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader

import share_state as ss
from tests.python.kio_oracle import BITS, ZERO, Shape, kio_bytes, plain, shape_id

NAMES = {
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
}
#: The versions of Kafka 4.4 (spec: 85 and 87 have 0 and 1).
VERSIONS = [(83, 0), (84, 0), (85, 0), (85, 1), (86, 0), (87, 0), (87, 1)]
EXAMPLES = 60


SHAPES = [Shape(api_key, NAMES[api_key], version, response) for api_key, version in VERSIONS for response in (False, True)]


def entities(entity: type[Any]) -> st.SearchStrategy[Any]:
    """Draws any instance of a class of kio."""
    hints = typing.get_type_hints(entity)
    fields = {field.name: values(field, hints[field.name]) for field in dataclasses.fields(entity)}
    return st.builds(entity, **fields)


def values(field: dataclasses.Field[Any], hint: Any) -> st.SearchStrategy[Any]:
    if typing.get_origin(hint) is tuple:
        return st.lists(entities(typing.get_args(hint)[0]), max_size=3).map(tuple)
    kafka_type = field.metadata["kafka_type"]
    if kafka_type == "error_code":
        return st.sampled_from(ErrorCode)
    if kafka_type == "uuid":
        return st.uuids(allow_nil=True).map(lambda drawn: None if drawn == ZERO else drawn)
    if kafka_type == "string":
        text = st.text(min_size=1 if field.name == "group_id" else 0, max_size=20)
        return st.none() | text if isinstance(hint, types.UnionType) else text
    half = 1 << (BITS[kafka_type] - 1)
    return st.integers(-half, half - 1)


def test_kio_knows_every_version_that_we_know() -> None:
    assert len(SHAPES) == 14
    for shape in SHAPES:
        assert (shape.entity.__api_key__, shape.entity.__version__) == (shape.api_key, shape.version)


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_both_codecs_write_the_same_bytes_and_read_the_same_values(shape: Shape) -> None:
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(entities(shape.entity))
    def agree(message: Any) -> None:
        nonlocal ran
        data, values = kio_bytes(message), plain(message)
        decoded = ss.decode_message(shape.api_key, shape.version, data, response=shape.response)
        assert decoded == values
        assert ss.encode_message(shape.api_key, shape.version, values, response=shape.response) == data
        ran += 1

    agree()
    # Hypothesis may stop early where a message can take few values only.
    assert ran >= EXAMPLES // 2


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_kio_reads_what_we_write(shape: Shape) -> None:
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(entities(shape.entity))
    def read_back(message: Any) -> None:
        nonlocal ran
        ours = ss.encode_message(shape.api_key, shape.version, plain(message), response=shape.response)
        assert read_by_kio(shape, ours) == message
        ran += 1

    read_back()
    assert ran >= EXAMPLES // 2


def read_by_kio(shape: Shape, data: bytes) -> Any:
    read, size = entity_reader(shape.entity)(data, 0)
    assert size == len(data)
    return read
