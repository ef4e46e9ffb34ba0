"""Two gateways over one real upstream: the second is refused while the first lives, and a restart is not slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gateway.process import GatewayProcess
from tests.gateway.upstreams import running
from tests.gateway.wire import Connection

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def refused(path: Path, upstream: str) -> bool:
    process = GatewayProcess(path, upstream, {})
    with pytest.raises(RuntimeError, match="did not start: ") as told:
        process.start()
    process.kill()
    return "another gateway with a PATH of its own serves this upstream" in str(told.value)


def served(gateway: GatewayProcess) -> bool:
    with Connection(gateway.bootstrap) as connection:
        return bool(connection.offered())


@pytest.mark.parametrize("release", ["4.4", "2.8"])
def test_one_path_at_a_time(tmp_path: Path, release: str) -> None:
    with running(release, tmp_path) as upstream, GatewayProcess(tmp_path / "a", upstream.bootstrap, {}) as first:
        assert refused(tmp_path / "b", upstream.bootstrap)
        first.kill()
        first.start()
        assert refused(tmp_path / "b", upstream.bootstrap)
        with GatewayProcess(tmp_path / "c", upstream.bootstrap, {}, "--alongside") as other:
            assert served(first)
            assert served(other)
