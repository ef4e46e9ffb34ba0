"""A gateway in process whose patience with upstream is short, because what tests spoil is spoilt for good."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from share_state.gateway import ShareGateway
from share_state.gateway.upstream.cluster import Upstream
from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.hostile import HostileUpstream
from tests.gateway.serving import serving

#: Seconds that upstream has for an answer: longer than any long poll of the gateway.
_REQUEST_TIME = 0.7


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upstream has less than a second for an answer instead of thirty."""
    monkeypatch.setattr("share_state.gateway.gateway.Upstream", functools.partial(Upstream, request_timeout=_REQUEST_TIME))


@pytest.fixture
def upstream() -> Iterator[HostileUpstream]:
    with HostileUpstream(brokers=2) as made:
        yield made


@pytest.fixture
def gateway(upstream: HostileUpstream, tmp_path: Path) -> Iterator[ShareGateway]:
    upstream.create("t")
    with serving(upstream.bootstrap, tmp_path) as made:
        yield made


@pytest.fixture
def books() -> Books:
    return Books()


@pytest.fixture
def member(gateway: ShareGateway, books: Books) -> Iterator[Member]:
    with Member(gateway.bootstrap_servers, "a", ["t"], books) as made:
        yield made
