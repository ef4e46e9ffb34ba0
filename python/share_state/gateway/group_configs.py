"""What groups have set with IncrementalAlterConfigs, on disk; what is in force for each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from share_state._core import GroupConfig, effective_group_config
from share_state.errors import ConfigError
from share_state.gateway.files import Content, read_json, text, write_json
from share_state.logs import named

__all__ = ["GroupConfigs"]

_LOG: Final = logging.getLogger("share_state.gateway")
_FILE: Final = "group-configs.json"
_NAMES: Final = frozenset(effective_group_config({}, {}))


class GroupConfigs:
    """Dynamic configurations of groups by name (Kafka: ``GroupConfigManager``).

    What is stored and cannot be read, because another release has set it, is shown as it is; the default is in force instead.

    Args:
        directory: where they are kept.
        defaults: what holds for groups that have not set it, under the names of group configurations.
        broker: the broker's configuration, which gives other defaults and bounds.
    """

    def __init__(self, directory: Path, defaults: Mapping[str, str], broker: Mapping[str, str]) -> None:
        self.defaults = dict(defaults)
        self.broker = dict(broker)
        self._path = directory / _FILE
        found = read_json(self._path, _check) or {"groups": {}}
        self._groups: dict[str, dict[str, str]] = found["groups"]
        for group, settings in self._groups.items():
            for wrong in filter(None, map(_wrong, settings, settings.values())):
                _LOG.error("a stored configuration cannot be read, and the default holds: %s: %s", wrong, named(group=group))
        self._resolved: dict[str, GroupConfig] = {}
        #: Called with the names of groups whose configurations have changed.
        self.changed: Callable[[Collection[str]], None] = lambda _groups: None

    def names(self) -> list[str]:
        """Return the groups that have set something, whether they exist or not."""
        return sorted(self._groups)

    def set_by(self, group: str) -> dict[str, str]:
        """Return what the group itself has set."""
        return dict(self._groups.get(group, {}))

    def of(self, group: str) -> dict[str, str]:
        """Return what the group has set over the defaults."""
        settings = self._groups.get(group, {})
        return self.defaults | {name: value for name, value in settings.items() if _wrong(name, value) is None}

    def resolved(self, group: str) -> GroupConfig:
        """Return the values in force, clamped to the broker's bounds (KIP-1240)."""
        found = self._resolved.get(group)
        if found is None:
            found = self._resolved[group] = GroupConfig.from_kafka(_without_dead_letters(self.of(group)), self.broker)
        return found

    def unset(self) -> GroupConfig:
        """Return the values in force for a group that has set nothing."""
        return GroupConfig.from_kafka(_without_dead_letters(self.defaults), self.broker)

    def keep(self, groups: Collection[str]) -> None:
        """Forget the values in force of other groups; those that are asked for again are looked up again."""
        self._resolved = {group: config for group, config in self._resolved.items() if group in groups}

    def replace(self, changes: Mapping[str, Mapping[str, str]]) -> None:
        """Make these settings all that the groups of these names have set, durably, in one write. Blocks for the disk.

        Raises:
            StoreError: it cannot be written; nothing has changed.
        """
        groups = {**self._groups, **{group: dict(settings) for group, settings in changes.items()}}
        groups = {group: settings for group, settings in groups.items() if settings}
        write_json(self._path, {"groups": groups})
        self._groups = groups
        for group in changes:
            self._resolved.pop(group, None)


def _without_dead_letters(settings: Mapping[str, str]) -> dict[str, str]:
    """Leave out a dead-letter queue: there is no producer for one here (share.version is 1), and records end as archived."""
    return {name: value for name, value in settings.items() if not name.startswith("errors.")}


def _wrong(name: str, value: str) -> ConfigError | None:
    """Return what keeps a value from being in force, but for the bounds of the broker, to which it is clamped."""
    if name not in _NAMES:
        return ConfigError(f"{name} is not a configuration of a group", field=name)
    try:
        GroupConfig.from_kafka({name: value})
    except ConfigError as wrong:
        return wrong
    return None


def _check(content: Content, is_checked: bool) -> None:
    groups = content.get("groups")
    if content.keys() != {"groups"} or not isinstance(groups, dict):
        message = "expected groups by name"
        raise ValueError(message)
    for group, settings in groups.items():
        text("a group", group)
        if not isinstance(settings, dict):
            message = f"group {group!r} has not the settings of a group"
            raise TypeError(message)
        for name, value in settings.items():
            text(f"a name of group {group!r}", name)
            text(f"{name} of group {group!r}", value, least=0)
            wrong = _wrong(name, value)
            # No request of any release sets a name that there is not, or a number beyond Kafka's bounds.
            if wrong is not None and not is_checked and (wrong.value is None or wrong.maximum is not None):
                message = f"group {group!r}: {wrong}"
                raise ValueError(message)
