"""TLS and SASL by the names of a client's properties: each value is where it belongs, and each refusal names its property."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, cast

import pytest
import trustme

from share_state.errors import ConfigError
from share_state.kafka import OAuthBearer, Plain, Scram, SecurityOptions
from share_state.kafka.client.security import UnconvincedError
from share_state.kafka.client.security_properties import client_settings, security_of

AUTHORITY = trustme.CA()
LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "alice", "sasl.password": "secret"}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Calls of the standard library: files and the key's password."""
    said: list[Any] = []

    class Context:
        check_hostname = True

        def load_cert_chain(self, *arguments: Any) -> None:
            said.append(arguments)

    def create(*, cafile: str | None, cadata: str | None) -> Context:
        assert cadata is None
        said.append(cafile)
        return Context()

    monkeypatch.setattr(ssl, "create_default_context", create)
    return said


def test_without_properties_a_connection_is_plain() -> None:
    assert security_of({}) == SecurityOptions(None, None, None)
    assert security_of({"security.protocol": "plaintext"}) == SecurityOptions(None, None, None)


def refusal(properties: Mapping[str, str]) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        security_of(properties)
    return refused.value


def test_a_property_that_is_not_known_is_named() -> None:
    refused = refusal({"ssl.protocol": "TLSv1.3"})
    assert (str(refused), refused.field) == ("ssl.protocol is not a security property that is known here", "ssl.protocol")


@pytest.mark.parametrize("protocol", ["TLS", "", "SASL"])
def test_a_protocol_that_is_not_known_is_named(protocol: str) -> None:
    refused = refusal({"security.protocol": protocol})
    expected = f"security.protocol is {protocol!r}; expected one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    assert (str(refused), refused.field, refused.value) == (expected, "security.protocol", protocol)


@pytest.mark.parametrize(
    ("protocol", "tls", "sasl"), [("SSL", True, False), ("SASL_PLAINTEXT", False, True), ("sasl_ssl", True, True)]
)
def test_a_protocol_decides_what_is_used(protocol: str, tls: bool, sasl: bool, loaded: list[Any]) -> None:
    made = security_of({**LOGIN, "security.protocol": protocol})
    assert (made.ssl_context is not None, made.sasl is not None) == (tls, sasl)
    assert loaded == ([None] if tls else [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ssl.truststore.location": "trust"}, ["trust"]),
        ({"ssl.ca.location": "ca"}, ["ca"]),
        ({"ssl.truststore.location": "trust", "ssl.ca.location": "ca"}, ["ca"]),
        ({"ssl.key.location": "key", "ssl.key.password": "open"}, [None]),
        ({"ssl.certificate.location": "own"}, [None, ("own", None, None)]),
        ({"ssl.keystore.location": "store"}, [None, ("store", None, None)]),
        (
            {
                "ssl.certificate.location": "own",
                "ssl.keystore.location": "store",
                "ssl.key.location": "key",
                "ssl.key.password": "open",
            },
            [None, ("own", "key", "open")],
        ),
    ],
)
def test_files_go_where_they_belong(given: dict[str, str], expected: list[Any], loaded: list[Any]) -> None:
    security_of({"security.protocol": "SSL", **given})
    assert loaded == expected


@pytest.mark.parametrize(("given", "checked"), [({}, True), ({"": "https"}, True), ({"": ""}, False)])
def test_the_name_in_a_certificate_is_checked_unless_the_property_is_empty(
    given: dict[str, str], checked: bool, loaded: list[Any]
) -> None:
    named = {f"ssl.endpoint.identification.algorithm{name}": value for name, value in given.items()}
    context = security_of({"security.protocol": "SSL", **named}).ssl_context
    assert context is not None
    assert context.check_hostname is checked
    assert loaded == [None]


