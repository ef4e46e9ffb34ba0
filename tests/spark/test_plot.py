"""Pictures of a recording: what they are drawn from is right, and they are not empty."""

from __future__ import annotations

from pathlib import Path

import pytest

import share_state as ss
from share_state import plot
from tests.python import cli_runner
from tests.python.recordings import ORDERS

KEY = ("orders-workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 1)
PNG = b"\x89PNG\r\n\x1a\n"


def rows() -> list[ss.HistoryRow]:
    return list(ss.history(ORDERS, group=KEY[0], topic_id=KEY[1], partition=KEY[2]))


def test_spans_tell_the_state_at_every_time() -> None:
    told = rows()
    found = list(plot.spans(told))
    [last] = ss.states_of_rows(told)
    at_end = sorted(
        (one.first_offset, one.last_offset, one.state, one.delivery_count)
        for one in found
        if one.until == last.newest_write and one.since < one.until
    )
    assert at_end
    compared = 0
    for offset in (337, 1160, 1258):
        row = next(row for row in ss.states_of_rows(told, as_of_offset=299))
        at = row.newest_write
        known = {
            (one.state, one.delivery_count)
            for one in found
            if one.first_offset <= offset <= one.last_offset and one.since <= at < one.until
        }
        expected = {
            (batch.delivery_state, batch.delivery_count)
            for batch in row.batches
            if batch.first_offset <= offset <= batch.last_offset
        }
        assert known == expected
        compared += len(known)
    assert compared > 0


def test_no_two_spans_cover_the_same_offset_at_the_same_time() -> None:
    found = [one for one in plot.spans(rows()) if one.since < one.until]
    for ms in {one.since for one in found}:
        then = sorted((one.first_offset, one.last_offset) for one in found if one.since <= ms < one.until)
        assert all(before[1] < behind[0] for before, behind in zip(then, then[1:], strict=False))
    assert len(found) > 100


def test_lag_is_kafkas() -> None:
    told = rows()
    [state] = ss.states_of_rows(told)
    figure = plot.lag(told, [(state.newest_write - 1000, 1400), (state.newest_write + 5, 1500)])
    [axes] = figure.axes
    _x, y = axes.lines[0].get_data()
    assert y[-1] == 1500 - state.start_offset - state.delivery_complete_count


@pytest.mark.parametrize("kind", ["timeline", "deliveries", "lag"])
def test_the_command_draws(kind: str, tmp_path: Path) -> None:
    ends = tmp_path / "ends.csv"
    ends.write_text("1795254295000,100\n1795254300000,900\n1795254306000,1500\n", encoding="utf-8")
    output = tmp_path / f"{kind}.png"
    extra: list[str | Path] = ["--end-offsets", ends] if kind == "lag" else []
    ran = cli_runner.run(
        "plot", ORDERS, "--group", KEY[0], "--topic-id", KEY[1], "--partition", "1", "--kind", kind, "--output", output, *extra
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert output.read_bytes().startswith(PNG)
    assert output.stat().st_size > 10_000


def test_a_choice_that_leaves_several_is_refused_with_all_of_them(tmp_path: Path) -> None:
    ran = cli_runner.run("plot", ORDERS, "--group", KEY[0], "--output", tmp_path / "x.png")
    assert ran.returncode == 2
    assert f"--group {KEY[0]} --topic-id {KEY[1]} --partition 1" in ran.stderr
    assert not (tmp_path / "x.png").exists()
