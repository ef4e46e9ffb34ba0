"""`share-state dlq`: its options, its tables, its JSON and its exit status, on topics in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from share_state.operate.dead_letters import (
    Cause,
    ClusterRefusedError,
    DeadLetter,
    GroupSettings,
    NoSuchTopicError,
    QueuePlace,
    UnknownGroupError,
)
from share_state.operate.dead_letters.json_rows import LIST_VERSION, REDRIVE_VERSION, SHOW_VERSION
from share_state.operate.payloads import Payload
from tests.cli_in_process import Ran, run_here
from tests.cli_runner import run
from tests.operate.dead_letters.fake_target import FakeTarget, Power, Topics, sources
from tests.operate.json_page import described, schema_of, told
from tests.operate.json_schema import breaches

CLUSTER, GROUP = "kafka://nowhere:9092", "workers"
FIRST = DeadLetter(
    GROUP, "orders", None, 0, 0, 0, 1, Cause.REJECTED, "Offset rejected by client.", 10**12, QueuePlace("dlq", 0, 0, copied=False)
)
LIMIT = FIRST._replace(
    partition=1, first_offset=1, last_offset=1, delivery_count=5, cause=Cause.DELIVERY_LIMIT, message="limit",
    timestamp=10**12 + 5, queue=QueuePlace("dlq", 0, 1, copied=True),
)  # fmt: skip
ARCHIVED = DeadLetter(GROUP, "orders", str(UUID(int=1)), 1, 2, 7, 2, Cause.OTHER, None, 2**62, None)
GONE = FIRST._replace(
    topic="gone\x1b[31m", first_offset=3, last_offset=3, cause=Cause.OTHER, message="a new\x1bcause",
    queue=QueuePlace("dlq", 1, 0, copied=True),
)  # fmt: skip
#: Arguments of the whole redrive of what there is.
REDRIVE = ("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--settle", "0", "--topic", "orders")


class World:
    """World of the command: topics, letters, and who may do what."""

    def __init__(self) -> None:
        self.topics = sources(4)
        copy = Payload("dlq", 1, 0, 10**12, b"copied key", b"copied value", ())
        self.topics.logs["dlq"] = [[None, None], [copy]]
        self.letters = [FIRST, LIMIT, ARCHIVED, GONE]
        self.findings: list[dict[str, object]] = []
        self.refused: Exception | None = None
        self.not_allowed: Exception | None = None
        self.fails: Any = None
        self.source: object = None

    def __call__(self, *_: object) -> World:
        """Stand for the administrator's client that is made."""
        return self

    def group(self, _group: str) -> GroupSettings:
        return GroupSettings("dlq", 5)

    def cluster_id(self) -> str:
        return "cluster-1"

    def check_target(self, topic: str) -> None:
        if self.not_allowed is not None:
            raise self.not_allowed
        if topic not in self.topics.logs:
            raise NoSuchTopicError(f"topic {topic} is not in the cluster", field="to", value=topic)

    def told(self, _cluster: str, source: object, **_: object) -> World:
        """Stand for the letters that are read."""
        self.source = source
        return self

    def __iter__(self) -> Iterator[DeadLetter]:
        if self.refused is not None:
            raise self.refused
        return iter(self.letters)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    made = World()

    def opened(*_: object, **__: object) -> nullcontext[Topics]:
        return nullcontext(made.topics)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("share_state.cli.dlq.command.Asking", made)
    monkeypatch.setattr("share_state.cli.dlq.options.Letters", made.told)
    monkeypatch.setattr("share_state.cli.dlq.redrive.TopicLog", opened)
    for module in ("redrive", "command"):
        monkeypatch.setattr(f"share_state.cli.dlq.{module}.PayloadReader", opened)
    target = "share_state.cli.dlq.redrive.TargetProducer"
    monkeypatch.setattr(target, lambda *_: nullcontext(FakeTarget(made.topics, Power(), made.fails)))
    return made


def rows(ran: Ran, command: str, version: int) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    schema = schema_of(f"dlq-{command}", version)
    for row in found:
        assert breaches(schema, row) == []
        assert list(row) == schema["required"]
    return found


def test_the_list_is_a_line_a_letter(world: World) -> None:
    ran = run_here("dlq", "list", CLUSTER, GROUP)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "TIME (UTC)                CAUSE           COUNT  SOURCE",
        "2001-09-09T01:46:40.000Z  rejected            1  orders-0 0",
        "2001-09-09T01:46:40.005Z  delivery_limit      5  orders-1 1",
        "4611686018427387904 ms    other               2  orders-1 2-7",
        r"2001-09-09T01:46:40.000Z  other               1  gone\x1b[31m-0 3 (a new\x1bcause)",
    ]
    assert world.source == ("workers", "dlq", 5)
    some = run_here(
        "dlq", "list", CLUSTER, GROUP, "--cause", "other", "--cause", "rejected", "--offset", "0-4", "--topic", "orders"
    )
    assert [line[42:].split() for line in some.stdout.splitlines()[1:]] == [["1", "orders-0", "0"], ["2", "orders-1", "2-4"]]
    nothing = run_here("dlq", "list", CLUSTER, GROUP, "--partition", "9")
    assert (nothing.returncode, nothing.stdout) == (0, "No dead letter of group workers is in the dead-letter queue dlq.\n")
    before = run_here("dlq", "list", CLUSTER, GROUP, "--since", "2001-09-09T01:46:40", "--until", "1000000000001")
    assert len(before.stdout.splitlines()) == 3


