"""A name is one kind of group at a time: what is asked of a share group as another kind is refused, in every version."""

from __future__ import annotations

import pytest

from share_state.errors import WireDecodeError
from share_state.gateway.group_kinds import refusal_of
from tests.gateway.wire import api_key, encode, flexible, versions
from tests.gateway.wire.codec import Message, decode
from tests.gateway.wire.connection import request_header

TOPIC_ID = "0f0e0d0c-0000-4000-8000-00000000beef"


def request(name: str, version: int, message: Message, client: str | None = "me") -> bytes:
    return request_header(api_key(name), version, 7, client) + encode(api_key(name), version, message)


def refused(name: str, version: int, message: Message, client: str | None = "me") -> Message:
    """The answer to a request that names the share group ``shared``."""
    frame = refusal_of(request(name, version, message, client), {"shared"}.__contains__)
    assert frame is not None
    assert (int.from_bytes(frame[:4]), int.from_bytes(frame[4:8])) == (len(frame) - 4, 7)
    return decode(api_key(name), version, frame[8 + flexible(api_key(name), version) :], response=True)


def commits(*, has_ids: bool) -> list[Message]:
    one = {"partitionIndex": 3, "committedOffset": 5, "committedMetadata": "m"}
    two = {"partitionIndex": 4, "committedOffset": 6, "committedMetadata": None}
    return [
        {**({"topicId": TOPIC_ID} if has_ids else {"name": name}), "partitions": rows}
        for name, rows in (("t" * 200, [one, two]), ("u", [one]), ("v", []))
    ]


def told(has_ids: bool) -> list[Message]:
    return [
        {
            **({"topicId": TOPIC_ID} if has_ids else {"name": name}),
            "partitions": [{"partitionIndex": number, "errorCode": 69} for number in numbers],
        }
        for name, numbers in (("t" * 200, [3, 4]), ("u", [3]), ("v", []))
    ]


@pytest.mark.parametrize("client", ["me", None])
@pytest.mark.parametrize("version", versions(api_key("JoinGroup")))
def test_a_member_does_not_join_a_share_group(version: int, client: str | None) -> None:
    asked = {"groupId": "shared", "sessionTimeoutMs": 1, "memberId": "m", "protocolType": "consumer", "protocols": []}
    answer = refused("JoinGroup", version, asked, client)
    assert (answer["errorCode"], answer["generationId"], answer["memberId"], answer["members"]) == (23, -1, "", [])
    assert answer.get("protocolType") is None
    assert answer["protocolName"] == (None if version >= 7 else "")


@pytest.mark.parametrize("version", versions(api_key("OffsetCommit")))
def test_offsets_of_a_share_group_are_not_committed(version: int) -> None:
    has_ids = version >= 10
    asked = {"groupId": "shared", "generationIdOrMemberEpoch": -1, "memberId": "", "topics": commits(has_ids=has_ids)}
    assert refused("OffsetCommit", version, asked)["topics"] == told(has_ids)


@pytest.mark.parametrize("version", versions(api_key("TxnOffsetCommit")))
def test_offsets_of_a_share_group_are_not_committed_in_a_transaction(version: int) -> None:
    asked = {"transactionalId": "tx", "groupId": "shared", "producerId": 1, "producerEpoch": 0}
    answer = refused("TxnOffsetCommit", version, {**asked, "topics": commits(has_ids=False)})
    assert answer["topics"] == told(has_ids=False)


@pytest.mark.parametrize("version", versions(api_key("ConsumerGroupHeartbeat")))
def test_a_consumer_group_is_no_share_group(version: int) -> None:
    asked = {"groupId": "shared", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 1, "subscribedTopicNames": ["t"]}
    assert refused("ConsumerGroupHeartbeat", version, asked) == {
        "throttleTimeMs": 0,
        "errorCode": 69,
        "errorMessage": "Group shared is not a consumer group.",
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def test_a_streams_group_is_no_share_group() -> None:
    answer = refused("StreamsGroupHeartbeat", 0, {"groupId": "shared", "memberId": "m", "memberEpoch": 0})
    assert (answer["errorCode"], answer["errorMessage"]) == (69, "Group shared is not a streams group.")
    assert (answer["memberId"], answer["status"], answer["partitionsByUserEndpoint"]) == ("", None, None)


def test_what_names_another_group_is_passed_on() -> None:
    for name in ("JoinGroup", "OffsetCommit", "TxnOffsetCommit", "ConsumerGroupHeartbeat"):
        for version in versions(api_key(name)):
            assert refusal_of(request(name, version, {"groupId": "other"}), {"shared"}.__contains__) is None
    # Upstream knows no group of this name, and says so.
    for name in ("SyncGroup", "Heartbeat", "LeaveGroup", "OffsetFetch", "OffsetDelete", "ConsumerGroupDescribe"):
        assert refusal_of(request(name, versions(api_key(name))[0], {}), lambda _group: True) is None


@pytest.mark.parametrize("version", [2, 8, 10])
def test_a_request_that_ends_too_early_is_none(version: int) -> None:
    whole = request("OffsetCommit", version, {"groupId": "shared", "topics": commits(has_ids=version >= 10)})
    cut = 0
    for length in range(2, len(whole)):
        try:
            refusal_of(whole[:length], {"shared"}.__contains__)
        except WireDecodeError:
            cut += 1
    # All but those that end within the tagged fields at the end.
    assert cut >= len(whole) - 4


def test_more_offsets_than_are_refused_one_by_one() -> None:
    one = {"partitionIndex": 0, "committedOffset": 0}
    asked = {"groupId": "shared", "topics": [{"name": "t", "partitions": [one] * 10_001}]}
    with pytest.raises(WireDecodeError, match="more than 10000 elements"):
        refusal_of(request("OffsetCommit", 5, asked), {"shared"}.__contains__)
