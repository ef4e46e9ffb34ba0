"""Durable acknowledgements a second, one record each, with 1, 64 and 1,000 of them in flight.

Where the broker is to keep its word as the gateway does with ``sync=always``, it flushes each append
(``log.flush.interval.messages=1``): side "B synced".
"""

from __future__ import annotations

import asyncio
import json
import random
import struct
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benches.gateway import sides
from benches.gateway.members import Member, open_group, refused, topic_id
from benches.gateway.records import TOPIC, fill
from benches.gateway.sides import Side
from benches.programs import rust
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]

_PARTITIONS = 16
#: Acknowledgements in flight, and how many each member makes.
_STEPS = ((1, 500), (64, 100), (1_000, 20))
_RECORDS = 32_000
#: Longer than a round.
_SETTINGS = {"group.share.record.lock.duration.ms": "60000", "group.share.max.share.sessions": "4000"}
_COUNT = struct.Struct(">I")
_SYNCED = {"log.flush.interval.messages": "1"}


def acknowledgements(say: Say, rounds: int, share: int, before: Path | None = None) -> dict[str, Any]:
    """Rates and waiting times, a row for each side, step and round; the gateways of another checkout are two sides more."""
    names: tuple[str, ...] = ("B", "C interval", "C always")
    if before:
        names += "C interval before", "C always before"
    rows = []
    with ExitStack() as stack:
        _, found = stack.enter_context(sides.running(names, _SETTINGS, before=before))
        _, (synced,) = stack.enter_context(sides.running(("B",), _SETTINGS, _SYNCED))
        named = {**{side.name: side for side in found}, "B synced": synced}
        for bootstrap in {found[0].bootstrap, synced.bootstrap}:
            create_topic(bootstrap, TOPIC, _PARTITIONS)
            fill(bootstrap, TOPIC, _RECORDS, 100, _PARTITIONS, single=False)
        for number in range(rounds):
            for members, each in _STEPS:
                for name in random.sample(sorted(named), len(named)):
                    group = f"{name.replace(' ', '-')}-{members}-{number}"
                    row = asyncio.run(_measure(named[name], group, members, max(each // share, 1)))
                    say(f"{members:,} in flight, {name}: {row['rate']:,.0f} a second, p50 {row['p50_ms']:.2f} ms")
                    rows.append({"side": name, "in_flight": members, **row})
    return {"rows": rows}


async def _measure(side: Side, group: str, members: int, each: int) -> dict[str, float]:
    configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "earliest"})
    await asyncio.to_thread(open_group, side.bootstrap, group, TOPIC, _PARTITIONS)
    topic = topic_id(side.bootstrap, TOPIC)
    opened = [await Member(group, topic, [number % _PARTITIONS]).connect(side.bootstrap) for number in range(members)]
    try:
        frames = [member.acknowledging(await _take(member, each)) for member in opened]
        with sides.watch(side) as spent:
            found = await asyncio.to_thread(_play, side.bootstrap, frames)
    finally:
        for member in opened:
            member.close()
    if failed := [(code, count) for answer, count in found["answers"].items() if (code := refused(bytes.fromhex(answer)[1:]))]:
        raise RuntimeError(f"{side.name}: acknowledgements were refused (error, times): {failed}")
    wanted = sum(map(len, frames))
    return {
        "rate": wanted / found["seconds"],
        "p50_ms": found["p50_ns"] / 1e6,
        "p99_ms": found["p99_ns"] / 1e6,
        "server_cpu_us": spent[0].server / wanted * 1e6,
    }


async def _take(member: Member, wanted: int) -> dict[int, list[int]]:
    """Take exactly so many records; an answer may hold less than was asked for."""
    held: defaultdict[int, list[int]] = defaultdict(list)
    while left := wanted - sum(map(len, held.values())):
        for partition, offsets in (await member.fetch(left, 500)).items():
            held[partition] += offsets
    return held


def _play(bootstrap: str, frames: list[list[bytes]]) -> dict[str, Any]:
    """Send what each connection has to send; the members' own connections stay open, for they keep the sessions."""
    with tempfile.NamedTemporaryFile(prefix="bench-gateway-") as file:
        file.write(b"".join(_COUNT.pack(len(requests)) + b"".join(requests) for requests in frames))
        file.flush()
        ran = subprocess.run([str(rust("lockstep")), bootstrap, file.name], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip())
    found: dict[str, Any] = json.loads(ran.stdout)
    return found
