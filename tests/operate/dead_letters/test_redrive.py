"""Redrive: what it sends, what it reports, and what it leaves to the next run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from share_state.operate.dead_letters import (
    REDRIVEN_FROM,
    Identity,
    Interval,
    Outcome,
    Pace,
    Place,
    Redrive,
    RedriveRow,
    SendError,
    read_journal,
    redrive,
)
from share_state.operate.dead_letters.redriven_from import header, place_of
from share_state.operate.dead_letters.sending import Answers, Outgoing
from share_state.operate.payloads import Payload
from tests.operate.dead_letters.fake_target import (
    IDENTITY,
    TOO_LARGE,
    FakeTarget,
    Power,
    Topics,
    intervals,
    outcomes,
    payload,
    redriven,
    sources,
)

TIMED_OUT = 7


def looked_at(topics: Topics, asked: Sequence[Interval], target: str | None = "retry") -> list[RedriveRow]:
    """A dry run without a journal."""
    return list(Redrive(topics, topics, target=target, state=None).rows(asked))


def test_a_dry_run_sends_nothing_and_tells_the_same() -> None:
    topics = sources(3)
    assert outcomes(looked_at(topics, intervals(3))) == {Outcome.WOULD_SEND: 6}
    assert topics.sent() == []


def test_a_record_is_sent_as_it_was_with_one_more_header(tmp_path: Path) -> None:
    topics, power = sources(2), Power()
    rows = redriven(tmp_path / "journal", topics, intervals(2), FakeTarget(topics, power))
    assert outcomes(rows) == {Outcome.SENT: 4}
    assert [(row.to_topic, row.to_partition, row.to_offset) for row in rows] == [("retry", 0, place) for place in range(4)]
    state = read_journal(tmp_path / "journal", IDENTITY)
    assert state is not None
    for sent, row in zip(topics.sent(), rows, strict=True):
        source = payload(row.partition, row.first_offset)
        assert (sent.key, sent.value, sent.timestamp_ms) == (source.key, source.value, source.timestamp_ms)
        assert sent.headers[:-1] == source.headers
        assert sent.headers[-1] == header(Place("orders", row.partition, row.first_offset), "workers", state.journal_id)


def test_where_it_came_from_it_goes_to_the_same_partition(tmp_path: Path) -> None:
    for target in (None, "orders"):
        topics = sources(2)
        identity = Identity("cluster-1", "workers", target)
        journal = tmp_path / str(target)
        rows = redriven(journal, topics, intervals(2), FakeTarget(topics, Power()), identity=identity)
        assert [(row.to_topic, row.to_partition) for row in rows] == [("orders", row.partition) for row in rows]
        assert [len(log) for log in topics.logs["orders"]] == [4, 4]


def test_what_is_gone_is_never_sent(tmp_path: Path) -> None:
    records: list[Payload | None] = [payload(0, offset) for offset in range(6)]
    records[3] = None
    topics = Topics({"orders": [records], "retry": [[]]}, starts={"orders": 2})
    asked = [Interval("gone", 0, 0, 2**62), Interval("orders", 0, 0, 2**62), Interval("orders", 7, 1, 1)]
    for rows in (looked_at(topics, asked), redriven(tmp_path / "journal", topics, asked, FakeTarget(topics, Power()))):
        missing = [(row.topic, row.partition, row.first_offset, row.last_offset, row.reason) for row in rows if row.reason]
        assert sorted(missing) == [
            ("gone", 0, 0, 2**62, "no_topic"),
            ("orders", 0, 0, 1, "below_log_start"),
            ("orders", 0, 3, 3, "not_there"),
            ("orders", 0, 6, 2**62, "at_or_after_log_end"),
            ("orders", 7, 1, 1, "no_topic"),
        ]
    assert [one.key for one in topics.sent()] == [b"key 0-2", b"key 0-4", b"key 0-5"]


def test_a_limit_counts_what_is_sent_and_the_next_run_goes_on(tmp_path: Path) -> None:
    topics = sources(4)
    topics.logs["orders"][0][0] = None
    counts = []
    for _ in range(4):
        rows = redriven(tmp_path / "journal", topics, intervals(4), FakeTarget(topics, Power()), limit=3)
        counts.append(outcomes(rows).get(Outcome.SENT, 0))
    assert counts == [3, 3, 1, 0]
    assert len({one.key for one in topics.sent()}) == len(topics.sent()) == 7


def test_a_record_that_the_target_refuses_is_told_and_tried_again(tmp_path: Path) -> None:
    topics = sources(3)
    producer = FakeTarget(topics, Power(), lambda key: (TOO_LARGE, False) if key == b"key 0-2" else None)
    rows = redriven(tmp_path / "journal", topics, intervals(3), producer)
    assert outcomes(rows) == {Outcome.SENT: 5, Outcome.REFUSED: 1}
    (refused,) = [row for row in rows if row.outcome is Outcome.REFUSED]
    assert (refused.first_offset, refused.to_offset, bool(refused.reason)) == (2, None, True)
    again = redriven(tmp_path / "journal", topics, intervals(3), FakeTarget(topics, Power()))
    assert [(row.partition, row.first_offset, row.outcome) for row in again] == [(0, 2, Outcome.SENT)]


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("offset", range(4))
def test_one_that_is_not_confirmed_ends_the_run_and_the_next_finds_out(tmp_path: Path, written: bool, offset: int) -> None:
    topics, path = sources(4), tmp_path / "journal"
    key = b"key 0-%d" % offset
    producer = FakeTarget(topics, Power(), lambda one: (TIMED_OUT, written) if one == key else None)
    with pytest.raises(SendError, match=r"1 records were not confirmed \(code 7\)"):
        redriven(path, topics, intervals(4), producer)
    state = read_journal(path, IDENTITY)
    assert state is not None
    assert state.in_doubt == {Place("orders", 0, offset)}
    rows = redriven(path, topics, intervals(4), FakeTarget(topics, Power()))
    # Those after it were not tried.
    assert outcomes(rows) == {Outcome.SENT: 8 - offset - written}
    assert len({one.key for one in topics.sent()}) == len(topics.sent()) == 8


def test_a_target_that_takes_no_more_ends_the_run(tmp_path: Path) -> None:
    topics, path = sources(2), tmp_path / "journal"

    class Ending(FakeTarget):
        def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
            super().send(batch[:1], answers)
            raise SendError("nothing more is sent")

    rows: list[RedriveRow] = []
    with pytest.raises(SendError, match="nothing more is sent"):
        redriven(path, topics, intervals(2), Ending(topics, Power()), rows=rows)
    assert outcomes(rows) == {Outcome.SENT: 1}
    state = read_journal(path, IDENTITY)
    assert state is not None
    # The first is confirmed; the other one never was on its way.
    assert (state.sent_count, state.in_doubt) == (1, set())
    redriven(path, topics, intervals(2), FakeTarget(topics, Power()))
    assert len({one.key for one in topics.sent()}) == len(topics.sent()) == 4


def test_what_is_confirmed_while_the_journal_is_written_stays_in_doubt(tmp_path: Path) -> None:
    topics, path = sources(2), tmp_path / "journal"

    class Late(FakeTarget):
        """Target whose first record is being confirmed when the sending is interrupted."""

        def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
            super().send(batch, answers)
            answers.in_doubt[batch[0].place] = ""
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        redriven(path, topics, intervals(2), Late(topics, Power()))
    state = read_journal(path, IDENTITY)
    assert state is not None
    assert (state.in_doubt, state.sent_count) == ({Place("orders", 0, 0)}, 1)
    redriven(path, topics, intervals(2), FakeTarget(topics, Power()))
    assert len({one.key for one in topics.sent()}) == len(topics.sent()) == 4


def test_a_rate_is_kept(tmp_path: Path) -> None:
    topics, clock, slept = sources(4), [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    pace = Pace(4, lambda: clock[0], sleep)
    redriven(tmp_path / "journal", topics, intervals(4), FakeTarget(topics, Power()), pace=pace)
    assert slept == [0.25] * 7
    # What waits for its turn is not in doubt for long: 4 records to a batch, a second.
    assert (tmp_path / "journal").read_bytes().count(b'"sending"') == 2


def test_a_batch_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redrive, "_BATCH_BYTES", 1)
    topics = sources(3)
    assert outcomes(redriven(tmp_path / "journal", topics, intervals(3), FakeTarget(topics, Power()))) == {Outcome.SENT: 6}
    assert (tmp_path / "journal").read_bytes().count(b'"sending"') == 6


def test_the_last_header_tells_where_a_record_came_from() -> None:
    first, last = Place("orders", 0, 1), Place("retry", 2, 3)
    headers = [("h", b"x"), header(first, "workers", "a"), header(last, "workers", "b")]
    assert place_of(headers, "workers", "b") == last
    assert place_of(headers, "workers", "a") is None
    assert place_of(headers, "others", "b") is None
    assert place_of([], "workers", "a") is None
    for value in (None, b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"topic":1}'):
        assert place_of([(REDRIVEN_FROM, value)], "workers", "a") is None
