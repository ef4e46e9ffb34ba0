"""Real brokers' logs as frames: the same rows as the named tuples of the Python API, from one declaration."""

from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import pytest

import share_state as ss
from share_state import _core, frames
from share_state.operate import analysis
from tests.operate.analysis.frames.made import batches, recorded, rows_of
from tests.recordings import ORDERS, agree_with_the_broker, recording_id, recordings

each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)


@pytest.mark.parametrize(
    ("table", "row"), [("state", analysis.StateRow), ("history", analysis.HistoryRow), ("anomalies", analysis.Anomaly)]
)
def test_a_table_has_the_fields_of_its_named_tuple(table: str, row: Any) -> None:
    schema = frames.SCHEMAS[table]
    assert tuple(schema.names) == row._fields
    hints = get_type_hints(row)
    assert [field.nullable for field in schema] == [NoneType in get_args(hints[name]) for name in schema.names]


def test_every_column_says_what_it_is() -> None:
    assert list(frames.SCHEMAS) == ["input", *(name for name in _core.frame_tables() if name != "input")]
    documented = [field for schema in frames.SCHEMAS.values() for field in schema]
    assert len(documented) > 60
    assert all(field.metadata[b"comment"] for field in documented)


@each_recording
@pytest.mark.parametrize("size", [1, 64, 100_000])
def test_states_are_those_of_the_python_api(directory: Path, size: int) -> None:
    made = rows_of(frames.state(batches(recorded(directory), size)))
    assert made == [row._asdict() for row in analysis.states(directory)]
    assert len(made) > 1


@each_recording
def test_states_are_those_that_the_broker_answered(directory: Path) -> None:
    made = rows_of(frames.state(frames.read(directory)))
    told = {(row["group"], row["topic_id"], row["partition"]): row for row in made}
    assert len(told) == len(made)
    agree_with_the_broker(directory, told)


@each_recording
def test_histories_are_those_of_the_python_api(directory: Path) -> None:
    made = rows_of(frames.history(batches(recorded(directory))))
    assert made == [row._asdict() for row in analysis.history(directory)]


@each_recording
def test_every_record_is_decoded(directory: Path) -> None:
    rows = recorded(directory)
    made = rows_of(frames.decode(batches(rows)))
    assert [(row["state_partition"], row["at_offset"], row["at_timestamp"]) for row in made] == [row[:3] for row in rows]
    for row, told in zip(rows, made, strict=True):
        assert row.key is not None
        record = ss.decode_record(row.key, row.value)
        data = (record["value"] or {"data": {}})["data"]
        names = {"snapshotEpoch": "snapshot_epoch", "stateEpoch": "state_epoch", "leaderEpoch": "leader_epoch"}
        names |= {"startOffset": "start_offset", "createTimestamp": "create_timestamp", "writeTimestamp": "write_timestamp"}
        assert {ours: told[ours] for ours in names.values()} == {ours: data.get(kafkas) for kafkas, ours in names.items()}
        assert told["group"] == record["key"]["data"]["groupId"]
        assert (told["batches"] is None) == (told["kind"] == "tombstone")


CONFIG = analysis.AnomalyConfig(
    stuck_ms=2000, stuck_records=50, record_lock_duration_ms=2000, gap_ms=2000, cold_ms=1, cold_records=1
)


@each_recording
@pytest.mark.parametrize("config", [None, CONFIG], ids=["defaults", "sharp"])
def test_anomalies_are_those_of_the_python_api(directory: Path, config: analysis.AnomalyConfig | None) -> None:
    records = list(batches(recorded(directory)))
    beside: dict[str, Any] = {"live_topics": [], "log_end_offsets": {}}
    made = rows_of(frames.anomalies(records, config, **beside))
    assert made == [row._asdict() for row in analysis.anomalies(directory, config, **beside)]
    assert analysis.AnomalyKind.DELETED_TOPIC in {row["kind"] for row in made}


def test_states_as_of_earlier() -> None:
    rows = recorded(ORDERS)
    for as_of in (-1, 25, 250, {0: 10, 2: 400}):
        made = rows_of(frames.state(batches(rows), as_of))
        assert made == [row._asdict() for row in analysis.states(ORDERS, as_of_offset=as_of)]
    moment = rows[len(rows) // 2].timestamp
    assert moment is not None
    made = rows_of(frames.state(batches(rows), ss.WallTime(moment)))
    assert made == [row._asdict() for row in analysis.states(ORDERS, as_of_timestamp=moment)] != []


@each_recording
@pytest.mark.parametrize("make", [frames.decode, frames.state, frames.history, frames.anomalies])
def test_a_log_comes_to_the_same_rows_without_batches_in_between(directory: Path, make: Any) -> None:
    made = rows_of(make(frames.read(directory)))
    assert made == rows_of(make(batch for batch in frames.read(directory)))
    # Of a log that somebody has begun to read, what is left.
    begun = frames.read(directory, batch_rows=10)
    first = next(begun)
    assert rows_of(frames.decode([first])) + rows_of(frames.decode(begun)) == rows_of(frames.decode(frames.read(directory)))


def test_a_log_whose_records_wait_for_a_batch_is_not_pulled() -> None:
    scan = _core.FrameScan(ORDERS, batch_rows=10)
    assert scan.next() is not None
    pump = _core.FramePump("state")
    with pytest.raises(ValueError, match="wait in the scan"):
        pump.pull(scan)
    assert pump.finish() == []
