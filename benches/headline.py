"""Block of figures on the front page: one small table, written by `make bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches import provenance, text
from benches.plan import HEADLINES, OURS
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
    """Return the headlines, or one sentence where no figure of them is published."""
    of = {row: results[row] for row in HEADLINES if row in results}
    of = {row: result for row, result in of.items() if any("ns" in engine for engine in result["engines"].values())}
    if not of:
        return ["No figure is published: `make bench` measures them and writes them here."]
    environments = [result["environment"] for result in of.values()]
    last = environments[-1]
    dates = sorted({one["measured"][:10] for one in environments})
    loads = sorted(one["load"] for one in environments)
    return [
        *provenance.notice(of),
        "| workload | Kafka | Rust | Python scalar | Python columnar |",
        "|---|--:|--:|--:|--:|",
        *(f"| {HEADLINES[row]} | " + " | ".join(_cells(result["engines"])) + " |" for row, result in of.items()),
        "",
        f"Time of an element, and how many times as fast as Kafka {last['kafka']}'s own class: medians over several processes in",
        f"steady state, results compared first. {last['cpu']}, {last['cpus']} CPUs, one thread, load {loads[0]} to {loads[-1]},",
        f"{last['rust'].partition(' (')[0]}, CPython {last['python']}, {', '.join(dates)}, commit {provenance.commits(of)}.",
    ]


def _cells(engines: dict[str, Any]) -> list[str]:
    kafka = engines.get(KAFKA, {})
    return [text.time(kafka), *(text.beside(engines.get(face, {}), kafka) for face in OURS)]
