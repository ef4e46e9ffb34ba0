"""`share-state peek` without a broker: the states of a recorded directory, and records that are made up for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from share_state.cli.peek.view import PEEK_VERSION
from share_state.cli.shared import any_source, asking_brokers
from share_state.kafka.client.metadata import Topic
from share_state.operate import analysis
from share_state.operate.live.about import About
from share_state.operate.live.asked import Member
from share_state.operate.payloads import Missing, Payload, Reason
from share_state.operate.reading.failures import ReadNotAllowedError
from tests.cli_in_process import Ran, run_here
from tests.operate.json_page import check
from tests.operate.payloads import registries
from tests.recordings import JOBS, ORDERS

GROUP, TOPIC = "orders-workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
CLUSTER = "kafka://broker:9092"
KNOWN = About(GROUP, Topic("orders", TOPIC, (1, 1)), {1: 1_500}, (), {"share.delivery.count.limit": "3"}, ())
#: Offsets without a record, with the reason.
GONE = {1_258: Reason.BELOW_LOG_START, 1_260: Reason.NOT_THERE}


class Reader:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int, int]] = []

    def read(self, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Payload | Missing]:
        for offset in offsets:
            self.asked.append((topic, partition, offset))
            if offset in GONE:
                yield Missing(topic, partition, offset, GONE[offset])
            else:
                headers = (("kind\x1b[2J", b"\xff"), ("none", None))
                yield Payload(topic, partition, offset, 1_795_254_294_000, b"k\x07", b'{"id":%d,"pan":"4111"}' % offset, headers)


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    reader = Reader()

    @contextmanager
    def opened(*_: object) -> Iterator[Reader]:
        yield reader

    known(monkeypatch, KNOWN)
    monkeypatch.setattr(asking_brokers, "payload_reader", opened)
    monkeypatch.setattr(any_source, "history", lambda _source, choice, *_: analysis.history(ORDERS, **choice._asdict()))
    return reader


def known(monkeypatch: pytest.MonkeyPatch, about: About) -> None:
    monkeypatch.setattr(asking_brokers, "about_topic", lambda *_: about)


def peek(*arguments: object) -> Ran:
    return run_here("peek", CLUSTER, GROUP, "orders", *arguments)


def rows(*arguments: object) -> list[dict[str, Any]]:
    ran = peek(*arguments, "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_it_shows_the_records_that_hold_the_start_offsets() -> None:
    found = {row["partition"]: row["offset"] for row in rows()}
    states, _ = analysis.fold_path(ORDERS)
    there = {state["partition"] for state in states if (state["group"], state["topic_id"]) == (GROUP, TOPIC)}
    assert found.keys() == there == {0, 1}
    assert found[1] == 1_258
    assert rows("--head", "--partition", 1) == [row for row in rows() if row["partition"] == 1]


def test_poison_is_near_the_limit_or_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows("--poison", "--partition", 1, "--limit", 1_000)
    [state] = analysis.states(ORDERS, group=GROUP, topic_id=TOPIC, partition=1)
    expected = [
        offset
        for first, last, delivery_state, count in state.batches
        for offset in range(first, last + 1)
        if (delivery_state == 0 and count >= 2) or (delivery_state == 4 and count >= 3)
    ]
    assert [row["offset"] for row in found] == expected
    assert len(expected) > 5
    assert len(rows("--poison", "--limit", 3)) == 3
    known(monkeypatch, KNOWN._replace(configs={"share.delivery.count.limit": "10"}))
    assert rows("--poison") == []
    assert peek("--poison").stdout == "No record in the window is near the delivery limit.\n"


def test_what_was_archived_last_comes_first() -> None:
    found = rows("--archived", "--limit", 5)
    archived = [
        (row.at_timestamp, row.partition, offset)
        for row in analysis.history(ORDERS, group=GROUP, topic_id=TOPIC)
        if row.cause == "archived" and row.first_offset is not None and row.last_offset is not None
        for offset in range(row.first_offset, row.last_offset + 1)
    ]
    assert [(row["partition"], row["offset"]) for row in found] == [place[1:] for place in sorted(archived, reverse=True)[:5]]
    assert {row["outcome"] for row in found} == {"archived"}


def test_json_is_as_its_schema_and_page_say() -> None:
    found = rows("--poison", "--redact", "value:$.pan", "--limit", 20) + rows("--offset", 1_499, "--partition", 1)
    check("peek", PEEK_VERSION, found, "shown")
    assert {row["missing"] for row in found} == {None, "below_log_start", "not_there"}
    there = [row for row in found if row["missing"] is None]
    assert there[0]["value"]["text"] == json.dumps({"id": there[0]["offset"], "pan": "<redacted>"}, separators=(",", ":"))
    assert found[-1]["outcome"] == "nothing_written"
    assert json.loads(peek("--head", "--format", "json").stdout) == rows("--head")


def test_a_block_tells_the_history_and_the_record_and_no_control_character() -> None:
    ran = peek("--offset", 1_251, "--partition", 1, "--key-format", "utf-8", "--max-bytes", 10)
    assert ran.returncode == 0
    assert ran.stdout.splitlines() == [
        "orders-1  offset 1251  archived after 3 deliveries",
        "  history  2026-11-21T09:44:54.000Z  produced",
        "  history  2026-11-21T09:44:54.865Z  initialised",
        "  history  2026-11-21T09:44:59.900Z  start_offset_resolved",
        "  history  2026-11-21T09:45:00.099Z  released  available×1",
        "  history  2026-11-21T09:45:02.116Z  released  available×2",
        "  history  2026-11-21T09:45:04.668Z  archived  archived×3",
        "  history  2026-11-21T09:45:05.173Z  passed",
        "  time     2026-11-21T09:44:54.000Z",
        "  key      k\\x07  (utf-8, 2 bytes)",
        '  value    {"id":1251  (json, 24 bytes, 14 bytes of text not shown)',
        "  header   kind\\x1b[2J: ff  (hex, 1 byte)",
        "  header   none: none",
    ]


def test_a_record_that_is_gone_is_told() -> None:
    out = peek("--offset", 1_258, "--partition", 1).stdout
    assert "record   none to show: the log of the topic begins after it" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--head", "--poison"), "expected at most one of --offset, --head, --poison and --archived"),
        (("--offset", "1"), "--offset needs --partition: the group has state of the partitions 0, 1"),
        (("--partition", "2"), "--partition 2: the topic orders has 2, from 0"),
        (("--offset", "1500", "--partition", "1", "--limit", "1"), None),
        (("--redact", "values"), "redact is 'values'; expected key, value, headers, header:NAME"),
        (("--schema-registry", "nowhere.properties"), "nowhere.properties is no URL, and no file that can be read"),
        (("--limit", "0"), "--limit is 0; expected 1 to 1000"),
        (("--max-bytes", "0"), "--max-bytes is 0; expected 1 to 1073741824"),
        (("--value-format", "xml"), "'xml' is not one of"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], words: str | None) -> None:
    ran = peek(*arguments)
    if words is None:
        # The topic has it, whatever its end was a moment ago.
        assert ran.returncode == 0
        return
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_a_group_without_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_source, "history", lambda _source, choice, *_: analysis.history(JOBS, **choice._asdict()))
    ran = peek("--partition", "1")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "GROUP orders-workers has no state of partition 1 of the topic orders in the cluster" in ran.stderr


def test_a_directory_has_no_payloads() -> None:
    ran = run_here("peek", ORDERS, GROUP, "orders")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is not a cluster, kafka://HOST:PORT: a directory has the state of records, and not the records" in ran.stderr


def test_what_could_not_be_asked_is_told_beside_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, KNOWN._replace(configs={}, problems=("DESCRIBE on the group orders-workers is missing",)))
    ran = peek("--head", "--partition", "1")
    assert ran.returncode == 4
    assert ran.stderr == "share-state: warning: DESCRIBE on the group orders-workers is missing\n"
    assert ran.stdout.startswith("orders-1  offset 1258")


def test_records_are_read_one_at_a_time_and_only_those_that_are_shown(reader: Reader) -> None:
    rows("--poison", "--limit", 4)
    assert len(reader.asked) == 4


def test_a_topic_that_may_not_be_read_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = ReadNotAllowedError("the principal needs READ on the topic orders, and no other right", kafka_code=29)
    monkeypatch.setattr(Reader, "read", lambda *_: (_ for _ in ()).throw(denied))
    ran = peek("--head")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == f"share-state: cannot read {CLUSTER}: {denied}\n"


def test_a_trace_tells_what_it_can_without_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = ReadNotAllowedError("the principal needs READ on the topic orders, and no other right", kafka_code=29)
    trace = ("trace", CLUSTER, GROUP, "orders", 1, 1_251)
    member = Member("m-1\x1b", "worker", "/10.0.0.7", None, ("orders",), ((TOPIC, 1),))
    known(monkeypatch, KNOWN._replace(members=(member,)))
    ran = run_here(*trace)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "2026-11-21T09:44:54.000Z             produced, by the timestamp of the record" in ran.stdout
    assert "archived after delivery 3: at the delivery limit of 3: released, rejected, or its lock ran out" in ran.stdout
    told_of = "Assigned at this moment to: m-1\\x1b (worker, /10.0.0.7). Who was assigned it before is not known.\n"
    assert told_of in ran.stdout
    monkeypatch.setattr(Reader, "read", lambda *_: (_ for _ in ()).throw(denied))
    part = run_here(*trace)
    assert part.returncode == 4
    assert part.stderr == f"share-state: warning: the record itself: {denied}\n"
    assert "archived after delivery 3" in part.stdout
    assert "produced, by" not in part.stdout


def test_a_registry_is_named_by_its_address_or_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    value = registries.avro_value("4111")
    record = Payload("orders", 1, 1_251, None, None, value, ())
    monkeypatch.setattr(Reader, "read", lambda *_: iter([record]))
    one = ("--offset", 1_251, "--partition", 1, "--redact", "value:$.pan")
    with registries.registry_over_http() as (url, asked):
        file = tmp_path / "registry.properties"
        file.write_text(f"# ours\nschema.registry.url={url}\nbasic.auth.user.info=me:secret\n", encoding="utf-8")
        found = [rows(*one, "--schema-registry", given)[0]["value"] for given in (url, file)]
    assert found[0] == found[1]
    assert (found[0]["format"], found[0]["text"]) == ("avro", '{"id":7,"pan":"<redacted>","paid":"12.50","raw":"0001"}')
    assert asked == ["/schemas/ids/1", "/schemas/ids/1"]
    file.write_text("url", encoding="utf-8")
    ran = peek(*one, "--schema-registry", file)
    assert (ran.returncode, "line 1: expected NAME=VALUE" in ran.stderr) == (2, True)
    # Without a registry, nothing of it is shown.
    assert rows(*one)[0]["value"]["text"] == "<redacted>"
