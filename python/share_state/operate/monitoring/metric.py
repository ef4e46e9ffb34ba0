"""Metrics in one table, from which a scrape is answered and their page is written."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Kind", "Metric", "as_markdown"]


class Kind(StrEnum):
    """Kind of number."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(NamedTuple):
    """Metric with its name for Prometheus, and the names of Kafka's metrics that say the same.

    Attributes:
        name: without the ``_total`` that counters end with.
        kind: what it is.
        labels: names of its labels.
        kafka: Kafka's MBean, type and attribute; empty where Kafka has none.
        text: what it says.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    kafka: tuple[str, ...]
    text: str

    @property
    def exposed(self) -> str:
        """The name in the answer to a scrape."""
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name


def as_markdown(metrics: Iterable[Metric]) -> list[str]:
    """Write the lines of a page's table."""
    rows = ["| metric | kind | labels | what it says | Kafka |", "|---|---|---|---|---|"]
    for metric in metrics:
        kafka = "<br>".join(f"`{name}`" for name in metric.kafka) or "–"
        labels = ", ".join(metric.labels) or "–"
        rows.append(f"| `{metric.exposed}` | {metric.kind} | {labels} | {metric.text} | {kafka} |")
    return rows