def test_the_source_can_be_chosen(world: World) -> None:
    for options, source in ((["--from-history"], (GROUP, None, 5)), (["--queue", "old"], (GROUP, "old", None))):
        assert run_here("dlq", "list", CLUSTER, GROUP, *options).returncode == 0
        assert world.source == source


@pytest.mark.usefixtures("world")
def test_json_holds_to_its_schemas_and_its_page() -> None:
    listed = rows(run_here("dlq", "list", CLUSTER, GROUP, "--format", "jsonl"), "list", LIST_VERSION)
    assert [row["copied"] for row in listed] == [False, True, False, True]
    shown = rows(run_here("dlq", "show", CLUSTER, GROUP, "--offset", "0-3", "--format", "jsonl"), "show", SHOW_VERSION)
    assert len(shown) == 5
    sent = rows(run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--format", "jsonl"), "redrive", REDRIVE_VERSION)
    assert len(sent) == 6
    of = {name: schema_of(f"dlq-{name}", 1) for name in ("list", "show", "redrive")}
    assert told("dlq list") == described(of["list"])
    assert told("dlq list") + told("dlq show") == described(of["show"])
    assert told("dlq redrive") == described(of["redrive"])


@pytest.mark.usefixtures("world")
def test_payloads_are_shown_as_peek_shows_them() -> None:
    ran = run_here("dlq", "show", CLUSTER, GROUP, "--offset", "0-3", "--redact", "header:h")
    assert ran.returncode == 0
    first, tombstone, *_, copied = ran.stdout.split("\n\n")
    assert first.splitlines()[1:] == [
        "  time     2023-11-14T22:13:20.000Z",
        "  key      key 0-0  (utf-8, 7 bytes)",
        "  value    value 0-0  (utf-8, 9 bytes)",
        "  header   h: <redacted>  (1 byte)",
        "  header   h: none",
    ]
    assert "  value    none" in tombstone
    assert copied.splitlines()[1:] == [
        "  record   the topic, or its partition, is gone",
        "  copy     of its key and value, in the queue:",
        "  time     2001-09-09T01:46:40.000Z",
        "  key      copied key  (utf-8, 10 bytes)",
        "  value    copied value  (utf-8, 12 bytes)",
    ]
    assert run_here("dlq", "show", CLUSTER, GROUP, "--limit", "2").stdout.count("\n  key  ") == 2


def test_a_redrive_is_a_dry_run_unless_it_is_told(world: World, tmp_path: Path) -> None:
    dry = run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry")
    assert dry.returncode == 4
    assert [line.split() for line in dry.stdout.splitlines() if line.startswith("orders ")] == [
        ["orders", "0", "1", "0"],
        ["orders", "1", "3", "4"],
    ]
    assert dry.stdout.splitlines()[-2:] == [r"gone\x1b[31m-0 3: missing, no_topic", "orders-1 4-7: missing, at_or_after_log_end"]
    assert dry.stderr == (
        "share-state: from the dead-letter queue dlq: 4 would be sent; 5 missing; nothing was sent; --execute sends\n"
    )
    assert (world.topics.sent(), list(tmp_path.iterdir())) == ([], [])
    done = run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--execute")
    assert done.returncode == 4
    assert "4 sent; 5 missing; journal dlq-workers--to-retry.journal" in done.stderr
    assert len(world.topics.sent()) == 4
    again = run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--execute", "--topic", "orders", "--offset", "0-3")
    assert (again.returncode, again.stdout) == (0, "")
    assert "0 sent; 4 sent by an earlier run" in again.stderr
    assert len(world.topics.sent()) == 4


def test_the_journal_is_named_after_the_group_and_the_target(world: World, tmp_path: Path) -> None:
    run_here("dlq", "redrive", CLUSTER, "../a b", "--execute", "--topic", "orders")
    run_here("dlq", "redrive", CLUSTER, "../a b", "--execute", "--journal", tmp_path / "mine", "--topic", "orders")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dlq-..%2Fa%20b.journal", "mine"]
    assert len(world.topics.logs["orders"][0]) == 6


def test_what_was_not_confirmed_is_told_and_found_by_the_next_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    order = (*REDRIVE, "--offset", "0-3")
    world.fails = lambda key: (7, True) if key == b"key 1-3" else None
    cut = run_here(*order, "--execute")
    assert cut.returncode == 4
    assert "orders-1 3: in doubt, " in cut.stdout
    assert cut.stderr.splitlines()[-1].startswith("share-state: 1 records were not confirmed (")
    world.fails = None
    dry = run_here(*order)
    assert "1 in doubt after an interrupted run, which --execute finds out about first" in dry.stderr
    slept: list[float] = []
    monkeypatch.setattr("share_state.cli.dlq.redrive.time.sleep", slept.append)
    found = run_here(*order, "--execute", "--settle", "7")
    assert (found.returncode, found.stdout) == (0, "")
    assert slept == [7.0]
    assert "1 records in doubt: waiting 7 s for what was under way (--settle)" in found.stderr
    assert "0 sent; 4 sent by an earlier run; of those 1 were in doubt and are in the target" in found.stderr
    assert len(world.topics.sent()) == 4


@pytest.mark.parametrize(("doubt", "count"), [("send", 1), ("skip", 0)])
def test_where_the_target_cannot_tell_the_user_decides(world: World, doubt: str, count: int) -> None:
    order = (*REDRIVE, "--partition", "0", "--execute")
    world.fails = lambda _: (7, False)
    assert run_here(*order).returncode == 4
    world.fails = None
    world.topics.logs["retry"][0] = [None] * 5
    world.topics.starts["retry"] = 5
    cut = run_here(*order)
    assert (cut.returncode, cut.stdout) == (3, "")
    assert "an interrupted redrive may have sent orders-0 offset 0, and the target cannot tell: retry-0 has offsets" in cut.stderr
    assert run_here(*order, "--in-doubt", doubt).returncode == 0
    assert len(world.topics.sent()) == count
    assert run_here(*order).returncode == 0
    assert len(world.topics.sent()) == count


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--offset", "x"], "--offset is 'x'; expected N or FIRST-LAST"),
        (["--offset", "-1"], "--offset is '-1'; expected N or FIRST-LAST"),
        (["--offset", "5-4"], "last_offset is 4, before first_offset, 5"),
        (["--offset", "9223372036854775808"], "first_offset is 9223372036854775808; expected 0 to"),
        (["--partition", "-1"], "--partition is -1; expected 0 to"),
        (["--since", "P=1"], "--since is 'P=1'"),
        (["--since", "0=1"], "--since is '0=1'; expected a time"),
        (["--since", "2026-01-02", "--until", "2026-01-01"], "until is 1767225600000, before since"),
        (["--cause", "bad"], "'bad' is not one of"),
        (["--queue", "dlq", "--from-history"], "--queue and --from-history exclude each other"),
    ],
)
@pytest.mark.usefixtures("world")
def test_an_option_that_cannot_be_is_refused(options: Sequence[str], text: str) -> None:
    for command in ("list", "show", "redrive"):
        ran = run_here("dlq", command, CLUSTER, GROUP, *options)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert text in " ".join(ran.stderr.split())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--rate", "0"], "--rate is 0; expected more than 0"),
        (["--rate", "nan"], "--rate is nan; expected more than 0"),
        (["--rate", "inf"], "--rate is inf; expected more than 0"),
        (["--limit", "0"], "--limit is 0; expected at least 1"),
        (["--settle", "-1"], "--settle is -1; expected 0 to 3600 seconds"),
        (["--to", "nowhere"], "topic nowhere is not in the cluster"),
    ],
)
def test_an_order_that_cannot_be_is_refused(world: World, tmp_path: Path, options: Sequence[str], text: str) -> None:
    ran = run_here("dlq", "redrive", CLUSTER, GROUP, "--execute", *options)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert text in ran.stderr
    assert (world.topics.sent(), list(tmp_path.iterdir())) == ([], [])


