"""The messages that lead to a coordinator against kio, an independent codec; also what values they refuse."""

from __future__ import annotations

import dataclasses
import datetime as dt
import types
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader

import share_state as ss
from share_state.errors import UnsupportedVersionError, WireDecodeError
from tests.python.kio_oracle import BITS, Shape, kio_bytes, plain, shape_id

EXAMPLES = 40


VERSIONS = [
    (3, "Metadata", 12),
    (3, "Metadata", 13),
    (10, "FindCoordinator", 4),
    (10, "FindCoordinator", 5),
    (10, "FindCoordinator", 6),
    (17, "SaslHandshake", 1),
    (18, "ApiVersions", 3),
    (18, "ApiVersions", 4),
    (36, "SaslAuthenticate", 2),
]
SHAPES = [Shape(*version, response) for version in VERSIONS for response in (False, True)]


def entities(entity: type[Any]) -> st.SearchStrategy[Any]:
    """Draws any instance of a class of kio, without tagged fields: of them we know none."""
    hints = typing.get_type_hints(entity)
    fields = {
        field.name: values(field, hints[field.name]) for field in dataclasses.fields(entity) if field.metadata.get("tag") is None
    }
    return st.builds(entity, **fields)


def values(field: dataclasses.Field[Any], hint: Any) -> st.SearchStrategy[Any]:
    if isinstance(hint, types.UnionType):
        inner = next(part for part in typing.get_args(hint) if part is not types.NoneType)
        # A null id is written as zeros, which kio reads as null again.
        return st.none() | values(field, inner)
    kafka_type = field.metadata.get("kafka_type")
    if typing.get_origin(hint) is tuple:
        (element, *_) = typing.get_args(hint)
        drawn = entities(element) if kafka_type is None else scalar(str(kafka_type))
        return st.lists(drawn, max_size=3).map(tuple)
    return scalar(str(kafka_type))


def scalar(kafka_type: str) -> st.SearchStrategy[Any]:
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "error_code": st.sampled_from(ErrorCode),
        "uuid": st.uuids(allow_nil=False),
        "string": st.text(max_size=20),
        "bytes": st.binary(max_size=20),
        "bool": st.booleans(),
        "timedelta_i64": st.integers(-(1 << 40), 1 << 40).map(lambda ms: dt.timedelta(milliseconds=ms)),
        "timedelta_i32": st.integers(-(1 << 31), (1 << 31) - 1).map(lambda ms: dt.timedelta(milliseconds=ms)),
    }
    if kafka_type in drawn:
        return drawn[kafka_type]
    half = 1 << (BITS[kafka_type] - 1)
    return st.integers(-half, half - 1)


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_both_codecs_write_the_same_bytes_and_read_the_same_values(shape: Shape) -> None:
    assert (shape.entity.__api_key__, shape.entity.__version__) == (shape.api_key, shape.version)
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(entities(shape.entity))
    def agree(message: Any) -> None:
        nonlocal ran
        theirs, expected = kio_bytes(message), plain(message)
        assert ss.decode_message(shape.api_key, shape.version, theirs, response=shape.response) == expected
        ours = ss.encode_message(shape.api_key, shape.version, expected, response=shape.response)
        # kio writes its own defaults of tagged fields, of which an answer to ApiVersions has some.
        assert ours == theirs or (shape.api_key, shape.response) == (18, True)
        read, size = entity_reader(shape.entity)(ours, 0)
        assert (size, plain(read)) == (len(ours), expected)
        ran += 1

    agree()
    # Hypothesis may stop early where a message can take few values only.
    assert ran >= EXAMPLES // 2


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_any_bytes_are_a_message_or_an_error(shape: Shape) -> None:
    ran = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.binary(max_size=60))
    def survive(data: bytes) -> None:
        nonlocal ran
        ran += 1
        try:
            message = ss.decode_message(shape.api_key, shape.version, data, response=shape.response)
        except WireDecodeError:
            return
        again = ss.encode_message(shape.api_key, shape.version, message, response=shape.response)
        assert ss.decode_message(shape.api_key, shape.version, again, response=shape.response) == message

    survive()
    assert ran >= EXAMPLES // 2


def test_values_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match="coordinatorKeys is missing"):
        ss.encode_message(10, 6, {"keyType": 2})
    with pytest.raises(ValueError, match="keyType"):
        ss.encode_message(10, 6, {"keyType": 300, "coordinatorKeys": []})
    with pytest.raises(ValueError, match="authBytes"):
        ss.encode_message(36, 2, {"authBytes": "text"})
    with pytest.raises(ValueError, match="allowAutoTopicCreation"):
        ss.encode_message(3, 12, {"topics": None, "allowAutoTopicCreation": 7, "includeTopicAuthorizedOperations": False})
    with pytest.raises(WireDecodeError):
        ss.encode_message(17, 1, {"mechanism": "m" * 40_000})


def test_other_versions_are_refused() -> None:
    refused = 0
    for api_key, versions in {3: (12, 13), 10: (4, 6), 17: (1, 1), 18: (3, 4), 36: (2, 2)}.items():
        for version in (-1, versions[0] - 1, versions[1] + 1, 32_767):
            for response in (False, True):
                with pytest.raises(UnsupportedVersionError):
                    ss.decode_message(api_key, version, b"", response=response)
                refused += 1
    assert refused == 40
