"""The screen over a broker that a test moves: on a real terminal, with its copy and timeline, and while the broker is away."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.operate.live import LiveView
from share_state.operate.top.timeline import History
from tests.operate.live.fake_cluster import DESCRIBE, FakeCluster, served
from tests.operate.live.fake_configs import member
from tests.operate.top.made_up import FakeLive
from tests.operate.top.screen import watched
from tests.operate.top.terminal import on_terminal

ORDERS = UUID(int=1)
KEY = ss.SharePartitionKey("workers", str(ORDERS), 0)
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3|4|9|10)[0-7]\b[0-9;]*m")


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        store.reset_state(KEY, 0, 0)
        store.write_state(KEY, ss.WriteState(0, 0, 0, 0, [ss.StateBatch(0, 0, 0, 1)]))
        store.write_state(KEY, ss.WriteState(0, 0, 0, 9, [ss.StateBatch(0, 0, 0, 4), ss.StateBatch(1, 9, 2, 1)]))
    return FakeCluster(log, ends={("orders", ORDERS): [20]}, members={"workers": [member("m-1", {ORDERS: [0]})]})


@pytest.fixture
def serving(cluster: FakeCluster) -> Iterator[FakeCluster]:
    with served(cluster):
        yield cluster


async def test_reasons_records_members_and_timeline(cluster: FakeCluster, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with cluster.serving():
        live = LiveView(cluster.bootstrap, copy=copy)
        async with watched(
            live, group="workers", history=History("kafka://nowhere:1", copy), size=(100, 30), refresh=0.3
        ) as screen:
            await screen.sees("1 POISON")
            await screen.press("enter")
            await screen.sees(
                " POISON  record 0 is available after 4 deliveries, and the limit is 5", "Advice: Look at the record"
            )
            await screen.sees("lag 11", "start offset 0   log end offset 20   in flight 1", "records by deliveries 1×: 9, 4×: 1")
            assert [re.split(r"  +", row.strip()) for row in screen.rows()[1:]] == [
                ["0", "0", "1", "available", "4", "◀", "waits, or is with a member"],
                ["1", "9", "9", "acknowledged", "1", "accepted"],
                ["10", "19", "10", "unwritten", "-", "new, or is with a member"],
            ]
            await screen.press("2")
            await screen.sees("m-1", "worker", "/127.0.0.1")
            await screen.press("tab")
            await screen.sees("From the copy, since ", "Press 3 to read it again.")
            told = [re.split(r"  +", row.strip())[1:] for row in screen.rows()[1:]]
            assert told[:3] == [
                ["accepted", "1-9", "unknown → acknowledged×1", "2"],
                ["released", "0", "available×1 → available×4", "2"],
                ["released", "0", "unknown → available×1", "1"],
            ]
            assert told[-1][0] == "initialised"
            await screen.pilot.click("#panels", offset=(2, 0))
            await screen.sees("waits, or is with a member")


async def test_a_timeline_that_cannot_be_read_says_why() -> None:
    async with watched(FakeLive(), group="workers") as screen:
        await screen.sees("1 POISON")
        await screen.press("enter", "3")
        await screen.sees("The timeline cannot be read: 127.0.0.1:1: Connection refused")


async def test_a_broker_that_is_away_is_told_and_comes_back(cluster: FakeCluster) -> None:
    async with AsyncExitStack() as broker:
        await broker.enter_async_context(cluster.serving())
        async with watched(LiveView(cluster.bootstrap, timeout=1), refresh=0.1) as screen:
            await screen.sees("1 POISON", "workers")
            await broker.aclose()
            await screen.sees("! ", "workers", "POISON")
            cluster.denied = {DESCRIBE}
            await broker.enter_async_context(cluster.serving())
            await screen.sees("DESCRIBE on the group workers is missing", "POISON")


def test_on_a_terminal_it_is_a_screen_and_without_colours_where_none_are_wanted(serving: FakeCluster) -> None:
    with on_terminal("top", f"kafka://{serving.bootstrap}", "--group", "workers", NO_COLOR="1") as terminal:
        terminal.sees("1 POISON", "orders 0: record 0 is available after 4 deliveries, and the limit is 5")
        assert COLOUR.findall(terminal.received) == []
        terminal.press("\r")
        terminal.sees("Advice: ", "unwritten")
        assert COLOUR.findall(terminal.received) == []
        terminal.press("q")
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.received


@pytest.mark.parametrize(("option", "begins"), [(("--once",), "HEALTH "), (("--format", "jsonl"), '{"schema_version":1')])
def test_once_needs_no_screen(serving: FakeCluster, option: tuple[str, ...], begins: str) -> None:
    with on_terminal("top", f"kafka://{serving.bootstrap}", *option, columns=200) as terminal:
        assert terminal.ended() == 1
    # The header is bold on a terminal.
    assert re.sub(r"\x1b\[\d+m", "", terminal.received).startswith(begins)
    assert "record 0 is available after 4 deliveries" in terminal.received


def test_a_cluster_that_is_not_there_ends_as_every_command() -> None:
    with on_terminal("top", "kafka://127.0.0.1:1", columns=200) as terminal:
        assert terminal.ended() == 3
    assert "share-state: cannot read kafka://127.0.0.1:1: 127.0.0.1:1: Connection refused" in terminal.received


def test_it_quits_while_no_broker_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"kafka://127.0.0.1:{silent.getsockname()[1]}"
        with on_terminal("top", address, "--timeout", "3600") as terminal:
            terminal.sees("reading the state topic")
            terminal.press("q")
            assert terminal.ended() == 0


def test_without_textual_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "textual.py").write_text("raise ImportError('no textual')\n", encoding="utf-8")
    path = f"{tmp_path}:{next(entry for entry in sys.path if (Path(entry) / 'share_state').is_dir())}"
    with on_terminal("top", "kafka://127.0.0.1:1", columns=200, PYTHONPATH=path) as terminal:
        assert terminal.ended() == 3
    assert "needs textual (no textual): run pip install '.[ops]'" in terminal.received
