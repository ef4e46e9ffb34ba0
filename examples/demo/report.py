"""The result of a run: tables for people, JSON for programs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.demo.figures import Figures
from examples.demo.plan import Plan
from examples.demo.verdict import Check


def print_report(console: Console, figures: Iterable[tuple[str, str, str]], checks: Sequence[Check]) -> None:
    """Print the rows of the figures, then the checks."""
    console.print()
    console.print(_figures_table(figures))
    console.print()
    console.print(_checks_table(checks))
    console.print()


def save_report(plan: Plan, figures: Figures, checks: Sequence[Check]) -> None:
    """Save the same as JSON, next to the state."""
    result = {
        "share_partition": plan.key._asdict(),
        "start_offset": plan.start_offset,
        "log_end": plan.log_end,
        "passed": all(check.passed for check in checks),
        "checks": [{"name": check.name, "passed": check.passed, "against": check.against} for check in checks],
        "figures": asdict(figures),
    }
    plan.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _figures_table(rows: Iterable[tuple[str, str, str]]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, title="What happened", title_justify="left")
    table.add_column("FIGURE")
    table.add_column("VALUE", justify="right")
    table.add_column("REMARK")
    for row in rows:
        table.add_row(*row)
    return table


def rows(f: Figures) -> list[tuple[str, str, str]]:
    """Give a row a figure: name, value, remark."""
    return [
        ("records", f"{f.records:,}", f"{f.settled_when_taken_over} were settled before, {f.served} served here"),
        ("settled", f"{f.acknowledged + f.archived:,}", f"{f.acknowledged} acknowledged, {f.archived} archived"),
        ("confirmed before the kill", f"{f.settled_before_the_kill:,}", ""),
        ("deliveries", f"{f.deliveries:,}", f"{f.redeliveries} redeliveries, {f.redeliveries_after_the_kill} due to the kill"),
        ("released", f"{f.released:,}", ""),
        ("rejected", f"{f.rejected:,}", ""),
        ("locks renewed", f"{f.renewed:,}", ""),
        ("locks run out", f"{f.lock_timeouts:,}", ""),
        ("state records written", f"{f.writes:,}", f"{f.bytes:,} bytes, synced before the answer"),
        ("acknowledge, median", f"{f.median_acknowledge_ms:g} ms", "until it is durable and the worker knows"),
        ("back after the kill", f"{f.restart_ms:,} ms", "until the first delivery, new interpreter included"),
        ("rate", f"{f.records_per_second:g}/s", f"{f.served} in {f.seconds:.1f} s, mostly the workers' make-believe work"),
    ]


def _checks_table(checks: Sequence[Check]) -> Table:
    """Make the table of checks and what speaks against each."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, title="What was checked", title_justify="left")
    table.add_column("CHECK")
    table.add_column("RESULT")
    for check in checks:
        result = Text("ok", style="green") if check.passed else Text(f"FAILED: {check.against}", style="bold red")
        table.add_row(check.name, result)
    return table
