"""Numbers for an OpenTelemetry collector, over HTTP. Needs the packages of OpenTelemetry (extra ``ops``).

The points of a moment go to the SDK's exporter as they are. Instruments of the SDK would keep every set of labels that they ever
saw, and hold 2,000 of them: share groups come and go, and there may be more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast
from urllib.parse import urlsplit

from share_state.errors import ConfigError
from share_state.logs import named
from share_state.operate.monitoring.exposition import Readings, Times
from share_state.operate.monitoring.metric import Kind, Metric
from share_state.util.extras import require

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData

__all__ = ["Collector", "Instrument", "endpoint_of", "instrument_of"]

_LOG: Final = logging.getLogger("share_state.monitoring")
#: Logger that gets each try of the SDK that fails.
_SDK_LOG: Final = logging.getLogger("opentelemetry.exporter.otlp.proto.http.metric_exporter")
_SDK: Final = ("opentelemetry.sdk.metrics.export", "opentelemetry.exporter.otlp.proto.http.metric_exporter")
#: Points in one request: some 1 MB of it, and 15 MB of memory until it is sent. Collectors refuse more than 20 MiB by default.
_POINTS: Final = 10_000
_UNITS: Final = {"records": "{record}", "offsets": "{offset}"}


class _Outcomes(Protocol):
    """Failure of the last try; None where it did not fail."""

    failure: str | None


class Instrument(NamedTuple):
    """Metric as OpenTelemetry names it."""

    name: str
    #: Unit of UCUM; empty for none.
    unit: str


def instrument_of(metric: Metric, namespaces: Iterable[str]) -> Instrument:
    """Name a metric for OpenTelemetry, so that what makes Prometheus' metrics of it gives the old name again.

    A dot ends the namespace. ``_seconds`` becomes the unit ``s``; records and offsets keep their word, and have an annotation as
    their unit. ``_total`` is Prometheus' own.

    Args:
        metric: the metric.
        namespaces: beginnings of names, of which one is the metric's.
    """
    namespace = next(space for space in namespaces if metric.name.startswith(f"{space}_"))
    name = metric.name.removeprefix(f"{namespace}_")
    if name.endswith("_seconds"):
        return Instrument(f"{namespace}.{name.removesuffix('_seconds')}", "s")
    return Instrument(f"{namespace}.{name}", _UNITS.get(name.rpartition("_")[2], ""))


def endpoint_of(url: str) -> str:
    """Check the address of a collector.

    Raises:
        ConfigError: it is none.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        # A port that is no number, or brackets without an address.
        is_address = False
    else:
        if parts.username is not None or parts.password is not None:
            raise ConfigError("a login does not go into the URL but into OTEL_EXPORTER_OTLP_HEADERS", field="otlp")
    if not is_address:
        raise ConfigError(f"expected http://HOST:PORT/v1/metrics, not {url!r}", field="otlp", value=url)
    return url


