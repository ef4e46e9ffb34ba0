"""Bytes of a record as text for people: UTF-8, JSON, hexadecimal, or by a schema of a registry.

Nothing here raises on bytes: what cannot be decoded is shown as hexadecimal, with the reason.
"""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from share_state.operate.payloads.payload import Payload

__all__ = ["UNREAD", "Decoded", "Format", "Origin", "Registry", "as_json", "decode"]

#: Stands for "no structure"; None is one, the null of JSON.
UNREAD: Final = object()
#: Characters of what a decoder says.
_LONGEST_REASON: Final = 300


class Format(StrEnum):
    """Format of bytes."""

    #: By the schema where a registry knows one, else JSON if it is an object or an array, else UTF-8, else hexadecimal.
    AUTO = "auto"
    UTF_8 = "utf-8"
    JSON = "json"
    HEX = "hex"
    AVRO = "avro"
    PROTOBUF = "protobuf"
    JSON_SCHEMA = "json-schema"


class Origin(NamedTuple):
    """Origin of bytes: a schema may be named in the headers of the record."""

    record: Payload
    is_key: bool


class Decoded(NamedTuple):
    """Decoded bytes.

    Attributes:
        format: how they were decoded in the end; never ``AUTO``.
        text: the whole of it.
        tree: objects, arrays and plain values, where the format has a structure; else ``UNREAD``.
        reason: why they are shown as hexadecimal although something else was asked for; None where they are not.
    """

    format: Format
    text: str
    tree: object = UNREAD
    reason: str | None = None


class Registry(Protocol):
    """Decodes by the schemas of a registry."""

    def format_of(self, data: bytes, origin: Origin) -> Format | None:
        """Return the kind of the schema that the bytes name; None where they name none that the registry knows."""

    def tree(self, data: bytes, origin: Origin, how: Format) -> object:
        """Decode; any exception means that the bytes, or the schema, cannot be read."""


def decode(data: bytes, how: Format, origin: Origin, registry: Registry | None = None) -> Decoded:
    """Decode bytes; those that cannot be are returned as hexadecimal, with the reason."""
    try:
        return _auto(data, origin, registry) if how is Format.AUTO else _as(data, how, origin, registry)
    except Exception as error:  # noqa: BLE001  decoders raise what they like, and bytes are anybody's
        said = "the schema registry" if how is Format.AUTO else f"it cannot be read as {how.value}"
        return Decoded(Format.HEX, data.hex(), reason=f"{said}: {_why(error)}")


def _auto(data: bytes, origin: Origin, registry: Registry | None) -> Decoded:
    if registry is not None:
        # Only bytes that name a schema are looked up; without an answer the others are still shown.
        by_schema = registry.format_of(data, origin)
        if by_schema is not None:
            return _as(data, by_schema, origin, registry)
    try:
        found = _as(data, Format.JSON, origin, registry)
        if isinstance(found.tree, dict | list):
            return found
    except (ValueError, RecursionError):
        pass
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Decoded(Format.HEX, data.hex())
    return Decoded(Format.UTF_8, text) if _is_readable(text) else Decoded(Format.HEX, data.hex())


def _as(data: bytes, how: Format, origin: Origin, registry: Registry | None) -> Decoded:
    if how is Format.HEX:
        return Decoded(how, data.hex())
    if how is Format.UTF_8:
        return Decoded(how, data.decode())
    if how is Format.JSON:
        text = data.decode()
        return Decoded(how, text, json.loads(text))
    if registry is None:
        raise ValueError("no schema registry was given")
    tree = registry.tree(data, origin, how)
    return Decoded(how, as_json(tree), tree)


def _is_readable(text: str) -> bool:
    """Tell text from bytes that are UTF-8 by chance: tabs and ends of lines are the only control characters of a text."""
    return all(character.isprintable() or character in "\t\r\n" for character in text)


def as_json(tree: object) -> str:
    """Write a structure as JSON; what JSON does not have is written as text."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | timedelta):
        return str(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form as text")


def _why(error: Exception) -> str:
    """Say why, in one short line."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return f"{type(error).__name__}: {error}".partition("\n")[0][:_LONGEST_REASON]
