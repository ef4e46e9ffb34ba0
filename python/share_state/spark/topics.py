"""Records of other topics among those of the state topic: never folded, never passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from share_state.errors import ShareStateError
from share_state.spark.schemas import TOPIC

__all__ = ["STATE_TOPIC", "OtherTopicError", "only_ours"]

STATE_TOPIC = "__share_group_state"


class OtherTopicError(ShareStateError, ValueError):
    """A record is of another topic; ``value`` is its name, ``index`` its offset."""


def only_ours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Check the topics' names where there are any, and leave them out."""
    for batch in batches:
        if TOPIC not in batch.schema.names:
            yield batch
            continue
        at = batch.schema.get_field_index(TOPIC)
        other = pc.index(pc.equal(batch.column(at), STATE_TOPIC), value=False).as_py()
        if other >= 0:
            name, partition, offset = (batch.column(column)[other].as_py() for column in (at, "partition", "offset"))
            text = f"the record at offset {offset} of partition {partition} is of topic {name!r}, not of {STATE_TOPIC}"
            raise OtherTopicError(text, field="topic", value=name, index=offset)
        yield batch.drop_columns([TOPIC])
