"""Costs at rest, which should be next to nothing: memory of unused share partitions, CPU of members that find no records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from benches.gateway import sides
from benches.gateway.members import Member, open_group, topic_id
from benches.gateway.records import TOPIC
from benches.gateway.sides import Side
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]

_GROUPS = 10
_PARTITIONS = 1_000
_MEMBERS = 500
#: The defaults of share consumers: how often a member tells that it is there, and how long a fetch waits.
_HEARTBEAT_S = 5.0
_FETCH_WAIT_MS = 500


def partitions(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """Resident memory of the gateway before and after share partitions are initialised and fetched from, once a round."""
    count = _PARTITIONS // share
    rows = []
    for _ in range(min(rounds, 3)):
        with sides.running(("C interval",)) as (broker, (side,)):
            create_topic(broker.bootstrap, TOPIC, count)
            _use(side, "first", count)
            before = sides.resident_mib(side.pid)
            for number in range(_GROUPS):
                _use(side, f"idle-{number}", count)
            after = sides.resident_mib(side.pid)
        say(f"{_GROUPS * count:,} idle share partitions: {after - before:.1f} MiB ({before:.1f} before)")
        rows.append({"share_partitions": _GROUPS * count, "before_mib": before, "after_mib": after})
    return {"rows": rows}


def members(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """CPU of the server, in cores, while members only tell that they are there, and while they wait for records as well."""
    seconds = max(_HEARTBEAT_S * 2, 30.0 / share)
    count = _MEMBERS // share
    settings = {"group.share.max.size": "1000", "group.share.max.share.sessions": "2000"}
    rows = []
    with sides.running(("B", "C interval"), settings) as (broker, found):
        create_topic(broker.bootstrap, TOPIC, 6)
        for number in range(min(rounds, 3)):
            for side in found:
                row = asyncio.run(_rest(side, f"rest-{side.name[0]}-{number}", count, seconds))
                say(f"{count} idle members, {side.name}: " + ", ".join(f"{name} {value:.3f}" for name, value in row.items()))
                rows.append({"side": side.name, "members": count, **row})
    return {"rows": rows}


def _use(side: Side, group: str, count: int) -> None:
    """Have a group initialise the share partitions, and look into each once."""
    configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "earliest"})
    open_group(side.bootstrap, group, TOPIC, count)

    async def look() -> None:
        member = await Member(group, topic_id(side.bootstrap, TOPIC), range(count)).connect(side.bootstrap)
        await member.fetch(1)
        await member.fetch(1, _FETCH_WAIT_MS)
        member.close()

    asyncio.run(look())


async def _rest(side: Side, group: str, count: int, seconds: float) -> dict[str, float]:
    configure_group(side.bootstrap, group, **{"share.heartbeat.interval.ms": str(round(_HEARTBEAT_S * 1000))})
    topic = topic_id(side.bootstrap, TOPIC)
    await asyncio.to_thread(open_group, side.bootstrap, group, TOPIC, 6)
    telling = [await Member(group, topic, range(6)).connect(side.bootstrap) for _ in range(count)]
    waiting = [await Member(group, topic, range(6)).connect(side.bootstrap) for _ in range(count)]
    try:
        epochs = [await member.heartbeat_once(TOPIC, 0) for member in telling]
        # Everything that joining brings about is over.
        for member, number in zip(telling, range(count), strict=True):
            epochs[number] = await member.heartbeat_once(TOPIC, epochs[number])
        until = time.monotonic() + seconds
        with sides.watch(side) as quiet:
            await asyncio.gather(*_tellers(telling, epochs, until))
        until = time.monotonic() + seconds
        with sides.watch(side) as busy:
            waiters = [member.idle(until, _FETCH_WAIT_MS) for member in waiting]
            await asyncio.gather(*_tellers(telling, epochs, until), *waiters)
    finally:
        for member in (*telling, *waiting):
            member.close()
    return {
        "heartbeats_cores": quiet[0].server / seconds,
        "heartbeats_and_fetches_cores": busy[0].server / seconds,
    }


def _tellers(telling: list[Member], epochs: list[int], until: float) -> list[Coroutine[Any, Any, None]]:
    return [
        _tell(member, epoch, number / len(telling), until)
        for number, (member, epoch) in enumerate(zip(telling, epochs, strict=True))
    ]


async def _tell(member: Member, epoch: int, phase: float, until: float) -> None:
    """Heartbeat evenly, at a phase of one's own."""
    await asyncio.sleep(phase * _HEARTBEAT_S)
    while time.monotonic() < until:
        epoch = await member.heartbeat_once(TOPIC, epoch)
        await asyncio.sleep(_HEARTBEAT_S)