def test_certificates_are_loaded(tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "ca"))
    own = AUTHORITY.issue_cert("client")
    own.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "own"))
    context = security_of(
        {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "ca"), "ssl.keystore.location": str(tmp_path / "own")}
    ).ssl_context
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize("name", ["ssl.ca.location", "ssl.keystore.location"])
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_files_that_cannot_be_used_are_told(tmp_path: Path, name: str, content: str | None) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_text(content)
    refused = refusal({"security.protocol": "SSL", name: str(path)})
    assert str(refused).startswith("TLS cannot be set up with these files: ")
    assert (refused.field, refused.value) == ("ssl", str(path) if name == "ssl.ca.location" else None)


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (None, Plain("alice", "secret")),
        ("PLAIN", Plain("alice", "secret")),
        ("SCRAM-SHA-256", Scram("alice", "secret", "SCRAM-SHA-256")),
        ("SCRAM-SHA-512", Scram("alice", "secret", "SCRAM-SHA-512")),
    ],
)
def test_a_mechanism_gets_the_name_and_the_password(mechanism: str | None, expected: Plain | Scram) -> None:
    chosen = {} if mechanism is None else {"sasl.mechanism": mechanism}
    assert security_of({**LOGIN, **chosen}).sasl == expected


MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.mark.parametrize(
    ("login", "name", "password"),
    [
        (' username="alice" password="secret";', "alice", "secret"),
        (" username = 'alice' password\t= 'se\"cret';", "alice", 'se"cret'),
        (" username=alice password=secret;", "alice", "secret"),
        (" username=alice password=secret ;", "alice", "secret"),
        (' password="a;b c" username="al=ice" other="x";', "al=ice", "a;b c"),
    ],
)
def test_a_login_of_java_is_read(login: str, name: str, password: str) -> None:
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": MODULE + login}
    assert security_of(properties).sasl == Plain(name, password)
    # A property of its own comes first.
    assert security_of({**properties, "sasl.username": "bob"}).sasl == Plain("bob", password)
    assert security_of({**properties, "sasl.password": "other"}).sasl == Plain(name, "other")


@pytest.mark.parametrize(
    "login",
    [
        {},
        {"sasl.username": "alice"},
        {"sasl.password": "secret"},
        {"sasl.username": "", "sasl.password": "secret"},
        {"sasl.jaas.config": MODULE + ' username="alice";'},
        {"sasl.jaas.config": MODULE + ' password="secret";'},
        {"sasl.jaas.config": MODULE + ' username="alice" password="secret'},
    ],
)
def test_a_login_without_a_name_or_a_password_is_told_and_not_shown(login: dict[str, str]) -> None:
    refused = refusal({"security.protocol": "SASL_PLAINTEXT", **login})
    assert (str(refused), refused.field) == ("sasl.jaas.config names no username and password", "sasl.jaas.config")
    assert refused.value is None


def claims(token: str) -> dict[str, Any]:
    head, body, signature = token.split(".")
    assert (json.loads(urlsafe_b64decode(head + "==")), signature) == ({"alg": "none"}, "")
    return cast("dict[str, Any]", json.loads(urlsafe_b64decode(body + "==")))


BEARER = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "OAUTHBEARER"}


def token_of(settings: Mapping[str, object]) -> str:
    mechanism = client_settings(settings).security.sasl
    assert isinstance(mechanism, OAuthBearer)
    return str(mechanism.token())


def test_a_token_that_nobody_has_signed_names_the_principal() -> None:
    config = "principal=alice scope=read,write lifeSeconds=60"
    told = claims(token_of({**BEARER, "enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": config}))
    assert (told["sub"], told["scope"], told["exp"] - told["iat"]) == ("alice", ["read", "write"], 60)
    named = "principal=alice principalClaimName=name"
    told = claims(token_of({**BEARER, "enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": named}))
    assert (told["name"], told["exp"] - told["iat"], "scope" in told) == ("alice", 3600, False)


def test_a_callback_gives_the_token() -> None:
    asked: list[str] = []

    def callback(config: str) -> tuple[str, float]:
        asked.append(config)
        return "mine", 0.0

    assert token_of({**BEARER, "oauth_cb": callback, "sasl.oauthbearer.config": "realm=x"}) == "mine"
    assert asked == ["realm=x"]


