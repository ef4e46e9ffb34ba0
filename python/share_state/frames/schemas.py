"""The schemas of the tables, as Rust declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from share_state import _core
from share_state.util.extras import MissingPackageError, how_to_install

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingPackageError(f"share_state.frames needs pyarrow: {how_to_install('arrow')}", field="pyarrow") from error

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMAS"]

_Column: TypeAlias = tuple[str, str, bool, str, list[Any]]

_TYPES = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    # The one unit that Spark reads.
    "timestamp": pa.timestamp("us", tz="UTC"),
    "text": pa.string(),
    "bytes": pa.binary(),
}


def _field(column: _Column) -> pa.Field:
    name, kind, nullable, doc, elements = column
    if elements:
        struct = pa.struct([_field(element) for element in elements])
        of_kind = pa.list_(pa.field("element", struct, nullable=False))
    else:
        of_kind = _TYPES[kind]
    # The key under which Spark keeps the comment of a column.
    return pa.field(name, of_kind, nullable=nullable, metadata={"comment": doc})


#: The schema of each table: ``input``, ``decode``, ``state``, ``history``, and ``errors``, of the rows that were put aside.
#: The metadata of each field tell in ``comment`` what it is.
SCHEMAS: Mapping[str, pa.Schema] = {
    name: pa.schema([_field(column) for column in columns]) for name, columns in _core.frame_tables().items()
}
