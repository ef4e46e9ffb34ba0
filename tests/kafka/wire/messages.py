"""Kafka's own message definitions, and messages drawn from them.

The jar of Kafka's clients holds the JSON files from which its message classes are made: every field with its type, its versions
and its default.
"""

from __future__ import annotations

import base64
import json
import random
import re
import zipfile
from functools import cache
from typing import Any, NamedTuple

from tests.kafka.home import JUDGE, libraries

_COMMENT = re.compile(r"^\s*//.*$|\s+//[^\"\n]*$", re.MULTILINE)
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_NEVER = 1 << 15
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


class Int8s(bytes):
    """An array of ``int8`` as we give it; Kafka's JSON has a list of numbers."""


class Versions(NamedTuple):
    """A range of versions."""

    oldest: int
    newest: int

    @classmethod
    def of(cls, text: str) -> Versions:
        """Read ``3``, ``3+``, ``3-5`` or ``none``."""
        if text == "none":
            return cls(_NEVER, -1)
        oldest, dash, newest = text.partition("-")
        if oldest.endswith("+"):
            return cls(int(oldest[:-1]), _NEVER)
        return cls(int(oldest), int(newest) if dash else int(oldest))

    def has(self, version: int) -> bool:
        """Returns true if the version is in the range."""
        return self.oldest <= version <= self.newest


class Field(NamedTuple):
    """A field of a definition."""

    name: str
    type: str
    versions: Versions
    nullable: Versions
    tagged: bool
    #: As the definition has it; ``None`` when it has none.
    default: str | None
    map_key: bool
    #: The fields of the struct, or of the elements that are structs.
    inner: tuple[Field, ...]

    @property
    def is_array(self) -> bool:
        """True for an array of anything."""
        return self.type.startswith("[]")


class Definition(NamedTuple):
    """A request or an answer."""

    name: str
    versions: Versions
    flexible: Versions
    fields: tuple[Field, ...]


@cache
def definition(name: str) -> Definition:
    """The definition of ``ShareFetchRequest`` and its like."""
    with zipfile.ZipFile(libraries(JUDGE) / f"kafka-clients-{JUDGE}.jar") as jar:
        text = jar.read(f"common/message/{name}.json").decode()
    read = json.loads(_COMMENT.sub("", text))
    structs = {struct["name"]: struct["fields"] for struct in read.get("commonStructs", [])}
    fields = tuple(_field(field, structs) for field in read["fields"])
    return Definition(name, Versions.of(read["validVersions"]), Versions.of(read["flexibleVersions"]), fields)


def _field(read: dict[str, Any], structs: dict[str, Any]) -> Field:
    inner = read.get("fields") or structs.get(read["type"].removeprefix("[]"), ())
    default = read.get("default")
    return Field(
        name=read["name"][0].lower() + read["name"][1:],
        type=read["type"],
        versions=Versions.of(read["versions"]),
        nullable=Versions.of(read.get("nullableVersions", "none")),
        tagged="taggedVersions" in read,
        default=None if default is None else str(default).lower() if isinstance(default, bool) else str(default),
        map_key=read.get("mapKey", False),
        inner=tuple(_field(field, structs) for field in inner),
    )


def default(field: Field, version: int) -> Any:
    """Value that Kafka writes, or reads, for a field that nobody sets."""
    if field.default == "null":
        return None
    if field.is_array:
        return Int8s() if field.type == "[]int8" else []
    if field.inner:
        return {inner.name: default(inner, version) for inner in field.inner if inner.versions.has(version)}
    if field.type == "bool":
        return field.default == "true"
    if field.type in _BITS:
        return int(field.default or "0", 0)
    return {"string": field.default or "", "uuid": ZERO_ID, "bytes": b"", "records": None}[field.type]


def drawn(fields: tuple[Field, ...], version: int, chance: random.Random) -> dict[str, Any]:
    """Any message, as ``decode_message`` would show it. A tagged field is there when it differs from its default."""
    values = {}
    for field in fields:
        if not field.versions.has(version):
            continue
        value = _value(field, version, chance)
        if not field.tagged or value not in (None, default(field, version)):
            values[field.name] = value
    return values


def _value(field: Field, version: int, chance: random.Random) -> Any:
    if field.nullable.has(version) and chance.random() < 0.25:
        return None
    if field.type == "[]int8":
        return Int8s(chance.randbytes(chance.randrange(4)))
    if field.is_array:
        return _elements(field, version, chance)
    return _one(field, version, chance)


def _elements(field: Field, version: int, chance: random.Random) -> list[Any]:
    elements = [_one(field, version, chance) for _ in range(chance.choice((0, 1, 2, 2, 3)))]
    keys = [inner.name for inner in field.inner if inner.map_key and inner.versions.has(version)]
    if not keys:
        return elements
    # Kafka keeps these in a map, so a key comes once.
    return list({tuple(element[key] for key in keys): element for element in elements}.values())


def _one(field: Field, version: int, chance: random.Random) -> Any:
    if field.inner:
        return drawn(field.inner, version, chance)
    kind = field.type.removeprefix("[]")
    if kind in _BITS:
        half = 1 << (_BITS[kind] - 1)
        return chance.choice((0, 1, -1, half - 1, -half, chance.randrange(-half, half)))
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "string":
        return "".join(chance.choice("abxyz-._ é∂\U0001f980\0") for _ in range(chance.choice((0, 1, 3, 8, 130))))
    if kind == "uuid":
        return spelled(chance.randbytes(16))
    return chance.randbytes(chance.choice((0, 1, 20, 130)))


def spelled(uuid: bytes) -> str:
    """A UUID as Kafka's JSON has it."""
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def in_json(value: Any) -> Any:
    """A message as Kafka's JSON has it: no bytes."""
    if isinstance(value, Int8s):
        return [item - 256 if item > 127 else item for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [in_json(item) for item in value]
    if isinstance(value, dict):
        return {name: in_json(item) for name, item in value.items()}
    return value
