"""What the front page shows of the results: the headline rows, without a disk and over one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches import provenance, targets, text
from benches.plan import ABOUT, DURABILITIES, DURABLE_HEADLINES, HEADLINE_PLOT, HEADLINES, OURS, TARGETS
from benches.programs import KAFKA

if TYPE_CHECKING:
    from pathlib import Path

    from benches.targets import Results

_BEGIN, _END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"


def put(results: Results, page: Path) -> None:
    """Renew the headlines of the front page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the headlines, {_BEGIN} … {_END}")
    shown = "\n".join(lines(results))
    page.write_text(f"{before}{begin}\n{shown}\n{end}{after}", encoding="utf-8")


def lines(results: Results) -> list[str]:
    """The headlines."""
    shown = [target for target in TARGETS if target.row in HEADLINES and target.ratios]
    measured = [results[target.row]["environment"] for target in shown if target.row in results]
    if not measured:
        return ["Nothing was measured."]
    last = measured[-1]
    of = {row: results[row] for row in (*HEADLINES, *_durable_rows()) if row in results}
    dates = sorted({one["measured"][:10] for one in measured})
    loads = sorted(one["load"] for one in measured)
    rows = [targets.row(target, results) for target in shown]
    return [
        f"![{ABOUT[HEADLINE_PLOT]}](docs/benchmarks/{HEADLINE_PLOT}.svg)",
        "",
        *provenance.notice(of),
        "**Without a disk**: the engine alone. On both sides the persister confirms every write at once and keeps nothing.",
        "",
        "| workload | Kafka | Rust | Python scalar | Python columnar |",
        "|---|--:|--:|--:|--:|",
        *("| " + " | ".join([row[0], *row[2:6]]) + " |" for row in rows),
        "",
        *_durable(results),
        f"Time of an element, and how many times as fast as Kafka {last['kafka']}'s own class in the same run: its best round by",
        "our best round or process, results compared first. Measured on",
        f"{last['cpu']}, {last['cpus']} CPUs, one thread, load {loads[0]} to {loads[-1]}, {last['rust'].partition(' (')[0]},",
        f"CPython {last['python']}, {', '.join(dates)}, commit {provenance.commits(of)}.",
    ]


def _durable(results: Results) -> list[str]:
    """The same over a disk: each headline with every way in which its writes reach it."""
    rows = [f"| {about} | " + " | ".join(_cells(results[row])) + " |" for row, about in _durable_rows().items() if row in results]
    if not rows:
        return ["**Over a disk**: not measured yet; `make bench` does.", ""]
    return [
        "**Over a disk**: every write goes to a `StateStore`, inside the call or by a caller that polls. Kafka's class has a",
        "persister that appends the bytes of the same commits to a file and syncs as the store does. Columnar calls make fewer",
        "and larger writes.",
        "",
        "| workload; writes | Kafka | Rust | Python scalar | Python columnar |",
        "|---|--:|--:|--:|--:|",
        *rows,
        "",
    ]


def _durable_rows() -> dict[str, str]:
    """The rows over a disk, each beside the same without one, and what the page calls them."""
    ways = {"": "no disk", **DURABILITIES}
    return {
        f"{row}-{way}" if way else row: f"{about}; {shown}"
        for row, about in DURABLE_HEADLINES.items()
        for way, shown in ways.items()
    }


def _cells(result: dict[str, Any]) -> list[str]:
    engines = result["engines"]
    kafka = engines.get(KAFKA, {})
    return [text.time(kafka), *(text.beside(engines.get(face, {}), kafka) for face in OURS)]
