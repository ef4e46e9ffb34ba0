"""Pictures of a recording: what they are drawn from is right, and they are not empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.errors import ConfigError
from share_state.operate import analysis, plot
from share_state.operate.analysis.trace import trace
from tests import cli_runner
from tests.recordings import ORDERS

KEY = ("orders-workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 1)
PNG = b"\x89PNG\r\n\x1a\n"


def rows() -> list[analysis.HistoryRow]:
    return list(analysis.history(ORDERS, group=KEY[0], topic_id=KEY[1], partition=KEY[2]))


def test_spans_tell_the_state_at_every_time() -> None:
    told = rows()
    found = list(plot.spans(told))
    [last] = analysis.states_of_rows(told)
    at_end = sorted(
        (one.first_offset, one.last_offset, one.state, one.delivery_count)
        for one in found
        if one.until == last.newest_write and one.since < one.until
    )
    assert at_end
    compared = 0
    for offset in (337, 1160, 1258):
        row = next(row for row in analysis.states_of_rows(told, as_of_offset=299))
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
        assert all(before[1] < after[0] for before, after in zip(then, then[1:], strict=False))
    assert len(found) > 100


def test_lag_is_kafkas() -> None:
    told = rows()
    [state] = analysis.states_of_rows(told)
    figure = plot.lag(told, [(state.newest_write - 1000, 1400), (state.newest_write + 5, 1500)])
    [axes] = figure.axes
    _x, y = axes.lines[0].get_data()
    assert y[-1] == 1500 - state.start_offset - state.delivery_complete_count


def made(
    *states: int, group: str = "workers", ms: int = 1_795_254_300_000, step: int = 1000, count: int = 1
) -> list[analysis.HistoryRow]:
    """A history in which records got these states, one after the other."""
    [one] = [row for row in rows() if row.to_state is not None][:1]
    return [
        one._replace(
            group=group,
            at_timestamp=ms + place * step,
            first_offset=place,
            last_offset=place,
            start_offset=0,
            to_state=state,
            to_count=count,
        )
        for place, state in enumerate(states)
    ]


@pytest.mark.parametrize("states", [(0, 2, 3, 4, 9), (9, 4, 3, 2, 0), (4, 0, 9, 2, 3)])
def test_the_legend_has_one_order_and_covers_nothing(states: tuple[int, ...]) -> None:
    figure = plot.timeline(made(*states))
    figure.draw_without_rendering()
    [axes] = figure.axes
    assert axes.get_legend() is None
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "available, or in a member's hands",
        "acknowledged",
        "archiving",
        "archived",
        "of a state that is not known",
        "start offset",
    ]
    assert not legend.get_window_extent().overlaps(axes.get_tightbbox())
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("name", ["orders-workers", "$a^$", "x_{"])
def test_the_title_names_what_is_drawn(name: str) -> None:
    told = made(0, 2, group=name)
    for figure in (plot.timeline(told), plot.deliveries(told), plot.lag(told, [(told[0].at_timestamp, 5)])):
        assert figure.axes[0].get_title() == f"group {name}, topic {told[0].topic_id}, partition {told[0].partition}"
        figure.draw_without_rendering()


@pytest.mark.parametrize(("step", "days"), [(1000, "2026-11-21"), (40_000_000, "2026-11-21 to 2026-11-22")])
def test_the_axis_of_time_names_its_days(step: int, days: str) -> None:
    told = made(0, 2, 4, step=step)
    ends = [(row.at_timestamp, 5) for row in told]
    for figure in (plot.timeline(told), plot.deliveries(told), plot.lag(told, ends)):
        assert figure.axes[0].get_xlabel() == f"time (UTC), {days}"
        figure.draw_without_rendering()
        low, high = figure.axes[0].get_xlim()
        assert 0 < high - low < 2 * len(told) * step / 86_400_000, "days, around what is drawn"


@pytest.mark.parametrize("count", [1, 3, 12, 13, 40, 32_767])
def test_the_colour_bar_tells_whole_counts(count: int) -> None:
    figure = plot.deliveries(made(0, 2, count=count))
    figure.draw_without_rendering()
    bar = figure.axes[1]
    low, high = bar.get_ylim()
    shown = [tick for tick in bar.get_yticks() if low <= tick <= high]
    assert shown
    assert all(float(tick).is_integer() for tick in shown)
    labels = [text.get_text() for text in bar.get_yticklabels()]
    assert len(labels) == len(set(labels))
    if count <= 12:
        assert shown == list(range(1, count + 1))


def test_the_last_lag_is_a_step_and_not_a_stroke() -> None:
    told = made(0, 2, 4)
    last = told[-1].at_timestamp
    for times in ([last], [last - 1000, last], [last, last + 60_000]):
        [line] = plot.lag(told, [(ms, 10 * at + 500) for at, ms in enumerate(times)]).axes[0].lines
        x, y = line.get_data()
        assert len(x) == len(times) + 1
        assert x[-1] > x[-2], "the last lag is seen for a while"
        assert y[-1] == y[-2]
        assert len(line.get_markevery()) == len(times), "a dot is a measurement"
        low, high = line.axes.get_ylim()
        assert low == 0
        assert high > 1.02 * max(y), "a level line is not under the frame"


def test_end_offsets_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must ascend: 5 follows 7") as told:
        plot.lag(made(0), [(7, 1), (5, 2)])
    assert (told.value.field, told.value.value) == ("end_offsets", 5)
    ends = tmp_path / "ends.csv"
    ends.write_text("7,1\n5,2\n", encoding="utf-8")
    chosen = ("--group", KEY[0], "--topic-id", KEY[1], "--partition", "1")
    ran = cli_runner.run("plot", ORDERS, *chosen, "--kind", "lag", "--end-offsets", ends, "--output", tmp_path / "x.png")
    assert (ran.returncode, "must ascend" in ran.stderr) == (2, True)
    assert not (tmp_path / "x.png").exists()


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


def test_the_life_of_a_record_is_drawn_with_its_events(tmp_path: Path) -> None:
    found = trace(rows(), 1_251)
    figure = plot.life(found)
    [axes] = figure.axes
    assert [text.get_text() for text in axes.texts] == [event.kind for event in found.events]
    counts = [line.get_ydata()[0] for line in axes.lines[1:]]
    assert counts == [0, 0, 1, 2, 3, 3]
    assert "offset 1251: archived" in axes.get_title()
    output = tmp_path / "life.png"
    ran = cli_runner.run("trace", ORDERS, KEY[0], KEY[1], str(KEY[2]), "1251", "--output", output)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert output.read_bytes().startswith(PNG)


def test_a_record_of_which_nothing_is_known_has_an_empty_picture() -> None:
    found = trace(rows(), 1_251)._replace(events=())
    assert plot.life(found).axes[0].lines[:] == []
