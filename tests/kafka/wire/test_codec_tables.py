"""Messages by table from Python: what they take, what they fill in, what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.errors import UnsupportedVersionError, WireDecodeError

ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
TOPIC_ID = "P4CF4WkoREu-93quboSCvQ"
NEVER = 32_767


def test_the_table_says_which_header_a_message_has() -> None:
    table = ss.api_table()
    assert list(table) == sorted(table)
    assert table[78] == ("ShareFetch", 1, 2, 0)
    assert table[3] == ("Metadata", 0, 13, 9)
    assert table[17] == ("SaslHandshake", 0, 1, NEVER)
    assert table[85] == ("WriteShareGroupState", 0, 1, 0)


def acknowledge(types: Any) -> dict[str, Any]:
    batch = {"firstOffset": 0, "lastOffset": 2, "acknowledgeTypes": types}
    topic = {"topicId": TOPIC_ID, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": [batch]}]}
    return {"groupId": "g", "memberId": "m", "shareSessionEpoch": 1, "topics": [topic]}


@pytest.mark.parametrize("types", [b"\1\2\xff", bytearray(b"\1\2\xff"), memoryview(b"\1\2\xff"), [1, 2, -1]])
def test_an_array_of_int8_is_bytes(types: Any) -> None:
    data = ss.encode_message(79, 2, acknowledge(types))
    assert ss.decode_message(79, 2, data) == acknowledge(b"\1\2\xff") | {"isRenewAck": False}


@pytest.mark.parametrize("types", [[128], [1.0], [True], "12", 1, None, memoryview(b"1234").cast("i")])
def test_what_is_no_array_of_int8_is_named(types: Any) -> None:
    with pytest.raises(ValueError, match="topics: partitions: acknowledgementBatches: acknowledgeTypes: "):
        ss.encode_message(79, 2, acknowledge(types))


def test_a_view_of_records_is_written_as_they_are() -> None:
    records = bytes(range(256)) * 40
    partition: dict[str, Any] = {"partitionIndex": 0, "errorCode": 0, "acknowledgeErrorCode": 0, "acquiredRecords": []}
    written = set()
    for given in (records, bytearray(records), memoryview(b"x" + records + b"x")[1:-1]):
        answer = {
            "errorCode": 0,
            "acquisitionLockTimeoutMs": 30_000,
            "responses": [{"topicId": TOPIC_ID, "partitions": [partition | {"records": given}]}],
        }
        written.add(ss.encode_message(78, 2, answer, response=True))
    (data,) = written
    read = ss.decode_message(78, 2, data, response=True)
    assert read["responses"][0]["partitions"][0]["records"] == records


def test_what_is_not_given_takes_its_default() -> None:
    partition = {"partitionIndex": 0, "errorCode": 0, "acknowledgeErrorCode": 0, "acquiredRecords": [], "records": b""}
    answer = {
        "errorCode": 0,
        "acquisitionLockTimeoutMs": 30_000,
        "responses": [{"topicId": TOPIC_ID, "partitions": [partition]}],
    }
    read = ss.decode_message(78, 2, ss.encode_message(78, 2, answer, response=True), response=True)
    assert (read["throttleTimeMs"], read["errorMessage"], read["nodeEndpoints"]) == (0, None, [])
    # Clients read 0 and 0 as a leader.
    assert read["responses"][0]["partitions"][0]["currentLeader"] == {"leaderId": -1, "leaderEpoch": -1}

    by_name = ss.decode_message(3, 12, ss.encode_message(3, 12, {"topics": [{"name": "t"}]}))
    assert by_name == {
        "topics": [{"topicId": ZERO_ID, "name": "t"}],
        "allowAutoTopicCreation": True,
        "includeTopicAuthorizedOperations": False,
    }


def test_a_tagged_field_is_there_only_if_it_was_given() -> None:
    answer: dict[str, Any] = {"errorCode": 0, "apiKeys": [], "throttleTimeMs": 0}
    assert ss.decode_message(18, 4, ss.encode_message(18, 4, answer, response=True), response=True) == answer
    features = {
        "supportedFeatures": [{"name": "share.version", "minVersion": 0, "maxVersion": 1}],
        "finalizedFeaturesEpoch": 7,
        "finalizedFeatures": [{"name": "share.version", "maxVersionLevel": 1, "minVersionLevel": 1}],
    }
    data = ss.encode_message(18, 4, answer | features, response=True)
    assert ss.decode_message(18, 4, data, response=True) == answer | features
    # Version 2 has none.
    assert ss.encode_message(18, 2, answer | features, response=True) == ss.encode_message(18, 2, answer, response=True)


def test_null_is_not_the_same_as_nothing() -> None:
    bodies = []
    assignments: tuple[dict[str, Any] | None, ...] = (None, {"topicPartitions": []})
    for assignment in assignments:
        answer = {"errorCode": 0, "memberEpoch": 1, "heartbeatIntervalMs": 5_000, "assignment": assignment}
        bodies.append(ss.encode_message(76, 1, answer, response=True))
        assert ss.decode_message(76, 1, bodies[-1], response=True)["assignment"] == assignment
    assert bodies[0] != bodies[1]


def test_values_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match="coordinatorKeys is missing"):
        ss.encode_message(10, 6, {"keyType": 2})
    with pytest.raises(ValueError, match="keyType"):
        ss.encode_message(10, 6, {"keyType": 300, "coordinatorKeys": []})
    with pytest.raises(ValueError, match="coordinatorKeys: a list is needed"):
        ss.encode_message(10, 6, {"keyType": 2, "coordinatorKeys": "group"})
    with pytest.raises(ValueError, match="authBytes"):
        ss.encode_message(36, 2, {"authBytes": "text"})
    with pytest.raises(ValueError, match="allowAutoTopicCreation"):
        ss.encode_message(3, 12, {"topics": None, "allowAutoTopicCreation": 7, "includeTopicAuthorizedOperations": False})
    with pytest.raises(ValueError, match="topics: None where null is not allowed"):
        ss.encode_message(3, 0, {"topics": None})
    with pytest.raises(WireDecodeError) as long:
        ss.encode_message(17, 1, {"mechanism": "m" * 40_000})
    assert long.value.field == "mechanism"


def test_an_error_names_the_innermost_field() -> None:
    data = ss.encode_message(79, 2, acknowledge(b"\1\2\3"))
    with pytest.raises(WireDecodeError, match="acknowledgeTypes: byte ") as cut:
        ss.decode_message(79, 2, data[:-6])
    assert cut.value.field == "acknowledgeTypes"
    with pytest.raises(WireDecodeError) as left_over:
        ss.decode_message(79, 2, data + b"\0")
    assert left_over.value.field is None


def test_other_versions_and_messages_are_refused() -> None:
    refused = 0
    for api_key, (_, oldest, newest, _) in ss.api_table().items():
        for version in (-1, oldest - 1, newest + 1, 32_767):
            for response in (False, True):
                empty: dict[str, Any] = {"results": []} if response else {"groupId": "", "topics": []}
                with pytest.raises(UnsupportedVersionError):
                    ss.decode_message(api_key, version, b"", response=response)
                with pytest.raises(UnsupportedVersionError):
                    ss.encode_message(api_key, version, empty, response=response)
                refused += 1
    assert refused == 37 * 8


def test_the_page_has_every_message() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "wire-and-log-format.md").read_text(encoding="utf-8")
    for api_key, (name, oldest, newest, flexible) in ss.api_table().items():
        since = "never" if flexible == NEVER else flexible
        assert f"| {api_key} | {name} | {oldest} to {newest} | {since} |" in page
