"""Numbers in the form that Prometheus reads. Needs the package ``prometheus-client``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from share_state.monitoring.metric import Kind, Metric

__all__ = ["BOUNDS", "Readings", "Times", "Value", "exposition"]

#: Upper bounds of the buckets of times, seconds.
BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Times:
    """How long something took, in buckets.

    Attributes:
        buckets: how often, by the first bound that is not exceeded; one more for all that took longer.
        total: seconds altogether.
    """

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


#: The values of one metric, each with the values of its labels.
Value: TypeAlias = float | Times
Readings: TypeAlias = dict[str, list[tuple[tuple[str, ...], Value]]]


def exposition(metrics: Iterable[Metric], found: Readings, *, openmetrics: bool = False) -> tuple[str, bytes]:
    """Write numbers as Prometheus reads them, or as OpenMetrics has it; the content type and the text."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415  an extra
    from prometheus_client import exposition as usual  # noqa: PLC0415  an extra
    from prometheus_client.openmetrics import exposition as newer  # noqa: PLC0415  an extra

    class Collected:
        def collect(self) -> Iterator[Any]:
            for metric in metrics:
                yield _family(metric, found.get(metric.name, ()))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected())
    form = newer if openmetrics else usual
    return form.CONTENT_TYPE_LATEST, form.generate_latest(registry)


def _family(metric: Metric, values: Iterable[tuple[tuple[str, ...], Value]]) -> Any:  # noqa: ANN401  an extra
    from prometheus_client import core  # noqa: PLC0415  an extra

    kinds: dict[Kind, Callable[..., Any]] = {
        Kind.COUNTER: core.CounterMetricFamily,
        Kind.GAUGE: core.GaugeMetricFamily,
        Kind.HISTOGRAM: core.HistogramMetricFamily,
    }
    family = kinds[metric.kind](metric.name, metric.text, labels=metric.labels)
    for labels, value in values:
        if isinstance(value, Times):
            family.add_metric(labels, _buckets(value), value.total)
        else:
            family.add_metric(labels, value)
    return family


def _buckets(times: Times) -> list[tuple[str, float]]:
    found, up_to = [], 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), times.buckets, strict=True):
        up_to += count
        found.append((bound, float(up_to)))
    return found
