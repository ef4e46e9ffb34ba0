"""Java's property files, read as `java.util.Properties.load` reads them: the one form of file that commands take settings in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from share_state.errors import ConfigError

__all__ = ["PropertyFile", "read_properties", "trimmed"]

#: Java's, which are fewer than Python's.
_BLANKS: Final = " \t\f"
_ENDS: Final = re.compile("\r\n|\r|\n")
#: A key: up to a blank, ``=`` or ``:`` that no backslash stands before.
_KEY: Final = re.compile(r"(?:\\.|[^\\=: \t\f])*")
#: Separator of key and value: blanks, and one ``=`` or ``:`` at most.
_BETWEEN: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
#: Characters that ``String.trim`` removes.
_TRIMMED: Final = "".join(map(chr, range(0x21)))


class PropertyFile(dict[str, str]):
    """The properties of a file by name; the last of a name counts.

    Attributes:
        path: the file; ``None`` for no file and no property.
        lines: the number of the line in which each name stands.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self.path = path
        self.lines: dict[str, int] = {}

    @contextmanager
    def located(self, *, alone: bool = False) -> Iterator[None]:
        """Name the file, and the line of the property, in a `ConfigError` of what runs inside.

        Args:
            alone: whether nothing but this file is read inside, so that it is named where no property of it is.
        """
        try:
            yield
        except ConfigError as wrong:
            # Two properties may contradict each other, and only the other one stands in the file.
            words = [wrong.field or "", *re.split(r"[\s:;,]+", str(wrong))]
            line = next((self.lines[word] for word in words if word in self.lines), None)
            if line is not None or alone:
                place = self.path if line is None else f"{self.path}:{line}"
                wrong.args = (f"{place}: {wrong}",)
            raise


def trimmed(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties without blanks around their values, as Kafka reads every type (``ConfigDef.parseType``)."""
    return {name: value.strip(_TRIMMED) for name, value in properties.items()}


def read_properties(path: Path, *, needs_values: bool = False) -> PropertyFile:
    r"""Read a file: Latin-1, with ``\u`` and four hexadecimal digits for other characters.

    A name ends at a blank, ``=`` or ``:``. A backslash takes the meaning of the character after it, and continues a line at its
    end. Lines that begin with ``#`` or ``!`` are comments. Blanks before a name and around the sign after it do not count; those
    at the end of a value do.

    Args:
        path: the file.
        needs_values: whether to refuse a name alone in a line, which else is a property with an empty value.

    Raises:
        ConfigError: it cannot be read, or a line has no name, or an escape stands for no character. Lines are not part of the
            text: they may hold a password.
    """
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="config", value=str(path)) from None
    found = PropertyFile(path)
    for number, line in _logical_lines(text):
        key = _KEY.match(line)
        between = None if key is None else _BETWEEN.match(line, key.end())
        if key is None or between is None or not key[0]:
            raise ConfigError(f"{path}:{number}: a line without a key", field="config", value=number)
        if needs_values and not between[0]:
            raise ConfigError(f"{path}, line {number}: expected NAME=VALUE", field="config", value=number)
        try:
            name, value = _unescaped(key[0]), _unescaped(line[between.end() :])
        except ValueError as wrong:
            raise ConfigError(f"{path}:{number}: {wrong}", field="config", value=number) from None
        found[name] = value
        found.lines[name] = number
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give the lines with something in them, continued ones as one, each with the number of its first."""
    begun: tuple[int, str] | None = None
    for number, raw in enumerate(_ENDS.split(text), start=1):
        line = raw.lstrip(_BLANKS)
        first, before = begun or (number, "")
        if not before and (not line or line[0] in "#!"):
            begun = None
            continue
        line = before + line
        # A backslash that another one stands for continues nothing.
        begun = (first, line[:-1]) if (len(line) - len(line.rstrip("\\"))) % 2 else None
        if begun is None:
            yield first, line
    if begun is not None and begun[1]:
        yield begun


def _unescaped(text: str) -> str:
    meant = _ESCAPE.sub(_meant, text)
    try:
        # Java's characters are those of UTF-16: two escapes may stand for one.
        return meant.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    except UnicodeDecodeError:
        message = "half of a surrogate pair stands for no character"
        raise ValueError(message) from None


def _meant(escape: re.Match[str]) -> str:
    said = escape[1]
    if said == "u":
        message = r"expected four hexadecimal digits after \u"
        raise ValueError(message)
    return chr(int(said[1:], 16)) if said[0] == "u" else _CONTROLS.get(said, said)
