"""Kafka's command-line tools, called for this cluster."""

from __future__ import annotations

import shlex
import string
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from share_state.operate.live.rights import Right

__all__ = ["Tools"]

#: The options of ``kafka-acls.sh`` for operations and resources.
_OPERATIONS: Final = {"DESCRIBE": "Describe", "READ": "Read", "DESCRIBE_CONFIGS": "DescribeConfigs"}

#: Options whose value is a name that somebody has chosen.
_NAMED: Final = frozenset({"--group", "--topic", "--entity-name", "--allow-principal"})


class Tools(NamedTuple):
    """Settings with which the tools reach the cluster.

    Attributes:
        bootstrap: addresses of brokers, as the tools take them.
        client_config: a file with the properties of Kafka's own clients, where the cluster asks for a login or for TLS.
        principal: whose rights are missing, such as ``User:alice``; None where it is not known.
    """

    bootstrap: str
    client_config: str | None = None
    principal: str | None = None

    def group_config(self, group: str, settings: Mapping[str, str | int]) -> str:
        """Set configurations of a group."""
        return self._config("groups", group, settings)

    def topic_config(self, topic: str, settings: Mapping[str, str | int]) -> str:
        """Set configurations of a topic."""
        return self._config("topics", topic, settings)

    def share_groups(self, *arguments: str) -> str:
        """Call ``kafka-share-groups.sh``."""
        return self.call("kafka-share-groups.sh", *arguments)

    def allow(self, right: Right) -> str:
        """Give the right to the principal."""
        resource = ("--cluster",) if right.resource == "cluster" else (f"--{right.resource}", right.name or "*")
        principal = self.principal or "User:NAME"
        return self.call(
            "kafka-acls.sh", "--add", "--allow-principal", principal, "--operation", _OPERATIONS[right.operation], *resource
        )

    def call(self, script: str, *arguments: str) -> str:
        """Write a call of a script, quoted for a shell; of what cannot be printed, it has escapes of bash."""
        config = () if self.client_config is None else ("--command-config", self.client_config)
        return " ".join([script, *_quoted_all(("--bootstrap-server", self.bootstrap, *config, *arguments))])

    def _config(self, kind: str, name: str, settings: Mapping[str, str | int]) -> str:
        pairs = ",".join(f"{key}={value}" for key, value in settings.items())
        return self.call("kafka-configs.sh", "--alter", "--entity-type", kind, "--entity-name", name, "--add-config", pairs)


def _quoted_all(arguments: Iterable[str]) -> Iterator[str]:
    """Quote arguments; a name that begins with a hyphen, and would be taken for an option, is tied to its own."""
    tied = ""
    for argument in arguments:
        if tied and argument.startswith("-"):
            yield f"{tied}={_quoted(argument)}"
        elif tied:
            yield from (tied, _quoted(argument))
        elif argument not in _NAMED:
            yield _quoted(argument)
        tied = argument if not tied and argument in _NAMED else ""


def _quoted(argument: str) -> str:
    if argument.isprintable():
        return shlex.quote(argument)
    plain = frozenset(string.ascii_letters + string.digits + string.punctuation) - frozenset("\\'")
    escaped = "".join(chr(byte) if chr(byte) in plain else f"\\x{byte:02x}" for byte in argument.encode())
    return f"$'{escaped}'"
