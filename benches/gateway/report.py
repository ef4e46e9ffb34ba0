"""The page of what was measured at the gateway: tables in Markdown, the goals first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benches.gateway.goals import Found, Row, goals, median

_ABOUT = """\
# Benchmarks of the gateway

`make bench-gateway` measures and writes this page, in about an hour; `make bench-gateway BENCH_ARGS=--quick` takes
a tenth of everything and writes to `build/bench/gateway`. All sides share one machine with their clients and one broker of
Kafka 4.4.0, without TLS, on loopback:

* **A**: a consumer group that the broker serves, the ceiling;
* **B**: the broker's own share group;
* **C interval**, **C always**: a share group through the gateway over the same broker. `interval` and `always` say when an
  acknowledgement is on the disk. A broker leaves that to the page cache, as `interval` leaves it to a timer; `always` answers
  after fsync.

Rounds are in random order, on servers that are warm; a figure is the median, with the extremes where a table has room.
"""
_WHAT_STANDS_IN_THE_WAY = """\
## Where Python is the limit

The gateway decides in Rust and speaks in Python. A request costs it 70 to 100 µs of one core: asyncio reads the frame and writes
the answer (a system call each), the rest is dispatch. So one gateway answers some 10,000 to 14,000 requests a second, whatever
they hold. As long as members take many records at once, the rate of records is far from that limit; acknowledgements of one
record each, from many members at once, reach it. Records themselves are never touched by Python: they pass as bytes.

Of what an acknowledgement costs, a sixth is the two system calls, and the rest is spread over some forty functions of asyncio and
of the gateway, none of which has a twentieth. Python's search for garbage had another sixth, and has next to nothing since
`share-state gateway` makes it rarer. uvloop was tried: with 64 and 1,000 acknowledgements in flight a request cost as much CPU
with it as without, so it is not used.
"""


def page(results: Path) -> str:
    """Make the page out of the parts that have been measured."""
    paths = {name: results / f"gateway-{name}.json" for name in SECTIONS}
    found = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}
    sections = [_ABOUT, _machine(found), _goals(found)]
    sections += [section(found[name]["rows"]) for name, section in SECTIONS.items() if name in found and found[name]["rows"]]
    return "\n".join([*sections, _WHAT_STANDS_IN_THE_WAY])


def _machine(found: Found) -> str:
    one = next(iter(found.values()))["environment"]
    measured = ", ".join(
        f"{name} {told['environment']['measured'][:16]}Z ({told['rounds']} rounds, load {told['environment']['load']})"
        for name, told in found.items()
    )
    machine = f"{one['cpu']}, {one['cpus']} cores, {one['memory_gib']} GiB, Python {one['python']}, {one['commit']}"
    return f"{machine}. Measured: {measured}.\n"


def _goals(found: Found) -> str:
    rows = [
        (
            goal.name,
            f"{'≥' if goal.least else '≤'} {goal.bound:g}{goal.unit}",
            f"{goal.measured:.3g}{goal.unit}",
            "reached" if goal.reached else "**missed**",
        )
        for goal in goals(found)
    ]
    return _table("Goals", "", ("", "bound", "measured", ""), rows)


def _throughput(rows: list[Row]) -> str:
    about = """\
`kafka-share-consumer-perf-test` of Kafka 4.3.1 for B and C, `kafka-consumer-perf-test` for A, unchanged. Records a second from
the first record to the last; joining is beside it. 6 partitions, one member, 500 records a poll unless said otherwise.
CPU seconds are of the process that decides for a million records; for C the broker's, as upstream, are beside it."""
    head = ("load", "side", "records/s", "least", "most", "joining s", "CPU s a million", "upstream CPU s a million")
    return _table("Throughput", about, head, map(_throughput_row, rows))


def _curves(rows: list[Row]) -> str:
    about = "As above, while one thing grows. Where it is not what grows: one member, 6 partitions, 100 B."
    head = ("grows", "to", "side", "records/s", "least", "most", "joining s", "CPU s a million", "upstream CPU s a million")
    return _table("Growth", about, head, ((row["curve"], *_throughput_row(row)) for row in rows))


def _throughput_row(row: Row) -> tuple[str, ...]:
    millions = row["records"] / 1e6
    return (
        row["load"],
        row["side"],
        *(f"{row['rate'][name]:,.0f}" for name in ("median", "least", "most")),
        f"{row['joining_s']['median']:.2f}",
        f"{row['server_cpu_s']['median'] / millions:.2f}",
        f"{row['upstream_cpu_s']['median'] / millions:.2f}" if row["side"][0] == "C" else "",
    )


