"""Schemas as they are shipped, and what the page of JSON says of a command."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

from tests.operate.json_schema import breaches
from tests.recordings import REPOSITORY


def schema_of(command: str, version: int) -> dict[str, Any]:
    """The schema as it is shipped with the package."""
    file = resources.files("share_state") / "schemas" / f"{command}-{version}.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def told(command: str) -> list[tuple[str, str]]:
    """Fields and their words in the section of a command, in order."""
    page = (REPOSITORY / "docs" / "json-output.md").read_text(encoding="utf-8")
    section = page.partition(f"## `share-state {command}`")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)


def described(*schemas: dict[str, Any]) -> list[tuple[str, str]]:
    """Fields and their words in schemas, in order."""
    return [(name, of["description"]) for one in schemas for name, of in one["properties"].items() if name != "schema_version"]


def check(command: str, version: int, rows: list[dict[str, Any]], *nested: str) -> dict[str, Any]:
    """Hold rows to the schema of a command, and the page to its words; the schema.

    Args:
        command: its name.
        version: of its schema.
        rows: as it has written them.
        nested: fields and definitions whose own fields are on the page as well.
    """
    schema = schema_of(command, version)
    assert rows
    assert [breach for row in rows for breach in breaches(schema, row)] == []
    assert all(list(row) == list(schema["properties"]) == schema["required"] for row in rows)
    named = schema["properties"] | schema.get("$defs", {})
    assert told(command) == described(schema, *(named[name] for name in nested))
    return schema
