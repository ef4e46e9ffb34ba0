"""Measures the folds on Spark, writes `benches/results/spark-*.json` and the report.

python -m benches.spark.measure [--quick] [--only ways,growth,cores,memory,streaming] [--largest RECORDS] [--keep]

Everything is written below `build/bench/spark` and deleted afterwards: up to 9 GB with the largest log of 10^8 records.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benches import environment
from benches.programs import EngineFailedError
from benches.spark import report, topic
from benches.spark.job import Case, Job, Timed
from benches.spark.topic import Log

REPOSITORY = Path(__file__).resolve().parents[2]
_BUILD = REPOSITORY / "build" / "bench"
_PLACE = _BUILD / "spark"


@dataclass(frozen=True)
class Effort:
    """Sizes, and rounds of each."""

    #: Records of the log that all ways fold, of 1,000 share partitions.
    ways: int
    #: Records of logs of 1,000 share partitions, and rounds of each: what these cost is not lost beside their start-up.
    growth: tuple[tuple[int, int], ...]
    #: Records of the logs of 10,000 share partitions, and rounds of each; the first has nothing but their initialisations.
    cores: tuple[tuple[int, int], ...]
    #: Records of logs of 1,000 share partitions, and share partitions of logs with the middle one of these sizes.
    memory: tuple[int, ...]
    keys: tuple[int, ...]
    #: Share partitions and writes of the streams.
    streaming: tuple[tuple[int, int], ...]
    rounds: int


_FULL = Effort(
    ways=1_000_000,
    growth=((1_000, 21), (1_000_000, 21), (10_000_000, 7)),
    cores=((10_000, 11), (1_000_000, 11), (10_000_000, 5), (100_000_000, 3)),
    memory=(100_000, 1_000_000, 10_000_000),
    keys=(1_000, 10_000, 100_000),
    streaming=((200, 5_000), (2_000, 20_000)),
    rounds=3,
)
_QUICK = Effort(
    ways=100_000,
    growth=((1_000, 5), (100_000, 5), (1_000_000, 3)),
    cores=((10_000, 5), (100_000, 5), (1_000_000, 5)),
    memory=(10_000, 100_000, 1_000_000),
    keys=(1_000, 10_000),
    streaming=((200, 5_000),),
    rounds=2,
)
_WAYS_KEYS = 1_000
_CORES_KEYS = 10_000


class Run:
    """Progress of a run: what has been written, and what went wrong."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.wrong: list[str] = []
        self.written: dict[Log, dict[str, Any]] = {}
        self._begun = time.monotonic()

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._begun:5.0f} s] {text}", flush=True)

    def log(self, records: int, keys: int) -> Log:
        log = Log(records, keys)
        if log not in self.written:
            self.written[log] = made = topic.write(log, _PLACE)
            self.say(f"wrote {records:,} records of {keys:,} share partitions: {made['bytes']:,} bytes, {made['seconds']:.1f} s")
        return log

    def fold(self, cores: int, planned: list[tuple[str, Log, int]], *, fresh_workers: bool = False) -> list[Timed]:
        """Fold in one session of Spark that is kept to so many cores."""
        cases = [Case(way, str(log.place(_PLACE)), f"{log.place(_PLACE)}.parquet", rounds) for way, log, rounds in planned]
        plan = json.dumps(asdict(Job(cores, cases, fresh_workers)))
        command = [*topic.pinned(cores), sys.executable, "-m", "benches.spark.job"]
        with (_PLACE / "job.log").open("w") as errors:
            ran = subprocess.run(
                command, cwd=REPOSITORY, input=plan, stdout=subprocess.PIPE, stderr=errors, text=True, check=False,
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            )  # fmt: skip
        if ran.returncode != 0:
            last = (_PLACE / "job.log").read_text(encoding="utf-8").strip().splitlines()[-5:]
            raise EngineFailedError("\n".join(["a session of Spark failed:", *last]))
        found = [Timed(**one) for one in json.loads(ran.stdout.strip().splitlines()[-1])]
        for (way, log, _rounds), one in zip(planned, found, strict=True):
            if one.wrong is not None:
                self.wrong.append(one.wrong)
            rounds = zip(one.seconds, one.cpu_seconds, strict=True)
            outcome = "WRONG" if one.wrong else " ".join(f"{s:.2f} ({c:.2f})" for s, c in rounds)
            self.say(f"{cores} cores, {way}, {log.records:,} records of {log.keys:,} share partitions: {outcome}")
        return found


def ways(run: Run) -> dict[str, Any]:
    """All ways through the same records, on all cores, beside the same job on almost none."""
    few, many = run.log(_WAYS_KEYS, _WAYS_KEYS), run.log(run.effort.ways, _WAYS_KEYS)
    names = ("source", "frames", "layout", "rows", "udf", "pandas")
    rounds = {"source": 3 * run.effort.rounds, "frames": 2 * run.effort.rounds, "layout": 2 * run.effort.rounds}
    planned = [(way, log, rounds.get(way, run.effort.rounds)) for way in names for log in (few, many)]
    # What ours takes for as many records as the slower ways fold is little beside the start-up.
    planned.append(("source", run.log(10 * run.effort.ways, _WAYS_KEYS), rounds["source"]))
    cores = os.cpu_count() or 1
    found = run.fold(cores, planned)
    rows = [
        {
            "way": way,
            "records": log.records,
            "keys": log.keys,
            "seconds": one.seconds,
            "cpu_seconds": one.cpu_seconds,
            "wrong": one.wrong,
        }
        for (way, log, _rounds), one in zip(planned, found, strict=True)
    ]
    return {"cores": cores, "rows": rows}


