"""Bad bytes and bad values at the Python codec (bad input D1): a typed error or another valid message, never more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import share_state as ss
from share_state.errors import UnsupportedVersionError, WireDecodeError
from tests.kafka.wire.wire_vectors import Message, StateRecord, messages, records

REPOSITORY = Path(__file__).resolve().parents[3]
MESSAGES = messages()
RECORDS = records()
#: Eight bytes that announce 54,265,856 topics.
BOMB = bytes.fromhex("03 00 00 03 3c 0c 00 b6")


def decode(message: Message, data: bytes) -> dict[str, Any]:
    return ss.decode_message(message.api_key, message.version, data, response=message.response)


def test_the_vectors_are_at_hand() -> None:
    assert len(MESSAGES) == 54 + 340
    assert len(RECORDS) == 59
    assert {(message.api_key, message.response) for message in MESSAGES} >= {(85, False), (85, True), (84, True)}


def test_every_recorded_message_is_read_and_written_back() -> None:
    for message in MESSAGES:
        values = decode(message, message.data)
        written = ss.encode_message(message.api_key, message.version, values, response=message.response)
        assert written == message.data


def test_every_recorded_record_is_read_and_written_back() -> None:
    for key, value in RECORDS:
        assert ss.encode_record(ss.decode_record(key, value)) == (key, value)


def test_a_message_cut_at_any_byte_is_refused() -> None:
    cuts = 0
    for message in MESSAGES:
        for end in range(len(message.data)):
            with pytest.raises(WireDecodeError) as refused:
                decode(message, message.data[:end])
            assert 0 <= refused.value.position <= end
            assert refused.value.kind
            assert refused.value.kafka_code == 42
            cuts += 1
    assert cuts == sum(len(message.data) for message in MESSAGES) > 20_000


def test_a_record_cut_at_any_byte_is_refused() -> None:
    cuts = 0
    for key, value in RECORDS:
        for end in range(len(key)):
            with pytest.raises((WireDecodeError, UnsupportedVersionError)):
                ss.decode_record(key[:end], value)
            cuts += 1
        for end in range(len(value or b"")):
            with pytest.raises((WireDecodeError, UnsupportedVersionError)):
                ss.decode_record(key, (value or b"")[:end])
            cuts += 1
    assert cuts > 4000


def test_a_flipped_bit_gives_an_error_or_another_message() -> None:
    flips = others = 0
    for message in MESSAGES:
        original = decode(message, message.data)
        for bit in range(8 * len(message.data)):
            flipped = bytearray(message.data)
            flipped[bit // 8] ^= 1 << bit % 8
            flips += 1
            try:
                other = decode(message, bytes(flipped))
            except WireDecodeError:
                continue
            # A bit of an unknown tagged field or of a longer spelling of a varint need not show.
            written = ss.encode_message(message.api_key, message.version, other, response=message.response)
            assert other != original or written == message.data
            others += 1
    assert flips == 8 * sum(len(message.data) for message in MESSAGES)
    assert others > flips // 2, "most bits are those of numbers"


def test_what_is_left_over_is_refused() -> None:
    for message in MESSAGES:
        with pytest.raises(WireDecodeError):
            decode(message, message.data + b"\0")
    for record in RECORDS:
        with pytest.raises(WireDecodeError):
            ss.decode_record(record.key + b"\0", record.value)


#: Runs with 64 MiB of room to allocate: room for what is announced would be gigabytes.
BOMBS_IN_LITTLE_ROOM = """
import re, resource, sys
import share_state as ss
from tests.kafka.wire.wire_vectors import messages
used = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1])
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
seen = refused = 0
for message in messages():
    for at in range(len(message.data)):
        for bomb in map(bytes.fromhex, sys.argv[1:]):
            seen += 1
            try:
                ss.decode_message(message.api_key, message.version, message.data[:at] + bomb, response=message.response)
            except ss.errors.WireDecodeError:
                refused += 1