def test_a_group_that_nobody_knows_is_told_with_those_that_there_are(world: World) -> None:
    world.refused = UnknownGroupError("nobody", ["a", "b"])
    ran = run_here("dlq", "list", CLUSTER, "nobody")
    assert ran.returncode == 2
    assert "group nobody has no share state in the cluster, which has a, b" in ran.stderr


def test_a_right_that_is_missing_is_named_before_anything_is_sent(world: World, tmp_path: Path) -> None:
    world.not_allowed = ClusterRefusedError("the principal needs WRITE on the topic retry, to which the records go")
    ran = run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--execute")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == "share-state: the principal needs WRITE on the topic retry, to which the records go\n"
    assert (world.topics.sent(), list(tmp_path.iterdir())) == ([], [])


@pytest.mark.parametrize("content", [b"notes\n", b"no line feed"])
def test_a_file_that_is_no_journal_is_left_alone(world: World, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    for options in ([], ["--execute"]):
        ran = run_here("dlq", "redrive", CLUSTER, GROUP, "--to", "retry", "--journal", file, *options)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert ran.stderr == f"share-state: the journal {file} is damaged in line 1: it is no journal of a redrive\n"
    assert (world.topics.sent(), file.read_bytes()) == ([], content)


def test_a_cluster_that_is_none_or_not_there() -> None:
    for command in ("list", "show", "redrive"):
        assert "/tmp is not a cluster, kafka://HOST:PORT" in run_here("dlq", command, "/tmp", GROUP).stderr  # noqa: S108
    ran = run("dlq", "list", "kafka://127.0.0.1:1", GROUP, "--timeout", "3600")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "share-state: cannot read kafka://127.0.0.1:1: " in ran.stderr
    assert "Connection refused" in ran.stderr
