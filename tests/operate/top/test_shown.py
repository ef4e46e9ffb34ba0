"""View without a screen: figures, columns that fit, ranges of records, order and filter, advice, and the help."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.cells import cell_len

from share_state.operate.live import Health
from share_state.operate.top import figures
from share_state.operate.top.advice import ADVICE
from share_state.operate.top.arrange import Order, arranged
from share_state.operate.top.column import fitted, in_cells, natural_widths
from share_state.operate.top.described import described
from share_state.operate.top.help_screen import KEYS
from share_state.operate.top.levels import GROUPS, HEALTH_STYLES, SHARE_PARTITIONS, SHARE_PARTITIONS_OF_ONE, searched
from share_state.operate.top.lines import Line, group_lines, head, lines
from share_state.operate.top.records import record_ranges
from share_state.types import StateBatch
from tests.operate.top.made_up import group_view, poisoned, row, share_partition, usual, view
from tests.recordings import REPOSITORY


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "-"), (0, "0"), (99_999, "99999"), (100_000, "100k"), (999_999, "999k"), (1_000_000, "1.0M"),
        (2**63 - 1, "9.2E"), (-123_456, "-123k"),
    ],
)  # fmt: skip
def test_a_count_has_five_cells(number: int | None, text: str) -> None:
    assert figures.short(number) == text
    assert len(text.removeprefix("-")) <= 5


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "-"),
        (-5, "0s"),
        (119_999, "119s"),
        (120_000, "2m"),
        (7_200_000, "2h"),
        (48 * 3_600_000, "2d"),
        (10**15, "11574074d"),
    ],
)
def test_an_age_has_one_unit(ms: int | None, text: str) -> None:
    assert figures.age(ms) == text


@pytest.mark.parametrize(
    ("records", "seconds", "text"),
    [
        (None, 1, "-"),
        (5, 0, "-"),
        (0, 60, "0"),
        (1, 60, "<0.1"),
        (90, 60, "1.5"),
        (99.99 * 60, 60, "100.0"),
        (10**9, 60, "16.6M"),
    ],
)
def test_a_rate_that_is_not_zero_does_not_read_as_zero(records: Any, seconds: float, text: str) -> None:
    assert figures.per_second(records, seconds) == text


def test_changes_curves_and_histograms() -> None:
    assert [figures.change(rise) for rise in (None, 0, 12, -1_234_567)] == ["-", "=", "▲12", "▼1.2M"]
    assert [figures.spark(lags) for lags in ((), (0, 0), (0, 7, 14))] == ["", "▁▁", "▁▄█"]
    assert figures.histogram([(0, 5)]) == "-"
    assert figures.histogram([(1, 1000), (2, 1), (5, 300), (9, 200)]) == "█▁··▄"


def test_text_has_exactly_its_cells() -> None:
    texts = ("", "orders", "注文の記録", "e\u0301" * 9, "a very long name of a group")
    found = {(text, width): cell_len(in_cells(text, width)) for text in texts for width in range(12)}
    assert len(found) == 60
    assert {pair: cells for pair, cells in found.items() if cells != pair[1]} == {}
    assert (in_cells("orders", 4), in_cells("7", 3, right=True)) == ("ord…", "  7")


@pytest.mark.parametrize("table", [GROUPS, SHARE_PARTITIONS, SHARE_PARTITIONS_OF_ONE])
def test_every_column_is_reached_in_eighty_cells(table: Any) -> None:
    rows = group_lines(usual()) if table is GROUPS else lines(usual())
    natural = natural_widths(table.columns, rows)
    seen, shift = set(), 0
    while True:
        shown = fitted(table.columns, natural, 80, fixed=table.fixed, shift=shift)
        assert sum(width + 2 for _, width in shown.columns) - 2 <= 80
        # Nothing is cut but what is as long as people like.
        cut = [column.title for column, width in shown.columns if width < natural[table.columns.index(column)]]
        assert set(cut) <= {"WHY", "WORDS"}
        seen |= {column.title for column, _ in shown.columns}
        if not shown.right:
            break
        shift += 1
    assert seen == {column.title for column in table.columns}


def test_names_share_what_is_left() -> None:
    long = lines(view(group_view("g" * 60, share_partition("g" * 60, topic="t" * 60))))
    shown = fitted(SHARE_PARTITIONS.columns, natural_widths(SHARE_PARTITIONS.columns, long), 80, fixed=4, shift=0)
    widths = {column.title: width for column, width in shown.columns}
    assert min(widths["GROUP"], widths["TOPIC"]) >= 16
    assert "LAG" in widths


def test_order_and_filter() -> None:
    everything = lines(usual())
    column = [column.title for column in SHARE_PARTITIONS.columns].index("LAG")
    by_lag = arranged(SHARE_PARTITIONS, everything, Order(column))
    assert [line.one.lag for line in by_lag.rows] == [21, 8, 0, 0]
    # Where two are equal, the urgent one is first, the other way round as well.
    back = arranged(SHARE_PARTITIONS, everything, Order(column).by(column))
    assert [line.one.lag for line in back.rows] == [0, 0, 8, 21]
    assert [line.one.group for line in back.rows[:2]] == ["healthy", "workers"]
    kept = arranged(SHARE_PARTITIONS, everything, Order(), words="POISON Orders", searched=searched)
    assert ([line.one.group for line in kept.rows], kept.total) == (["workers"], 4)


def test_what_holds_the_start_offset() -> None:
    held: dict[str, Any] = {"held_offset": 8, "held_state": 0, "held_count": 2}
    told = [
        head(None),
        head(row("g")),
        head(row("g", **held)),
        head(row("g", **held | {"held_state": 3})),
        head(row("g", **held | {"held_state": 9})),
        head(row("g", **held | {"held_state": None, "held_count": None})),
    ]
    assert told == ["-", "-", "avail×2", "dlq×2", "?9×2", "unwritten"]


def test_ranges_cover_all_offsets_and_one_holds() -> None:
    batches = [StateBatch(3, 4, 2, 1), StateBatch(5, 6, 0, 2), StateBatch(9, 9, 4, 5)]
    ranges = record_ranges(4, 12, batches)
    assert [tuple(one) for one in ranges] == [
        (4, 4, 2, 1, False),
        (5, 6, 0, 2, True),
        (7, 8, None, None, False),
        (9, 9, 4, 5, False),
        (10, 11, None, None, False),
    ]
    assert record_ranges(-1, 12, []) == []
    assert [tuple(one) for one in record_ranges(4, None, batches)][-1] == (9, 9, 4, 5, False)


def test_every_word_has_a_look_and_one_piece_of_advice() -> None:
    assert list(ADVICE) == list(HEALTH_STYLES) == list(Health)
    # Two lines of 80 cells.
    assert {health: len(text) for health, text in ADVICE.items() if len(text) > 150} == {}


def test_a_share_partition_in_words() -> None:
    line = Line(usual().at_ms, group_view("workers"), poisoned("workers\x1b[2J"))
    text = described(line, (1, 2), "").plain
    assert "\x1b" not in text
    assert "lag 21 ▲12 ▄█   start offset 0   log end offset 30   in flight 1" in text
    assert "held by record 0, avail×4 since 2026-11-23 11:47:26Z   oldest unsettled ≥ 13m" in text
    assert "90 accepted, 3 released or expired (the log cannot tell which), 0 rejected, 0 at the delivery limit" in text
    stateless = share_partition("g", row=None, lag=None, log_end_offset=None, rates=None)
    assert "lag - -   start offset -   log end offset -   in flight -" in described(line._replace(one=stateless), (), "").plain


def test_the_page_has_the_keys() -> None:
    page = (REPOSITORY / "docs" / "operate.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([^|]*)` \| (.*) \|$", page, re.MULTILINE))
    assert {key: told.get(key) for key, _ in KEYS} == dict(KEYS)
