"""Leaves out the updates that a later snapshot of the same share partition repeats: the state is the same without them.

What else is told of a share partition's life is kept: its first snapshot since it was last deleted, from which the state dates,
all later snapshots, tombstones, and whatever is no update. An update that is left out is not checked either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Snapshots"]

#: Bytes of the type at the head of a record's key; after it a share partition's snapshots and updates are alike.
_TYPE_BYTES = 2
_SNAPSHOT, _UPDATE = (pa.scalar(kind.to_bytes(_TYPE_BYTES), pa.binary()) for kind in (0, 1))
#: Longer than any key: without an end `binary_slice` fails.
_KEY_BYTES = 1 << 20


@dataclass(slots=True)
class Snapshots:
    """Places of the snapshots of the share partitions of one state partition."""

    #: Offsets of the first snapshot since the last tombstone, and of the last.
    _bounds: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def see(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Look at the records once, in order of their offsets."""
        for batch in batches:
            some = batch.filter(pc.equal(_kinds(batch), _SNAPSHOT))
            rows = zip(
                *(some.column(name).to_pylist() for name in ("key", "offset")),
                some.column("value").is_valid().to_pylist(),
                strict=True,
            )
            for key, offset, is_live in rows:
                name = key[_TYPE_BYTES:]
                if is_live:
                    self._bounds[name] = (self._bounds.get(name, (offset,))[0], offset)
                else:
                    self._bounds.pop(name, None)

    def without_superseded(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the same records again without the updates between the two; later ones may have come meanwhile."""
        names = pa.array(self._bounds, pa.binary())
        firsts, lasts = (pa.array([bound[end] for bound in self._bounds.values()], pa.int64()) for end in (0, 1))
        for batch in batches:
            at = pc.index_in(pc.binary_slice(batch.column("key"), _TYPE_BYTES, _KEY_BYTES), value_set=names)
            offsets = batch.column("offset")
            between = pc.and_(pc.greater(offsets, firsts.take(at)), pc.less(offsets, lasts.take(at)))
            superseded = pc.fill_null(pc.and_(pc.equal(_kinds(batch), _UPDATE), between), fill_value=False)
            kept = batch.filter(pc.invert(superseded))
            if kept.num_rows:
                yield kept


def _kinds(batch: pa.RecordBatch) -> pa.Array:
    return pc.binary_slice(batch.column("key"), 0, _TYPE_BYTES)
