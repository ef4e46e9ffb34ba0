"""Holds JSON to a schema: the few keywords that ours use, and an error for any other, so that none passes unread."""

import re
from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_SAID = {"$schema", "$defs", "title", "description"}
_KNOWN = _SAID | {
    "$ref",
    "additionalProperties",
    "const",
    "enum",
    "items",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
}


def breaches(schema: dict[str, Any], value: Any) -> list[str]:
    """Parts of a value that the schema does not allow, each with its place."""
    return list(_breaches(schema, schema, value, "$"))


def _breaches(root: dict[str, Any], schema: dict[str, Any], value: Any, place: str) -> Iterator[str]:
    assert schema.keys() <= _KNOWN, f"{place}: keywords that are not checked: {schema.keys() - _KNOWN}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _breaches(root, root["$defs"][name], value, place)
    if "const" in schema and value != schema["const"]:
        yield f"{place} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {value!r}, none of {schema['enum']}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{place} is {value!r}, not {schema['type']}"
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        yield f"{place} is {value!r}, below {schema['minimum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{place} is {value!r}, not like {schema['pattern']}"
    if isinstance(value, dict):
        yield from _of_object(root, schema, value, place)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _breaches(root, schema["items"], item, f"{place}[{number}]")


def _of_object(root: dict[str, Any], schema: dict[str, Any], value: dict[str, Any], place: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    yield from (f"{place} has no {name}" for name in schema.get("required", []) if name not in value)
    for name, member in value.items():
        if name in properties:
            yield from _breaches(root, properties[name], member, f"{place}.{name}")
        elif not schema.get("additionalProperties", True):
            yield f"{place} has {name}, which is not allowed"


def _is(value: Any, types: str | list[str]) -> bool:
    named = [types] if isinstance(types, str) else types
    kinds = tuple(kind for name in named for kind in _TYPES[name])
    # A bool is an int to Python, and none to JSON.
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
