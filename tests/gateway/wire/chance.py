"""Messages by chance, as instances of kio's classes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import random
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from kio.schema.errors import ErrorCode


def drawn(chance: random.Random, schema: type[Any]) -> Any:
    """Any instance of a class of kio."""
    hints = typing.get_type_hints(schema)
    fields = {field.name: value(chance, hints[field.name], field.metadata) for field in dataclasses.fields(schema)}
    return schema(**fields)


#: Values of a field by its type; numbers are drawn by their size.
SIMPLE: Mapping[str, Callable[[random.Random], Any]] = {
    "error_code": lambda chance: chance.choice(list(ErrorCode)),
    "string": lambda chance: "".join(chance.choices("aé日 0", k=chance.randrange(9))),
    "bytes": lambda chance: chance.randbytes(chance.randrange(9)),
    "records": lambda chance: chance.randbytes(chance.randrange(9)),
    "bool": lambda chance: chance.random() < 0.5,
    "uuid": lambda chance: uuid.UUID(int=chance.getrandbits(128)),
    "timedelta_i32": lambda chance: dt.timedelta(milliseconds=chance.randrange(-(2**31), 2**31)),
    "timedelta_i64": lambda chance: dt.timedelta(milliseconds=chance.randrange(2**40)),
    "datetime_i64": lambda chance: dt.datetime.fromtimestamp(chance.randrange(2**31), dt.UTC),
    **{
        f"int{bits}": lambda chance, bits=bits: chance.randrange(-(1 << bits - 1), 1 << bits - 1)  # type: ignore[misc]
        for bits in (8, 16, 32, 64)
    },
    "uint16": lambda chance: chance.randrange(1 << 16),
}


def value(chance: random.Random, hint: Any, metadata: Mapping[str, Any]) -> Any:
    options = typing.get_args(hint)
    if types.NoneType in options:
        if chance.random() < 0.2:
            return None
        hint = next(one for one in options if one is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        return tuple(value(chance, typing.get_args(hint)[0], metadata) for _ in range(chance.randrange(3)))
    kind = metadata.get("kafka_type")
    return drawn(chance, hint) if kind is None else SIMPLE[kind](chance)
