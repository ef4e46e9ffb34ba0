"""The leader of a topic moves between two real brokers while members take its records."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.gateway.clients.ledger import Ledger
from tests.gateway.clients.members import Member, confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft, pair

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 100
MOVES = 4


def _has_settled(members: list[Member], count: int, _: Member) -> bool:
    return len(Ledger.of(members).settled) > count


def test_every_record_is_settled_while_leaders_move(tmp_path: Path) -> None:
    (tmp_path / "upstream").mkdir()
    with ExitStack() as stack:
        brokers = stack.enter_context(pair.running(tmp_path / "upstream"))
        records = brokers.bootstrap
        gateway = stack.enter_context(GatewayProcess(tmp_path / "gateway", records, kraft.SHARE_SETTINGS))
        create_topic(records, "jobs", 2, replication=2)
        configure_group(gateway.bootstrap, "workers", **{"share.auto.offset.reset": "earliest"})
        plan = Plan(bootstrap=gateway.bootstrap, group="workers", topics=["jobs"], weights=(6, 2, 1, 0), commit="mixed")
        members = [stack.enter_context(confluent(Plan(**{**vars(plan), "seed": seed}), seed)) for seed in (0, 1)]
        produced = set()
        for move in range(MOVES):
            first = move * RECORDS
            for partition in (0, 1):
                values = [b"%d" % number for number in range(first, first + RECORDS)]
                produce(records, "jobs", values, partition=partition, batch=20)
                produced |= {("jobs", partition, offset) for offset in range(first, first + RECORDS)}
            members[0].wait_until(partial(_has_settled, members, len(produced) - RECORDS), "some are settled", 100)
            for partition in (0, 1):
                brokers.move_leader("jobs", partition, to=2 - (move + partition) % 2)
        members[0].wait_until(lambda _: not Ledger.of(members).open(produced), "every record is settled", 100)
        assert [member.stop() for member in members] == [0, 0]
        assert not [error for member in members for error in member.errors()]
        ledger = Ledger.of(members)
        assert gateway.stop() == 0
    assert not ledger.lost(produced)
    assert not ledger.came_again()
    assert not ledger.held_twice()
