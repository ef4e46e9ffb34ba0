"""A gateway in process whose patience with upstream is short, because what tests spoil is spoilt for good."""

from __future__ import annotations

import functools

import pytest

from share_state.gateway.upstream.cluster import Upstream

#: Seconds that upstream has for an answer: longer than any long poll of the gateway.
_REQUEST_TIME = 0.7


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upstream has less than a second for an answer instead of thirty."""
    monkeypatch.setattr("share_state.gateway.gateway.Upstream", functools.partial(Upstream, request_timeout=_REQUEST_TIME))
