"""Two gateways with a PATH each over one upstream: the second is refused, unless it is told that it may."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from share_state.errors import StoreError
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.hostile.grouping import GROUP_APIS
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

GROUP = "share-state-gateway"
#: Versions of groups that brokers offer: new ones, those before member ids were given first, and no groups to look at.
OLD = {**WITHOUT_IDS, "FindCoordinator": (0, 2), "JoinGroup": (0, 3), "Heartbeat": (0, 1), "LeaveGroup": (0, 1),
       "SyncGroup": (0, 1), "DescribeGroups": (0, 1)}  # fmt: skip
KINDS: dict[str, Mapping[str, tuple[int, int]]] = {"new": {**OFFERED, **GROUP_APIS}, "old": OLD}


@pytest.fixture(params=[*KINDS.values()], ids=[*KINDS])
def upstream(request: pytest.FixtureRequest) -> Iterator[HostileUpstream]:
    """An upstream with ordinary groups."""
    with HostileUpstream(offered=request.param) as made:
        made.create("t")
        yield made


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody who is there lives."""
    monkeypatch.setattr("share_state.gateway.upstream.claim._LIVES", 0.0)


def claims(upstream: HostileUpstream) -> list[str]:
    """The client ids of those who have one."""
    with upstream.lock:
        return sorted(upstream.groups.members[GROUP].values())


def test_a_second_path_is_refused_while_the_first_lives(upstream: HostileUpstream, tmp_path: Path) -> None:
    with serving(upstream.bootstrap, tmp_path / "a") as gateway:
        first = f"{GROUP}-{gateway.identity.cluster_id}"
        assert claims(upstream) == [first]
        with pytest.raises(StoreError) as refused, serving(upstream.bootstrap, tmp_path / "b"):
            pass
        text = str(refused.value)
        assert gateway.identity.cluster_id in text
        assert "/host" in text
        assert "--alongside" in text
        assert claims(upstream) == [first]
        with serving(upstream.bootstrap, tmp_path / "b", alongside=True) as other:
            assert claims(upstream) == sorted([first, f"{GROUP}-{other.identity.cluster_id}"])
        assert claims(upstream) == [first]
    # Given up at the end.
    assert claims(upstream) == []
    with serving(upstream.bootstrap, tmp_path / "b"):
        assert len(claims(upstream)) == 1


def test_the_same_path_takes_its_own_claim_over(upstream: HostileUpstream, tmp_path: Path) -> None:
    with serving(upstream.bootstrap, tmp_path / "a") as gateway:
        mine = f"{GROUP}-{gateway.identity.cluster_id}"
    with upstream.lock:
        # It was killed: its member is still there.
        upstream.groups.members[GROUP] = {"left behind": mine}
    with serving(upstream.bootstrap, tmp_path / "a"):
        assert claims(upstream) == [mine]
        assert "left behind" not in upstream.groups.members[GROUP]


def test_a_start_waits_until_the_claim_of_a_gateway_that_was_killed_is_over(
    upstream: HostileUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("share_state.gateway.upstream.claim._LIVES", 60.0)
    with upstream.lock:
        upstream.groups.members[GROUP] = {"killed": f"{GROUP}-killed"}

    def over() -> None:
        wait_until(lambda: any("cluster id 'killed'" in text for text in caplog.messages), "that is told")
        with upstream.lock:
            upstream.groups.members[GROUP].pop("killed")

    with ThreadPoolExecutor() as threads:
        ends = threads.submit(over)
        with serving(upstream.bootstrap, tmp_path) as gateway:
            assert claims(upstream) == [f"{GROUP}-{gateway.identity.cluster_id}"]
        ends.result()


def test_one_of_two_that_come_at_the_same_moment_is_served(
    upstream: HostileUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("share_state.gateway.upstream.claim._LIVES", 1.0)
    together = Barrier(2)

    def one(name: str) -> int:
        together.wait()
        try:
            with serving(upstream.bootstrap, tmp_path / name):
                together.wait()
                return len(claims(upstream))
        except StoreError:
            together.wait()
            return 0

    with ThreadPoolExecutor() as threads:
        assert sorted(threads.map(one, "ab")) == [0, 1]


def test_a_claim_that_is_lost_is_taken_again(
    upstream: HostileUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("share_state.gateway.upstream.claim._BEAT", 0.01)
    with serving(upstream.bootstrap, tmp_path / "a") as gateway:
        mine = f"{GROUP}-{gateway.identity.cluster_id}"
        wait_until(lambda: len(upstream.requests("Heartbeat")) > 2, "it lives")
        with upstream.lock:
            upstream.groups.members[GROUP] = {"another": f"{GROUP}-another"}
        wait_until(lambda: mine in claims(upstream), "it is there again")
        wait_until(lambda: any("cluster id 'another'" in text for text in caplog.messages), "the other one is told")
        upstream.restart()
        with upstream.lock:
            upstream.groups.members[GROUP].clear()
        wait_until(lambda: claims(upstream) == [mine], "it is there after a loss of upstream")
        # A member of a copy of the path has taken it over.
        shutil.copytree(tmp_path / "a" / "gateway", tmp_path / "b" / "gateway")
        with serving(upstream.bootstrap, tmp_path / "b"):
            wait_until(lambda: any("copy of this PATH" in text for text in caplog.messages), "that is told")


def test_without_the_right_there_is_a_warning(
    upstream: HostileUpstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.groups.forbidden = True
    with serving(upstream.bootstrap, tmp_path / "a"), serving(upstream.bootstrap, tmp_path / "b"):
        pass
    told = [text for text in caplog.messages if "GROUP_AUTHORIZATION_FAILED" in text]
    assert len(told) == 2
    assert "READ and DESCRIBE group share-state-gateway" in told[0]


@pytest.mark.parametrize("fault", ["silent", "closed", "nonsense", "endless", "cut"])
def test_an_upstream_that_says_nothing_of_groups_stops_no_start(
    upstream: HostileUpstream, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("share_state.gateway.upstream.claim._PATIENCE", 0.1)
    monkeypatch.setattr("share_state.gateway.upstream.claim._LAST", 0.1)
    setattr(upstream.faults, fault, of(*GROUP_APIS))
    with serving(upstream.bootstrap, tmp_path):
        pass


@pytest.mark.parametrize("missing", sorted(GROUP_APIS))
def test_an_upstream_without_groups_is_served(tmp_path: Path, missing: str) -> None:
    offered = {name: versions for name, versions in {**OFFERED, **GROUP_APIS}.items() if name != missing}
    with (
        HostileUpstream(offered=offered) as upstream,
        serving(upstream.bootstrap, tmp_path / "a"),
        serving(upstream.bootstrap, tmp_path / "b"),
    ):
        assert claims(upstream) == []
