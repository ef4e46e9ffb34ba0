"""The settings that a share group is simulated under. Kafka's bounds of them are the engine's, not a copy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

from share_state._core import GroupConfig, broker_config_entries, check_broker_config
from share_state.errors import ConfigError
from share_state.types import AcquireMode

__all__ = ["Settings", "milliseconds"]

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)", re.ASCII)
_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
#: Kafka's client keeps it in an int32, and so does ShareFetch.
_MOST_RECORDS: Final = 2**31 - 1


class _Property(NamedTuple):
    """A property of a group, and of a broker: the latter with the prefix `group.`, and `min.` or `max.` after `group.share.`."""

    field: str
    #: Without `share.`.
    name: str
    is_duration: bool = False

    def of_broker(self, bound: str = "") -> str:
        return f"group.share.{bound}{self.name}"


_OF_GROUP: Final = {
    "lock-duration": _Property("lock_duration_ms", "record.lock.duration.ms", is_duration=True),
    "delivery-limit": _Property("delivery_limit", "delivery.count.limit"),
    "max-record-locks": _Property("max_record_locks", "partition.max.record.locks"),
}
#: Modes of a member: the values of `mode` by their Kafka name.
_MODES: Final = {"batch": AcquireMode.BATCH_OPTIMIZED, "record": AcquireMode.RECORD_LIMIT}
_NAMES: Final = (*_OF_GROUP, "members", "mode", "max-poll-records")


def milliseconds(field: str, text: str) -> float:
    """Read a duration such as 200ms, 1.5s, 2m or 1h.

    Raises:
        ConfigError: it is none; `field` and `value` name it.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ConfigError(f"{field} is {text}; expected a duration such as 200ms, 1.5s, 2m or 1h", field=field, value=text)
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a share group and its members, under the names of the command line.

    Attributes:
        lock_duration_ms: `share.record.lock.duration.ms`.
        delivery_limit: `share.delivery.count.limit`.
        max_record_locks: `share.partition.max.record.locks`, in offsets.
        members: how many members the group has, 1 to `group.share.max.size`.
        mode: `share.acquire.mode`: `batch` for batch_optimized, `record` for record_limit.
        max_poll_records: how many records a member asks for at once (`max.poll.records`).
    """

    lock_duration_ms: int = 30_000
    delivery_limit: int = 5
    max_record_locks: int = 2_000
    members: int = 1
    mode: str = "batch"
    max_poll_records: int = 500

    def __post_init__(self) -> None:
        """Hold every value to its bounds.

        Raises:
            ConfigError: a value is out of them; `field` and `value` name it.
        """
        self.group_config()
        _within("members", self.members, 1, _most_members())
        _within("max-poll-records", self.max_poll_records, 1, _MOST_RECORDS)
        if self.mode not in _MODES:
            raise ConfigError(f"mode is {self.mode}; expected batch or record", field="mode", value=self.mode)

    @property
    def acquire_mode(self) -> AcquireMode:
        """The mode as the engine takes it."""
        return _MODES[self.mode]

    def group_config(self) -> GroupConfig:
        """Return what the engine needs of them. The broker is one that allows them: its own bounds are as wide as Kafka's.

        Raises:
            ConfigError: no broker could allow a value.
        """
        usual = {entry["name"]: int(entry["value"]) for entry in broker_config_entries({}) if entry["value"].isdigit()}
        group: dict[str, str] = {}
        broker: dict[str, str] = {}
        for option, place in _OF_GROUP.items():
            value = getattr(self, place.field)
            # The least that a broker allows may be anything up to its own default, the most anything from there on.
            bound = "min." if value <= usual[place.of_broker()] else "max."
            try:
                GroupConfig.from_kafka({}, {place.of_broker(bound): str(value)})
            except ConfigError as error:
                limit = f"at least {error.minimum}" if bound == "min." else f"at most {error.maximum}"
                told = f"{option} is {value}; share.{place.name} must be {limit}"
                raise ConfigError(told, field=option, value=value, minimum=error.minimum, maximum=error.maximum) from None
            group[f"share.{place.name}"] = broker[place.of_broker(bound)] = str(value)
        return GroupConfig.from_kafka(group, broker)

    def with_changes(self, text: str) -> Self:
        """Change some of them: `lock-duration=60s,members=4`.

        Raises:
            ConfigError: a name is unknown or comes twice, or a value cannot be used; `field` and `value` name it.
        """
        changes: dict[str, str] = {}
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals or name not in _NAMES or name in changes:
                why = "comes twice" if name in changes else f"is not a setting; expected {', '.join(_NAMES)}, as NAME=VALUE"
                raise ConfigError(f"{part or 'nothing'} {why}", field=name, value=value)
            changes[name] = value
        values: dict[str, Any] = {_field(name): _value(name, value) for name, value in changes.items()}
        return replace(self, **values)

    def with_limit(self, delivery_limit: int) -> Self:
        """Take over a delivery limit that a log shows, as far as a broker may have it."""
        try:
            return replace(self, delivery_limit=delivery_limit)
        except ConfigError:
            return self

    def with_kafka(self, configs: Mapping[str, str]) -> Self:
        """Take over what a cluster reports of a group, by Kafka's names."""
        told: dict[str, Any] = {
            place.field: int(configs[f"share.{place.name}"])
            for place in _OF_GROUP.values()
            if configs.get(f"share.{place.name}", "").isdecimal()
        }
        return replace(self, **told)

    def differences(self, other: Settings) -> str:
        """Return what is different from others, in the form that :meth:`with_changes` takes; empty where nothing is."""
        changed = [name for name in _NAMES if getattr(self, _field(name)) != getattr(other, _field(name))]
        return ",".join(f"{name}={_text(name, getattr(self, _field(name)))}" for name in changed)

    def __str__(self) -> str:
        return " ".join(f"{name}={_text(name, getattr(self, _field(name)))}" for name in _NAMES)


def _field(name: str) -> str:
    return _OF_GROUP[name].field if name in _OF_GROUP else name.replace("-", "_")


def _value(name: str, text: str) -> int | str:
    if name == "mode":
        return text
    if name in _OF_GROUP and _OF_GROUP[name].is_duration:
        return round(milliseconds(name, text))
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{name} is {text or 'empty'}; expected a whole number", field=name, value=text)
    return int(text)


def _text(name: str, value: int | str) -> str:
    if name in _OF_GROUP and _OF_GROUP[name].is_duration and isinstance(value, int):
        return f"{value // 1000}s" if value % 1000 == 0 else f"{value}ms"
    return str(value)


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name} is {value}; expected {least} to {most}", field=name, value=value, minimum=least, maximum=most)


def _most_members() -> int:
    """Return how many members a group may have: as many as Kafka lets a broker admit."""
    try:
        check_broker_config({"group.share.max.size": str(_MOST_RECORDS)})
    except ConfigError as error:
        return int(error.maximum or 0)
    return _MOST_RECORDS
