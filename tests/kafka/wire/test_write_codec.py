"""The short way of a write to its bytes and of an answer from them: the same as the long way over dicts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import share_state as ss
from share_state import _core
from share_state.errors import InvalidRequestError, LimitExceededError, UnsupportedVersionError, WireDecodeError

WRITE = 85
TOPICS = ["zaqk6kZrRv24zZ5f5qL_tQ", "AAECAwQFBgcICQoLDA0ODw", "00000000-0000-0000-0000-000000000007"]
KEY = ss.SharePartitionKey("g", TOPICS[0], 0)

batches = st.lists(
    st.builds(
        ss.StateBatch,
        first_offset=st.integers(-(2**63), 2**63 - 1),
        last_offset=st.integers(-(2**63), 2**63 - 1),
        delivery_state=st.integers(-128, 127),
        delivery_count=st.integers(-(2**15), 2**15 - 1),
    ),
    max_size=4,
)
numbers = st.integers(-(2**31), 2**31 - 1)
states = st.builds(ss.WriteState, numbers, numbers, st.integers(-(2**63), 2**63 - 1), numbers, batches)
writes = st.lists(st.tuples(st.sampled_from(TOPICS), numbers, states), max_size=8)


def message(group: str, asked: list[tuple[str, int, ss.WriteState]]) -> dict[str, Any]:
    topics: dict[str, list[dict[str, Any]]] = {}
    for topic_id, partition, state in asked:
        topics.setdefault(topic_id, []).append(
            {
                "partition": partition,
                "stateEpoch": state.state_epoch,
                "leaderEpoch": state.leader_epoch,
                "startOffset": state.start_offset,
                "deliveryCompleteCount": state.delivery_complete_count,
                "stateBatches": [
                    {"firstOffset": first, "lastOffset": last, "deliveryState": delivery_state, "deliveryCount": count}
                    for first, last, delivery_state, count in state.state_batches
                ],
            }
        )
    return {"groupId": group, "topics": [{"topicId": topic, "partitions": parts} for topic, parts in topics.items()]}


@given(group=st.text(max_size=8), asked=writes, version=st.sampled_from([0, 1]))
def test_a_request_has_the_same_bytes_both_ways(group: str, asked: list[tuple[str, int, ss.WriteState]], version: int) -> None:
    long_way = ss.encode_message(WRITE, version, message(group, asked))
    assert _core.encode_write_states(version, group, asked) == long_way


results = st.lists(
    st.fixed_dictionaries(
        {
            "topicId": st.sampled_from(TOPICS[:2]),
            "partitions": st.lists(
                st.fixed_dictionaries(
                    {
                        "partition": numbers,
                        "errorCode": st.integers(-(2**15), 2**15 - 1),
                        "errorMessage": st.none() | st.text(max_size=8),
                    }
                ),
                max_size=4,
            ),
        }
    ),
    max_size=3,
)


@given(answered=results, version=st.sampled_from([0, 1]))
def test_an_answer_says_the_same_both_ways(answered: list[dict[str, Any]], version: int) -> None:
    data = ss.encode_message(WRITE, version, {"results": answered}, response=True)
    assert _core.decode_write_results(version, data) == [
        (topic["topicId"], part["partition"], part["errorCode"], part["errorMessage"])
        for topic in answered
        for part in topic["partitions"]
    ]


def test_what_is_no_write_or_no_answer_is_refused() -> None:
    state = ss.WriteState(1, 1, 0, -1, [])
    for version in (-1, 2):
        with pytest.raises(UnsupportedVersionError):
            _core.encode_write_states(version, "g", [])
        with pytest.raises(UnsupportedVersionError):
            _core.decode_write_results(version, b"")
    with pytest.raises(WireDecodeError):
        _core.encode_write_states(1, "g" * 32_768, [])
    with pytest.raises(ValueError, match="topic_id"):
        _core.encode_write_states(1, "g", [("no topic", 0, state)])
    with pytest.raises(TypeError):
        _core.encode_write_states(1, "g", [(TOPICS[0], 0, None)])  # type: ignore[list-item]
    data = ss.encode_message(
        WRITE,
        1,
        {"results": [{"topicId": TOPICS[0], "partitions": [{"partition": 0, "errorCode": 0, "errorMessage": None}]}]},
        response=True,
    )
    for end in range(len(data)):
        with pytest.raises(WireDecodeError):
            _core.decode_write_results(1, data[:end])


def test_the_form_of_a_write_is_checked_without_a_coordinator() -> None:
    batch = ss.StateBatch(5, 9, 2, 1)
    assert _core.check_write_state(KEY, ss.WriteState(1, 1, 0, -1, [batch] * 3)) == 3
    for wrong in (
        ss.WriteState(-1, 1, 0, -1, []),
        ss.WriteState(1, 1, -2, -1, []),
        ss.WriteState(1, 1, 0, -1, [batch, ss.StateBatch(9, 5, 2, 1)]),
    ):
        # As a coordinator does first.
        with pytest.raises(InvalidRequestError) as ours:
            _core.check_write_state(KEY, wrong)
        with pytest.raises(InvalidRequestError) as coordinators:
            ss.ShareCoordinator().write(*KEY, wrong, wall_ms=0)
        facts = ("field", "index", "value", "kafka_code")
        assert [getattr(ours.value, fact, None) for fact in facts] == [getattr(coordinators.value, fact, None) for fact in facts]
        assert ours.value.field is not None
    with pytest.raises(InvalidRequestError):
        _core.check_write_state(KEY._replace(group=""), ss.WriteState(1, 1, 0, -1, []))
    with pytest.raises(LimitExceededError):
        _core.check_write_state(KEY, ss.WriteState(1, 1, 0, -1, [ss.StateBatch(n, n, 2, 1) for n in range(100_000)]))
