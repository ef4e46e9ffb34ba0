"""The jars of Spark's own Kafka source and of Delta, from Maven into the cache of :mod:`tests.kafka.home`."""

from __future__ import annotations

from pathlib import Path

from tests.kafka import home

_MAVEN = Path(__file__).parent / "maven"
#: Number of jars that each project file stands for.
_JARS = {"kafka": 4, "delta": 2}


def spark_jars() -> str:
    """The value of `spark.jars`."""
    found = []
    for name, count in _JARS.items():
        jars = sorted(home.fetched(_MAVEN / f"{name}.xml", f"spark-{name}").glob("*.jar"))
        assert len(jars) == count, jars
        found += jars
    return ",".join(map(str, found))
