"""The gateway over real upstreams, with real clients, killed on the way; beside a real broker where there is one to compare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.gateway.clients.ledger import Ledger
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.kinds import meet
from tests.gateway.patience import wait_until
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic, produce
from tests.gateway.tools.compare import Side, compare
from tests.gateway.tools.known import KNOWN
from tests.gateway.tools.script import every_verb
from tests.gateway.upstreams import kraft, running
from tests.gateway.wire import Connection
from tests.kafka.broker import Broker
from tests.kafka.home import REPOSITORY
from tests.proof.conformance.__main__ import main

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

FACTS = REPOSITORY / "tests" / "data" / "conformance" / "share_consumer_e2e.json.gz"
#: Records a partition before the gateway is killed, and after it was started again.
RECORDS, LATER = 300, 60
NO_ID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with kraft.without_share_groups(tmp_path_factory.mktemp("upstream")) as broker:
        yield broker


@pytest.fixture(scope="module")
def gateway(upstream: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    directory = tmp_path_factory.mktemp("gateway")
    with GatewayProcess(directory, upstream.bootstrap, {**kraft.SHARE_SETTINGS, **kraft.QUICK}, "--relay") as process:
        yield process


def lag(bootstrap: str, group: str) -> int:
    """Number of records of a group that are not settled."""
    with Connection(bootstrap) as connection:
        answer = connection.ask("DescribeShareGroupOffsets", 1, {"groups": [{"groupId": group, "topics": None}]})
    rows = [row for topic in answer["groups"][0]["topics"] for row in topic["partitions"]]
    return sum(row["lag"] for row in rows)


@pytest.mark.parametrize("kind", ["4.4", "3.9", "2.8"])
def test_members_settle_every_record_while_the_gateway_is_killed(kind: str, tmp_path: Path) -> None:
    (tmp_path / "upstream").mkdir()
    with ExitStack() as stack:
        records = stack.enter_context(running(kind, tmp_path / "upstream")).bootstrap
        gateway = stack.enter_context(GatewayProcess(tmp_path / "gateway", records, kraft.SHARE_SETTINGS))
        create_topic(records, "jobs", 2)
        with Connection(records) as connection:
            (told,) = connection.ask("Metadata", 11, {"topics": [{"name": "jobs"}]}, complete=False)["topics"]
        # The oldest gives topics no ids.
        assert (told["topicId"] == NO_ID) == (kind == "2.8")
        configure_group(gateway.bootstrap, "workers", **{"share.auto.offset.reset": "earliest"})
        produced = {("jobs", partition, offset) for partition in (0, 1) for offset in range(RECORDS + LATER)}
        for partition in (0, 1):
            produce(records, "jobs", [b"%d" % number for number in range(RECORDS)], partition=partition, batch=20)
        base = Plan(bootstrap=gateway.bootstrap, group="workers", topics=["jobs"], weights=(6, 2, 1, 0), commit="mixed")
        plans = [
            base,
            Plan(**{**vars(base), "seed": 1, "stall_after": 50, "stall_seconds": 1.5}),
            Plan(**{**vars(base), "seed": 2, "vanish_after": 60}),
        ]
        members = [stack.enter_context(confluent(plan, number)) for number, plan in enumerate(plans)]
        members[0].wait_until(lambda _: len(Ledger.of(members).settled) > RECORDS // 3, "a third is settled", 120)
        gateway.kill()
        gateway.start()
        for partition in (0, 1):
            produce(records, "jobs", [b"%d" % number for number in range(LATER)], partition=partition, batch=20)
        wait_until(lambda: lag(gateway.bootstrap, "workers") == 0, "every record is settled", seconds=200)
        for member in members:
            member.stop()
        ledger = Ledger.of(members)
        assert gateway.stop() == 0
    assert not ledger.lost(produced)
    # Settled without its member hearing of it: the answer was lost with the gateway that was killed.
    unheard = {
        (topic, partition, offset)
        for member in members
        for event in member.events
        if event["event"] == "acknowledging"
        for topic, partition, offset, _ in event["records"]
    }
    assert set(ledger.open(produced)) <= unheard
    # What was confirmed before the kill stays settled after it.
    assert not ledger.came_again()
    # Nobody can have settled these before the kill, so the members heard the gateway that was started again. How many of the
    # others had their answer lost is left to the machine.
    later = {place for place in produced if place[2] >= RECORDS}
    assert any(place in ledger.settled for place in later)


def test_the_facts_of_share_consumers_hold(gateway: GatewayProcess, upstream: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([str(FACTS), "--bootstrap", gateway.bootstrap, "--data-bootstrap", upstream.bootstrap])
    shown = capsys.readouterr()
    assert (code, shown.err) == (0, ""), shown.out
    assert shown.out == "share_consumer_e2e.json.gz run=13 agree=13 differ=0 skipped=0\n"


def test_tools_print_what_they_print_for_a_broker(upstream: Broker, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK}
    with (
        kraft.with_share_groups(tmp_path / "real", kraft.QUICK) as real,
        GatewayProcess(tmp_path / "gateway", upstream.bootstrap, settings, "--relay", "--alongside") as gateway,
    ):
        found = compare(every_verb, Side.broker(real.bootstrap), Side(gateway.bootstrap, upstream.bootstrap), KNOWN)
    assert not found, "\n".join(map(str, found))


def test_a_name_is_one_kind_of_group_at_a_time(upstream: Broker, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    # A gateway of its own: others have left groups in theirs, which a list shows.
    with (
        kraft.with_share_groups(tmp_path / "real") as real,
        GatewayProcess(tmp_path / "gateway", upstream.bootstrap, kraft.SHARE_SETTINGS, "--relay", "--alongside") as gateway,
    ):
        for bootstrap in (real.bootstrap, upstream.bootstrap):
            create_topic(bootstrap, "kinds", 1)
        told, wanted = meet(gateway.bootstrap, "kinds"), meet(real.bootstrap, "kinds")
    assert told == wanted
