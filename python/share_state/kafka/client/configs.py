"""DescribeConfigs (32): configurations of topics, brokers and groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from share_state.kafka.client.apis import DESCRIBE_CONFIGS
from share_state.kafka.client.connection import Connection

__all__ = ["Described", "Resource", "describe_configs"]


class Resource(IntEnum):
    """Resource with a configuration: Kafka's resource types."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class Described(NamedTuple):
    """Configuration of a resource, or the code and words of the broker where it does not tell."""

    error_code: int
    said: str | None
    #: By name; None for a value that is not shown.
    values: dict[str, str | None]


async def describe_configs(
    connection: Connection, resource: Resource, names: Iterable[str], keys: Sequence[str] | None = None
) -> dict[str, Described]:
    """Ask a broker for configurations, with those of the broker where a resource has none of its own.

    Args:
        connection: to any broker; of a broker's own configuration, to that one.
        resource: of which kind they are.
        names: of topics or groups, or the id of one broker.
        keys: names of configurations; None for all.

    Raises:
        LostError: the broker does not answer.
        BrokerTooOldError: it does not have the request.
    """
    rows = [{"resourceType": resource, "resourceName": name, "configurationKeys": keys} for name in names]
    message = {"resources": rows, "includeSynonyms": False, "includeDocumentation": False}
    answer = await connection.request(DESCRIBE_CONFIGS, message)
    return {
        row["resourceName"]: Described(
            row["errorCode"], row["errorMessage"], {entry["name"]: entry["value"] for entry in row["configs"]}
        )
        for row in answer["results"]
    }
