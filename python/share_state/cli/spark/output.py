"""Output of `share-state spark run`, checked before a JVM is started. This module knows nothing of pyspark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["MODES", "refusal"]

#: Advice where a table is there already.
MODES = "--mode overwrite replaces it, --mode append adds to it"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
#: Settings under which a path without a scheme may lie elsewhere than on this machine.
_DEFAULT_FS = "spark.hadoop.fs.defaultFS"
_CONFIGURED_BY = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR")


def refusal(output: str, tables: Iterable[str], storage: str, mode: str, settings: Mapping[str, str]) -> str | None:
    """Say why the tables cannot be written, or None where nothing is known against it.

    An output that is not on this machine's disk is Spark's to look at.
    """
    here = _on_this_disk(output, settings)
    if here is None:
        return None
    if mode == "error":
        for place in (here / table for table in tables):
            # Spark takes any path for a table in Parquet that is there, Delta only its log.
            if (place / "_delta_log" if storage == "delta" else place).exists():
                return f"{place} is there already: {MODES}"
    nearest = next(place for place in (here, *here.absolute().parents) if place.exists())
    if not nearest.is_dir():
        return f"cannot write to {output}: {nearest} is not a directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"cannot write to {output}: no permission to write in {nearest}"
    return None


def _on_this_disk(output: str, settings: Mapping[str, str]) -> Path | None:
    if output.startswith("file:"):
        return Path(unquote(urlsplit(output).path))
    if _SCHEME.match(output) or _DEFAULT_FS in settings or any(os.environ.get(name) for name in _CONFIGURED_BY):
        return None
    return Path(output)
