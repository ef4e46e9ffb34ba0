"""A gateway's life: where it listens, what it does meanwhile, and what is left when it ends or never begins."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from share_state.cli.gateway import command
from share_state.errors import EnginePoisonedError, ShareStateError, StoreError
from share_state.gateway import GatewayOptions, ShareGateway, serve_in_thread
from share_state.kafka.client.peers import Address, parse_bootstrap
from tests.gateway.hostile import HostileUpstream
from tests.gateway.orchard import IDS, PEARS, PLUMS, orchard
from tests.gateway.patience import wait_until
from tests.gateway.serving import Instead, fetch, serving
from tests.gateway.wire.codec import api_key, encode
from tests.gateway.wire.connection import Connection, Disconnected

#: Nobody listens there.
NOWHERE = (Address("127.0.0.1", 1),)
MODULE = "share_state.gateway.gateway"
SHARE_FETCH = api_key("ShareFetch")


def test_it_says_where_it_listens_while_it_does(tmp_path: Path) -> None:
    gateway = ShareGateway(GatewayOptions(upstream=NOWHERE, path=tmp_path))
    with pytest.raises(RuntimeError, match=r"^the gateway is not listening$"):
        _ = gateway.address
    with pytest.raises(RuntimeError):
        _ = gateway.bootstrap_servers
    gateway._address = Address("10.0.0.1", 9092)
    assert (gateway.address, gateway.bootstrap_servers) == (("10.0.0.1", 9092), "10.0.0.1:9092")
    gateway._address = Address("::1", 9092)
    assert gateway.bootstrap_servers == "[::1]:9092"
    gateway._stack.close()


def test_it_begins_without_upstream_in_a_directory_that_there_was_not(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a" / "b"
    with serve_in_thread(GatewayOptions(upstream=NOWHERE, path=path)) as gateway:
        assert {found.name for found in path.iterdir()} == {"state", "groups", "gateway"}
        assert (gateway._monitoring, gateway.metrics_address, gateway._relay) == (None, None, None)
        with Connection(gateway.bootstrap_servers) as connection:
            assert connection.ask("Metadata", 12, {"topics": None})["topics"] == []
        names = {thread.name: thread.daemon for thread in threading.enumerate()}
        assert names["share-state-gateway"] is True
    with pytest.raises(RuntimeError):
        _ = gateway.address
    assert "share-state-gateway" not in {thread.name for thread in threading.enumerate()}
    # Without a topic nothing had to be asked at the start.
    assert [record for record in caplog.records if "yet" in record.getMessage()] == []


def test_an_upstream_that_is_away_is_told_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with HostileUpstream() as upstream:
        upstream.create(PLUMS)
        with serving(upstream.bootstrap, tmp_path) as gateway, Connection(gateway.bootstrap_servers) as connection:
            assert connection.ask("Metadata", 12, {"topics": [{"name": PLUMS}]})["topics"][0]["errorCode"] == 0
        upstream.stop()
        with serving(upstream.bootstrap, tmp_path):
            pass
    told = [record for record in caplog.records if record.name == "share_state.gateway"]
    assert [record.levelno for record in told] == [logging.WARNING]
    assert told[0].getMessage().startswith("upstream cannot be reached yet: ")
    assert "Connection refused" in told[0].getMessage()


def test_a_directory_has_one_gateway(tmp_path: Path) -> None:
    options = GatewayOptions(upstream=NOWHERE, path=tmp_path)
    with serve_in_thread(options), pytest.raises(ShareStateError):
        ShareGateway(options)
    # The second has counted no generation.
    with serve_in_thread(options) as first:
        generation = first.identity.generation
    with serve_in_thread(options) as second:
        assert second.identity.generation == generation + 1


def test_a_gateway_that_cannot_begin_leaves_its_directory_free(tmp_path: Path) -> None:
    options = GatewayOptions(upstream=NOWHERE, path=tmp_path)
    with serve_in_thread(options):
        pass
    kept = tmp_path / "gateway" / "group-configs.json"
    kept.write_text("[]", encoding="utf-8")
    threads = threading.active_count()
    with pytest.raises(StoreError):
        ShareGateway(options)
    assert threading.active_count() <= threads
    kept.unlink()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = Address("127.0.0.1", taken.getsockname()[1])
        with (
            pytest.raises(OSError, match="address already in use"),
            serve_in_thread(GatewayOptions(upstream=NOWHERE, path=tmp_path, listen=listen)),
        ):
            pass
    with serve_in_thread(options):
        pass


def test_share_sessions_have_an_end(tmp_path: Path) -> None:
    with (
        orchard(tmp_path, broker={"group.share.max.share.sessions": "1"}) as there,
        Connection(there.gateway.bootstrap_servers) as other,
    ):
        assert there.ask("ShareFetch", 1, fetch("a", 0, []))["errorCode"] == 0
        began = time.monotonic()
        assert other.ask("ShareFetch", 1, fetch("b", 0, [], maxWaitMs=300))["errorCode"] == 133
        # Who is refused comes again at once: it waits as for records.
        assert time.monotonic() - began >= 0.3
        there.connection.close()
        # The place is free once the gateway has seen that the connection ended.
        wait_until(lambda: other.ask("ShareFetch", 1, fetch("b", 0, []))["errorCode"] == 0, "a session")


def quickly(monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
    for name, value in seconds.items():
        monkeypatch.setattr(f"{MODULE}.{name}", value)


def test_new_partitions_are_found_without_being_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch, _REFRESH=0.02)
    with orchard(tmp_path, broker={"group.share.assignment.interval.ms": "0"}) as there:
        answer = there.join("g", [PEARS])
        assert answer["assignment"]["topicPartitions"][0]["partitions"] == [0]
        there.upstream.grow(PEARS, 3)
        found: list[int] = []

        def has_three() -> bool:
            nonlocal answer
            answer = there.beat("g", answer["memberEpoch"])
            if answer["assignment"] is not None:
                found[:] = sorted(answer["assignment"]["topicPartitions"][0]["partitions"])
            return found == [0, 1, 2]

        wait_until(has_three, "new partitions")


def test_a_topic_that_is_gone_is_forgotten_after_its_grace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch, _REFRESH=0.02, _DELETION_GRACE=0.05)
    with orchard(tmp_path) as there:
        there.join("g", [PEARS, PLUMS])
        upstream = there.gateway._upstream
        assert sorted(upstream.names()) == [PEARS, PLUMS]
        there.upstream.delete(PEARS)
        wait_until(lambda: upstream.names() == [PLUMS], "the end of a topic")
        # An upstream that is away is no end of a topic, and the gateway goes on looking.
        there.upstream.stop()
        there.upstream.start()
        there.upstream.delete(PLUMS)
        wait_until(lambda: upstream.names() == [], "the end of the other topic")


def test_what_nobody_uses_is_given_up_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch, _REFRESH=0.02)
    with orchard(tmp_path) as there:
        there.join("g", [PEARS])
        plane = there.gateway.plane
        swept: list[int] = []
        kept: list[set[str]] = []
        spied = Instead(plane.node, sweep=lambda since, *, now_ms: swept.append(now_ms - since), keep_counts=kept.append)
        monkeypatch.setattr(plane, "node", spied)
        wait_until(lambda: len(kept) >= 2, "two sweeps")
        # Share partitions are kept for five minutes.
        assert all(silence == pytest.approx(300_000, abs=1000) for silence in swept)
        assert kept[:2] == [{"g"}] * 2


def test_a_fault_of_ours_ends_share_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def feed(*_: object, **__: object) -> None:
        raise EnginePoisonedError("a panic")

    with orchard(tmp_path) as there, Connection(there.gateway.bootstrap_servers) as waiting:
        there.join("g", [PEARS])
        plane, address = there.gateway.plane, there.gateway.bootstrap_servers
        asked = fetch("g", 0, [(IDS[PEARS], 0)], maxWaitMs=20_000, minBytes=1 << 20)
        waiting.send(SHARE_FETCH, 1, encode(SHARE_FETCH, 1, asked))
        wait_until(lambda: plane.node.figures()["waiting_fetches"] == 1, "a fetch")
        monkeypatch.setattr(plane, "node", Instead(plane.node, feed=feed))
        # Who comes now is told by the end of its connection, and who waits as well.
        with pytest.raises(Disconnected):
            there.ask("ShareFetch", 1, fetch("g", 0, []))
        with pytest.raises(Disconnected):
            waiting.receive(SHARE_FETCH, 1)
        with pytest.raises(RuntimeError, match="not listening"):
            wait_until(lambda: not there.gateway.bootstrap_servers, "nobody is served")
        with pytest.raises(OSError, match="refused"):
            Connection(address)
        assert str(plane.wrong) == "a panic"
    told = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert told == ["the data plane has failed, and nothing is served any more: a panic"]


def test_a_command_ends_with_the_fault_of_its_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty(ShareGateway):
        async def start(self) -> Address:
            address = await super().start()
            self.plane.call(Instead(None, poll=poll).poll)
            return address

    def poll() -> None:
        raise EnginePoisonedError("a panic")

    monkeypatch.setattr(command, "ShareGateway", Faulty)
    with HostileUpstream() as upstream:
        options = GatewayOptions(upstream=tuple(parse_bootstrap(upstream.bootstrap)), path=tmp_path)
        with pytest.raises(EnginePoisonedError, match="a panic"):
            asyncio.run(command._serve(options))
    # The directory is free again.
    with serve_in_thread(GatewayOptions(upstream=NOWHERE, path=tmp_path)):
        pass


def test_the_log_is_tidied_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[tuple[Any, str]] = []
    monkeypatch.setattr(f"{MODULE}.ROUND_SECONDS", 0.01)
    monkeypatch.setattr(f"{MODULE}.tidy", lambda store, warn: tidied.append((store, warn.__name__)))
    with serve_in_thread(GatewayOptions(upstream=NOWHERE, path=tmp_path)) as gateway:
        wait_until(lambda: len(tidied) >= 2, "two rounds")
        assert tidied[0] == (gateway._store, "warning")
