"""The marked group ``kafka``: what it is, when it runs, and the brokers it talks to, one of each release for all."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests import seeds
from tests.kafka import broker, home

if TYPE_CHECKING:
    from tests.kafka.real_broker import RealBroker

#: Set to run the group together with the others; ``pytest -m kafka`` runs it alone.
SWITCH = "SHARE_STATE_KAFKA"

# Before the tests are loaded, whose own settings begin with these.
hypothesis.settings.register_profile("fixed", derandomize=True)
if not seeds.FRESH:
    hypothesis.settings.load_profile("fixed")

_TOLD = pytest.StashKey[list[str]]()
#: Seconds after which a test that is a coroutine is given up: before the whole run is.
_COROUTINE_S = 120


def pytest_configure(config: pytest.Config) -> None:
    """Make the group known, and take Ctrl-C even where a shell has started us in the background, which ignores it for good."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "kafka: needs a JDK, Maven and real Kafka (`make kafka`); run with `pytest -m kafka`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the group out unless it is asked for; then a missing Kafka is a failure, never a skip."""
    if os.environ.get(SWITCH) or config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("kafka")]
    if left_out:
        hint = f"{len(left_out)} against real Kafka were left out: `make test-kafka` fetches it and runs them."
        config.stash.setdefault(_TOLD, []).append(hint)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    asyncio.run(asyncio.wait_for(test, _COROUTINE_S))
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the tests told, passed or not: the seeds among it."""
    for line in config.stash.get(_TOLD, []):
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def _unpaced() -> None:
    """Let each test log what it causes, whatever the tests before it caused."""
    from share_state.logs import PACE  # noqa: PLC0415  not for those who only look at the options

    PACE.forget()


@pytest.fixture
def tell(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Keep a line for the end of the run."""
    return pytestconfig.stash.setdefault(_TOLD, []).append


@pytest.fixture(scope="session")
def real_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], RealBroker]]:
    """Gives the broker of a release, started when it is first asked for."""
    # Only now: these need packages that are only for the tests against real Kafka.
    from tests.kafka import real_broker  # noqa: PLC0415

    with ExitStack() as stack:
        made: dict[str, RealBroker] = {}

        def of(version: str) -> RealBroker:
            if version not in made:
                directory = tmp_path_factory.mktemp(f"kafka-{version}")
                made[version] = stack.enter_context(real_broker.running(version, directory))
            return made[version]

        yield of


@pytest.fixture
def kafka_440(real_brokers: Callable[[str], RealBroker]) -> broker.Broker:
    """A broker of the release that is the judge."""
    return real_brokers(home.JUDGE).broker


@pytest.fixture(params=home.VERSIONS)
def kafka(request: pytest.FixtureRequest, real_brokers: Callable[[str], RealBroker]) -> broker.Broker:
    """Each of the two, one after the other."""
    return real_brokers(str(request.param)).broker
