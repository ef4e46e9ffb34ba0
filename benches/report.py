"""The report of what was measured: targets, tails, curves and every row.

python -m benches.report [RESULTS [PAGE]]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benches import headline, plots, provenance, steady, targets, text
from benches.plan import (
    ABOUT,
    DURABILITIES,
    OURS,
    ROWS,
    TAIL_ASIDE,
    TAIL_LIMIT,
    TAIL_ROWS,
    TAIL_TARGET_NS,
)
from benches.programs import COLUMNAR, ENGINES, KAFKA, KIO, SCALAR, TREE, TWIN
from benches.targets import Results

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "benchmarks.md"

NAMES = {
    KAFKA: "Kafka 4.4.0",
    TREE: "share_state, Rust",
    SCALAR: "share_state, Python scalar",
    COLUMNAR: "share_state, Python columnar",
    TWIN: "share_state, obvious twin",
    KIO: "kio",
}


def read(directory: Path) -> Results:
    """Published part of the results in a directory, by the name of their row."""
    # Those of Spark and of the gateway have reports of their own.
    paths = (path for path in sorted(directory.glob("*.json")) if not path.name.startswith(("spark-", "gateway-")))
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    for result in found:
        result["engines"] = {engine: steady.published(one) for engine, one in result["engines"].items()}
    return {result["row"]: result for result in found}


def write(directory: Path, page: Path) -> None:
    """The page, and its plots in a folder beside it."""
    results = read(directory)
    drawn = plots.draw(results, page.parent / "benchmarks")
    page.write_text("\n".join(lines(results, [f"benchmarks/{path.name}" for path in drawn])) + "\n", encoding="utf-8")
    if page == PAGE:
        headline.put(results, REPOSITORY / "README.md")


def lines(results: Results, drawn: list[str]) -> list[str]:
    """The page."""
    return [
        "# Benchmarks",
        "",
        *_conditions(results),
        "",
        "## What is to be reached",
        "",
        "A ratio is Kafka's median by ours, each over the rounds of several processes in steady state; a cell has the time of an",
        "element and the ratio. How to read them, and what each engine is: [benches/README.md](../benches/README.md).",
        "",
        *targets.table(results),
        "",
        "## What stands in the way",
        "",
        *targets.limits(results),
        "",
        "## Tails",
        "",
        *_tails(results),
        "",
        "## Curves",
        "",
        "Both axes are logarithmic. Where a curve ends before the largest size, the legend says why; the time limit is that of a",
        "first replay. The obvious twin shows what an entry an offset costs.",
        "",
        *[line for path in drawn for line in (f"![{Path(path).stem}]({path})", "")],
        "## Every row",
        "",
        *_details(results),
    ]


def _conditions(results: Results) -> list[str]:
    environments = [result["environment"] for result in results.values()]
    if not environments:
        return ["Nothing was measured."]

    def all_of(name: str) -> str:
        return ", ".join(sorted({str(one.get(name, "")) for one in environments} - {""}))

    dates = sorted(one["measured"] for one in environments)
    loads = sorted(one["load"] for one in environments)
    last = environments[-1]
    busy = [
        "**The machine was busy with other programs.** Times hold the waiting for a processor: ratios of short rounds to long",
        "ones are too high or too low, and rows are `stopped` that would not be else. Only the comparison of results, the",
        "bytes and the writes can be relied on.",
        "",
    ]
    return [
        *provenance.notice(results),
        *(busy if loads[-1] > 2 * last["cpus"] else []),
        f"Written by `make bench` from [benches/results](../benches/results), measured {dates[0][:16]} to {dates[-1][:16]} UTC.",
        "",
        f"- Machine: {all_of('cpu')}, {all_of('cpus')} CPUs, {all_of('memory_gib')} GiB, {all_of('system')}; single thread,",
        f"  load of the machine (all programs) {loads[0]} to {loads[-1]}.",
        f"- Versions: {all_of('rust')}; CPython {all_of('python')}; Kafka {last['kafka']} on {all_of('java')}.",
        f"- Commit: {provenance.commits(results)}.",
        "- Every engine replayed the same operation log. Results were compared first: grants, error codes, offsets, delivery",
        "  complete count and the folded durable state; a wrong one is shown as wrong and has no time.",
    ]


def _tails(results: Results) -> list[str]:
    rows = [
        "Each operation timed by itself, of each the least over the rounds, at 10^6 in flight. To reach:",
        f"p99.99 below {TAIL_TARGET_NS / 1000:.0f} µs. The one operation that ends 10^6 locks is shown and not held to it.",
        "",
        "| workload | operation | engine | operations | p50 | p99 | p99.99 | max | |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
    ]
    missed = False
    for name in TAIL_ROWS:
        engines = results.get(name, {}).get("engines", {})
        shown = [engine for engine in (TREE, SCALAR, KAFKA) if engines.get(engine, {}).get("tails")]
        if not shown:
            rows.append(f"| {name} | | | | | | | | not measured |")
        for engine in shown:
            for operation, tail in engines[engine]["tails"].items():
                times = [text.ns(tail[key]) for key in ("p50", "p99", "p9999", "max")]
                held = engine in OURS and (name, operation) not in TAIL_ASIDE
                is_met = tail["p9999"] <= TAIL_TARGET_NS
                missed |= held and not is_met
                verdict = ("met" if is_met else "MISSED") if held else ""
                cells = [name, f"`{operation}`", NAMES[engine], f"{tail['count']:,}", *times, verdict]
                rows.append("| " + " | ".join(cells) + " |")
    return [*rows, *(["", TAIL_LIMIT] if missed else [])]


def _details(results: Results) -> list[str]:
    page = []
    for workload in dict.fromkeys(row.workload for row in ROWS):
        found = sorted((r for r in results.values() if r["workload"] == workload), key=_place)
        page += [f"### {workload}", ""]
        if workload in ABOUT:
            page += [f"{ABOUT[workload][0].upper()}{ABOUT[workload][1:]}.", ""]
        if not found:
            page += ["Not measured.", ""]
            continue
        page += [f"`{found[0]['command']}` and so on.", ""]
        page += [
            "| size | engine | an element | × Kafka | a second | spread | writes | bytes persisted | more |",
            "|--:|---|--:|--:|--:|--:|--:|--:|---|",
        ]
        for result in found:
            engines = result["engines"]
            for engine in (engine for engine in ENGINES if engine in engines):
                page.append("| " + " | ".join(_detail(result, engine, engines[engine], engines.get(KAFKA, {}))) + " |")
        page.append("")
    return page


def _place(result: dict[str, Any]) -> tuple[int, int]:
    """By size, and by how writes reach a disk in the order of the plan."""
    return result["size"], ["", *DURABILITIES].index(result.get("durability", ""))


def _detail(result: dict[str, Any], engine: str, found: dict[str, Any], kafka: dict[str, Any]) -> list[str]:
    durability = result.get("durability", "")
    start = [f"{result['size']:,}{f'; {DURABILITIES[durability]}' if durability else ''}", NAMES[engine]]
    if found.get("wrong"):
        return [*start, "WRONG", "", "", "", "", "", ""]
    more = [f"{text.amount(found[name])} {what}" for name, what in _MORE.items() if name in found]
    if "untold" in found:
        more = [found["untold"]]
    elif found.get("missing"):
        more = ["could not run"]
    elif found.get("stopped") is not None:
        more = [f"stopped after the time limit at operation {found['stopped']:,}"]
    elif "stopped_at_size" in found:
        more = [f"stopped at {found['stopped_at_size']:,}"]
    if "ns" not in found:
        return [*start, "", "", "", "", "", "", ", ".join(more)]
    ratio = ""
    if engine != KAFKA and "ns" in kafka:
        ratio = text.ratio(kafka["ns"] / found["ns"])
    persisted = [f"{found['writes']:,}", f"{found['bytes']:,}"] if found.get("writes") else ["", ""]
    if found.get("tails"):
        more.insert(0, _single(found["tails"]))
    rounds = f"{found['spread']:.0%} of {len(found['rounds_ns'])} in {len(found['processes'])}"
    return [*start, text.time(found), ratio, f"{1e9 / found['ns']:,.0f}", rounds, *persisted, ", ".join(more)]


def _single(tails: dict[str, dict[str, int]]) -> str:
    """Times of the operation that the workload has most of."""
    operation = max(tails, key=lambda name: tails[name]["count"])
    tail = tails[operation]
    return f"`{operation}` p50 {text.ns(tail['p50'])}, p99 {text.ns(tail['p99'])}, max {text.ns(tail['max'])}"


_MORE = {
    "bytes_each": "bytes each",
    "records_a_second": "records a second",
    "writes_a_second": "writes a second",
    "share_of_bare": "of a bare append and sync",
    "gc_ms": "ms of garbage collection",
    "two_threads_ratio": "times the speed with two threads",
}


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0]) if arguments else REPOSITORY / "benches" / "results"
    page = Path(arguments[1]) if len(arguments) > 1 else PAGE
    write(directory, page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
