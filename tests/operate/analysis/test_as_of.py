"""As of earlier: what is seen is the fold of a prefix, at every offset and at every time of a log."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import share_state as ss
from share_state.cli.app import app
from share_state.operate import analysis
from share_state.operate.reading.as_of import AsOf
from share_state.operate.reading.cluster import ClusterScan, fold_cluster
from tests.kafka.roundtrip.played import ADDRESS, cluster_of, playing
from tests.recordings import JOBS, ORDERS

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
Record = tuple[int, str, int, int, bytes, bytes | None]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of our own: segments so small that there are several, deletions, new beginnings, and a torn last batch."""
    path = tmp_path_factory.mktemp("as-of") / "state"
    with ss.open(path, partitions=2, segment_bytes=4096, snapshot_update_records_per_snapshot=7) as store:
        for number in range(120):
            key = ss.SharePartitionKey("workers", TOPIC, number % 5)
            epoch = number // 40
            if number % 40 < 5:
                store.reset_state(key, epoch, number)
            elif number % 40 == 39:
                store.delete_state(key)
                store.reset_state(key, epoch, number)
            else:
                batches = [(number + at, number + at, 2 * (at % 3), 1 + at) for at in range(4)]
                store.write_state(key, ss.WriteState(epoch, 0, number, -1, batches))
    return path


def source(directory: Path, embedded: Path) -> Path:
    return embedded if directory == Path() else directory


each_log = pytest.mark.parametrize("directory", [ORDERS, JOBS, Path()], ids=["orders", "jobs", "embedded"])


def prefixes(records: list[Record], ends: list[int], place: Callable[[Record], int]) -> Iterator[tuple[int, list[Any]]]:
    """The states after every end, each folded on from the one before."""
    waiting = sorted(records, key=lambda record: (place(record), record[0], record[2]))
    coordinators: dict[int, ss.ShareCoordinator] = {}
    at = 0
    for end in ends:
        while at < len(waiting) and place(waiting[at]) <= end:
            partition, _segment, offset, _timestamp, key, value = waiting[at]
            coordinators.setdefault(partition, ss.ShareCoordinator()).replay(offset, key, value)
            at += 1
        yield end, [state for coordinator in coordinators.values() for state in coordinator.states()]


