"""The report of what was measured: targets, tables, tails and curves.

python -m benches.report [RESULTS [PAGE]]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benches import plots
from benches.plan import (
    HEADLINE_PLOT,
    HEADLINES,
    MODELS,
    OURS,
    ROWS,
    TAIL_ASIDE,
    TAIL_LIMIT,
    TAIL_LOCKS,
    TAIL_ROWS,
    TAIL_TARGET_NS,
    TARGETS,
    Target,
)
from benches.programs import COLUMNAR, ENGINES, FLAT_VEC, KAFKA, KIO, OFFSET_MAP, SCALAR, TREE, TWIN

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "benchmarks.md"
_BEGIN, _END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"
Results = dict[str, dict[str, Any]]

NAMES = {
    KAFKA: "Kafka 4.4.0",
    TREE: "share_state, Rust",
    SCALAR: "share_state, Python scalar",
    COLUMNAR: "share_state, Python columnar",
    TWIN: "share_state, obvious twin",
    OFFSET_MAP: "naive_offset_map",
    FLAT_VEC: "flat_vec",
    KIO: "kio",
}
_FACES = (TREE, SCALAR, COLUMNAR)
_SHORT = {TREE: "Rust", SCALAR: "scalar", COLUMNAR: "columnar"}
_ABOUT = {
    "W1": "whole batches acquired and acknowledged, 20 in flight; size: records a batch; an element is a cycle",
    "W2": "one request with a type for each record, all accepts; size: records a request; an element is a record",
    "W3": "single accepts in the order of the offsets; size: records of the batch; an element is a record",
    "W4": "single accepts of every second record, then of the holes; size: records in flight",
    "W5": "single acknowledgements without a pattern, 90% accept, 5% release, 4% reject, 1% renew, a fetch for each 100; "
    "32 members, acquisitions of 500; size: records in flight",
    "W6": "the record at the start offset stays out, the window grows to size behind it; single accepts, from 10^7 on of 500",
    "W6-next": "where to fetch next, the only available record behind so many acquired one by one; an element is a question",
    "W6-cycle": "the same with the release, its write and the acquisition around the question",
    "W7": "so many locks on a record each run out together; an element is a lock",
    "W7-exploded": "so many records in batches of 10,000 of which one record was accepted run out; an element is a record",
    "W7-jittered": "records acquired over 30 s, 90% accepted, the others run out, the time told every 100 ms; an element is a "
    "record that runs out",
    "W8": "so many locks renewed every 10 s of 30 s for a minute, 1% lapse; an element is a renewal",
    "W9": "256 members hold so many records in turn, eight leave; an element is a member that leaves",
    "W10": "single acknowledgements in a window of 2,000, another leader every 1,000 operations; an element is an operation",
    "W11": "deltas of one run folded into so many state batches; an element is a delta",
    "W12": "so many state batches encoded as a snapshot and decoded again; an element is a batch",
    "W13-uniform": "a batch acquired and accepted in one of so many share partitions; an element is such a cycle",
    "W13-zipf": "the same, share partitions taken in proportion to rank^-1.1",
    "W14": "batches of 500 released whenever delivered, up to a delivery limit of size; an element is an operation",
    "W15-jump": "the log start jumps over so many records in flight, every second accepted; an element is a record",
    "W15-gaps": "half the offsets missing from the log; an element is an acknowledgement",
    "W16": "one hot share partition and 64 cold ones; an element is a cycle",
    "encode": "a WriteShareGroupState request of so many state batches; an element is a request",
}


def read(directory: Path) -> Results:
    """The results in a directory by the name of their row."""
    # Those of Spark have a report of their own.
    paths = (path for path in sorted(directory.glob("*.json")) if not path.name.startswith("spark-"))
    found = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return {result["row"]: result for result in found}


def write(directory: Path, page: Path) -> None:
    """The page, and its plots in a folder beside it."""
    results = read(directory)
    drawn = plots.draw(results, page.parent / "benchmarks")
    page.write_text("\n".join(lines(results, [f"benchmarks/{path.name}" for path in drawn])) + "\n", encoding="utf-8")
    if page == PAGE:
        _front_page(results, REPOSITORY / "README.md")


def headline(results: Results) -> list[str]:
    """What the front page shows of it."""
    targets = [target for target in TARGETS if target.row in HEADLINES and target.ratios]
    measured = [results[target.row]["environment"] for target in targets if target.row in results]
    if not measured:
        return ["Nothing was measured."]
    last = measured[-1]
    dates = sorted({one["measured"][:10] for one in measured})
    loads = sorted(one["load"] for one in measured)
    rows = [_target(target, results) for target in targets]
    return [
        f"![{_ABOUT[HEADLINE_PLOT]}](docs/benchmarks/{HEADLINE_PLOT}.svg)",
        "",
        "| workload | Kafka | Rust | Python scalar | Python columnar |",
        "|---|--:|--:|--:|--:|",
        *("| " + " | ".join([row[0], *row[2:6]]) + " |" for row in rows),
        "",
        f"Time of an element, and how many times as fast as Kafka {last['kafka']}'s own class in the same run: its best round by",
        "our best round or process, results compared first, a persister that answers at once on both sides. Measured on",
        f"{last['cpu']}, {last['cpus']} CPUs, one thread, load {loads[0]} to {loads[-1]}, {last['rust'].partition(' (')[0]},",
        f"CPython {last['python']}, {', '.join(dates)}.",
    ]


def _front_page(results: Results, page: Path) -> None:
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, behind = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the headlines, {_BEGIN} … {_END}")
    text = "\n".join(headline(results))
    page.write_text(f"{before}{begin}\n{text}\n{end}{behind}", encoding="utf-8")


def lines(results: Results, drawn: list[str]) -> list[str]:
    """The page."""
    return [
        "# Benchmarks",
        "",
        *_conditions(results),
        "",
        "## What is to be reached",
        "",
        "A ratio is Kafka's best round by our best round or process; a cell has the time of an element and the ratio. How to",
        "read them, and what each engine is: [benches/README.md](../benches/README.md).",
        "",
        *_target_rows(results),
        "",
        "## What stands in the way",
        "",
        *_limits(results),
        "",
        "## Tails",
        "",
        *_tails(results),
        "",
        "## Curves",
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
        *(busy if loads[-1] > 2 * last["cpus"] else []),
        f"Written by `make bench` from [benches/results](../benches/results), measured {dates[0][:16]} to {dates[-1][:16]} UTC.",
        "",
        f"- Machine: {all_of('cpu')}, {all_of('cpus')} CPUs, {all_of('memory_gib')} GiB, {all_of('system')}; single thread,",
        f"  load of the machine (all programs) {loads[0]} to {loads[-1]}.",
        f"- Versions: {all_of('rust')}; CPython {all_of('python')}; Kafka {last['kafka']} on {all_of('java')}.",
        f"- Commit: {all_of('commit')}.",
        "- Every engine replayed the same operation log. Results were compared first: grants, error codes, offsets, delivery",
        "  complete count and the folded durable state; a wrong one is shown as wrong and has no time.",
    ]


def _target_rows(results: Results) -> list[str]:
    rows = [
        "| workload | to reach | Kafka | Rust | Python scalar | Python columnar | |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    return rows + ["| " + " | ".join(_target(target, results)) + " |" for target in TARGETS]


def _limits(results: Results) -> list[str]:
    """For each target that is missed why, and what a model needs that checks nothing and keeps no locks."""
    page = []
    for target in TARGETS:
        engines = results.get(target.row, {}).get("engines", {})
        _, verdicts = _judged(target, engines, results)
        missed = [face for face, verdict in verdicts.items() if not verdict]
        if not missed:
            continue
        kafka = engines.get(KAFKA, {})
        models = [(engines[model]["ns"], model) for model in MODELS if "ns" in engines.get(model, {})]
        fastest = ""
        if models and target.ratios and "ns" in kafka:
            ns, model = min(models)
            fastest = f" The fastest of the naive models, `{model}`, needs {_ns(ns)}, {_ratio(kafka['ns'] / ns)}."
        page.append(f"- **{target.text}**, missed by {', '.join(missed)}. {target.limit}{fastest}")
    return page or ["Nothing: every target that was measured is met."]


def _target(target: Target, results: Results) -> list[str]:
    asked = _asked(target)
    engines = results.get(target.row, {}).get("engines")
    if engines is None:
        return [target.text, asked, "", "", "", "", "not measured"]
    other = engines.get(target.against, {})
    cells, verdicts = _judged(target, engines, results)
    conclusion = _conclusion(verdicts)
    compared = _time(other) if target.ratios else ""
    if target.figure and target.figure in other and target.against == KAFKA:
        compared = _amount(other[target.figure])
    return [target.text, asked, compared, *cells, conclusion]


def _judged(target: Target, engines: dict[str, Any], results: Results) -> tuple[list[str], dict[str, bool]]:
    """The cell of each face, and whether the target is met by those that it asks something of."""
    other = engines.get(target.against, {})
    judged = [(face, *_cell(target, face, engines.get(face, {}), other, results)) for face in _FACES]
    verdicts = {_SHORT[face]: verdict for face, _, verdict in judged if verdict is not None}
    return [cell for _, cell, _ in judged], verdicts


def _conclusion(verdicts: dict[str, bool]) -> str:
    if not verdicts:
        return "not measured"
    if len(set(verdicts.values())) == 1:
        return "met" if all(verdicts.values()) else "MISSED"
    met = ", ".join(face for face, verdict in verdicts.items() if verdict)
    missed = ", ".join(face for face, verdict in verdicts.items() if not verdict)
    return f"met by {met}; MISSED by {missed}"


def _cell(target: Target, face: str, found: dict[str, Any], other: dict[str, Any], results: Results) -> tuple[str, bool | None]:
    if found.get("wrong"):
        return "WRONG", False
    if target.figure:
        if target.figure not in found:
            return "", None
        value = found[target.figure]
        most, least = target.most, target.least
        return _amount(value), (most is None or value <= most) and (least is None or value >= least)
    if target.growth:
        base = results.get(target.base, {}).get("engines", {}).get(face, {})
        if "ns" not in found or "ns" not in base:
            return _time(found), None
        growth = found["ns"] / base["ns"]
        return f"{_time(found)}, {growth:.2g}×", growth <= target.growth[face]
    if "ns" in found and "at_least_ns" in other:
        least = other["at_least_ns"] / found["ns"]
        reached = face in target.ratios and least >= target.ratios[face]
        return f"{_time(found)}, > {_ratio(least)}", True if reached else None
    if "ns" not in found or "ns" not in other:
        return _time(found), None
    ratio = other["ns"] / found["ns"]
    if face not in target.ratios:
        return f"{_time(found)}, {_ratio(ratio)}", None
    return f"{_time(found)}, {_ratio(ratio)}", ratio >= target.ratios[face]


def _asked(target: Target) -> str:
    if target.figure:
        return f"≤ {target.most:,.0f}" if target.most is not None else f"≥ {_amount(target.least or 0)}"
    wanted = target.growth or target.ratios
    sign = "≤ " if target.growth else ""
    values = [f"{sign}{wanted[face]:,.0f}×" for face in _FACES if face in wanted]
    return values[0] if len(set(values)) == 1 else " / ".join(values)


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
                times = [_ns(tail[key]) for key in ("p50", "p99", "p9999", "max")]
                held = engine in OURS and (name, operation) not in TAIL_ASIDE
                is_met = tail["p9999"] <= TAIL_TARGET_NS
                missed |= held and not is_met
                locks = TAIL_LOCKS.get((name, operation))
                what = f"`{operation}`" + (f", {locks:,} locks" if locks else "")
                verdict = ("met" if is_met else "MISSED") if held else ""
                cells = [name, what, NAMES[engine], f"{tail['count']:,}", *times, verdict]
                rows.append("| " + " | ".join(cells) + " |")
    return [*rows, *(["", TAIL_LIMIT] if missed else [])]


def _details(results: Results) -> list[str]:
    page = []
    for workload in dict.fromkeys(row.workload for row in ROWS):
        found = sorted((r for r in results.values() if r["workload"] == workload), key=lambda result: result["size"])
        page += [f"### {workload}", ""]
        if workload in _ABOUT:
            page += [f"{_ABOUT[workload][0].upper()}{_ABOUT[workload][1:]}.", ""]
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


def _detail(result: dict[str, Any], engine: str, found: dict[str, Any], kafka: dict[str, Any]) -> list[str]:
    start = [f"{result['size']:,}", NAMES[engine]]
    if found.get("wrong"):
        return [*start, "WRONG", "", "", "", "", "", ""]
    more = [f"{_amount(found[name])} {text}" for name, text in _MORE.items() if name in found]
    if found.get("missing"):
        more = ["could not run"]
    elif found.get("stopped") is not None:
        at_least = f", at least {_ns(found['at_least_ns'])} an element" if "at_least_ns" in found else ""
        more = [f"stopped after the time limit at operation {found['stopped']:,}{at_least}"]
    elif "stopped_at_size" in found:
        more = [f"stopped at {found['stopped_at_size']:,}"]
    if "ns" not in found:
        return [*start, "", "", "", "", "", "", ", ".join(more)]
    ratio = ""
    if engine != KAFKA and "ns" in kafka:
        ratio = _ratio(kafka["ns"] / found["ns"])
    elif engine != KAFKA and "at_least_ns" in kafka:
        ratio = f"> {_ratio(kafka['at_least_ns'] / found['ns'])}"
    persisted = [f"{found['writes']:,}", f"{found['bytes']:,}"] if found.get("writes") else ["", ""]
    if found.get("tails"):
        more.insert(0, _single(found["tails"]))
    rounds = f"{found['spread']:.0%} of {len(found['rounds_ns'])}"
    return [*start, _time(found), ratio, f"{1e9 / found['ns']:,.0f}", rounds, *persisted, ", ".join(more)]


def _single(tails: dict[str, dict[str, int]]) -> str:
    """Times of the operation that the workload has most of."""
    operation = max(tails, key=lambda name: tails[name]["count"])
    tail = tails[operation]
    return f"`{operation}` p50 {_ns(tail['p50'])}, p99 {_ns(tail['p99'])}, max {_ns(tail['max'])}"


_MORE = {
    "bytes_each": "bytes each",
    "records_a_second": "records a second",
    "writes_a_second": "writes a second",
    "share_of_bare": "of a bare append and sync",
    "gc_ms": "ms of garbage collection",
    "two_threads_ratio": "times the speed with two threads",
}


def _time(found: dict[str, Any]) -> str:
    if "ns" in found:
        return _ns(found["ns"])
    if "at_least_ns" in found:
        return f"> {_ns(found['at_least_ns'])}"
    if found.get("stopped") is not None or "stopped_at_size" in found:
        return "stopped"
    return ""


def _ns(value: float) -> str:
    for scale, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:.3g} ns"


def _ratio(value: float) -> str:
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0]) if arguments else REPOSITORY / "benches" / "results"
    page = Path(arguments[1]) if len(arguments) > 1 else PAGE
    write(directory, page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
