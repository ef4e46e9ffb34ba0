"""A ceiling of memory: a gateway under 2,000 connections, garbage, half requests, and clients that read nothing."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.gateway.serving import fetch, heartbeat, topic_id, upstream
from tests.gateway.wire.codec import api_key, encode
from tests.gateway.wire.connection import Connection, request_header
from tests.kafka.broker import die_with_parent

#: Memory that the limits add up to: 64 MiB of requests and 256 MiB of answers, requests taken apart, and what the process has
#: anyway.
CEILING_MIB = 768
MIB = 1 << 20


@contextlib.contextmanager
def started(bootstrap: str, path: Path) -> Iterator[tuple[int, str]]:
    """A gateway in a process of its own: its id and its address."""
    config = path / "config"
    config.write_text("share.auto.offset.reset=earliest\n", encoding="utf-8")
    command = ["-m", "share_state", "gateway", "--upstream", bootstrap, "--listen", "127.0.0.1:0", "--path", str(path / "state")]
    with (
        (path / "log").open("w", encoding="utf-8") as log,
        subprocess.Popen(
            [sys.executable, *command, "--config", str(config)],
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        ) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving"), (path / "log").read_text(encoding="utf-8")
        try:
            yield process.pid, line.split()[-1]
        finally:
            process.terminate()
            assert process.wait(60) == 0


def peak_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) >> 10


def opened(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.settimeout(60)
    made.connect((host, int(port)))
    return made


def send_all(connection: socket.socket, data: bytes) -> None:
    """Send as much as is taken; who is cut off has sent enough."""
    connection.settimeout(5)
    with contextlib.suppress(OSError):
        connection.sendall(data)


def test_memory_has_a_ceiling(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    with upstream(100, 100_000) as bootstrap, started(bootstrap, tmp_path) as (pid, address), contextlib.ExitStack() as stack:
        idle = [stack.enter_context(opened(address)) for _ in range(1400)]
        key = api_key("ShareFetch")
        for number in range(300):
            # Some MiB for each, which it never reads.
            group = f"slow {number}"
            with Connection(address) as connection:
                connection.ask("ShareGroupHeartbeat", 1, heartbeat(group))
                place = topic_id(connection)
            slow = stack.enter_context(opened(address))
            request = request_header(key, 1, 1, "slow") + encode(
                key, 1, fetch(group, 0, [(place, 0)], maxBytes=50 << 20, maxWaitMs=500)
            )
            slow.sendall(struct.pack(">i", len(request)) + request)
        halves = [stack.enter_context(opened(address)) for _ in range(200)]
        for connection_of in halves:
            send_all(connection_of, struct.pack(">ih", 8 * MIB, 78) + bytes(2 * MIB))
        # Requests that are large when they are taken apart.
        forgotten = [{"topicId": f"00000000-0000-0000-0000-{number:012x}", "partitions": []} for number in range(50_000)]
        large = encode(key, 1, {**fetch("g", 0, []), "forgottenTopicsData": forgotten})
        request = request_header(key, 1, 1, "large") + large
        for _ in range(40):
            send_all(stack.enter_context(opened(address)), struct.pack(">i", len(request)) + request)
        for _ in range(60):
            send_all(stack.enter_context(opened(address)), os.urandom(4096))
        # It still serves.
        with Connection(address) as connection:
            assert connection.offered()
            assert connection.ask("ShareGroupHeartbeat", 1, heartbeat("last"))["errorCode"] == 0
        for connection_of in idle[::400]:
            connection_of.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff")
            assert connection_of.recv(8)[4:] == b"\0\0\0\x07"
        peak = peak_mib(pid)
        assert 100 < peak < CEILING_MIB, f"{peak} MiB"
