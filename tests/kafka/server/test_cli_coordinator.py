"""`share-state coordinator`: it says where it listens, keeps what it confirmed, and ends when asked to."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

import share_state as ss
from share_state.kafka import (
    AuthenticationFailedError,
    KafkaPersister,
    KafkaPersisterError,
    Plain,
    RetryPolicy,
    Scram,
    SecurityOptions,
    UnknownTopicError,
)
from share_state.kafka.shown_key import shown_topic_id
from tests.cli_runner import COMMAND, environment, run
from tests.kafka.scripted import KEY, TOPIC, write


@contextlib.contextmanager
def coordinator(path: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running command and where it listens."""
    process = subprocess.Popen(
        [*COMMAND, "coordinator", "--listen", "127.0.0.1:0", "--path", str(path), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("listening on 127.0.0.1:"), said + (process.stderr.read() if process.stderr else "")
        yield process, said.removeprefix("listening on ").strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_it_confirmed_is_there_after_it_has_ended(tmp_path: Path, how: signal.Signals) -> None:
    path = tmp_path / "state"
    with coordinator(path) as (process, bootstrap), KafkaPersister(bootstrap) as kafka:
        kafka.reset_state(KEY, 1, 0)
        kafka.write_state(KEY, write(start_offset=5))
        process.send_signal(how)
        assert process.wait(timeout=60) == (-signal.SIGKILL if how == signal.SIGKILL else 0)
        out, err = process.communicate()
        assert (out, err) == ("", "")
    with ss.open(path) as store:
        assert store.read_state(KEY, 1) == ss.ReadStateResult(1, 5, [ss.StateBatch(5, 9, 2, 1)])
    with coordinator(path) as (_, bootstrap), KafkaPersister(bootstrap) as kafka:
        assert kafka.read_summary(KEY).start_offset == 5


@pytest.fixture
def secured(tmp_path: Path) -> tuple[list[str], ssl.SSLContext]:
    """Options for TLS and SASL with files to go with them, and a context of a client that trusts the certificate."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    cert, key, users = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "users"
    cert.write_bytes(b"".join(pem.bytes() for pem in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    users.write_text("# who may log in\n\nalice:alice:secret\n", encoding="utf-8")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return ["--tls-cert", str(cert), "--tls-key", str(key), "--sasl-users", str(users)], context


@pytest.mark.parametrize(
    "sasl",
    [
        Plain("alice", "alice:secret"),
        Scram("alice", "alice:secret", "SCRAM-SHA-256"),
        Scram("alice", "alice:secret", "SCRAM-SHA-512"),
    ],
)
def test_tls_and_users(tmp_path: Path, secured: tuple[list[str], ssl.SSLContext], sasl: Plain | Scram) -> None:
    options, context = secured
    once = RetryPolicy(attempts=1)
    with coordinator(tmp_path / "state", *options) as (_, bootstrap):
        with KafkaPersister(bootstrap, security=SecurityOptions(ssl_context=context, sasl=sasl)) as kafka:
            kafka.reset_state(KEY, 1, 0)
            kafka.write_state(KEY, write(start_offset=5))
            assert kafka.read_summary(KEY).start_offset == 5
        wrong = dataclasses.replace(sasl, password=sasl.password[::-1])
        with (
            KafkaPersister(bootstrap, security=SecurityOptions(ssl_context=context, sasl=wrong), retry=once) as kafka,
            pytest.raises(AuthenticationFailedError, match="nvalid"),
        ):
            kafka.read_summary(KEY)
        # TLS without SASL, SASL without TLS, neither.
        for security in (SecurityOptions(ssl_context=context), SecurityOptions(sasl=sasl), None):
            with (
                KafkaPersister(bootstrap, security=security, retry=once) as kafka,
                pytest.raises(KafkaPersisterError) as refused,
            ):
                kafka.read_summary(KEY)
            assert not isinstance(refused.value, AuthenticationFailedError)


def test_tls_alone_lets_everybody_in(tmp_path: Path, secured: tuple[list[str], ssl.SSLContext]) -> None:
    options, context = secured
    with (
        coordinator(tmp_path / "state", *options[:4]) as (_, bootstrap),
        KafkaPersister(bootstrap, security=SecurityOptions(ssl_context=context)) as kafka,
    ):
        kafka.reset_state(KEY, 1, 7)
        assert kafka.read_summary(KEY).start_offset == 7


def test_what_is_no_certificate_and_no_list_of_users_is_a_usage_error(
    tmp_path: Path, secured: tuple[list[str], ssl.SSLContext]
) -> None:
    options, _ = secured
    cert, key = options[1], options[3]
    files = {"none": "", "no password": "alice\n", "twice": "a:b\na:c\n", "nobody": ":secret-word\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    users = [["--sasl-users", str(tmp_path / name)] for name in (*files, "missing")]
    tls = [
        ["--tls-cert", cert],
        ["--tls-key", key],
        ["--tls-cert", key, "--tls-key", cert],
        ["--tls-cert", "x", "--tls-key", key],
    ]
    for wrong in (*users, *tls):
        path = tmp_path / "state"
        ran = run("coordinator", "--listen", "127.0.0.1:0", "--path", str(path), *wrong)
        assert (ran.returncode, ran.stdout) == (2, ""), wrong
        assert "secret-word" not in ran.stderr
        assert not path.exists()


def test_a_client_finds_its_way_to_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "state"
    retry = RetryPolicy(attempts=100, initial_seconds=0.05, maximum_seconds=0.1)
    with coordinator(path) as (process, bootstrap), KafkaPersister(bootstrap, retry=retry) as kafka:
        kafka.reset_state(KEY, 1, 0)
        process.kill()
        process.wait(timeout=60)
        successor = subprocess.Popen(
            [*COMMAND, "coordinator", "--listen", bootstrap, "--path", str(path)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            kafka.write_state(KEY, write(start_offset=5))
            assert kafka.read_summary(KEY).start_offset == 5
        finally:
            successor.kill()
            successor.wait(timeout=60)


def test_topics_that_are_not_named_do_not_exist(tmp_path: Path) -> None:
    retry = RetryPolicy(attempts=1)
    with (
        coordinator(tmp_path / "state", "--topic", f"orders:{TOPIC}:2") as (_, bootstrap),
        KafkaPersister(bootstrap, retry=retry) as kafka,
    ):
        assert kafka.topic_ids(["orders", "jobs"]) == {"orders": shown_topic_id(TOPIC)}
        kafka.reset_state(KEY._replace(partition=1), 1, 0)
        for unknown in (KEY._replace(partition=2), KEY._replace(topic_id="00000000-0000-0000-0000-000000000007")):
            with pytest.raises(UnknownTopicError):
                kafka.reset_state(unknown, 1, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--listen", "nowhere", "--path", "x"],
        ["--listen", "127.0.0.1:65536", "--path", "x"],
        ["--listen", ":1", "--path", "x"],
        ["--listen", "127.0.0.1:0"],
        ["--path", "x"],
        *(["--listen", "127.0.0.1:0", "--path", "x", "--topic", topic] for topic in ("orders", f":{TOPIC}:1", f"o:{TOPIC}:0")),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x"
    ran = run("coordinator", *(str(path) if argument == "x" else argument for argument in arguments))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert not path.exists()


def test_an_address_in_use_and_a_directory_in_use_are_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("coordinator", "--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--path", tmp_path / "state")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "cannot serve" in ran.stderr
    with ss.open(tmp_path / "other"):
        ran = run("coordinator", "--listen", "127.0.0.1:0", "--path", tmp_path / "other")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "cannot serve" in ran.stderr
