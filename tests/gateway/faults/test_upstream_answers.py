"""Upstream is slow, silent, gone, or answers nonsense: others are served meanwhile, and afterwards every record comes once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import fetches_of, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import Which, of
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def upstream() -> Iterator[HostileUpstream]:
    """Two brokers; the first leads what is spoilt, the second what is not."""
    with HostileUpstream(brokers=2) as made:
        made.create("spoilt")
        made.create("sound")
        made.move_leader("sound", 0, to=2)
        yield made


#: Faults of whole answers, by what is spoilt: nothing but a Fetch of one topic, or everything that tells of topics.
SPOILT: dict[str, dict[str, Any]] = {
    "slow": {"delay_seconds": 0.3, "which": "delayed"},
    "slower than the patience": {"delay_seconds": 2.0, "which": "delayed"},
    "silent": {"which": "silent"},
    "closing": {"which": "closed"},
    "cut off": {"which": "cut"},
    "random bytes": {"which": "nonsense"},
    "an answer to another request": {"which": "misnumbered"},
    "two thousand million bytes": {"which": "endless"},
    "a byte at a time": {"which": "dripped", "drip_seconds": 0.01},
}


def spoil(upstream: HostileUpstream, which: Which, fault: dict[str, Any]) -> None:
    setattr(upstream.faults, fault["which"], which)
    for name in fault.keys() - {"which"}:
        setattr(upstream.faults, name, fault[name])


@pytest.mark.parametrize("fault", SPOILT.values(), ids=SPOILT.keys())
def test_a_spoilt_fetch(upstream: HostileUpstream, tmp_path: Path, fault: dict[str, Any]) -> None:
    spoilt, sound = Books(), Books()
    with serving(upstream.bootstrap, tmp_path) as gateway:
        address = gateway.bootstrap_servers
        with Member(address, "a", ["spoilt"], spoilt) as first, Member(address, "b", ["sound"], sound) as other:
            upstream.append("spoilt", 0, values(0, 10))
            first.join().drain(10)
            spoil(upstream, fetches_of(upstream, "spoilt"), fault)
            upstream.append("spoilt", 0, values(10, 10))
            upstream.append("sound", 0, values(0, 10))
            asked = len(upstream.requests("Fetch"))
            other.join().drain(10, "others are served meanwhile")
            first.acknowledge(first.poll())
            wait_until(lambda: len(upstream.requests("Fetch")) > asked, "the fault was met")
            upstream.faults.clear()
            upstream.append("spoilt", 0, values(20, 10))
            first.drain(30)
            assert spoilt.settled_values(first.topic_id("spoilt")) == values(0, 30)
            assert set(first.errors) <= {-1}


@pytest.mark.parametrize("fault", list(SPOILT)[2:])
def test_what_tells_of_topics_is_spoilt(upstream: HostileUpstream, tmp_path: Path, fault: str) -> None:
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["sound"], books) as member:
        upstream.append("sound", 0, values(0, 10))
        member.join().drain(10)
        asked = len(upstream.requests("Metadata")) + len(upstream.requests("ApiVersions"))
        spoil(upstream, of("Metadata", "ListOffsets", "ApiVersions"), SPOILT[fault])
        # Its leader moves, and the connections are lost: the gateway has to ask again.
        upstream.move_leader("sound", 0, to=1)
        upstream.drop_connections(2)
        upstream.append("sound", 0, values(10, 10))
        for _ in range(2):
            member.acknowledge(member.poll())
        wait_until(
            lambda: len(upstream.requests("Metadata")) + len(upstream.requests("ApiVersions")) > asked, "the fault was met"
        )
        upstream.faults.clear()
        member.drain(20)
        assert books.settled_values(member.topic_id("sound")) == values(0, 20)
        assert set(member.errors) <= {-1}
