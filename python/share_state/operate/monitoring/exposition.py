"""Numbers in the form that Prometheus reads. Needs the package ``prometheus-client``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from share_state.operate.monitoring.metric import Kind, Metric

__all__ = ["BOUNDS", "Readings", "Times", "Value", "exposition", "wanted"]

#: Upper bounds of the buckets of times, seconds.
BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Times:
    """Durations, in buckets.

    Attributes:
        buckets: how often, by the first bound that is not exceeded; one more for all that took longer.
        total: seconds altogether.
    """

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    @classmethod
    def of(cls, buckets: Iterable[int], total: float) -> Times:
        """Durations that were counted elsewhere, in the same buckets."""
        found = cls()
        found.buckets, found.total = list(buckets), total
        return found

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


#: The values of one metric, each with the values of its labels.
Value: TypeAlias = float | Times
Readings: TypeAlias = dict[str, list[tuple[tuple[str, ...], Value]]]


#: The media types of the forms, the best one first, with the version that is meant where none is named.
_OPENMETRICS: Final = ("application/openmetrics-text", "1.0.0")
_TEXT_1: Final = ("text/plain", "1.0.0")
_TEXT_0: Final = ("text/plain", "0.0.4")


def wanted(accept: str) -> tuple[str, str]:
    """Return the media type and version that the header ``Accept`` asks for first; the oldest form where it asks for none."""
    found: dict[tuple[str, str], float] = {}
    for asked in accept.split(","):
        media, *parameters = (part.strip().lower() for part in asked.split(";"))
        told = dict(parameter.partition("=")[::2] for parameter in parameters)
        default = {"application/openmetrics-text": "1.0.0", "text/plain": "0.0.4"}.get(media, "")
        form = (media, told.get("version", default).strip('" '))
        found[form] = max(found.get(form, 0.0), _weight(told.get("q", "1")))
    ours = [form for form in (_OPENMETRICS, _TEXT_1, _TEXT_0) if found.get(form, 0.0) > 0]
    return max(ours, key=lambda form: found[form], default=_TEXT_0)


def _weight(text: str) -> float:
    return float(text) if re.fullmatch(r"[01](\.[0-9]{0,3})?", text) else 0.0


def exposition(metrics: Iterable[Metric], found: Readings, accept: str = "") -> tuple[str, bytes]:
    """Write numbers in the form that the header ``Accept`` asks for; the content type and the text."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415  an extra
    from prometheus_client import exposition as usual  # noqa: PLC0415  an extra
    from prometheus_client.openmetrics import exposition as newer  # noqa: PLC0415  an extra

    class Collected:
        def collect(self) -> Iterator[Any]:
            for metric in metrics:
                yield _family(metric, found.get(metric.name, ()))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected())
    form = wanted(accept)
    if form == _OPENMETRICS:
        return newer.CONTENT_TYPE_LATEST, newer.generate_latest(registry)  # type: ignore[no-untyped-call]
    content_type = usual.CONTENT_TYPE_PLAIN_1_0_0 if form == _TEXT_1 else usual.CONTENT_TYPE_PLAIN_0_0_4
    return content_type, usual.generate_latest(registry)


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
