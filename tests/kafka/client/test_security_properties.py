"""TLS and SASL by the names of a client's properties: each value is where it belongs, and each refusal names its property."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme

from share_state.errors import ConfigError
from share_state.kafka import Plain, Scram, SecurityOptions
from share_state.kafka.security_properties import security_of

AUTHORITY = trustme.CA()
LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "alice", "sasl.password": "secret"}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of the standard library: files and the key's password."""
    said: list[Any] = []

    class Context:
        check_hostname = True

        def load_cert_chain(self, *arguments: Any) -> None:
            said.append(arguments)

    def create(*, cafile: str | None) -> Context:
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
