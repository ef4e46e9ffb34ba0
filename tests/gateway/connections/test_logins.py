"""Logins: SASL by a real client, and by bare requests what a stranger may ask."""

from __future__ import annotations

import ssl
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from share_state.errors import ConfigError
from share_state.gateway import GatewayOptions, Limits, ShareGateway
from share_state.gateway.tokens import UnsecuredTokens
from share_state.kafka.client.peers import Address
from tests.gateway.serving import RECORDS, drain, log_in, serving
from tests.gateway.wire.connection import Connection, Disconnected, request_header

USERS = {"alice": "alice-secret"}
PASSWORD = {"sasl.username": "alice", "sasl.password": "alice-secret"}
TOKEN = {"enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": "principal=alice"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
@pytest.mark.parametrize("over_tls", [False, True])
def test_a_real_consumer_logs_in(bootstrap: str, tmp_path: Path, mechanism: str, over_tls: bool) -> None:
    settings: dict[str, Any] = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism}
    settings |= TOKEN if mechanism == "OAUTHBEARER" else PASSWORD
    context = None
    if over_tls:
        ca = trustme.CA()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        ca.issue_cert("127.0.0.1").configure_cert(context)
        ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        settings |= {"security.protocol": "SASL_SSL", "ssl.ca.location": str(tmp_path / "ca.pem")}
    with serving(bootstrap, tmp_path / "gateway", users=USERS, tokens=UnsecuredTokens(), ssl_context=context) as gateway:
        assert drain(gateway, **settings) == RECORDS
        assert gateway.authentication.succeeded > 0
        assert gateway.authentication.failed == 0


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_login_by_bare_requests(bootstrap: str, tmp_path: Path, version: int) -> None:
    with serving(bootstrap, tmp_path, users=USERS) as gateway, Connection(gateway.bootstrap_servers) as connection:
        offered = connection.offered()
        assert (offered[17], offered[36]) == (range(1, 2), range(3))
        answer = log_in(connection, "alice", "alice-secret", version)
        assert answer["errorCode"] == 0
        assert answer.get("sessionLifetimeMs", 0) == 0
        # As good as any from here on; a second login is refused, and the connection stays.
        assert connection.offered() == offered
        assert connection.ask("FindCoordinator", 6, {"keyType": 0, "coordinatorKeys": ["g"]})["coordinators"][0]["errorCode"] == 0
        assert connection.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})["errorCode"] == 34
        assert connection.ask("SaslAuthenticate", 2, {"authBytes": b""})["errorCode"] == 34
        assert connection.ask("FindCoordinator", 6, {"keyType": 0, "coordinatorKeys": ["g"]})["coordinators"][0]["errorCode"] == 0


def test_a_wrong_password_is_told_and_ends_the_connection(
    bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("share_state.gateway.authentication.asyncio", SimpleNamespace(sleep=sleep))
    with serving(bootstrap, tmp_path, users=USERS) as gateway:
        with Connection(gateway.bootstrap_servers) as connection:
            answer = log_in(connection, "alice", "wrong")
            assert answer["errorCode"] == 58
            assert answer["errorMessage"] == "Authentication failed: Invalid username or password"
            with pytest.raises(Disconnected):
                connection.receive(36, 2)
        with Connection(gateway.bootstrap_servers) as connection:
            answer = connection.ask("SaslHandshake", 1, {"mechanism": "GSSAPI"})
            assert (answer["errorCode"], answer["mechanisms"]) == (33, ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
            with pytest.raises(Disconnected):
                connection.receive(17, 1)
        assert (gateway.authentication.succeeded, gateway.authentication.failed) == (0, 2)
    # Guessing is slow.
    assert slept == [0.1, 0.1]
    assert [text.split(" reason=")[0] for text in caplog.messages] == ["a login failed: user='alice'", "a login failed: user=''"]


def test_an_empty_list_of_users_lets_nobody_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^no user may log in$") as refused:
        ShareGateway(GatewayOptions(upstream=(Address("a", 1),), path=tmp_path, users={}))
    assert refused.value.field == "users"


def test_a_token_that_is_not_taken(bootstrap: str, tmp_path: Path) -> None:
    with serving(bootstrap, tmp_path, tokens=UnsecuredTokens()) as gateway, Connection(gateway.bootstrap_servers) as connection:
        assert connection.ask("SaslHandshake", 1, {"mechanism": "OAUTHBEARER"})["mechanisms"] == ["OAUTHBEARER"]
        said = connection.ask("SaslAuthenticate", 2, {"authBytes": b"n,,\x01auth=Bearer x.y.z\x01\x01"})
        assert (said["errorCode"], said["authBytes"]) == (0, b'{"status":"invalid_token"}')
        said = connection.ask("SaslAuthenticate", 2, {"authBytes": b"\x01"})
        assert (said["errorCode"], said["errorMessage"]) == (58, '{"status":"invalid_token"}')
        with pytest.raises(Disconnected):
            connection.receive(36, 2)


@pytest.mark.parametrize("name", ["Metadata", "FindCoordinator", "ShareGroupHeartbeat", "ShareFetch", "ListGroups"])
def test_a_stranger_is_asked_to_log_in_first(bootstrap: str, tmp_path: Path, name: str) -> None:
    with serving(bootstrap, tmp_path, users=USERS) as gateway:
        with Connection(gateway.bootstrap_servers) as connection:
            connection.offered()
            with pytest.raises(Disconnected):
                connection.ask(name, 1)
        # And after half a login.
        with Connection(gateway.bootstrap_servers) as connection:
            connection.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})
            with pytest.raises(Disconnected):
                connection.ask(name, 1)


@pytest.mark.parametrize("length", [68 << 10, (68 << 10) + 1])
def test_a_token_of_a_stranger_has_64_kib(bootstrap: str, tmp_path: Path, length: int) -> None:
    with serving(bootstrap, tmp_path, users=USERS) as gateway, Connection(gateway.bootstrap_servers) as connection:
        connection.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})
        said = b"\0alice\0" + b"x" * (length - len(request_header(36, 0, 2, "lab")) - 4 - 7)
        connection.send(36, 0, len(said).to_bytes(4, "big") + said)
        if length == 68 << 10:
            assert connection.receive(36, 0)[:2] == b"\0\x3a"
        else:
            with pytest.raises(Disconnected):
                connection.receive(36, 0)


@pytest.mark.parametrize(("key", "version"), [(17, 1), (18, 0), (18, 3), (3, 12)])
def test_other_requests_of_strangers_have_4_kib(bootstrap: str, tmp_path: Path, key: int, version: int) -> None:
    with serving(bootstrap, tmp_path, users=USERS) as gateway, Connection(gateway.bootstrap_servers) as connection:
        connection.offered()
        # The length and the key are enough to be refused: no more than they are sent.
        connection._socket.sendall(struct.pack(">ihh", 4097, key, version))
        with pytest.raises(Disconnected):
            connection.receive(key, version)


def test_who_does_not_log_in_is_cut_off(bootstrap: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    limits = Limits(login_time=0.1)
    with serving(bootstrap, tmp_path, users=USERS, limits=limits) as gateway, Connection(gateway.bootstrap_servers) as connection:
        connection.offered()
        with pytest.raises(Disconnected):
            connection.receive(18, 0)
    assert caplog.messages[0].startswith("closed a connection: it has not logged in within 0.1 s: ")


def test_passwords_are_not_in_the_text_of_options(tmp_path: Path) -> None:
    assert "alice-secret" not in repr(GatewayOptions(upstream=(Address("a", 1),), path=tmp_path, users=USERS))
