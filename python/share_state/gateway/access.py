"""Who may do what, in Kafka's terms (KIP-290): operations on topics and groups, by name or by prefix.

Without a file everybody who is let in may do everything. Upstream sees one account, whoever asks: its own rules do not tell
the clients of the gateway apart.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from share_state.errors import ConfigError

__all__ = ["CLUSTER_NAME", "Access", "Operation", "Resource", "Rule", "read_rules"]

_LOG: Final = logging.getLogger("share_state.gateway.access")
_EVERYBODY: Final = "User:*"
#: The one resource of type CLUSTER (``Resource.CLUSTER_NAME``).
CLUSTER_NAME: Final = "kafka-cluster"
#: Characters of the longest name of a topic; longer ones are no names, and are not kept in memory.
_MAX_NAME: Final = 249


class Operation(StrEnum):
    """``AclOperation``, as far as the gateway checks it."""

    READ = "READ"
    DESCRIBE = "DESCRIBE"
    DELETE = "DELETE"
    DESCRIBE_CONFIGS = "DESCRIBE_CONFIGS"
    ALTER_CONFIGS = "ALTER_CONFIGS"
    ALL = "ALL"


class Resource(StrEnum):
    """``ResourceType``, as far as the gateway knows it."""

    TOPIC = "TOPIC"
    GROUP = "GROUP"
    CLUSTER = "CLUSTER"


class Rule(NamedTuple):
    """One line of the table: who, what, on what.

    ``name`` is ``*`` for every resource of the type; with ``prefixed`` it is the beginning of the names, ``*`` too.
    """

    principal: str
    operation: Operation
    resource: Resource
    name: str
    prefixed: bool
    allow: bool


#: What a permission brings with it (``AclAuthorizer``: who may read, delete or alter may describe).
_IMPLIED_BY: Final = {
    Operation.DESCRIBE: frozenset({Operation.DESCRIBE, Operation.READ, Operation.DELETE}),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS}),
}


class Access:
    """The table of rules. A rule that denies wins over any that allows.

    Args:
        rules: the rules, or ``None`` where everybody may do everything.
        super_users: principals that may do everything.
    """

    def __init__(self, rules: Iterable[Rule] | None = None, super_users: Iterable[str] = ()) -> None:
        self._rules = None if rules is None else list(rules)
        self._super_users = frozenset(super_users)
        self._known: dict[tuple[str, Operation, Resource, str], bool] = {}

    def allows(self, principal: str, operation: Operation, resource: Resource, name: str) -> bool:
        """Say whether a principal may do something."""
        if self._rules is None or principal in self._super_users:
            return True
        asked = principal, operation, resource, name
        known = self._known.get(asked)
        if known is None:
            if len(self._known) > 10_000:  # noqa: PLR2004  names come from clients: the memory of answers has an end
                self._known.clear()
            known = self._decide(*asked)
            if not known:
                _LOG.info("not allowed: principal=%r operation=%s resource=%s name=%r", principal, operation, resource, name)
            if len(name) <= _MAX_NAME:
                self._known[asked] = known
        return known

    def reading(self) -> tuple[list[tuple[str, str, str, bool, bool]] | None, list[str]]:
        """Return the rules on reading topics and groups as principal, type, name, prefixed, allow; and the super users."""
        if self._rules is None:
            return None, []
        operations, resources = {Operation.READ, Operation.ALL}, {Resource.TOPIC, Resource.GROUP}
        rules = [rule for rule in self._rules if rule.operation in operations and rule.resource in resources]
        rows = [(rule.principal, rule.resource.value, rule.name, rule.prefixed, rule.allow) for rule in rules]
        return rows, sorted(self._super_users)

    def _decide(self, principal: str, operation: Operation, resource: Resource, name: str) -> bool:
        allowing = _IMPLIED_BY.get(operation, frozenset({operation}))
        allowed = False
        for rule in self._rules or ():
            if rule.principal not in {principal, _EVERYBODY} or rule.resource != resource:
                continue
            if not (name.startswith(rule.name) if rule.prefixed else rule.name in {"*", name}):
                continue
            if not rule.allow and rule.operation in {operation, Operation.ALL}:
                return False
            allowed = allowed or (rule.allow and (rule.operation == Operation.ALL or rule.operation in allowing))
        return allowed


def read_rules(path: Path) -> Access:
    """Read a table: JSON with ``superUsers`` and ``rules``, each rule with Kafka's words.

    Raises:
        ConfigError: it cannot be read, or a rule is not one; the text names it.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
        return Access([_rule(row) for row in found.pop("rules")], _super_users(found))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="acl_file", value=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a table of access rules: {error}", field="acl_file", value=str(path)) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that an object has twice: the last would count, and a DENY be an ALLOW."""
    found = dict(pairs)
    if len(found) < len(pairs):
        message = f"a name twice among {', '.join(name for name, _ in pairs)}"
        raise ValueError(message)
    return found


def _super_users(found: dict[str, Any]) -> list[str]:
    """Take the super users of a table; a name that a table does not have is a mistake, above all a misspelt one."""
    names = found.pop("superUsers", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and ":" in name for name in names):
        message = f"superUsers is {names!r}; expected a list of principals such as User:admin"
        raise TypeError(message)
    if found:
        message = f"{', '.join(found)} is unknown; expected superUsers and rules"
        raise ValueError(message)
    return names


def _rule(row: dict[str, Any]) -> Rule:
    pattern = row.get("patternType", "LITERAL")
    permission = row.get("permissionType", "ALLOW")
    unknown = set(row) - {"principal", "operation", "resourceType", "name", "patternType", "permissionType"}
    principal, name = row["principal"], row["name"]
    is_named = isinstance(principal, str) and ":" in principal and isinstance(name, str) and name != ""
    if unknown or not is_named or pattern not in {"LITERAL", "PREFIXED"} or permission not in {"ALLOW", "DENY"}:
        message = f"rule {row!r}"
        raise ValueError(message)
    return Rule(
        principal,
        Operation(row["operation"]),
        Resource(row["resourceType"]),
        name,
        pattern == "PREFIXED",
        permission == "ALLOW",
    )