print(seen, refused)
"""


def test_a_count_bomb_costs_no_memory() -> None:
    # As varint and as `int32`: 54,265,996, and the greatest counts there are; and one beyond.
    bombs = ["8c91f01900b6", "ffffffff0f", "ffffffff07", "7fffffff", "033c0c00"]
    command = [sys.executable, "-c", BOMBS_IN_LITTLE_ROOM, *bombs]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert (ran.returncode, ran.stderr) == (0, "")
    seen, refused = map(int, ran.stdout.split())
    assert seen == len(bombs) * sum(len(message.data) for message in MESSAGES)
    # Here and there a bomb is a number, or the end of one.
    assert seen * 9 // 10 < refused < seen


@pytest.mark.parametrize(("api_key", "response"), [(key, response) for key in range(83, 88) for response in (False, True)])
def test_the_count_bomb_of_another_codec_is_refused(api_key: int, response: bool) -> None:
    with pytest.raises(WireDecodeError):
        ss.decode_message(api_key, 0, BOMB, response=response)


@pytest.mark.parametrize(
    ("api_key", "version"),
    [(key, 2 if key in {85, 87} else 1) for key in range(83, 88)]
    + [(83, -1), (85, 2**15 - 1), (85, -(2**15)), (82, 0), (88, 0), (-1, 0), (75, 0)],
)
@pytest.mark.parametrize("response", [False, True])
def test_an_unknown_version_or_message_is_unsupported(api_key: int, version: int, response: bool) -> None:
    message = next(m for m in MESSAGES if m.response == response)
    with pytest.raises(UnsupportedVersionError) as refused:
        ss.decode_message(api_key, version, message.data, response=response)
    assert refused.value.kafka_code == 35
    content = {"results": []} if response else {"groupId": "g", "topics": []}
    with pytest.raises(UnsupportedVersionError):
        ss.encode_message(api_key, version, content, response=response)


def test_an_unknown_type_or_version_of_a_record_is_unsupported() -> None:
    key, value = RECORDS[0].key, next(record.value for record in RECORDS if record.value is not None)
    with pytest.raises(UnsupportedVersionError):
        ss.decode_record(b"\x00\xff" + key[2:], value)
    with pytest.raises(UnsupportedVersionError):
        ss.decode_record(key, b"\x00\x63" + value[2:])


def test_a_longer_spelling_of_a_number_is_read_and_written_short() -> None:
    # Group "g" and no topics; the count of the second spelling is one byte longer.
    short, long = b"\x02g\x01\x00", b"\x02g\x81\x00\x00"
    assert ss.decode_message(86, 0, long) == ss.decode_message(86, 0, short) == {"groupId": "g", "topics": []}
    assert ss.encode_message(86, 0, ss.decode_message(86, 0, long)) == short


@settings(max_examples=1_000, deadline=None)
@given(st.sampled_from(sorted(ss.api_table())), st.integers(0, 18), st.booleans(), st.binary(max_size=80))
def test_any_bytes_give_a_message_or_a_typed_error(api_key: int, version: int, response: bool, data: bytes) -> None:
    try:
        values = ss.decode_message(api_key, version, data, response=response)
    except (WireDecodeError, UnsupportedVersionError):
        return
    again = ss.encode_message(api_key, version, values, response=response)
    assert ss.decode_message(api_key, version, again, response=response) == values


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """A message and every struct in it."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from dicts(inner)


def test_a_name_that_no_field_has_is_refused_wherever_it_stands() -> None:
    refusals = 0
    for message in MESSAGES:
        values = decode(message, message.data)
        for struct in dicts(values):
            struct["strange"] = None
            with pytest.raises(ValueError, match="strange: there is no such field"):
                ss.encode_message(message.api_key, message.version, values, response=message.response)
            del struct["strange"]
            refusals += 1
        assert ss.encode_message(message.api_key, message.version, values, response=message.response) == message.data
    assert refusals > 1000


def test_a_field_of_another_version_is_left_out() -> None:
    key, asked = 79, {"groupId": "g", "memberId": "m", "shareSessionEpoch": 1, "topics": []}
    renewing = ss.encode_message(key, 1, {**asked, "isRenewAck": True})
    assert renewing == ss.encode_message(key, 1, asked)
    assert renewing != ss.encode_message(key, 2, {**asked, "isRenewAck": True})


GOOD_WRITE: dict[str, Any] = {
    "groupId": "g",
    "topics": [
        {
            "topicId": "P4CF4WkoREu-93quboSCvQ",
            "partitions": [
                {
                    "partition": 0,
                    "stateEpoch": 0,
                    "leaderEpoch": 0,
                    "startOffset": 0,
                    "deliveryCompleteCount": 0,
                    "stateBatches": [{"firstOffset": 0, "lastOffset": 1, "deliveryState": 2, "deliveryCount": 1}],
                }
            ],
        }
    ],
}


def with_value(name: str, value: object) -> dict[str, Any]:
    """`GOOD_WRITE` with the first field of this name replaced."""

    def replaced(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: value if key == name else replaced(inner) for key, inner in node.items()}
        if isinstance(node, list):
            return [replaced(inner) for inner in node]
        return node

    message: dict[str, Any] = replaced(GOOD_WRITE)
    return message


def test_the_good_write_is_good() -> None:
    assert ss.decode_message(85, 1, ss.encode_message(85, 1, GOOD_WRITE)) == GOOD_WRITE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("groupId", None),
        ("groupId", 7),
        ("groupId", "\ud800"),
        ("topics", None),
        ("topics", {"topicId": 1}),
        ("topicId", "no topic id"),
        ("partition", 2**31),
        ("partition", True),
        ("stateEpoch", -(2**31) - 1),
        ("startOffset", 2**63),
        ("startOffset", 0.0),
        ("startOffset", "0"),
        ("deliveryState", 128),
        ("deliveryCount", 32768),
        ("stateBatches", [5]),
    ],
)
def test_a_value_that_does_not_fit_is_named(name: str, value: object) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        ss.encode_message(85, 1, with_value(name, value))


@pytest.mark.parametrize("record", [RECORDS[0]], ids=["snapshot key"])
@pytest.mark.parametrize("wrong", ["text", bytearray(b"x"), memoryview(b"x"), 5])
def test_only_bytes_are_bytes(record: StateRecord, wrong: Any) -> None:
    # A bytearray could change while it is read.
    with pytest.raises(TypeError):
        ss.decode_message(85, 1, wrong)
    with pytest.raises(TypeError):
        ss.decode_record(wrong, record.value)
    with pytest.raises(TypeError):
        ss.ShareCoordinator().replay(0, record.key, wrong)
