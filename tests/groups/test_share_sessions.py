"""Share sessions from Python: what goes in and out, and what is refused how. Their rules are tested in Rust."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable

import pytest

from share_state.gateway import ShareFetchContext, ShareSessions

ORDERS = "AAAAAAAAAAAAAAAAAAAAAQ"
PAYMENTS = "AAAAAAAAAAAAAAAAAAAAAg"


def fetch(
    sessions: ShareSessions,
    epoch: int,
    added: list[tuple[str, int]] | None = None,
    forgotten: list[tuple[str, int]] | None = None,
    *,
    member: str = "m",
    connection: int = 1,
    acknowledges: bool = False,
) -> ShareFetchContext:
    return sessions.fetch("g", member, epoch, connection, added or [], forgotten or [], acknowledges=acknowledges)


def test_a_session_from_its_opening_to_its_end() -> None:
    sessions = ShareSessions()
    assert (len(sessions), sessions.max_sessions, sessions.sessions()) == (0, 2000, [])
    opening = fetch(sessions, 0, [(ORDERS, 0), (str(uuid.UUID(int=2)), 1), (ORDERS, 0)])
    assert (opening.error_code, opening.full, opening.final) == (0, True, False)
    assert opening.partitions == [(ORDERS, 0), (PAYMENTS, 1)]
    assert sessions.answer(opening, [(ORDERS, 0, False, False, False)]) == [True]

    second = fetch(sessions, 1, [(ORDERS, 5)], [(PAYMENTS, 1)])
    assert (second.error_code, second.full, second.final) == (0, False, False)
    assert second.partitions == [(ORDERS, 5), (ORDERS, 0)]
    outcomes = [(ORDERS, 5, False, False, False), (ORDERS, 0, False, False, False), (PAYMENTS, 1, False, False, True)]
    assert sessions.answer(second, outcomes) == [True, False, True]
    third = fetch(sessions, 2)
    assert sessions.answer(third, [(ORDERS, 0, False, True, False), (ORDERS, 5, False, False, False)]) == [True, False]
    assert sessions.sessions() == [
        {"group": "g", "member": "m", "epoch": 3, "connection": 1, "partitions": [(ORDERS, 0, True), (ORDERS, 5, False)]}
    ]
    assert sessions.partition_count == 2

    assert sessions.acknowledge("g", "m", 3, 1) == 0
    assert sessions.answer(third, []) is None
    end = fetch(sessions, -1, acknowledges=True)
    assert (end.error_code, end.full, end.final, end.partitions) == (0, False, True, [])
    assert sessions.answer(end, [(ORDERS, 0, False, False, True)]) == [True]
    assert sessions.close("g", "m")
    assert not sessions.close("g", "m")


def test_refusals_are_codes() -> None:
    sessions = ShareSessions(1)
    refused = fetch(sessions, 0, [(ORDERS, 0)], acknowledges=True)
    assert (refused.error_code, refused.full, refused.final, refused.partitions) == (42, False, False, [])
    assert fetch(sessions, 1).error_code == 122
    assert fetch(sessions, -1).error_code == 122
    assert sessions.acknowledge("g", "m", 0, 1) == 123
    assert sessions.acknowledge("g", "m", -1, 1) == 122
    assert fetch(sessions, 0).error_code == 0
    assert fetch(sessions, 2).error_code == 123
    assert sessions.acknowledge("g", "m", 2, 1) == 123
    full = fetch(sessions, 0, member="other")
    assert full.error_code == 133
    with pytest.raises(ValueError, match="context is of a request refused with SHARE_SESSION_LIMIT_REACHED"):
        sessions.answer(full, [])
    assert len(sessions) == 1


def test_a_connection_ends_the_sessions_it_has_opened() -> None:
    sessions = ShareSessions()
    for member, connection in (("a", 1), ("b", 1), ("c", 2**64 - 1)):
        fetch(sessions, 0, member=member, connection=connection)
    fetch(sessions, 0, member="b", connection=2)
    assert sessions.connection_closed(1) == [("g", "a")]
    assert sessions.connection_closed(1) == []
    assert sessions.connection_closed(2**64 - 1) == [("g", "c")]
    assert [session["member"] for session in sessions.sessions()] == ["b"]


def test_a_deleted_topic_leaves_the_sessions() -> None:
    sessions = ShareSessions()
    fetch(sessions, 0, [(ORDERS, 0), (PAYMENTS, 0), (ORDERS, 1)])
    assert sessions.remove_topic(ORDERS) == 2
    assert sessions.remove_topic(str(uuid.UUID(int=1))) == 0
    assert fetch(sessions, 1).partitions == [(PAYMENTS, 0)]


_BAD: list[tuple[Callable[[ShareSessions], object], type[Exception], str]] = [
    (lambda s: fetch(s, 0, [("orders", 0)]), ValueError, 'topic_id is "orders"; expected a uuid.UUID, a hyphenated UUID'),
    (lambda s: fetch(s, 1, [], [("orders", 0)]), ValueError, "expected a uuid.UUID"),
    (lambda s: fetch(s, 0, [(ORDERS, 2**31)]), OverflowError, "expected .* to "),
    (lambda s: fetch(s, 2**31), OverflowError, "expected .* to "),
    (lambda s: fetch(s, True), TypeError, "epoch is of type bool; expected a whole number"),
    (lambda s: fetch(s, 0, connection=-1), OverflowError, "expected .* to "),
    (lambda s: fetch(s, 0, [(ORDERS,)]), ValueError, "tuple of length 2"),  # type: ignore[list-item]
    (lambda s: s.answer(fetch(s, 0), [("orders", 0, True, True, True)]), ValueError, "expected a uuid.UUID"),
    (lambda s: s.answer(fetch(s, 0), [(ORDERS, 0, 1, True, True)]), TypeError, "bool"),  # type: ignore[list-item]
    (lambda s: s.remove_topic("orders"), ValueError, "expected a uuid.UUID"),
    (lambda _: ShareSessions(-1), OverflowError, "expected .* to "),
]


@pytest.mark.parametrize(("call", "error", "text"), _BAD)
def test_bad_arguments_change_nothing(call: Callable[[ShareSessions], object], error: type[Exception], text: str) -> None:
    sessions = ShareSessions()
    fetch(sessions, 0, [(ORDERS, 0)])
    before = sessions.sessions()
    with pytest.raises(error, match=text):
        call(sessions)
    if "answer" not in call.__code__.co_names:
        assert sessions.sessions() == before


def test_threads_take_turns() -> None:
    sessions = ShareSessions()

    def member(name: str) -> None:
        fetch(sessions, 0, [(ORDERS, 0)], member=name)
        for epoch in range(1, 200):
            context = fetch(sessions, epoch, member=name)
            assert sessions.answer(context, [(ORDERS, 0, True, False, False)]) == [True]

    threads = [threading.Thread(target=member, args=(f"m{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(session["epoch"] for session in sessions.sessions()) == [200] * 4
