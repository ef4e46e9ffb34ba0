"""Values that a broker takes are taken, kept and in force; those that it does not take are refused before they are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import ShareGateway
from tests.cli_in_process import run_here
from tests.gateway.coordination.configuring import GROUP, LIMIT, LOCK, RESET, SET, alter, altered, changes, describe, values
from tests.gateway.orchard import IDS, PLUMS, Orchard, orchard
from tests.gateway.serving import fetch
from tests.gateway.wire.connection import Connection

RENEW, ISOLATION, OFFLOAD = "share.renew.acknowledge.enable", "share.isolation.level", "share.assignor.offload.enable"
#: Texts as a broker takes them, and what is in force then.
TAKEN = [
    (RENEW, "TRUE", "true"),
    (RENEW, " False\t", "false"),
    (ISOLATION, " read_committed ", "read_committed"),
    (RESET, "\n earliest", "earliest"),
    (RESET, " by_duration:p20000d ", "by_duration:p20000d"),
    (LIMIT, " +007 ", "7"),
    (LOCK, "\x01 16000", "16000"),
    (OFFLOAD, "tRuE", "true"),
    ("errors.deadletterqueue.topic.name", " dlq.a ", "dlq.a"),
    ("errors.deadletterqueue.copy.record.enable", "FALSE", "false"),
    ("share.session.timeout.ms", " 046000 ", "46000"),
]


def fetched(connection: Connection, group: str) -> int:
    """Records that a first fetch of a group gets, for which its configuration is read."""
    answer = connection.ask("ShareFetch", 1, fetch(group, 0, [(IDS[PLUMS], 0)], maxWaitMs=30_000))
    assert answer["errorCode"] == 0
    ((partition,),) = (topic["partitions"] for topic in answer["responses"])
    assert partition["errorCode"] == 0
    return sum(row["lastOffset"] - row["firstOffset"] + 1 for row in partition["acquiredRecords"])


@pytest.mark.parametrize(("name", "text", "shown"), TAKEN)
def test_a_value_that_a_broker_takes_is_in_force(tmp_path: Path, name: str, text: str, shown: str) -> None:
    for is_first in (True, False):
        with orchard(tmp_path) as there:
            if is_first:
                assert alter(there, changes("g", (name, SET, text))) == [altered("g")]
            assert values(there, "g") == {name: shown}
            assert there.join("g", [PLUMS])["errorCode"] == 0
            assert fetched(there.connection, "g") == 10


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (RENEW, "yes"),
        (RENEW, ""),
        (RENEW, "\u00a0true"),
        (ISOLATION, "READ_COMMITTED"),
        (RESET, "Earliest"),
        (RESET, "by_duration:1h"),
        (LIMIT, "5.0"),
        (LIMIT, "5_0"),
        (LIMIT, "\u0665"),
        (LOCK, "99999999999"),
        (OFFLOAD, "1"),
        ("errors.deadletterqueue.topic.name", " __x"),
    ],
)
def test_what_cannot_be_read_is_refused_and_not_kept(there: Orchard, name: str, text: str) -> None:
    (row,) = alter(
        there, changes("bad", (LIMIT, SET, "4"), (name, SET, text)) if name != LIMIT else changes("bad", (name, SET, text))
    )
    assert (row["errorCode"], name in row["errorMessage"]) == (40, True)
    assert values(there, "bad") == {}
    assert not (there.gateway.options.path / "gateway" / "group-configs.json").exists()


def stored(path: Path, groups: dict[str, Any]) -> None:
    (path / "gateway").mkdir(parents=True, exist_ok=True)
    (path / "gateway" / "group-configs.json").write_text(json.dumps({"format": 1, "groups": groups}), encoding="utf-8")


def test_a_stored_value_that_cannot_be_read_leaves_the_default_in_force(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wrong = {RENEW: "perhaps", RESET: "earlest", ISOLATION: "serializable", "share.session.timeout.ms": "soon", LOCK: "16000"}
    stored(tmp_path, {"g": wrong, "other": {LIMIT: "4"}})
    for _ in range(2):
        caplog.clear()
        with orchard(tmp_path) as there:
            told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
            assert len(told) == 4
            for name in (RENEW, RESET, ISOLATION, "share.session.timeout.ms"):
                (line,) = (line for line in told if name in line)
                assert repr(wrong[name])[1:-1] in line
                assert "group='g'" in line
            # As Kafka: it is shown as it stands there, so that whoever looks can see why.
            assert values(there, "g") == wrong
            assert there.join("g", [PLUMS])["errorCode"] == 0
            assert fetched(there.connection, "g") == 10
            assert values(there, "other") == {LIMIT: "4"}
            # Whoever alters the group has to alter that first.
            (row,) = alter(there, changes("g", (LIMIT, SET, "4")))
            assert row["errorCode"] == 40


def config_of(there: Orchard, group: str, name: str) -> str:
    (row,) = describe(there, (GROUP, group, [name]))
    return str(row["configs"][0]["value"])


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were synced so far."""
    found: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        found.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_a_request_writes_once_for_all_groups_and_not_at_all_where_nothing_changes(there: Orchard, syncs: list[str]) -> None:
    groups = [changes(f"g{number}", (LIMIT, SET, "4")) for number in range(50)]
    wrong = changes("wrong", (LIMIT, SET, "x"))
    rows = alter(there, *groups, wrong)
    assert [row["errorCode"] for row in rows] == [0] * 50 + [40]
    assert syncs.count("group-configs.json.new") == 1
    assert values(there, "g0") == values(there, "g49") == {LIMIT: "4"}
    # The same again, a check, a refusal and a deletion of nothing leave the file alone.
    alter(there, *groups)
    alter(there, changes("g0", (LIMIT, SET, "6")), only_check=True)
    alter(there, wrong, changes("h", ("no.such", 1, None)))
    assert syncs.count("group-configs.json.new") == 1
    alter(there, *groups, changes("g51", (LIMIT, SET, "6")))
    assert syncs.count("group-configs.json.new") == 2
    removed = [changes(f"g{number}", (LIMIT, 1, None)) for number in [*range(50), 51]]
    alter(there, *removed)
    assert (syncs.count("group-configs.json.new"), values(there, "g0")) == (3, {})


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "# ours\nshare.auto.offset.reset=earlest\n",
            ':2: share.auto.offset.reset is "earlest"; expected latest, earliest or by_duration',
        ),
        (
            "share.auto.offset.resett earliest",
            ":1: share.auto.offset.resett is not a configuration of the gateway; expected such as",
        ),
        ("\n\ngroup.share.record.lock.duration.msx : 1", ":3: group.share.record.lock.duration.msx is not a configuration"),
        ("group.share.max.size=0", ':1: group.share.max.size is "0"; expected 1 to 1000'),
        ("group.share.max.size=lots", ':1: group.share.max.size is "lots"; expected a whole number, 1 to 1000'),
        ("share.delivery.count.limit=11", ":1: share.delivery.count.limit must be in the range 2 to 10 inclusive"),
        ("x=1\non.truncation=forget", ":2: on.truncation is 'forget'; expected rewind or keep"),
        ("\non.truncation=forget", ":2: on.truncation is 'forget'; expected rewind or keep"),
        # The property at fault is another one, which is not in the file.
        (
            "group.share.min.session.timeout.ms=61000",
            ':1: group.share.max.session.timeout.ms is "60000"; expected a value greater',
        ),
        ("\ngroup.share.heartbeat.interval.ms=4999", ":2: group.share.heartbeat.interval.ms must be greater than or equal to"),
        ("group.share.max.share.sessions=100", ":1: group.share.max.share.sessions must be greater than or equal to"),
        ("=1", ":1: a line without a key"),
        ("share.auto.offset.reset=\\u12", ":1: expected four hexadecimal digits"),
    ],
)
def test_a_file_is_checked_before_anything_begins(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "gateway.properties"
    file.write_text(content, encoding="utf-8")
    ran = run_here(
        "gateway", "--upstream", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--path", tmp_path / "state", "--config", file
    )
    assert (ran.returncode, f"{file}{told}" in ran.stderr) == (2, True), ran.stderr
    assert not (tmp_path / "state").exists()


def test_a_file_of_another_option_is_named_too(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    common = ("gateway", "--upstream", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--path", tmp_path / "state")
    for content, told in (
        ("\nsecurity.protocl=SSL", ":2: security.protocl is not a security property"),
        ("security.protocol=SLL", ":1: security.protocol is 'SLL'; expected one of PLAINTEXT"),
        ("security.protocol SASL_PLAINTEXT", ": sasl.jaas.config names no username and password"),
        (
            "security.protocol=SSL\nssl.endpoint.identification.algorithm=htps",
            ":2: ssl.endpoint.identification.algorithm is 'htps'",
        ),
    ):
        file.write_text(content, encoding="utf-8")
        ran = run_here(*common, "--upstream-config", file)
        assert (ran.returncode, f"{file}{told}" in ran.stderr) == (2, True), ran.stderr


def test_a_default_of_the_gateway_may_have_blanks_around_it(tmp_path: Path) -> None:
    options = {"groups": {RESET: " earliest ", RENEW: " FALSE"}, "broker": {"group.share.max.share.sessions": "\x01+00300 "}}
    with orchard(tmp_path, **options) as there:
        assert isinstance(there.gateway, ShareGateway)
        assert there.join("g", [PLUMS])["errorCode"] == 0
        assert fetched(there.connection, "g") == 10
        assert config_of(there, "g", RENEW) == "false"
