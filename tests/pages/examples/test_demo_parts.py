"""The parts of the demo that can be tested without serving."""

import json
from pathlib import Path

import pytest

from examples.demo import main
from examples.demo.directory import NotOurDirectoryError, make_anew
from examples.demo.figures import count
from examples.demo.history import log_bytes, read_history
from examples.demo.journal import Entry, Event, Journal, read_journal, settled_offsets
from examples.demo.plan import DELIVERY_COUNT_LIMIT, LOCK_DURATION_MS, Fate, group_config
from examples.demo.recorded import make_plan, recorded_states, state_partitions
from examples.demo.supervise import ServingError
from examples.demo.take_over import take_over
from share_state import AcknowledgeType, RecordState
from share_state.operate import analysis
from tests.pages.examples.test_demo_verdict import GOOD


def test_the_plan_is_what_the_admin_tool_said() -> None:
    plan = make_plan(Path("unused"), recorded_states())
    assert plan.key == ("orders-workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 1)
    assert (plan.start_offset, plan.log_end, plan.unsettled) == (1255, 1588, 270)
    assert plan.poison in plan.offsets
    assert plan.slow <= set(plan.offsets)


def test_every_fate_is_met_and_all_but_the_poison_end() -> None:
    plan = make_plan(Path("unused"), recorded_states())
    fates = {offset: [plan.fate(offset, count) for count in range(1, DELIVERY_COUNT_LIMIT + 1)] for offset in plan.offsets}
    assert {fate for met in fates.values() for fate in met} == set(Fate)
    assert [offset for offset, met in fates.items() if set(met) == {Fate.FAILS}] == [plan.poison]


def test_the_group_may_have_so_short_a_lock() -> None:
    config = group_config()
    assert (config.record_lock_duration_ms, config.delivery_count_limit) == (LOCK_DURATION_MS, DELIVERY_COUNT_LIMIT)


def test_a_state_that_was_taken_over_can_be_read_record_by_record(tmp_path: Path) -> None:
    states = recorded_states()
    plan = make_plan(tmp_path, states)
    take_over(states, plan.state, partitions=state_partitions())
    history = read_history(plan.state, plan.key)
    by_state = {state: sum(outcome.state is state for outcome in history.outcomes.values()) for state in set(RecordState)}
    assert by_state == {
        RecordState.AVAILABLE: 118,
        RecordState.ACQUIRED: 0,
        RecordState.ACKNOWLEDGED: 56,
        RecordState.ARCHIVING: 0,
        RecordState.ARCHIVED: 7,
    }
    assert (history.writes, history.reopened) == (2, set())
    assert log_bytes(plan.state) > 0
    taken_over, findings = analysis.fold_path(plan.state)
    assert [row["state_epoch"] for row in taken_over] == [row["state_epoch"] for row in states]
    assert findings == []


def test_a_journal_reads_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert read_journal(path) == []
    delivered = Entry("a", Event.DELIVERED, 3, 5, 1)
    confirmed = Entry("a", Event.CONFIRMED, 3, 5, 1, AcknowledgeType.ACCEPT)
    journal = Journal(path)
    journal.write([delivered])
    journal.write([confirmed])
    read = read_journal(path)
    assert [(entry.worker, entry.event, entry.offsets, entry.acknowledge_type) for entry in read] == [
        ("a", Event.DELIVERED, range(3, 6), None),
        ("a", Event.CONFIRMED, range(3, 6), AcknowledgeType.ACCEPT),
    ]
    assert all(entry.at_ms > 0 for entry in read)
    assert settled_offsets(read) == {3, 4, 5}


def test_a_line_that_the_kill_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).write([Entry("a", Event.DELIVERED, 3, 5, 1)] * 2)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(read_journal(path)) == 1


def test_a_line_that_is_no_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"worker": "a"}) + "\n")
    with pytest.raises(ValueError, match="not a journal entry"):
        read_journal(path)


@pytest.mark.parametrize(
    ("kind", "delivery_count", "settles"),
    [
        (AcknowledgeType.ACCEPT, 1, True),
        (AcknowledgeType.REJECT, 1, True),
        (AcknowledgeType.RELEASE, DELIVERY_COUNT_LIMIT - 1, False),
        (AcknowledgeType.RELEASE, DELIVERY_COUNT_LIMIT, True),
    ],
)
def test_a_release_settles_at_the_delivery_limit_only(kind: AcknowledgeType, delivery_count: int, *, settles: bool) -> None:
    assert Entry("a", Event.CONFIRMED, 1, 1, delivery_count, kind).settles is settles
    assert not Entry("a", Event.SENT, 1, 1, delivery_count, kind).settles


def test_the_figures_of_a_small_run() -> None:
    figures = count(GOOD, writes=4, log_bytes=321, seconds=3.0)
    assert (figures.records, figures.settled_when_taken_over, figures.served) == (10, 1, 9)
    assert (figures.acknowledged, figures.archived, figures.settled_before_the_kill) == (8, 2, 4)
    # 11 to 13, 14 twice, 15 to 19 twice, 15 once more; 9 different records.
    assert (figures.deliveries, figures.redeliveries, figures.redeliveries_after_the_kill) == (16, 7, 5)
    assert (figures.released, figures.rejected, figures.renewed, figures.lock_timeouts) == (2, 1, 5, 1)
    assert (figures.writes, figures.bytes, figures.records_per_second) == (4, 321, 3.0)


def test_the_directory_of_an_earlier_run_is_made_anew(tmp_path: Path) -> None:
    directory = tmp_path / "parent" / "demo"
    make_anew(directory)
    (directory / "state").mkdir()
    (directory / "state" / "old").touch()
    make_anew(directory)
    assert not (directory / "state").exists()


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with pytest.raises(NotOurDirectoryError):
        make_anew(tmp_path)
    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize(
    ("outcome", "status"), [(True, 0), (False, 1), (ServingError("it hangs"), 1), (KeyboardInterrupt(), 130)], ids=repr
)
def test_the_exit_status_says_how_it_went(
    outcome: object, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: object) -> bool:
        if isinstance(outcome, BaseException):
            raise outcome
        return bool(outcome)

    monkeypatch.setattr(main, "run", run)
    monkeypatch.setattr("sys.argv", ["run.py"])
    assert main.main() == status
    assert capsys.readouterr().out == ""
