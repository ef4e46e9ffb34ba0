"""`share-state web`: its start and end, its options, and what its pages show of a cluster that a test moves."""

from __future__ import annotations

import base64
import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
import trustme
from typer.testing import CliRunner

import share_state as ss
from share_state.cli.app import app
from tests.cli_runner import run, started
from tests.operate.live.fake_cluster import LIST_OFFSETS, FakeCluster, served
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
NOBODY = "kafka://127.0.0.1:1"
PARTITION = {"group": "workers", "topic_id": str(ORDERS), "partition": 1}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        for partition, batches in ((0, [(0, 4, 2, 1)]), (1, [(0, 0, 0, 4), (1, 9, 2, 1)])):
            key = ss.SharePartitionKey("workers", str(ORDERS), partition)
            store.reset_state(key, 0, 0)
            complete = sum(last - first + 1 for first, last, state, _ in batches if state == 2)
            store.write_state(key, ss.WriteState(0, 0, 0, complete, [ss.StateBatch(*batch) for batch in batches]))
    fake = FakeCluster(log, ends={("orders", ORDERS): [5, 20]}, members={"workers": [member("m-1", {ORDERS: [0, 1]})]})
    with served(fake):
        yield fake


@contextmanager
def serving(cluster: FakeCluster, *options: str | Path, says: str = "") -> Iterator[str]:
    """The command as a user starts it; the address of its pages. What it writes to stderr holds `says`."""
    with started("web", f"kafka://{cluster.bootstrap}", "--listen", "127.0.0.1:0", *options) as process:
        match = re.fullmatch(r"serving (https?://[\d.]+:\d+/)\n", process.begins)
        assert match, process.begins
        yield match[1]
    assert (says in process.log) if says else not process.log


def page(url: str, *, trust: ssl.SSLContext | None = None, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60, context=trust) as answer:  # noqa: S310
        text: str = answer.read().decode()
    return text


def told(url: str, **params: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(f"{url}?{urlencode({**params, 'format': 'json'})}"))
    return found


def test_it_shows_a_cluster_and_goes_on_while_brokers_are_away(cluster: FakeCluster, tmp_path: Path) -> None:
    says = "cannot be seen: source='log end offsets' reason='DESCRIBE on the topic orders is missing'"
    with serving(cluster, "--copy", tmp_path / "copy", "--refresh", "0.1", says=says) as url:
        overview = told(url)
        [group] = overview["groups"]
        assert (group["group"], group["health"], group["lag"], group["members"]) == ("workers", "POISON", 11, 1)
        assert overview["problems"] == []
        shown = told(url + "share-partition", **PARTITION)
        assert [row["cause"] for row in shown["history"]] == ["initialised", "released", "accepted"]
        assert [(one["first_offset"], one["last_offset"], one["delivery_count"]) for one in shown["batches"]] == [
            (0, 0, 4),
            (1, 9, 1),
        ]
        cluster.denied = {LIST_OFFSETS}
        while not (overview := told(url))["problems"]:
            pass
        assert overview["problems"] == ["log end offsets: DESCRIBE on the topic orders is missing"]
        assert "DESCRIBE on the topic orders is missing" in page(url + "group?group=workers")
        cluster.denied = set()
        while told(url)["problems"]:
            pass


def test_it_asks_for_a_login_over_tls(cluster: FakeCluster, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    (tmp_path / "users").write_text("ops:secret\n", encoding="utf-8")
    options = ("--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem", "--users", tmp_path / "users")
    with serving(cluster, *options, says="") as url:
        assert url.startswith("https://")
        trust = ssl.create_default_context()
        authority.configure_trust(trust)
        with pytest.raises(urllib.error.HTTPError) as refused:
            page(url, trust=trust)
        assert refused.value.code == 401
        refused.value.close()
        login = "Basic " + base64.b64encode(b"ops:secret").decode()
        assert "workers" in page(url, trust=trust, Authorization=login)
        assert page(url + "healthz", trust=trust) == "ok\n"


def test_an_address_that_others_reach_is_warned_of(cluster: FakeCluster) -> None:
    with serving(cluster, "--listen", "0.0.0.0:0", says="--users asks for a login") as url:
        assert "workers" in page(re.sub(r"//[\d.]+", "//127.0.0.1", url), Host="share.example")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((NOBODY, "--listen", "9405"), "'9405': expected HOST:PORT"),
        ((NOBODY, "--trust-proxy", "10.0.0.1/8"), "10.0.0.1/8 has host bits set"),
        ((NOBODY, "--trust-proxy", "proxy"), "'proxy' does not appear to be an IPv4 or IPv6 network"),
        ((NOBODY, "--tls-cert", "cert.pem"), "--tls-cert and --tls-key need each other"),
        ((NOBODY, "--users", "nowhere"), "nowhere cannot be read"),
    ],
)
def test_what_is_asked_wrongly_is_refused(arguments: tuple[str, ...], reason: str) -> None:
    ran = CliRunner().invoke(app, ["web", *arguments], env={"COLUMNS": "400"})
    assert ran.exit_code == 2
    assert reason in " ".join(ran.output.replace("│", "").split())


def test_no_cluster_and_no_address_are_told() -> None:
    ran = run("web", NOBODY, "--listen", "127.0.0.1:0")
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        3,
        "",
        f"share-state: cannot read {NOBODY}: 127.0.0.1:1: Connection refused\n",
    )
    ran = run("web", NOBODY, "--listen", "192.0.2.1:9405")
    assert (ran.returncode, ran.stderr) == (3, "share-state: cannot serve at 192.0.2.1:9405: Cannot assign requested address\n")