def plain(states: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("group", "topic_id", "partition", "snapshot_epoch", "state_epoch", "leader_epoch", "start_offset",
             "delivery_complete_count", "batches", "create_timestamp", "write_timestamp")  # fmt: skip
    return sorted(tuple(state[name] for name in names) for state in states)


@each_log
def test_the_fold_as_of_every_offset_is_the_fold_of_the_prefix(directory: Path, embedded: Path) -> None:
    path = source(directory, embedded)
    records = list(analysis.scan_path(path))
    ends = list(range(-1, max(record[2] for record in records) + 2))
    assert len(ends) > 50
    for end, expected in prefixes(records, ends, lambda record: record[2]):
        states, findings = analysis.fold_path(path, as_of_offset=end)
        assert plain(states) == plain(expected), end
        assert findings == []
        assert len(list(analysis.scan_path(path, as_of_offset=end))) == sum(record[2] <= end for record in records)
        if end % 17 == 0:
            rows = [(*row[:3], row.start_offset, list(row.batches)) for row in analysis.states(path, as_of_offset=end)]
            assert sorted(rows) == [(*state[:3], state[6], state[8]) for state in plain(expected)]


@each_log
def test_each_state_partition_may_end_at_an_offset_of_its_own(directory: Path, embedded: Path) -> None:
    path = source(directory, embedded)
    records = list(analysis.scan_path(path))
    for ends in ({0: 3, 1: 20}, {0: 20, 1: 3}, {1: 5}, {0: 0, 1: 0, 2: 0}):
        prefix = [record for record in records if record[2] <= ends.get(record[0], 10**9)]
        [(_, expected)] = prefixes(prefix, [10**9], lambda record: record[2])
        assert plain(analysis.fold_path(path, as_of_offset=ends)[0]) == plain(expected)
        assert len(expected) > 0


@each_log
def test_the_fold_as_of_every_time_ends_before_the_first_later_record(directory: Path, embedded: Path) -> None:
    path = source(directory, embedded)
    records = list(analysis.scan_path(path))
    # The latest time up to each record: what stands after a later record does not count.
    reached: dict[tuple[int, int], int] = {}
    latest: dict[int, int] = {}
    for partition, _segment, offset, timestamp, _key, _value in records:
        reached[partition, offset] = latest[partition] = max(latest.get(partition, timestamp), timestamp)
    times = sorted(set(reached.values()))
    ends = [times[0] - 1, *times, times[-1] + 1]
    for number, (end, expected) in enumerate(prefixes(records, ends, lambda record: reached[record[0], record[2]])):
        assert plain(analysis.fold_path(path, as_of_timestamp=end)[0]) == plain(expected), end
        if number % 17 == 0:
            rows = [(*row[:3], list(row.batches)) for row in analysis.states(path, as_of_timestamp=end)]
            assert sorted(rows) == [(*state[:3], state[8]) for state in plain(expected)]
    assert plain(analysis.fold_path(path, as_of_timestamp=ss.WallTime(times[-1]))[0]) == plain(analysis.fold_path(path)[0])


@each_log
def test_a_cluster_as_of_earlier_is_its_directory_as_of_earlier(
    directory: Path, embedded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source(directory, embedded)
    times = sorted({record[3] for record in analysis.scan_path(path)})
    places: list[dict[str, Any]] = [{"as_of_offset": end} for end in (-1, 0, 7, 31, 10**6)]
    places += [{"as_of_timestamp": moment} for moment in (0, times[0], times[len(times) // 2], times[-1])]
    for place in [*places, {"as_of_offset": {0: 5}}]:
        scan = ClusterScan(ADDRESS, as_of=AsOf(place.get("as_of_offset"), place.get("as_of_timestamp")))
        with playing(monkeypatch, cluster_of(path)):
            assert fold_cluster(scan) == analysis.fold_path(path, **place)
            assert list(analysis.states(ADDRESS, **place)) == list(analysis.states(path, **place))
            assert list(analysis.history(ADDRESS, **place)) == list(analysis.history(path, **place))


def shown(*arguments: object) -> list[dict[str, Any]]:
    ran = CliRunner().invoke(app, ["state", *map(str, arguments), "--format", "jsonl"])
    assert (ran.exit_code, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_command_line_names_offsets_or_a_time() -> None:
    records = list(analysis.scan_path(ORDERS))
    moment = sorted(record[3] for record in records)[len(records) // 2]
    iso = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)
    elsewhere = iso.astimezone(tz=datetime.strptime("+0530", "%z").tzinfo)

    def same(said: str, **place: Any) -> None:
        names = ("group", "topic_id", "partition", "snapshot_epoch", "start_offset", "batches")
        expected = [{name: state[name] for name in names} for state in analysis.fold_path(ORDERS, **place)[0]]
        batch = ("first_offset", "last_offset", "delivery_state", "delivery_count")
        got = [{**{name: row[name] for name in names}, "batches": [tuple(b[name] for name in batch) for b in row["batches"]]}
               for row in shown(ORDERS, "--as-of", said)]  # fmt: skip
        assert got == expected
        assert got

    same("0=70,1=120,2=50", as_of_offset={0: 70, 1: 120, 2: 50})
    same("1=0", as_of_offset={1: 0})
    same(str(moment), as_of_timestamp=moment)
    same(iso.isoformat(timespec="milliseconds").replace("+00:00", "Z"), as_of_timestamp=moment)
    same(iso.replace(tzinfo=None).isoformat(timespec="milliseconds"), as_of_timestamp=moment)
    same(elsewhere.isoformat(timespec="milliseconds"), as_of_timestamp=moment)
    # A time between two milliseconds is after the first of them.
    same((iso + timedelta(microseconds=999)).isoformat(timespec="microseconds"), as_of_timestamp=moment)
    assert shown(ORDERS, "--as-of", "1970-01-01") == []


@pytest.mark.parametrize(
    "said",
    [
        "",
        "yesterday",
        "0=",
        "=5",
        "0=5,",
        "0=1,0=2",
        "0=-1",
        "0:5",
        "2026-13-01",
        "9" * 30,
        "9999999999=1",
        "0=" + "9" * 30,
        "-1",
        "1795254335384000",
        "0",
        "100",
        "99999999999",
        "1795254335",
        "7=0",
        "0=99999",
    ],
)
def test_what_is_no_place_is_a_usage_error(said: str) -> None:
    ran = CliRunner().invoke(app, ["state", str(ORDERS), "--as-of", said])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "--as-of" in ran.stderr


def test_a_small_number_is_told_what_it_would_be() -> None:
    ran = CliRunner().invoke(app, ["state", str(ORDERS), "--as-of", "100"], env={"COLUMNS": "400"})
    told = " ".join(ran.stderr.split())
    assert "--as-of 100: as a time it is 1970-01-01T00:00:00.100Z; an offset is P=OFFSET, with the state partition P" in told
    assert shown(ORDERS, "--as-of", "100000000000") == []


EARLY = "2026-11-21T09:44:00Z"


def test_an_empty_log_as_of_earlier_says_of_when() -> None:
    ran = CliRunner().invoke(app, ["state", str(ORDERS), "--as-of", EARLY])
    assert (ran.exit_code, ran.stdout) == (0, f"No share partition has state here as of {EARLY}.\n")


def test_a_group_that_is_not_there_as_of_earlier_is_refused_as_such() -> None:
    arguments = ["state", str(ORDERS), "--as-of", f" {EARLY}", "-g", "orders-workers"]
    ran = CliRunner().invoke(app, arguments, env={"COLUMNS": "400"})
    assert ran.exit_code == 2
    told = " ".join(ran.stderr.split())
    assert f"--group orders-workers is not in the log as of {EARLY}, which has none" in told


@pytest.mark.parametrize("bad", ["0", {0: "1"}, {"0": 1}, {-1: 1}, {0: True}, 2**63, [1]])
def test_what_is_no_offset_is_refused_by_the_library(bad: Mapping[int, int]) -> None:
    for read in (analysis.fold_path, analysis.scan_path, analysis.history, analysis.states):
        with pytest.raises((TypeError, OverflowError)):
            read(ORDERS, as_of_offset=bad)
    with pytest.raises(TypeError):
        analysis.fold_path(ORDERS, as_of_timestamp=ss.LockTime(1))  # type: ignore[arg-type]