def growth(run: Run) -> dict[str, Any]:
    """Our source on one core and on two, over logs that grow while their share partitions do not."""
    rows = []
    for number in (1, 2):
        planned = [("source", run.log(records, _WAYS_KEYS), rounds) for records, rounds in run.effort.growth]
        for (_way, log, _rounds), one in zip(planned, run.fold(number, planned), strict=True):
            took = {"seconds": one.seconds, "cpu_seconds": one.cpu_seconds, "wrong": one.wrong}
            rows.append({"cores": number, "records": log.records, "keys": log.keys, **took})
    return {"rows": rows}


def cores(run: Run) -> dict[str, Any]:
    """Our source and one process of Rust, on one core and on two, over logs that grow."""
    rows = []
    for number in (1, 2):
        planned = [("source", run.log(records, _CORES_KEYS), rounds) for records, rounds in run.effort.cores]
        for (_way, log, rounds), one in zip(planned, run.fold(number, planned), strict=True):
            alone = topic.fold_seconds(log, _PLACE, number, rounds)
            run.say(f"{number} cores, one process of Rust, {log.records:,} records: {' '.join(f'{s:.2f}' for s in alone)}")
            took = {"seconds": one.seconds, "cpu_seconds": one.cpu_seconds, "rust_seconds": alone, "wrong": one.wrong}
            rows.append({"cores": number, "records": log.records, "keys": log.keys, **took})
    return {"rows": rows, "logs": [made for log, made in run.written.items() if log.keys == _CORES_KEYS]}


def memory(run: Run) -> dict[str, Any]:
    """The most memory of a Python worker, over records and over share partitions, by way."""
    middle = run.effort.memory[1]
    logs = [run.log(records, _WAYS_KEYS) for records in run.effort.memory]
    logs += [run.log(middle, keys) for keys in run.effort.keys if keys != _WAYS_KEYS]
    # The largest log would be long in becoming Parquet; the curve of the others tells the same.
    small = [log for log in logs if log.records <= middle]
    planned = [
        (way, log, 0) for way in ("source", "history", "anomalies", "frames") for log in (small if way == "frames" else logs)
    ]
    found = run.fold(os.cpu_count() or 1, planned, fresh_workers=True)
    rows = []
    for (way, log, _rounds), one in zip(planned, found, strict=True):
        rows.append({"way": way, "records": log.records, "keys": log.keys, "worker_bytes": one.worker_bytes, "wrong": one.wrong})
        run.say(f"{way}, {log.records:,} records of {log.keys:,}: {one.worker_bytes / 2**20:.0f} MiB a worker")
    return {"partitions": topic.PARTITIONS, "rows": rows}


def streaming(run: Run) -> dict[str, Any]:
    """A table that `foreachBatch` writes beside states that `transformWithState` keeps."""
    rows = []
    for keys, writes in run.effort.streaming:
        options = ["--keys", str(keys), "--writes", str(writes), "--json"]
        ran = subprocess.run(
            [sys.executable, "-m", "benches.spark.streaming_state", *options],
            cwd=REPOSITORY, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if ran.returncode != 0:
            raise EngineFailedError("\n".join(["streaming_state failed:", *ran.stderr.strip().splitlines()[-5:]]))
        rows.append(json.loads(ran.stdout.strip().splitlines()[-1]))
        run.wrong += [f"{way['way']}, {keys} share partitions: not the states" for way in rows[-1]["ways"] if way["wrong"]]
        run.say(f"streams of {keys:,} share partitions, {writes:,} writes: " + ", ".join(
            f"{way['way']} {way['seconds']:.1f} s" for way in rows[-1]["ways"]))  # fmt: skip
    return {"rows": rows}


PARTS: dict[str, Callable[[Run], dict[str, Any]]] = {
    "ways": ways,
    "growth": growth,
    "cores": cores,
    "memory": memory,
    "streaming": streaming,
}


def _measure(run: Run, name: str, into: Path) -> None:
    """Measure a part and write its results; one that fails leaves the others to be measured."""
    try:
        result = {"command": f"python -m benches.spark.measure --only {name}", **PARTS[name](run)}
    except EngineFailedError as error:
        run.say(f"{name} failed")
        run.wrong.append(str(error))
        return
    result["environment"] = environment.read()
    (into / f"spark-{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", default=",".join(PARTS))
    arguments.add_argument("--largest", type=int, default=10**8)
    arguments.add_argument("--keep", action="store_true", help="leave the logs in place")
    given = arguments.parse_args()
    effort = _QUICK if given.quick else _FULL
    within = tuple((records, rounds) for records, rounds in effort.cores if records <= given.largest)
    run = Run(Effort(**{**vars(effort), "cores": within}))
    into = _BUILD / "results" if given.quick else REPOSITORY / "benches" / "results"
    into.mkdir(parents=True, exist_ok=True)
    _PLACE.mkdir(parents=True, exist_ok=True)
    page = _BUILD / "benchmarks-spark.md" if given.quick else REPOSITORY / "docs" / "benchmarks-spark.md"
    try:
        for name in given.only.split(","):
            _measure(run, name, into)
            report.write(into, page)
    finally:
        if not given.keep:
            shutil.rmtree(_PLACE)
    run.say(f"results: {into}/spark-*.json, report: {page}")
    for text in run.wrong:
        print(text, file=sys.stderr)
    return int(bool(run.wrong))


if __name__ == "__main__":
    sys.exit(main())
