"""Share-group state on Spark: frames in, frames out, with the decode and the fold of the engine.

Every function takes a DataFrame with the columns of Spark's own Kafka source (``key``, ``value``, ``partition``, ``offset``,
``timestamp``; others are left out) and gives one with the columns of :data:`share_state.frames.SCHEMAS`. Needs the extra
``spark``: ``pip install '.[spark]'`` in the checkout, and Java 17.
"""

from share_state.util.extras import require

require("spark", "pyspark", "pandas", "pyarrow")

from share_state.spark.functions import anomalies, decode, errors, history, state  # noqa: E402  after the check of what is installed
from share_state.spark.schemas import INPUT_SCHEMA, schema  # noqa: E402  the same
from share_state.spark.state_table import StateTable  # noqa: E402  the same

__all__ = ["INPUT_SCHEMA", "StateTable", "anomalies", "decode", "errors", "history", "schema", "state"]