class Collector:
    """A collector that metrics are sent to. One thread uses it at a time, except for :meth:`close`.

    OpenTelemetry's variables have their meaning: ``OTEL_SERVICE_NAME``, ``OTEL_RESOURCE_ATTRIBUTES``, and the exporter's, as
    ``OTEL_EXPORTER_OTLP_HEADERS``, ``…_TIMEOUT``, ``…_COMPRESSION``, ``…_CERTIFICATE``.

    Args:
        endpoint: the whole URL, with its path.
        service: the service's name and version.
        namespaces: beginnings of the names of metrics, which a dot ends.

    Raises:
        ConfigError: the endpoint is no URL.
        MissingPackageError: a package of OpenTelemetry is not installed.
    """

    def __init__(self, endpoint: str, *, service: tuple[str, str], namespaces: Iterable[str]) -> None:
        self._endpoint = endpoint_of(endpoint)
        require("ops", *_SDK)
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415  an extra
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415  an extra

        name, version = service
        ours = Resource.create({"service.name": name, "service.version": version})
        # What the environment says comes first.
        self._resource = ours.merge(OTELResourceDetector().detect())
        self._namespaces = tuple(namespaces)
        self._since = time.time_ns()
        self._session = _session()
        self._exporter = OTLPMetricExporter(endpoint=self._endpoint, session=cast("Any", self._session))
        self._failing: str | None = None
        self._is_closed = False
        #: Number of times that the collector did not take what was sent.
        self.failures = 0

    def send(self, metrics: Iterable[Metric], found: Readings) -> bool:
        """Send numbers, in parts where they are many; whether the collector has taken them.

        A failure is counted. It is logged when it begins, when its reason changes, and when it ends.
        """
        from opentelemetry.sdk.metrics.export import MetricExportResult  # noqa: PLC0415  an extra

        _SDK_LOG.addFilter(_drop)
        try:
            # Each part is made when the one before it was taken.
            is_exported = all(
                self._exporter.export(part) is MetricExportResult.SUCCESS and self._session.failure is None
                for part in self._parts(metrics, found)
            )
        finally:
            _SDK_LOG.removeFilter(_drop)
        failure = self._session.failure or (None if is_exported else "it cannot be sent")
        if not self._is_closed:
            self._note(failure)
        return failure is None

    def close(self) -> None:
        """Give up what is being sent, and close the connections."""
        if not self._is_closed:
            self._is_closed = True
            self._exporter.shutdown()

    def _note(self, reason: str | None) -> None:
        self.failures += reason is not None
        if reason == self._failing:
            return
        self._failing = reason
        if reason is None:
            _LOG.warning("the collector takes the metrics again: %s", named(endpoint=self._endpoint))
        else:
            _LOG.warning("the collector does not take the metrics: %s", named(endpoint=self._endpoint, reason=reason))

    def _parts(self, metrics: Iterable[Metric], found: Readings) -> Iterator[MetricsData]:
        """Make requests of so many points each."""
        now, told, room = time.time_ns(), [], _POINTS
        for metric in metrics:
            values, at = found.get(metric.name, []), 0
            while at < len(values):
                some = values[at : at + room]
                told.append(self._metric(metric, some, now))
                at, room = at + len(some), room - len(some)
                if not room:
                    yield self._request(told)
                    told, room = [], _POINTS
        if told:
            yield self._request(told)

    def _request(self, told: list[Any]) -> MetricsData:
        from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics  # noqa: PLC0415  an extra
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415  an extra

        scope = ScopeMetrics(InstrumentationScope("share_state"), told, schema_url="")
        return MetricsData([ResourceMetrics(self._resource, [scope], schema_url="")])

    def _metric(self, metric: Metric, values: Iterable[tuple[tuple[str, ...], Any]], now: int) -> Any:  # noqa: ANN401  an extra
        from opentelemetry.sdk.metrics import export  # noqa: PLC0415  an extra

        is_counter = metric.kind is Kind.COUNTER
        points = []
        for labels, value in values:
            if isinstance(value, Times):
                raise TypeError(f"{metric.name}: times in buckets are not sent to a collector")
            attributes = dict(zip(metric.labels, labels, strict=True))
            points.append(export.NumberDataPoint(attributes, self._since if is_counter else 0, now, value))
        data = (
            export.Sum(points, export.AggregationTemporality.CUMULATIVE, is_monotonic=True)
            if is_counter
            else export.Gauge(points)
        )
        name, unit = instrument_of(metric, self._namespaces)
        return export.Metric(name, metric.text, unit, data)


def _session() -> _Outcomes:
    import requests  # noqa: PLC0415  comes with the SDK's exporter

    class Session(requests.Session):
        """Notes the outcome of each try; the SDK's exporter gives no reason, and takes a redirection for a success."""

        failure: str | None = None

        def request(self, *arguments: Any, **options: Any) -> requests.Response:  # noqa: ANN401  as it comes
            try:
                answer = super().request(*arguments, **options)
            except OSError as wrong:  # requests' own errors too
                self.failure = _cause(wrong)
                raise
            is_taken = 200 <= answer.status_code < 300  # noqa: PLR2004  what HTTP calls success
            self.failure = None if is_taken else f"{answer.status_code} {answer.reason}"
            return answer

    return Session()


def _cause(error: BaseException) -> str:
    """Say what is at the root: the outer errors repeat it with the URL, and addresses of objects."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _drop(_record: logging.LogRecord) -> bool:
    """Leave out what the SDK says of each try: one line of ours tells a change."""
    return False
