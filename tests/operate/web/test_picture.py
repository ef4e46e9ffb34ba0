"""Pictures: every span is in its cells, at the class that it has, and what is not settled is not covered."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from share_state.operate import analysis
from share_state.operate.analysis.spans import Span, spans
from share_state.operate.web import picture
from share_state.operate.web.picture import DELIVERIES, STATES, Frame
from tests.operate.web.made_up import TOPIC_ID, WORKERS
from tests.recordings import ORDERS

AVAILABLE, ACKNOWLEDGED, ARCHIVING, ARCHIVED = 0, 2, 3, 4
CLASSES = {AVAILABLE: "available", ACKNOWLEDGED: "acknowledged", ARCHIVING: "archiving", ARCHIVED: "archived", 9: "other"}


def covered(layers: tuple[picture.Layer, ...]) -> dict[tuple[int, int], str]:
    """The class of each cell, from the paths; no cell is covered twice."""
    found: dict[tuple[int, int], str] = {}
    for layer in layers:
        rectangles = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", layer.path)
        assert "".join(f"M{x} {y}h{w}v{h}h-{back}z" for x, y, w, h, back in rectangles) == layer.path
        for x, y, width, height, back in (map(int, one) for one in rectangles):
            assert width == back
            for cell in ((a, b) for a in range(x, x + width) for b in range(y, y + height)):
                assert cell not in found
                found[cell] = layer.name
    return found


made = st.builds(
    lambda first, length, state, count, since, lasting: Span(first, first + length, state, count, since, since + lasting),
    st.integers(0, 400), st.integers(0, 60), st.sampled_from(list(CLASSES)), st.integers(1, 14), st.integers(0, 900),
    st.integers(0, 300),
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(made, min_size=1, max_size=12))
def test_every_span_is_where_it_belongs(found: list[Span]) -> None:
    frame = picture.frame_of(found, [])
    assert frame is not None
    states, counts = covered(picture.timeline(found, [], frame).layers), covered(picture.deliveries(found, frame).layers)
    names = [name for name, _ in STATES]
    expected: dict[tuple[int, int], int] = {}
    most: dict[tuple[int, int], int] = {}
    for one in found:
        for x in range(frame.column(one.since), frame.column(one.until) + 1):
            for row in range(frame.row(one.first_offset), frame.row(one.last_offset) + 1):
                cell = (x, frame.height - 1 - row)
                expected[cell] = max(expected.get(cell, 0), names.index(CLASSES[one.state]))
                most[cell] = max(most.get(cell, 0), min(one.delivery_count, 10))
    assert states == {cell: names[rank] for cell, rank in expected.items()}
    assert counts == {cell: DELIVERIES[count - 1][0] for cell, count in most.items()}


def test_a_picture_of_a_part_of_the_time_has_what_reaches_into_it() -> None:
    found = [Span(0, 4, AVAILABLE, 1, 0, 50), Span(5, 9, ACKNOWLEDGED, 1, 0, 100), Span(10, 14, AVAILABLE, 2, 90, 100)]
    frame = picture.frame_of(found, [(0, 0), (95, 5)], 80)
    assert frame == Frame(5, 14, 80, 100)
    drawn = picture.timeline(found, [(0, 0), (95, 5)], frame)
    assert set(covered(drawn.layers).values()) == {"acknowledged", "available"}
    # Below the frame at first; then at its first offset.
    assert drawn.line == "M0 10.00H15.00V10.00H21"
    assert picture.frame_of(found, [], 101) is None


def test_a_long_history_stays_small() -> None:
    rows = analysis.history(ORDERS, group=WORKERS, topic_id=TOPIC_ID, partition=0)
    found = list(spans(rows))
    frame = picture.frame_of(found, [])
    assert frame is not None
    assert len(found) > 500
    drawn = picture.timeline(found, [], frame)
    assert 100 < sum(len(layer.path) for layer in drawn.layers) < 100_000
