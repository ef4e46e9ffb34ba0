"""The jars of Spark's own Kafka source, from Maven into the cache of :mod:`tests.kafka.home`."""

from __future__ import annotations

from pathlib import Path

from tests.kafka import home

_POM = Path(__file__).parent / "maven" / "pom.xml"


def spark_jars() -> str:
    """The value of `spark.jars`."""
    jars = sorted(home.fetched(_POM, "spark-kafka").glob("*.jar"))
    assert len(jars) == 4, jars
    return ",".join(map(str, jars))
