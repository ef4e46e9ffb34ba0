"""The options of the data source `share_state`, checked before anything is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar, cast
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from share_state.errors import ConfigError
from share_state.operate.analysis import beside
from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.analysis.search import LogEndOffsets
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.reading.as_of import AsOf
from share_state.spark.storage import split_paths

__all__ = ["KAFKA_PREFIX", "Choice", "OnError", "Options", "check_table", "parse"]

OnError = Literal["fail", "quarantine"]
_Told = TypeVar("_Told")

#: Prefix of the settings that go to the Kafka client, without it.
KAFKA_PREFIX = "kafka."
_BOOTSTRAP = "bootstrap.servers"
TABLES = ("records", "state", "history", "anomalies", "errors", "raw")
#: Spark's own, which says nothing to us.
_PASSED_OVER = frozenset({"paths"})


@dataclass(frozen=True, slots=True)
class Choice:
    """Choice of share partitions; None: any."""

    group: str | None = None
    topic_id: str | None = None
    partition: int | None = None

    def has(self, group: str, topic_id: str, partition: int) -> bool:
        """Return true if a share partition is asked for."""
        chosen = ((self.group, group), (self.topic_id, topic_id), (self.partition, partition))
        return all(wanted is None or wanted == found for wanted, found in chosen)

    def chosen(self) -> list[tuple[str, str | int]]:
        """Return the columns that are asked for, and their values."""
        return [(name, value) for name, value in asdict(self).items() if value is not None]

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Leave out the rows of other share partitions."""
        chosen = self.chosen()
        for batch in batches:
            kept = batch
            for name, value in chosen:
                kept = kept.filter(pc.equal(kept.column(name), value))
            if kept.num_rows:
                yield kept


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a read: its source and its form."""

    table: str
    paths: tuple[str, ...] = ()
    #: Settings of the Kafka client, `bootstrap.servers` among them; empty when paths are read.
    kafka: Mapping[str, str] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    as_of: AsOf = field(default_factory=AsOf)
    on_error: OnError = "fail"
    config: AnomalyConfig = field(default_factory=AnomalyConfig)
    #: For anomalies, what the state topic does not tell; see :func:`share_state.operate.analysis.anomalies`.
    log_end_offsets: LogEndOffsets | None = None
    live_topics: tuple[str, ...] | None = None
    #: Most records of one micro-batch of a streaming read; None: all there are.
    max_records: int | None = None
    #: True if a streaming read fails where records are gone before they were read.
    fail_on_data_loss: bool = True
    #: True if ``state`` in files leaves out updates that a later snapshot repeats, by a first look at the log.
    skip_superseded: bool = False


def parse(given: Mapping[str, str]) -> Options:
    """Read options by their names, which Spark gives in any case.

    Raises ``ConfigError`` for one that is not known or not understood.
    """
    rest = {name.lower(): text for name, text in given.items() if name.lower() not in _PASSED_OVER}
    kafka = {name[len(KAFKA_PREFIX) :]: rest.pop(name) for name in list(rest) if name.startswith(KAFKA_PREFIX)}
    path = rest.pop("path", None)
    if (path is None) == (_BOOTSTRAP not in kafka):
        raise ConfigError("expected either `path` or `kafka.bootstrap.servers`, not both", field="path", value=path)
    table = rest.pop("table", "records")
    check_table(table)
    on_error = rest.pop("onerror", "fail")
    if on_error not in ("fail", "quarantine"):
        raise ConfigError(f"onError is {on_error!r}; expected fail or quarantine", field="onError", value=on_error)
    as_of_offset, as_of_timestamp = rest.pop("asofoffset", None), rest.pop("asoftimestamp", None)
    options = Options(
        table=table,
        paths=() if path is None else tuple(split_paths(path)),
        kafka=kafka,
        choice=Choice(rest.pop("group", None), _topic_id(rest), _number(rest, "partition", least=0)),
        as_of=AsOf(
            offset=None if as_of_offset is None else _offsets(as_of_offset),
            timestamp=None if as_of_timestamp is None else milliseconds(as_of_timestamp),
        ),
        on_error=cast("OnError", on_error),
        config=_config(rest.pop("anomalyconfig", None)),
        log_end_offsets=_told(rest, "logEndOffsets", beside.parse_log_end_offsets),
        live_topics=_told(rest, "liveTopics", beside.parse_live_topics),
        max_records=_number(rest, "maxrecordsperbatch", least=1),
        fail_on_data_loss=_truth(rest, "failOnDataLoss", default="true"),
        skip_superseded=_truth(rest, "skipSuperseded", default="false"),
    )
    if rest:
        name = min(rest)
        raise ConfigError(f"option {name!r} is not known", field=name, value=rest[name])
    return options


def check_table(table: str) -> None:
    """Raise ``ConfigError`` for a name that is no table's."""
    if table not in TABLES:
        raise ConfigError(f"table is {table!r}; expected one of {', '.join(TABLES)}", field="table", value=table)


def _number(rest: dict[str, str], name: str, *, least: int) -> int | None:
    text = rest.pop(name, None)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise ConfigError(f"{name} is {text!r}; expected a number of at least {least}", field=name, value=text, minimum=least)
    return int(text)


def _topic_id(rest: dict[str, str]) -> str | None:
    text = rest.pop("topicid", None)
    if text is None:
        return None
    try:
        return str(UUID(hyphenated(text)))
    except ValueError:
        told = f"topicId is {text!r}, neither a UUID nor the base64 of one as Kafka's tools show it"
        raise ConfigError(told, field="topicId", value=text) from None


def _truth(rest: dict[str, str], name: str, *, default: str) -> bool:
    text = rest.pop(name.lower(), default)
    if text.lower() not in ("true", "false"):
        raise ConfigError(f"{name} is {text!r}; expected true or false", field=name, value=text)
    return text.lower() == "true"


def _offsets(text: str) -> int | dict[int, int]:
    """Read one offset for all state partitions, or a JSON object of them: {"0": 12, "2": 99}."""
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            return {int(partition): int(offset) for partition, offset in value.items()}
        return int(value)
    except (ValueError, TypeError):
        raise ConfigError(
            f"asOfOffset is {text!r}, no offset and no JSON object of them", field="asOfOffset", value=text
        ) from None


def milliseconds(text: str) -> int:
    """Read a time: milliseconds since the epoch, or ISO 8601 (without a zone it is UTC)."""
    if text.removeprefix("-").isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        reason = f"asOfTimestamp is {text!r}, neither milliseconds since the epoch nor ISO 8601"
        raise ConfigError(reason, field="asOfTimestamp", value=text) from None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _config(text: str | None) -> AnomalyConfig:
    if text is None:
        return AnomalyConfig()
    try:
        return AnomalyConfig(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise ConfigError(f"anomalyConfig: {error}", field="anomalyConfig", value=text) from None


def _told(rest: dict[str, str], name: str, parser: Callable[[str], _Told]) -> _Told | None:
    """Read what the state topic does not tell."""
    text = rest.pop(name.lower(), None)
    if text is None:
        return None
    try:
        return parser(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: {error}", field=name, value=text) from None
