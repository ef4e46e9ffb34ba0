"""The result of a run: rows for people, JSON for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from examples.demo.verdict import Check
from examples.gateway.figures import Figures


def as_json(figures: Figures, checks: Sequence[Check]) -> dict[str, Any]:
    """Give the same for a program."""
    return {
        "passed": all(check.passed for check in checks),
        "checks": [{"name": check.name, "passed": check.passed, "against": check.against} for check in checks],
        "figures": asdict(figures),
    }


def rows(f: Figures) -> list[tuple[str, str, str]]:
    """Give a row a figure: name, value, remark."""
    ended = f.accepted + f.archived
    return [
        ("records", f"{f.records:,}", ""),
        ("ended", f"{ended:,}", f"{f.accepted:,} accepted, {f.archived:,} rejected or at the delivery limit"),
        ("confirmed before the kill", f"{f.settled_before_the_kill:,}", "of the gateway"),
        ("deliveries", f"{f.deliveries:,}", f"{f.redeliveries_after_the_kill:,} again because of that kill"),
        ("released", f"{f.released:,}", ""),
        ("rejected", f"{f.rejected:,}", ""),
        ("locks lost", f"{f.lost_locks:,}", f"to others while a member stalled; {f.refused:,} late acknowledgements refused"),
        ("unanswered", f"{f.unanswered:,}", "the gateway was killed before it answered"),
        ("at the delivery limit", f"{f.deliveries_at_the_limit:,}", "deliveries that were a record's last"),
        ("state records written", f"{f.writes:,}", f"{f.bytes:,} bytes, synced before the answer"),
        ("back after the kill", f"{f.restart_ms:,} ms", "until it listens, new interpreter included"),
        ("rate", f"{f.records_per_second:,.0f}/s", f"{f.seconds:.1f} s, mostly the members' make-believe work and locks"),
    ]
