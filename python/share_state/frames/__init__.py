"""Rows of a state topic as Arrow record batches: iterators in, iterators out, no Python object a row.

The input batches have the columns of Spark's Kafka source (``SCHEMAS["input"]``; other columns are ignored, but a ``topic`` is
checked). They hold the records of whole state partitions, one state partition after another, each in the order of its offsets.
All records of a share partition are in one partition of ``__share_group_state``, so the offset is their order, and nothing needs
to be grouped by key. On Spark, that is one task of ``mapInArrow`` after ``repartition("partition")`` and
``sortWithinPartitions("partition", "offset")``. Memory is bounded by the live share partitions of one state partition, and one
batch.

Needs pyarrow: ``pip install '.[arrow]'`` in the checkout.
"""

from share_state.frames.batches import RowBatches
from share_state.frames.records import RecordBatches, read
from share_state.frames.schemas import SCHEMAS
from share_state.frames.tables import anomalies, decode, history, state

__all__ = ["SCHEMAS", "RecordBatches", "RowBatches", "anomalies", "decode", "history", "read", "state"]
