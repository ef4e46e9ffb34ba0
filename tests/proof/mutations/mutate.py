"""The ways in which input goes wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

Column = np.ndarray[Any, Any]

#: Bytes, and numbers, at which length and sign change their meaning.
BYTES = (0x00, 0x01, 0x02, 0x7E, 0x7F, 0x80, 0x81, 0xFF)
NUMBERS = (0, 1, -1, 127, 128, -129, 2**15, 2**31 - 1, 2**31, -(2**31) - 1, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**40)
#: Objects that no caller should give.
OBJECTS: tuple[Any, ...] = (
    None,
    True,
    1.5,
    float("nan"),
    "",
    "x",
    "\ud800",
    b"",
    b"\xff",
    (),
    [],
    {},
    object(),
    np.int64(3),
    np.zeros(3),
)


def data(chance: random.Random, original: bytes, other: bytes) -> bytes:
    """Bytes, changed in one to three places."""
    changed = bytearray(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randint(0, len(changed))
        end = min(at + chance.randint(1, 8), len(changed))
        match chance.randrange(6):
            case 0:
                del changed[at:]
            case 1:
                changed[at:at] = bytes([chance.choice(BYTES)])
            case 2:
                del changed[at:end]
            case 3:
                start = chance.randint(0, len(other))
                changed[at:end] = other[start : start + chance.randint(0, 64)]
            case 4:
                changed[at:end] = bytes([chance.choice(BYTES)]) * (end - at)
            case _ if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case _:
                changed += chance.randbytes(1)
    return bytes(changed)


def number(chance: random.Random, original: int) -> int:
    """A number: the same, its neighbour, or one at an edge."""
    return chance.choice((original, original, original, original, original + 1, original - 1, chance.choice(NUMBERS)))


def value(chance: random.Random, original: Any) -> Any:
    """A value of plain Python data with one of its parts changed."""
    if chance.random() < 0.1:
        return chance.choice(OBJECTS)
    if isinstance(original, dict) and original:
        return _field(chance, original)
    if isinstance(original, list | tuple) and original:
        return _item(chance, original)
    return _leaf(chance, original)


def _leaf(chance: random.Random, original: Any) -> Any:
    if isinstance(original, bytes):
        return data(chance, original, original)
    if isinstance(original, str):
        return chance.choice((original[:-1], original + "\0", original * 3, "\U0001f600", "a" * 40_000, "\ud800"))
    if isinstance(original, int) and not isinstance(original, bool):
        return chance.choice((number(chance, original), chance.choice(NUMBERS)))
    return chance.choice(OBJECTS)


def _field(chance: random.Random, original: dict[Any, Any]) -> dict[Any, Any]:
    changed = dict(original)
    name = chance.choice(list(changed))
    if chance.random() < 0.2:
        del changed[name]
    else:
        changed[name] = value(chance, changed[name])
    return changed


def _item(chance: random.Random, original: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    items = list(original)
    at = chance.randrange(len(items))
    match chance.randrange(4):
        case 0:
            del items[at]
        case 1:
            items.insert(at, items[at])
        case _:
            items[at] = value(chance, items[at])
    return items if isinstance(original, list) else tuple(items)


def _edge(chance: random.Random, column: Column) -> Column:
    ends = np.iinfo(column.dtype)
    column[chance.randrange(len(column))] = chance.choice((0, 1, -1 if ends.min else 2, ends.max, ends.min))
    return column


_DTYPES = (np.int8, np.int16, np.int32, np.int64, np.uint64, np.float64, object)
_FORMS: tuple[Callable[[random.Random, Column], Any], ...] = (
    _edge,
    _edge,
    lambda chance, column: column[: chance.randint(0, len(column))],
    lambda _, column: np.concatenate([column, column]),
    lambda _, column: column[::-1],
    lambda _, column: np.concatenate([column, column])[::2],
    lambda chance, column: column.astype(chance.choice(_DTYPES)),
    lambda _, column: column.astype(column.dtype.newbyteorder(">")),
    lambda _, column: column.reshape(-1, 1),
    lambda _, column: column.tolist(),
    lambda _, column: memoryview(column.data),
    lambda chance, _: chance.choice(OBJECTS),
)


def array(chance: random.Random, original: Column) -> Any:
    """A column with other numbers, of another form, or none at all."""
    return chance.choice(_FORMS)(chance, original.copy())
