"""Differences between two states: against a walk over single offsets, on recorded directories, and as a command."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from share_state.operate import analysis
from share_state.operate.analysis.state_diff import Change, state_diffs
from share_state.operate.reading.as_of import AsOf
from share_state.operate.reading.plain import ShareState, fold_path
from tests.cli_in_process import run_here
from tests.recordings import JOBS, ORDERS

TERMINAL = (2, 4)
OFFSETS = 40


@st.composite
def states(draw: st.DrawFn) -> ShareState:
    cuts = sorted(draw(st.sets(st.integers(0, OFFSETS), max_size=10)))
    start = draw(st.integers(-1, OFFSETS))
    runs = [
        (max(first, start), end - 1, draw(st.sampled_from((0, 2, 3, 4))), draw(st.integers(0, 3)))
        for first, end in pairwise(cuts)
        if draw(st.booleans()) and end > start
    ]
    state = {
        "group": "g",
        "topic_id": "t",
        "partition": 0,
        "state_epoch": draw(st.integers(0, 1)),
        "leader_epoch": 0,
        "start_offset": start,
        "batches": runs,
    }
    return cast("ShareState", state)


def fold(path: Path, as_of: AsOf | None = None) -> list[ShareState]:
    return fold_path(str(path), None, as_of or AsOf())[0]


def middle() -> int:
    """A time at which a group of the recording is at work."""
    times = sorted(row.at_timestamp for row in analysis.history(ORDERS) if row.group == "orders-workers")
    return times[len(times) // 2]


def known(state: ShareState, offset: int) -> tuple[int, int] | None:
    if offset < state["start_offset"]:
        return 2, 0
    return next((batch[2:] for batch in state["batches"] if batch[0] <= offset <= batch[1]), None)


@given(states(), states())
def test_counts_are_those_of_a_walk_over_single_offsets(was: ShareState, now: ShareState) -> None:
    settled = returned = unsettled = 0
    touched = [edge for state in (was, now) for batch in state["batches"] for edge in batch[:2]]
    touched += [state["start_offset"] for state in (was, now) if state["start_offset"] >= 0]
    for offset in range(min(touched, default=0), OFFSETS + 1):
        old, new = known(was, offset), known(now, offset)
        was_settled, is_settled = (one is not None and one[0] in TERMINAL for one in (old, new))
        settled += is_settled and not was_settled
        unsettled += was_settled and not is_settled
        returned += not was_settled and new is not None and new[0] == 0 and new[1] > (old[1] if old is not None else 0)
    found = list(state_diffs([was], [now]))
    if not found:
        assert (settled, returned, unsettled) == (0, 0, 0)
        assert all(was[name] == now[name] for name in ("state_epoch", "start_offset", "batches"))
        return
    [one] = found
    assert (one.settled, one.returned, one.unsettled) == (settled, returned, unsettled)
    assert one.change is (Change.MOVED if was["state_epoch"] == now["state_epoch"] else Change.RESET)
    assert list(state_diffs([now], [now])) == []


def test_what_came_and_went_has_no_counts() -> None:
    [state, *others] = fold(JOBS)
    [gone] = state_diffs([state, *others], others)
    assert (gone.change, gone.before, gone.after, gone.settled) == (Change.GONE, state, None, None)
    [new] = state_diffs(others, [state, *others])
    assert (new.change, new.before, new.after, new.settled) == (Change.NEW, None, state, None)


def test_between_two_times_of_a_recorded_log_lies_what_its_history_tells() -> None:
    rows = [row for row in analysis.history(ORDERS) if row.group == "orders-workers"]
    moment = middle()
    diffs = state_diffs(fold(ORDERS, AsOf(timestamp=moment)), fold(ORDERS))
    found = {(one.topic_id, one.partition): one for one in diffs if one.group == "orders-workers"}
    assert found
    for place, one in found.items():
        assert one.before is not None
        settled = {
            offset
            for row in rows
            if (row.topic_id, row.partition) == place and row.at_timestamp > moment and row.first_offset is not None
            if row.to_state in TERMINAL or (row.cause == "passed" and row.from_state not in TERMINAL)
            for offset in range(row.first_offset, (row.last_offset or 0) + 1)
        }
        assert one.settled == len(settled)
        assert one.unsettled == 0


@pytest.mark.parametrize("times", ["one place", "two places"])
def test_the_command_shows_what_moved(times: str) -> None:
    more = ("--from", str(middle()), "--group", "orders-workers")
    sources = (ORDERS,) if times == "one place" else (ORDERS, ORDERS)
    ran = run_here("diff", *sources, *more, "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (1, "")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert rows
    assert {row["change"] for row in rows} == {"moved"}
    assert all(row["settled"] > 0 and row["start_offset"][0] <= row["start_offset"][1] for row in rows)
    table = run_here("diff", *sources, *more)
    assert table.returncode == 1
    assert len(table.stdout.splitlines()) == 2 + len(rows)
    first = rows[0]
    shown = table.stdout.splitlines()[2].split()
    assert shown[:4] == ["moved", first["group"], first["topic_id"], str(first["partition"])]
    assert shown[4] == "→".join(map(str, first["start_offset"]))
    assert shown[5:] == [str(first[name]) for name in ("settled", "returned", "unsettled")]


def test_nothing_moved() -> None:
    ran = run_here("diff", JOBS, JOBS)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Nothing moved.\n", "")


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        ((JOBS,), 2, "name another PATH, or --from or --to a time of this one"),
        ((JOBS, "--from", "yesterday"), 2, "--from is 'yesterday'; expected P=OFFSET"),
        ((JOBS, "--to", "5"), 2, "--to 5: as a time it is"),
        ((JOBS, "--from", "99=1"), 2, "--from 99=1: no such state partition"),
        ((JOBS, JOBS, "--group", "nobody"), 2, "--group nobody is not in the log"),
        ((JOBS, "/nowhere"), 3, "cannot read /nowhere"),
    ],
)
def test_what_is_asked_wrongly_is_refused(arguments: tuple[str | Path, ...], status: int, reason: str) -> None:
    ran = run_here("diff", *arguments)
    assert ran.returncode == status
    assert reason in " ".join(ran.stderr.replace("│", "").split())
