"""Rows of Spark beside rows of the engine: both as plain tuples and lists."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from share_state.operate import analysis

Plain = tuple[Any, ...]


def plain(value: Any) -> Any:
    """Structs and named tuples as plain tuples, lists as tuples too, times in ms since the epoch."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, Row | tuple | list):
        return tuple(plain(one) for one in value)
    return value


def of_spark(rows: DataFrame, names: Iterable[str]) -> list[Plain]:
    """The rows of a DataFrame in no order of its own: sorted by their text."""
    return sorted((plain(row) for row in rows.select(*names).collect()), key=repr)


def of_engine(rows: Iterable[tuple[Any, ...]]) -> list[Plain]:
    """Named tuples of the Python API, in the same order."""
    return sorted((plain(row) for row in rows), key=repr)


def states(rows: DataFrame) -> list[Plain]:
    return of_spark(rows, analysis.StateRow._fields)


def history(rows: DataFrame) -> list[Plain]:
    return of_spark(rows, analysis.HistoryRow._fields)


def anomalies(rows: DataFrame) -> list[Plain]:
    return of_spark(rows, analysis.Anomaly._fields)


def table(spark: SparkSession, path: Path | str, name: str, **options: Any) -> DataFrame:
    """A table of our own source."""
    reader = spark.read.format("share_state").option("table", name)
    for option, value in options.items():
        reader = reader.option(option, value)
    return reader.load(str(path))
