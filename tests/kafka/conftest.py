"""The marked group ``kafka``: what it is, when it runs, and the brokers it talks to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from . import broker, home

#: Set to run the group together with the others; ``pytest -m kafka`` runs it alone.
SWITCH = "SHARE_STATE_KAFKA"

_TOLD = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the group known."""
    config.addinivalue_line("markers", "kafka: needs a JDK, Maven and real Kafka (`make kafka`); run with `pytest -m kafka`")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the tests told, passed or not: the fresh seed among it."""
    for line in config.stash.get(_TOLD, []):
        terminalreporter.write_line(line)


@pytest.fixture
def tell(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Keep a line for the end of the run."""
    return pytestconfig.stash.setdefault(_TOLD, []).append


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the group out unless it is asked for; then a missing Kafka is a failure, never a skip."""
    if os.environ.get(SWITCH) or config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("kafka")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def kafka_440(tmp_path_factory: pytest.TempPathFactory) -> Iterator[broker.Broker]:
    """A broker of the release that is the judge."""
    with broker.running(home.JUDGE, tmp_path_factory.mktemp("kafka-4.4.0")) as running:
        yield running


@pytest.fixture(scope="session")
def kafka_431(tmp_path_factory: pytest.TempPathFactory) -> Iterator[broker.Broker]:
    """A broker of the second release."""
    with broker.running("4.3.1", tmp_path_factory.mktemp("kafka-4.3.1")) as running:
        yield running


@pytest.fixture(scope="session", params=home.VERSIONS)
def kafka(request: pytest.FixtureRequest) -> broker.Broker:
    """Each of the two, one after the other."""
    name = "kafka_" + str(request.param).replace(".", "")
    running = request.getfixturevalue(name)
    assert isinstance(running, broker.Broker)
    return running
