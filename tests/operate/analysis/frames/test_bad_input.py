"""Frames as they should not be: every bad row is told with its place, and none is lost or made up."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

import share_state as ss
from share_state import frames
from share_state.errors import RowError
from share_state.operate import analysis
from tests.operate.analysis.frames.made import SCHEMA, Row, batches, recorded, rows_of
from tests.recordings import JOBS

ROWS = recorded(JOBS)[:150]


def as_type(name: str, kind: pa.DataType) -> pa.Schema:
    return SCHEMA.set(SCHEMA.get_field_index(name), pa.field(name, kind))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (ROWS[20]._replace(key=None), "missing"),
        (ROWS[20]._replace(offset=None), "missing"),
        (ROWS[20]._replace(timestamp=None), "missing"),
        (ROWS[20]._replace(topic="orders"), "other_topic"),
        (ROWS[20]._replace(value=b"\x00\x07\x00"), "unsupported_version"),
        (ROWS[20]._replace(value=b"\x00\x00\x00"), "corrupt"),
        (ROWS[20]._replace(key=b"\x00"), "corrupt"),
        (ROWS[20]._replace(partition=-1), "negative_partition"),
        (ROWS[19], "repeated"),
        (ROWS[10], "unordered"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("size", [7, 1000])
def test_a_bad_row_is_refused_or_put_aside(bad: Row, reason: str, size: int) -> None:
    rows = [*ROWS[:20], bad, *ROWS[20:]]
    with pytest.raises(RowError, match=r"row 20 .* cannot be used") as raised:
        list(frames.state(batches(rows, size)))
    told = raised.value
    assert (told.row, told.partition, told.offset, told.reason) == (20, bad.partition, bad.offset, reason)
    made = frames.state(batches(rows, size), on_error="quarantine")
    assert rows_of(made) == rows_of(frames.state(batches(ROWS)))
    [aside] = rows_of(iter(made.quarantined()))
    assert aside == {
        "row": 20,
        "partition": bad.partition,
        "offset": bad.offset,
        "timestamp": bad.timestamp,
        "reason": reason,
        "message": aside["message"],
        "key": bad.key,
        "value": bad.value,
    }
    assert made.quarantined() == []


def test_what_decode_does_not_know_is_a_row() -> None:
    unknown = Row(0, 9000, 5, b"\x00\x63 what is it", b"value")
    newer = ROWS[0]._replace(offset=9001, value=b"\x00\x05 newer")
    rows = rows_of(frames.decode(batches([*ROWS[:3], unknown, newer])))
    assert [row["kind"] for row in rows[3:]] == ["unknown_type", "unknown_version"]
    assert (rows[3]["record_type"], rows[3]["unread_key"], rows[3]["unread_value"]) == (99, unknown.key, b"value")
    assert (rows[4]["value_version"], rows[4]["group"], rows[4]["unread_value"]) == (5, rows[0]["group"], newer.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("offset", pa.int32()), ("partition", pa.int64()), ("key", pa.string()), ("timestamp", pa.int64()), ("offset", pa.string())],
    ids=str,
)
def test_a_column_of_another_type_makes_every_row_bad(name: str, kind: pa.DataType) -> None:
    rows = [Row(0, offset, 5, b"key", b"value") for offset in range(5)]
    schema = as_type(name, kind)
    with pytest.raises(RowError, match=f"column {name} is {kind}"):
        list(frames.state(batches(rows, schema=schema)))
    made = frames.state(batches(rows, schema=schema), on_error="quarantine")
    assert list(made) == []
    aside = rows_of(iter(made.quarantined()))
    assert [(row["row"], row["reason"]) for row in aside] == [(number, "wrong_type") for number in range(5)]
    assert [row["offset"] for row in aside] == list(range(5))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("key", pa.large_binary()),
        ("value", pa.binary_view()),
        ("topic", pa.large_string()),
        ("topic", pa.dictionary(pa.int32(), pa.string())),
        ("timestamp", pa.timestamp("ms")),
        ("timestamp", pa.timestamp("ns", tz="Europe/Berlin")),
    ],
    ids=str,
)
def test_other_forms_of_the_same_are_read(name: str, kind: pa.DataType) -> None:
    made = rows_of(frames.state(batches(ROWS, schema=as_type(name, kind))))
    assert made == rows_of(frames.state(batches(ROWS))) != []


def test_slices_and_empty_batches_are_read_as_they_are() -> None:
    [whole] = batches(ROWS, len(ROWS))
    empty = whole.slice(0, 0)
    sliced = [empty, *(whole.slice(begin, 13) for begin in range(0, len(ROWS), 13)), empty]
    assert rows_of(frames.history(iter(sliced))) == rows_of(frames.history(batches(ROWS))) != []
    assert list(frames.state(iter([]))) == list(frames.state(iter([empty]))) == []
    assert rows_of(frames.state([whole.drop_columns(["topic"])])) == rows_of(frames.state([whole]))


def test_a_batch_without_a_column_is_refused() -> None:
    [whole] = batches(ROWS, len(ROWS))
    with pytest.raises(ValueError, match="lacks the columns key, offset"):
        next(frames.decode([whole.drop_columns(["key", "offset"])]))


def test_arguments_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a time with a time zone"):
        frames.state([], datetime(2026, 1, 1))  # noqa: DTZ001  that is the point
    assert list(frames.state([], datetime(2026, 1, 1, tzinfo=UTC))) == []
    with pytest.raises(ValueError, match='on_error is "skip"'):
        frames.state([], on_error="skip")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="stuck_ms is 0"):
        frames.anomalies([], analysis.AnomalyConfig(stuck_ms=0))


def test_buffers_that_do_not_hold_their_rows_are_refused() -> None:
    pump = ss._core.FramePump("decode")
    [whole] = batches(ROWS[:4])
    good, ticks, wrong = frames.buffers.batch_in(whole)
    assert wrong is None
    first, validity, offsets, data = cast("tuple[int, Any, Any, Any]", good["key"])
    for bad in [
        (first, validity, offsets[:3], data),
        (first, validity, offsets[::-1].copy(), data),
        (9, validity, offsets, data),
    ]:
        with pytest.raises(ValueError, match="buffers of column key"):
            pump.push(4, {**good, "key": bad}, ticks_per_second=ticks)
    with pytest.raises(ValueError, match="buffers of column offset"):
        pump.push(4, {**good, "offset": (1, None, good["offset"][2])}, ticks_per_second=ticks)
    assert pump.push(4, good, ticks_per_second=ticks) == []
    [batch] = pump.finish()
    assert batch[0] == 4


def test_a_log_is_read_as_batches(tmp_path: Path) -> None:
    scan = frames.read(JOBS, batch_rows=100)
    read = list(scan)
    assert {batch.num_rows for batch in read[:-1]} == {100}
    assert pa.Table.from_batches(read).schema == frames.SCHEMAS["input"]
    assert rows_of(iter(read)) == [{name: getattr(row, name) for name in frames.SCHEMAS["input"].names} for row in recorded(JOBS)]
    assert (scan.findings, scan.progress[0]) == ([], scan.progress[1])
    torn = tmp_path / "__share_group_state-0"
    torn.mkdir()
    segment = JOBS / "__share_group_state-0" / "00000000000000000000.log"
    (torn / segment.name).write_bytes(segment.read_bytes()[:-3])
    scan = frames.read(torn)
    assert rows_of(frames.state(scan)) == [row._asdict() for row in analysis.states(torn)] != []
    assert [finding["kind"] for finding in scan.findings] == ["torn_tail"]
    with pytest.raises(FileNotFoundError):
        frames.read(tmp_path / "nowhere")
