"""Whatever a state topic holds, looking for anomalies ends, and knows of every record what the fold knows."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from share_state.operate import analysis
from tests.made_up_log import MadeUpLog
from tests.operate.analysis.history_replay import Key, Replayed, replay
from tests.operate.analysis.noted_by_clients import accused

CONFIG = analysis.AnomalyConfig(
    stuck_ms=3,
    stuck_records=2,
    burst_records=3,
    burst_ms=5,
    record_lock_duration_ms=2,
    loop_releases=1,
    count_records=1,
    gap_ms=2,
    cold_ms=1,
    cold_records=1,
)

offsets = st.integers(-3, 40)
batches = st.lists(
    st.tuples(offsets, st.integers(0, 12), st.integers(0, 5), st.integers(-1, 4)).map(lambda b: (b[0], b[0] + b[1], b[2], b[3])),
    max_size=4,
)
starts = st.one_of(st.just(-1), st.integers(0, 45))
counts = st.integers(-1, 20)
partitions = st.integers(0, 1)
steps = st.one_of(
    st.tuples(
        st.just("snapshot"),
        batches,
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-1, 2)),
        starts,
        counts,
        partitions,
    ),
    st.tuples(st.just("update"), batches, st.tuples(st.integers(0, 3), st.integers(-1, 2)), starts, counts, partitions),
    st.tuples(st.just("tombstone"), partitions),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), steps), max_size=30))
def test_any_log_is_looked_through(life: list[tuple[int, tuple[object, ...]]]) -> None:
    log = MadeUpLog()
    ms = 0
    for wait, (verb, *arguments) in life:
        ms += wait
        if verb == "tombstone":
            log.tombstone(ms, partition=arguments[0])  # type: ignore[arg-type]
        else:
            told, epochs, start, complete, partition = arguments
            getattr(log, str(verb))(ms, told, epochs=epochs, start=start, complete=complete, partition=partition)
    states: dict[Key, Replayed] = {}
    for row in log.rows:
        replay(states, row)
    for found in analysis.find_anomalies(log.rows, CONFIG):
        assert found.until_timestamp is None or found.until_timestamp >= found.since_timestamp
        assert (found.first_offset is None) == (found.last_offset is None)
        assert found.first_offset is None or found.last_offset is None or found.first_offset <= found.last_offset
        missing = found.kind == analysis.AnomalyKind.MISSING_SNAPSHOT
        assert not missing or states[found[2:5]].row.snapshot_offset is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 9), st.sampled_from([0, 0, 2, 3, 4]), st.integers(1, 4)),
        max_size=40,
    )
)
def test_no_record_is_in_two_findings(life: list[tuple[int, int, int, int, int]]) -> None:
    log = MadeUpLog()
    log.snapshot(0)
    ms = 0
    for wait, first, more, state, count in life:
        ms += wait
        log.update(ms, [(first, first + more, state, count)])
    told = Counter(place for found in analysis.find_anomalies(log.rows, CONFIG) for place in accused(found))
    assert [place for place, count in told.items() if count > 1] == []
