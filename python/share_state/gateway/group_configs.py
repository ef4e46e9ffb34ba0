"""What groups have set with IncrementalAlterConfigs, on disk; what is in force for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from share_state._core import GroupConfig
from share_state.errors import StoreError
from share_state.gateway.files import read_json, write_json

__all__ = ["GroupConfigs"]

_FILE: Final = "group-configs.json"
_FORMAT: Final = 1


class GroupConfigs:
    """Dynamic configurations of groups by name (Kafka: ``GroupConfigManager``).

    Args:
        directory: where they are kept.
        defaults: what holds for groups that have not set it, under the names of group configurations.
        broker: the broker's configuration, which gives other defaults and bounds.
    """

    def __init__(self, directory: Path, defaults: Mapping[str, str], broker: Mapping[str, str]) -> None:
        self.defaults = dict(defaults)
        self.broker = dict(broker)
        self._path = directory / _FILE
        found = read_json(self._path) or {"format": _FORMAT, "groups": {}}
        if found.get("format") != _FORMAT or not isinstance(found.get("groups"), dict):
            raise StoreError(f"{self._path} has a format that this release does not know")
        self._groups: dict[str, dict[str, str]] = found["groups"]
        self._resolved: dict[str, GroupConfig] = {}
        #: Called with the name of a group whose configuration has changed.
        self.changed: Callable[[str], None] = lambda _group: None

    def names(self) -> list[str]:
        """Return the groups that have set something, whether they exist or not."""
        return sorted(self._groups)

    def set_by(self, group: str) -> dict[str, str]:
        """Return what the group itself has set."""
        return dict(self._groups.get(group, {}))

    def of(self, group: str) -> dict[str, str]:
        """Return what the group has set over the defaults."""
        return {**self.defaults, **self._groups.get(group, {})}

    def resolved(self, group: str) -> GroupConfig:
        """Return the values in force, clamped to the broker's bounds (KIP-1240)."""
        found = self._resolved.get(group)
        if found is None:
            # There is no producer for a dead-letter queue here (share.version is 1): records end as archived.
            settings = {name: value for name, value in self.of(group).items() if not name.startswith("errors.")}
            found = self._resolved[group] = GroupConfig.from_kafka(settings, self.broker)
        return found

    def replace(self, group: str, settings: Mapping[str, str]) -> None:
        """Make ``settings`` all that the group has set, durably. Blocks for the disk.

        Raises:
            StoreError: it cannot be written; nothing has changed.
        """
        groups = {**self._groups, group: dict(settings)}
        if not settings:
            del groups[group]
        write_json(self._path, {"format": _FORMAT, "groups": groups})
        self._groups = groups
        self._resolved.pop(group, None)
