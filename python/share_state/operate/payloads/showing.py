"""A record as it is shown to people: decoded, with what is to be hidden hidden, and cut to a size."""

from __future__ import annotations

from typing import Final, NamedTuple

from share_state.operate.payloads.decoding import Decoded, Format, Origin, Registry, as_json, decode
from share_state.operate.payloads.payload import Payload
from share_state.operate.payloads.redaction import HIDDEN, Redaction

__all__ = ["Showing", "Shown", "ShownHeader", "ShownRecord"]

#: Reasons for hiding a whole whose members were to be hidden. A decoder's message may quote it, and is not shown.
_NO_MEMBERS: Final = "it has no members that could be hidden one by one"
_UNDECODED: Final = "it cannot be decoded, and its members cannot be hidden one by one"


class Shown(NamedTuple):
    """A key, a value or the value of a header.

    Attributes:
        format: how it was decoded; None where there is nothing, or all of it is hidden.
        text: what is shown; None where the record has nothing here. It may hold any character: escape it on a terminal.
        size: bytes of it in the record, also of what is hidden; None where there is nothing.
        cut: bytes of the decoded text (of hexadecimal: bytes of the record) that are not shown for their number.
        reason: why it is hexadecimal although another format was asked for, or hidden as a whole although a member was to be.
        redacted: whether something of it is hidden.
    """

    format: Format | None
    text: str | None
    size: int | None
    cut: int = 0
    reason: str | None = None
    redacted: bool = False


class ShownHeader(NamedTuple):
    """A header; its name is always shown."""

    name: str
    value: Shown


class ShownRecord(NamedTuple):
    """Record as it is shown, beside its place and its time."""

    key: Shown
    value: Shown
    headers: tuple[ShownHeader, ...]


class Showing(NamedTuple):
    """Settings for showing records.

    Attributes:
        key_format, value_format: how keys and values are decoded; the values of headers are decoded by themselves.
        max_bytes: of each key, value and header, so many bytes are shown.
        redaction: what is hidden.
        registry: schemas.
    """

    key_format: Format = Format.AUTO
    value_format: Format = Format.AUTO
    max_bytes: int = 1024
    redaction: Redaction = Redaction()
    registry: Registry | None = None

    def record(self, record: Payload) -> ShownRecord:
        """Return what is shown of a record. Nothing in it raises."""
        headers = tuple(ShownHeader(name, self._header(record, name, value)) for name, value in record.headers)
        key = self._part(record, "key", record.key, self.key_format)
        return ShownRecord(key, self._part(record, "value", record.value, self.value_format), headers)

    def _header(self, record: Payload, name: str, value: bytes | None) -> Shown:
        if value is None:
            return Shown(None, None, None)
        if self.redaction.hides_header(name):
            return _hidden(value)
        # A header names no schema of its own.
        return self._cut(decode(value, Format.AUTO, Origin(record, is_key=False)), value)

    def _part(self, record: Payload, part: str, value: bytes | None, how: Format) -> Shown:
        if value is None:
            return Shown(None, None, None)
        if self.redaction.hides(part):
            return _hidden(value)
        decoded = decode(value, how, Origin(record, is_key=part == "key"), self.registry)
        if not self.redaction.looks_into(part):
            return self._cut(decoded, value)
        if not isinstance(decoded.tree, dict | list):
            return _hidden(value, _NO_MEMBERS if decoded.reason is None else _UNDECODED)
        try:
            before = as_json(decoded.tree)
            # Written anew even where nothing was hidden: of a member that comes twice, JSON keeps the last.
            text = as_json(self.redaction.without(part, decoded.tree))
        except RecursionError:
            return _hidden(value, _UNDECODED)
        return self._cut(decoded._replace(text=text), value)._replace(redacted=text != before)

    def _cut(self, decoded: Decoded, value: bytes) -> Shown:
        if decoded.format is Format.HEX:
            shown = value[: self.max_bytes]
            return Shown(Format.HEX, shown.hex(), len(value), len(value) - len(shown), decoded.reason)
        whole = decoded.text.encode(errors="surrogatepass")
        # Half a character at the end goes as well.
        text = whole[: self.max_bytes].decode(errors="ignore") if len(whole) > self.max_bytes else decoded.text
        cut = len(whole) - len(text.encode(errors="surrogatepass"))
        return Shown(decoded.format, text, len(value), cut, decoded.reason)


def _hidden(value: bytes, reason: str | None = None) -> Shown:
    return Shown(None, HIDDEN, len(value), 0, reason, redacted=True)