def _latency(rows: list[Row]) -> str:
    about = """\
1,000 records of 100 B a second over 6 partitions, one member of confluent-kafka, which acknowledges implicitly: from
`produce` to the return of `poll`, in milliseconds. The first record is counted from `subscribe`."""
    fields = ("p50_ms", "p99_ms", "p99.9_ms", "first_record_ms", "server_cpu_s", "upstream_cpu_s")
    head = ("side", "p50 ms", "p99 ms", "p99.9 ms", "first record ms", "server cores", "upstream cores")
    return _table("Latency", about, head, _medians(rows, ("side",), fields))


def _acknowledgements(rows: list[Row]) -> str:
    about = """\
Raw members, one ShareAcknowledge of one record in flight each. *B synced* is a broker with `log.flush.interval.messages=1`: it
syncs before it answers, as `always` does. *Before* is the gateway of the checkout that `--before` named, in the same run. CPU is
that of the server."""
    head = ("side", "in flight", "a second", "p50 ms", "p99 ms", "CPU µs each")
    fields = ("rate", "p50_ms", "p99_ms", "server_cpu_us")
    return _table("Acknowledgements", about, head, _medians(rows, ("side", "in_flight"), fields))


def _partitions(rows: list[Row]) -> str:
    about = (
        "Resident memory of the gateway, before and after so many share partitions of 10 groups are initialised and fetched from."
    )
    head = ("share partitions", "before MiB", "after MiB")
    return _table("Idle share partitions", about, head, _medians(rows, ("share_partitions",), ("before_mib", "after_mib")))


def _members(rows: list[Row]) -> str:
    about = """\
Raw members that tell every 5 s that they are there, and as many connections besides that wait for records in one ShareFetch
of 500 ms after the other, as consumers do that poll: cores of the server."""
    head = ("side", "members", "heartbeats", "heartbeats and fetches")
    fields = ("heartbeats_cores", "heartbeats_and_fetches_cores")
    return _table("Idle members", about, head, _medians(rows, ("side", "members"), fields))


def _second_group(rows: list[Row]) -> str:
    about = "1,000 records of 100 B a second, a member of confluent-kafka for each group."
    head = ("groups", "bytes/s from upstream", "upstream cores", "gateway cores")
    fields = ("upstream_bytes_s", "upstream_cores", "gateway_cores")
    return _table("A second group on the same topic", about, head, _medians(rows, ("groups",), fields))


def _nats(rows: list[Row]) -> str:
    version = rows[0]["version"]
    about = f"""\
NATS JetStream {version}, which people would pick instead, measured once: a server embedded in a Go program (`benches/nats`, last
in commit `2f347d6d`), one stream of 100,000 records of 100 B in files with `sync always`, published with 1,024 outstanding, one
pull consumer that takes 500 at once. Draining sends each acknowledgement without waiting for an answer; *confirmed* waits
(`AckSync`). With one in flight the answer comes sooner than any disk syncs, so a confirmed acknowledgement of JetStream is in
memory; compare it with `interval`."""
    lines: list[tuple[str, ...]] = [
        ("published and synced, records/s", f"{median(rows, 'publish_rate'):,.0f}", "", ""),
        ("drained, records/s", f"{median(rows, 'consume_rate'):,.0f}", "", ""),
    ]
    steps = [step for row in rows for step in row["confirmed"]]
    for in_flight in dict.fromkeys(step["in_flight"] for step in steps):
        figures = [median(steps, field, in_flight=in_flight) for field in ("rate", "p50_ms", "p99_ms")]
        lines.append((f"confirmed acknowledgements a second, {in_flight:,} in flight", *(_figure(one) for one in figures)))
    return _table("NATS JetStream", about, ("", "", "p50 ms", "p99 ms"), lines)


#: By the name of a part. `nats` was measured once and is not measured any more.
SECTIONS = {
    "throughput": _throughput,
    "latency": _latency,
    "acknowledgements": _acknowledgements,
    "second-group": _second_group,
    "partitions": _partitions,
    "members": _members,
    "curves": _curves,
    "nats": _nats,
}


def _medians(rows: list[Row], keys: tuple[str, ...], fields: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each combination of keys, with the medians of the fields."""
    for values in dict.fromkeys(tuple(row[key] for key in keys) for row in rows):
        wanted: Mapping[str, Any] = dict(zip(keys, values, strict=True))
        shown = (f"{value:,}" if isinstance(value, int) else str(value) for value in values)
        yield (*shown, *(_figure(median(rows, field, **wanted)) for field in fields))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(title: str, about: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    numbers = "".join("--:|" for _ in head[1:])
    lines = [f"## {title}", "", *([about, ""] if about else []), f"| {' | '.join(head)} |", f"|---|{numbers}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])
