"""Rows of a state topic as Arrow record batches: iterators in, iterators out, no Python object a row.

The batches that go in have the columns of Spark's Kafka source (``SCHEMAS["input"]``; others are passed over, but a ``topic``
is looked at), and hold the records of whole state partitions in the order of their offsets, one state partition after the
other: all records of a share partition go to one partition of ``__share_group_state``, so within it the offset is the order
and nothing need be grouped by key. That is one task of Spark's ``mapInArrow`` after ``repartition("partition")`` and
``sortWithinPartitions("partition", "offset")``. Memory is that of the live share partitions of one state partition and of one
batch.

Needs pyarrow: ``pip install '.[arrow]'`` in the checkout.
"""

from share_state.frames.batches import RowBatches
from share_state.frames.records import RecordBatches, read
from share_state.frames.schemas import SCHEMAS
from share_state.frames.tables import anomalies, decode, history, state

__all__ = ["SCHEMAS", "RecordBatches", "RowBatches", "anomalies", "decode", "history", "read", "state"]
