"""share_state answers as Kafka's own classes do, over random sequences."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.seeds import seed

from .differential import PROFILES, run

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

#: Sequences of one run, by profile.
SEQUENCES = {"combiner": 200, "engine": 1_500, "coordinator": 500, "session": 1_000, "assignor": 500, "group": 1_000}
LENGTH = 60
#: Least number of operations compared, of a hundred; the last plays of all sequences count together.
COMPARED = {"combiner": 100, "engine": 99, "coordinator": 99, "session": 99, "assignor": 100, "group": 100}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("drawn", [1, 2, seed(3)])
def test_no_difference_is_unexplained(profile: str, drawn: int, tell: Callable[[str], None]) -> None:
    result = run(profile, drawn, SEQUENCES[profile], LENGTH)
    tell(f"judge: {profile}, seed {drawn}: {result.operations:,} operations, {result.compared:,} compared")
    assert result.operations >= SEQUENCES[profile] * LENGTH
    assert 100 * result.compared >= COMPARED[profile] * result.operations
    assert not result.unexplained, json.dumps(result.differences, indent=1)


def test_every_operation_and_refusal_is_reached() -> None:
    reached = run("engine", 3, 2_000, LENGTH).coverage
    wanted = [
        "acquire: 4 ranges",
        "acknowledge: code 0, written",
        "acknowledge: code 42",
        "acknowledge: code 121",
        "acknowledge: pending, written",
        "acknowledge: code 0, written, dead letters",
        "advance_clock: done, written",
        "release_session: code 0, written",
        "release_session: pending, written",
        "persister_completes: done",
        "move_log_start_offset: done",
        "mark_fenced: done",
        "can_acquire_records: true",
        "can_acquire_records: false",
        "initialize: code 0",
        "initialize: code -1",
        *(f"acknowledge: code {code}, written" for code in (-1, 3, 6, 15, 69)),
        "dead_letters_complete: done, written",
        "durable: a store answers the read of a leader",
        "durable: a write is confirmed",
        "durable: a write of an earlier leader is refused",
        "durable: the files are read beside the store",
        "durable: the store is opened again",
        "durable: what it holds is compared",
        "meeting: a compacted log in the gap window",
        "meeting: a lock ends while its write is under way",
        "meeting: a lock of an earlier leader ends",
        "meeting: a release by nobody",
        "meeting: a renewal in a lock's last millisecond",
        "meeting: a state with holes is read",
        "meeting: a window of over 1,000 offsets",
        "meeting: an acknowledgement by nobody",
        "meeting: an acquire by nobody",
        "meeting: the dead-letter queue answers an earlier leader",
        "meeting: the dead-letter queue answers below the start offset",
        "meeting: the dead-letter queue answers later",
        "meeting: the dead-letter queue is silent",
        "meeting: the log start passes a write under way",
        "meeting: the log start passes records in the dead-letter queue",
        "meeting: the log start splits a write under way",
        "meeting: the persister answers an earlier leader",
    ]
    refused = [what for what in reached if what.startswith("initialize: code ") and what != "initialize: code 0"]
    assert sum(reached[what] for what in refused) * 10 < reached["initialize: code 0"]
    assert [what for what in wanted if what not in reached] == []


def test_every_request_of_a_session_and_refusal_is_reached() -> None:
    reached = run("session", 3, 1_000, LENGTH).coverage
    wanted = [
        "acknowledgeSessionUpdate: 0",
        "acknowledgeSessionUpdate: 122",
        "acknowledgeSessionUpdate: 123",
        "disconnect: 0",
        "newContext: 0 final",
        "newContext: 0 full",
        "newContext: 0 incremental",
        "newContext: 122",
        "newContext: 123",
        "newContext: 133",
        "newContext: 42",
        "releaseSession: 0 releases",
        "releaseSession: 122",
        "respond: 0 lists",
        "respond: 123 lists",
        "meeting: a final request with another epoch's partitions",
        "meeting: a full cache, and a new member",
        "meeting: a full cache, and a session that is replaced",
        "meeting: a later request over another connection",
        "meeting: a partition added and forgotten by one request",
        "meeting: a request is answered twice",
        "meeting: a session is opened again from another connection",
        "meeting: acknowledgements in an opening request",
        "meeting: an acknowledgement right after the opening",
        "meeting: an answer whose session is gone",
        "meeting: nothing fetched, but a partition is new or had an error",
        "meeting: records and an error in one answer",
        "meeting: the connection of a replaced session ends",
    ]
    assert [what for what in wanted if what not in reached] == []


def test_every_verb_of_a_share_group_and_refusal_is_reached() -> None:
    reached = run("group", 3, 2_000, LENGTH).coverage
    wanted = [
        "advance_clock: 3 end",
        "alter_offsets: 68",
        *(f"delete_group: {code}" for code in (0, 15, 68, 69)),
        *(f"delete_offsets: {code}" for code in ("0 of 1 topics", "68", "69")),
        *(f"describe: {state}" for state in ("69", "Empty", "Stable")),
        *(f"heartbeat: 0 {what}" for what in ("go on", "go on, told", "join, told", "leave")),
        *(f"heartbeat: {code} go on" for code in (25, 42, 81, 110)),
        *(f"heartbeat: {code} leave" for code in (25, 69)),
        "heartbeat: 81 join",
        "list: 0 groups",
        "list: 2 groups",
        "topics: 1 groups lose one",
        "meeting: a group is deleted again",
        "meeting: a group is deleted with its states",
        "meeting: a heartbeat is repeated with the epoch before",
        "meeting: a member joins again",
        "meeting: a restart from a compacted log",
        "meeting: a restart with an initialisation under way",
        "meeting: a subscription to nothing",
        "meeting: a topic grows",
        "meeting: a topic is gone and made again",
        "meeting: a topic that does not exist is subscribed to",
        "meeting: a topic that is consumed has grown",
        "meeting: an assignment was held back, and is made",
        "meeting: an initialisation fails",
        "meeting: members with different topics",
        "meeting: offsets are altered of a group that has others",
        "meeting: several sessions end together",
        "meeting: state is initialised",
        "meeting: the clock on the wall goes back",
        "meeting: the last member leaves",
    ]
    assert [what for what in wanted if what not in reached] == []


def test_assignments_of_every_kind_are_reached() -> None:
    reached = run("assignor", 3, 1_000, LENGTH).coverage
    wanted = [
        *(f"assign: alike, {members} members" for members in ("no", "1", "2 to 3", "4 to 6", "more than 6")),
        *(f"assign: by topic, {members} members" for members in ("2 to 3", "4 to 6", "more than 6")),
        "assign: refused",
        "meeting: Kafka moves more",
        "meeting: both choose the same",
        "meeting: only one answer is good",
    ]
    assert [what for what in wanted if what not in reached] == []
