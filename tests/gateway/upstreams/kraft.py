"""Single brokers of Kafka 4.4.0 and 3.9: with share groups as the model, without as upstreams."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from tests.kafka.broker import Broker, running
from tests.kafka.home import JUDGE, UPSTREAMS

OLDER = UPSTREAMS[0]

#: A gateway that is compared with the model has the same configuration. Record locks of a second, as the suite of a client needs.
SHARE_SETTINGS: Final[Mapping[str, str]] = {
    "group.share.record.lock.duration.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
}

#: Members are assigned on their second heartbeat: with this it comes soon.
QUICK: Final[Mapping[str, str]] = {
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.heartbeat.interval.ms": "300",
}

#: Nothing ends by itself within a long comparison: neither locks nor members.
PATIENT: Final[Mapping[str, str]] = {
    **QUICK,
    "group.share.max.record.lock.duration.ms": "3600000",
    "group.share.record.lock.duration.ms": "3600000",
    "group.share.max.session.timeout.ms": "3600000",
    "group.share.session.timeout.ms": "3600000",
    "group.share.assignment.interval.ms": "0",
}

#: For every upstream: topics are made by name, never by asking for them.
_UPSTREAM_SETTINGS: Final[Mapping[str, str]] = {"auto.create.topics.enable": "false"}


def with_share_groups(directory: Path, settings: Mapping[str, str] | None = None) -> AbstractContextManager[Broker]:
    """The model: 4.4.0 with its own share groups."""
    return running(JUDGE, directory, {**_UPSTREAM_SETTINGS, **SHARE_SETTINGS, **(settings or {})})


def without_share_groups(directory: Path, settings: Mapping[str, str] | None = None) -> AbstractContextManager[Broker]:
    """4.4.0 that answers the requests of share groups with UNSUPPORTED_VERSION (35)."""
    return running(JUDGE, directory, {**_UPSTREAM_SETTINGS, **(settings or {})}, features={"share.version": 0})


def older(directory: Path, settings: Mapping[str, str] | None = None) -> AbstractContextManager[Broker]:
    """3.9, which has never heard of share groups."""
    return running(OLDER, directory, {**_UPSTREAM_SETTINGS, **(settings or {})})
