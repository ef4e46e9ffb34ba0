"""Snapshots of the control plane in a `Node`, and arguments that cannot be used."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import share_state as ss
from share_state._core import Node
from share_state.errors import ShareStateError
from tests.gateway.delivery.one_node import (
    BASE64,
    KEY,
    TOPIC,
    fetch,
    loaded,
    needed,
    node,
    read,
    sent,
    sent_row,
)
from tests.gateway.wire.batches import record_batch


def test_access_is_by_the_rules_that_were_given() -> None:
    everybody = ("User:*", "GROUP", "*", False, True)
    for rules, users, code, may_read_topic in [
        (None, [], 0, True),
        ([], [], 30, False),
        ([], ["User:alice"], 0, True),
        ([("User:alice", "GROUP", "g", False, True)], [], 0, False),
        ([everybody, ("User:alice", "TOPIC", "app", True, True)], [], 0, True),
        ([everybody, ("User:alice", "TOPIC", "app", False, True)], [], 0, False),
        ([everybody, ("User:alice", "GROUP", "", True, False)], [], 30, False),
    ]:
        made = node()
        made.set_access(rules, users)
        made.feed(1, fetch(), now_ms=0)
        assert sent(made)["errorCode"] == code, (rules, users)
        assert (made.ring(TOPIC, 0, 0) is not None) == may_read_topic, (rules, users)


BAD: list[tuple[Callable[[Node], object], type[Exception], str]] = [
    (lambda made: made.feed(1, "text", now_ms=0), ss.ArgumentTypeError, "data"),  # type: ignore[arg-type]
    (lambda made: made.feed(-1, b"", now_ms=0), ss.ArgumentRangeError, "connection"),
    (lambda made: made.opened(2, b"x"), ss.ArgumentTypeError, "principal"),  # type: ignore[arg-type]
    (lambda made: made.tick(now_ms=ss.WallTime(0)), ss.ArgumentTypeError, "now_ms"),  # type: ignore[arg-type]
    (lambda made: made.ring("no id", 0, 0), ss.ArgumentValueError, "topic_id"),
    (lambda made: made.ring(TOPIC, 0, 2), ss.ArgumentValueError, "isolation"),
    (lambda made: made.state_read(0, 0, now_ms=0), ss.ArgumentValueError, "result"),
    (lambda made: made.state_read(0, None, now_ms=0), ss.ArgumentTypeError, "result"),  # type: ignore[arg-type]
    (lambda made: made.settle(0, [0, 1 << 15], now_ms=0), ss.ArgumentRangeError, "codes[1]"),
    (lambda made: made.set_topics([(TOPIC, "a", 1)]), ss.ArgumentTypeError, "topics[0]"),  # type: ignore[list-item]
    (lambda made: made.set_topics([(TOPIC, "a", 1, 0)]), ss.ArgumentTypeError, "topics[0].is_internal"),  # type: ignore[list-item]
    (lambda made: made.set_access([("a", "CLUSTER", "b", False, True)], []), ss.ArgumentValueError, "rules[0].resource"),
    (lambda made: made.set_access([], "alice"), ss.ArgumentTypeError, "super_users"),
    (lambda made: made.configure("g", None, now_ms=0), ss.ArgumentTypeError, "config"),  # type: ignore[arg-type]
    (lambda _: node(frame=-1), ss.ArgumentRangeError, "frame"),
]


@pytest.mark.parametrize(("call", "error", "field"), BAD)
def test_an_argument_that_cannot_be_used_is_named_and_changes_nothing(
    call: Callable[[Node], object], error: type[ShareStateError], field: str
) -> None:
    made = node()
    with pytest.raises(error) as refused:
        call(made)
    assert refused.value.field == field
    # The topic is there, nobody is kept out, and the connection is open.
    made.feed(1, fetch(), now_ms=0)
    assert needed(made)[2] == KEY


def test_topics_that_are_not_known_are_looked_for() -> None:
    made = node()
    made.set_topics([])
    made.feed(1, fetch(), now_ms=0)
    assert made.poll() == ([], [("topics", 1, [BASE64])], None)
    made.set_topics([(BASE64, "apples", 1, False)])
    made.looked_up(1, now_ms=1)
    assert needed(made)[0] == "state"
    made.set_topics([])
    made.feed(1, fetch(), now_ms=2)
    made.poll()
    made.looked_up(1, now_ms=3)
    assert sent_row(made)["errorCode"] == 100


def test_a_topic_that_was_deleted_is_told_to_those_that_wait() -> None:
    made = node()
    loaded(made)
    made.poll()
    made.set_topics([])
    assert made.poll() == ([], [], 500)
    made.topic_deleted(TOPIC, now_ms=2)
    assert sent_row(made)["errorCode"] == 100


@pytest.mark.parametrize("group", ["g", None])
def test_a_state_that_was_changed_is_read_again(group: str | None) -> None:
    made = node()
    loaded(made)
    made.poll()
    made.state_changed("other", TOPIC, now_ms=1)
    assert made.poll() == ([], [], 500)
    made.state_changed(group, BASE64, now_ms=2)
    assert sent(made)["responses"] == []
    made.feed(1, fetch(1, wait_ms=500), now_ms=3)
    assert needed(made)[0] == "state"


def test_a_start_of_the_log_and_an_isolation_level_change_what_is_read() -> None:
    made = node()
    loaded(made)
    made.poll()
    made.log_start_moved(TOPIC, 0, 0, 9, now_ms=1)
    assert needed(made) == ("records", BASE64, 0, 0, 1, 9)
    made.configure("g", ss.GroupConfig(isolation_level="read_committed"), now_ms=2)
    assert (made.ring(TOPIC, 0, 0), made.ring(TOPIC, 0, 1)) == (None, (None, -1, 0, 0))
    made.forget_config("g", now_ms=3)
    assert (made.ring(TOPIC, 0, 0), made.ring(TOPIC, 0, 1)) == ((None, -1, 0, 0), None)


def test_upstream_and_store_that_are_lost_are_told() -> None:
    made = node()
    loaded(made)
    made.upstream_lost(TOPIC, 0, 0)
    made.poll()
    made.tick(now_ms=500)
    assert sent_row(made)["errorCode"] == -1
    closed = node()
    loaded(closed)
    closed.store_closed()
    closed.poll()
    assert read(closed, record_batch(0, 5)) is not None
    assert closed.poll()[0] == [], "nothing is acquired"