class TokenEndpoint(BaseHTTPRequestHandler):
    answer = b"{}"
    heard: ClassVar[list[tuple[str | None, bytes]]] = []

    def do_POST(self) -> None:
        self.heard.append((self.headers["Authorization"], self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_token_endpoint_is_asked_with_the_credentials_of_the_client() -> None:
    with HTTPServer(("127.0.0.1", 0), TokenEndpoint) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        settings = {
            **BEARER,
            "sasl.oauthbearer.method": "OIDC",
            "sasl.oauthbearer.client.id": "me",
            "sasl.oauthbearer.client.secret": "secret",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.token.endpoint.url": f"http://127.0.0.1:{server.server_port}/token",
        }
        try:
            with pytest.raises(UnconvincedError, match="gave no token: 'access_token'") as none:
                token_of(settings)
            TokenEndpoint.answer = b'{"access_token": "theirs"}'
            assert token_of(settings) == "theirs"
        finally:
            server.shutdown()
            thread.join()
    login = f"Basic {b64encode(b'me:secret').decode()}"
    assert TokenEndpoint.heard == [(login, b"grant_type=client_credentials&scope=kafka")] * 2
    assert "secret" not in str(none.value)
    with pytest.raises(UnconvincedError, match="expected http:// or https://"):
        token_of({**settings, "sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd"})


@pytest.mark.parametrize(
    ("properties", "field"),
    [
        ({}, "sasl.mechanism"),
        ({"enable.sasl.oauthbearer.unsecure.jwt": "true"}, "sasl.oauthbearer.config"),
        ({"sasl.oauthbearer.method": "oidc"}, "sasl.oauthbearer.token.endpoint.url"),
    ],
)
def test_a_bearer_without_a_source_of_tokens_is_refused(properties: dict[str, str], field: str) -> None:
    assert refusal({**BEARER, **properties}).field == field


def test_settings_that_tune_another_client_are_passed_over_and_slips_are_named() -> None:
    tuned = {
        "socket.timeout.ms": 5,
        "fetch.wait.max.ms": "10",
        "log_level": 0,
        "error_cb": print,
        "acks": "all",
        "client.id": "me",
    }
    assert client_settings(tuned) == (SecurityOptions(), "me")
    assert client_settings(None) == client_settings({}) == (SecurityOptions(), "share-state")
    for name in ("no.such", "scoket.timeout.ms", "client.idd"):
        with pytest.raises(ConfigError, match=rf"^{name} is not a setting of a client that is known here$") as refused:
            client_settings({name: "1"})
        assert refused.value.field == name


def test_certificates_may_be_given_as_text() -> None:
    own = AUTHORITY.issue_cert("client")
    texts = {
        "ssl.ca.pem": AUTHORITY.cert_pem.bytes().decode(),
        "ssl.certificate.pem": own.cert_chain_pems[0].bytes().decode(),
        "ssl.key.pem": own.private_key_pem.bytes().decode(),
    }
    context = security_of({"security.protocol": "SSL", **texts}).ssl_context
    assert context is not None
    # That authority, and none of the system's.
    (authority,) = context.get_ca_certs()
    assert "trustme" in str(authority["subject"])
    assert refusal({"security.protocol": "SSL", **texts, "ssl.key.pem": ""}).field == "ssl"


@pytest.mark.parametrize(
    ("properties", "checked", "mode"),
    [
        ({"ssl.endpoint.identification.algorithm": "none"}, False, ssl.CERT_REQUIRED),
        ({"enable.ssl.certificate.verification": "False"}, False, ssl.CERT_NONE),
        ({"enable.ssl.certificate.verification": "true"}, True, ssl.CERT_REQUIRED),
    ],
)
def test_checks_of_a_certificate_are_off_where_that_is_said(
    properties: dict[str, str], checked: bool, mode: ssl.VerifyMode
) -> None:
    context = security_of({"security.protocol": "SSL", **properties}).ssl_context
    assert context is not None
    assert (context.check_hostname, context.verify_mode) == (checked, mode)
