"""Rules of access decided one by one, what a table of them may hold, and why tokens are not taken."""

from __future__ import annotations

import json
import logging
import time
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import jwt
import pytest

from share_state.errors import ConfigError
from share_state.gateway.access import Access, Operation, Resource, Rule, read_rules
from share_state.gateway.tokens import SignedTokens, UnsecuredTokens
from share_state.kafka.bearer_tokens import TokenRefusedError

READ, DESCRIBE, DELETE, ALTER = Operation.READ, Operation.DESCRIBE, Operation.DELETE, Operation.ALTER_CONFIGS
TOPIC, GROUP, CLUSTER = Resource.TOPIC, Resource.GROUP, Resource.CLUSTER
ME = "User:me"


def allow(operation: Operation, name: str, *, who: str = ME, prefixed: bool = False, resource: Resource = TOPIC) -> Rule:
    return Rule(who, operation, resource, name, prefixed, True)


def deny(operation: Operation, name: str, *, prefixed: bool = False) -> Rule:
    return Rule(ME, operation, TOPIC, name, prefixed, False)


@pytest.mark.parametrize(
    ("rules", "operation", "name", "may"),
    [
        ([], READ, "a", False),
        ([allow(READ, "a")], READ, "a", True),
        ([allow(READ, "a")], READ, "ab", False),
        ([allow(READ, "a", prefixed=True)], READ, "ab", True),
        ([allow(READ, "ab", prefixed=True)], READ, "a", False),
        ([allow(READ, "*")], READ, "anything", True),
        ([allow(READ, "a", who="User:other")], READ, "a", False),
        ([allow(READ, "a", who="User:*")], READ, "a", True),
        ([allow(READ, "a", resource=GROUP)], READ, "a", False),
        # The first rules are about something else.
        ([allow(READ, "b"), allow(READ, "a", resource=GROUP), allow(DELETE, "a"), allow(READ, "a")], READ, "a", True),
        ([allow(READ, "a"), allow(DELETE, "a")], READ, "a", True),
        # A denial wins wherever it stands, but only over what it names.
        ([deny(READ, "a"), allow(READ, "a")], READ, "a", False),
        ([allow(READ, "a"), deny(READ, "a")], READ, "a", False),
        ([allow(READ, "a"), deny(Operation.ALL, "*")], READ, "a", False),
        ([allow(READ, "a"), deny(DELETE, "a")], READ, "a", True),
        ([deny(DELETE, "a"), allow(READ, "a")], READ, "a", True),
        ([deny(DELETE, "a")], READ, "a", False),
        # What a permission brings with it is not denied with it.
        ([allow(READ, "a")], DESCRIBE, "a", True),
        ([allow(DELETE, "a")], DESCRIBE, "a", True),
        ([allow(ALTER, "a")], DESCRIBE, "a", False),
        ([allow(ALTER, "a")], Operation.DESCRIBE_CONFIGS, "a", True),
        ([allow(READ, "a"), deny(READ, "a"), allow(DELETE, "a")], DESCRIBE, "a", True),
        ([allow(DESCRIBE, "a")], READ, "a", False),
        ([allow(Operation.ALL, "a")], ALTER, "a", True),
    ],
)
def test_what_rules_decide(rules: list[Rule], operation: Operation, name: str, may: bool) -> None:
    access = Access(rules)
    # Also when it is asked again.
    assert [access.allows(ME, operation, TOPIC, name) for _ in range(2)] == [may, may]


def test_without_rules_everything_is_allowed_and_super_users_need_none() -> None:
    assert Access().allows(ME, READ, TOPIC, "a")
    access = Access([deny(READ, "a")], [ME, "User:root"])
    assert (access.allows(ME, READ, TOPIC, "a"), access.allows("User:root", ALTER, CLUSTER, "x")) == (True, True)
    assert not access.allows("User:other", READ, TOPIC, "a")


def test_a_refusal_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "share_state.gateway.access")
    access = Access([allow(READ, "a")])
    for name in ("a", "b", "b", "a"):
        access.allows(ME, READ, TOPIC, name)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "not allowed: principal='User:me' operation=READ resource=TOPIC name='b'")
    ]


def test_the_memory_of_decisions_has_an_end() -> None:
    access = Access([allow(READ, "a")])
    for number in range(10_001):
        access.allows(ME, READ, TOPIC, f"{number}")
    assert len(access._known) == 10_001
    access.allows(ME, READ, TOPIC, "a")
    assert access._known == {(ME, READ, TOPIC, "a"): True}
    # The longest name of a topic is kept, and nothing longer.
    for length in (249, 250):
        access.allows(ME, READ, TOPIC, "x" * length)
    assert [len(name) for *_, name in access._known] == [1, 249]


ROW = {"principal": "User:a", "operation": "READ", "resourceType": "TOPIC", "name": "x"}


def table(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


#: Tables that would silently give other rights than were meant.
MISTAKES: list[Any] = [
    {"rules": [], "superusers": ["User:root"]},
    {"rules": [], "superUsers": "User:root"},
    {"rules": [], "superUsers": ["root"]},
    {"rules": [], "superUsers": [5]},
    {"rules": [], "superUsers": None},
    {"rules": [], "unknown": []},
]


def test_a_table_has_rules_with_defaults(tmp_path: Path) -> None:
    rows = [
        ROW,
        {**ROW, "patternType": "PREFIXED", "permissionType": "DENY"},
        {**ROW, "patternType": "LITERAL", "permissionType": "ALLOW"},
    ]
    access = read_rules(table(tmp_path / "acl", {"rules": rows, "superUsers": ["User:root", "User:é"]}))
    literal = Rule("User:a", READ, TOPIC, "x", False, True)
    assert access._rules == [literal, Rule("User:a", READ, TOPIC, "x", True, False), literal]
    assert access._super_users == {"User:root", "User:é"}
    assert read_rules(table(tmp_path / "acl", {"rules": []}))._super_users == frozenset()


@pytest.mark.parametrize(
    "content", [[], {}, {"rules": 5}, {"rules": [5]}, {"rules": [], "superUsers": 5}, {"rules": [{}]}, None, *MISTAKES]
)
def test_tables_that_are_none(tmp_path: Path, content: Any) -> None:
    path = table(tmp_path / "acl", content)
    with pytest.raises(ConfigError) as refused:
        read_rules(path)
    assert str(refused.value).startswith(f"{path} is not a table of access rules: ")
    assert (refused.value.field, refused.value.value) == ("acl_file", str(path))


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "acl"
    path.write_text('{"rules": [{"permissionType": "DENY", "permissionType": "ALLOW"}]}', encoding="utf-8")
    with pytest.raises(ConfigError, match="a name twice among permissionType, permissionType"):
        read_rules(path)
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a table of access rules"):
        read_rules(path)


@pytest.mark.parametrize("missing", ["principal", "operation", "resourceType", "name"])
def test_a_rule_that_lacks_something(tmp_path: Path, missing: str) -> None:
    row = {key: value for key, value in ROW.items() if key != missing}
    with pytest.raises(ConfigError, match=f"is not a table of access rules: '{missing}'"):
        read_rules(table(tmp_path / "acl", {"rules": [ROW, row]}))


def test_a_rule_that_is_none_is_in_the_text(tmp_path: Path) -> None:
    row = {**ROW, "host": "*"}
    with pytest.raises(ConfigError) as refused:
        read_rules(table(tmp_path / "acl", {"rules": [row]}))
    assert str(refused.value).endswith(f": rule {row!r}")


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(ConfigError) as refused:
        read_rules(path)
    assert str(refused.value) == f"{path} cannot be read: [Errno 2] No such file or directory: '{path}'"
    assert (refused.value.field, refused.value.value) == ("acl_file", str(path))


NOW = 2_000_000_000


def unsecured(header: Any, content: Any, signature: str = "") -> str:
    parts = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, content)]
    return ".".join([*parts, signature])


SIGNED = ("the token is signed, and the gateway has no key to verify it", "token", None)
MALFORMED = ("the token is malformed", "token", None)
NONE = {"alg": "none"}


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (unsecured(NONE, {"sub": "a", "exp": NOW}, "AA"), SIGNED),
        (unsecured({"alg": "HS256"}, {"sub": "a", "exp": NOW}), SIGNED),
        (unsecured({}, {"sub": "a", "exp": NOW}), SIGNED),
        (unsecured(NONE, {"sub": "a"}), MALFORMED),
        (unsecured(NONE, {"sub": "a", "exp": "soon"}), MALFORMED),
        (unsecured(NONE, {"sub": "a", "exp": None}), MALFORMED),
        (unsecured(NONE, ["sub"]), MALFORMED),
        (unsecured([], {"sub": "a", "exp": NOW}), MALFORMED),
        (unsecured(NONE, {"sub": "a", "exp": NOW})[2:], MALFORMED),
        ("a.b", MALFORMED),
        ("a.b.c.d", MALFORMED),
        (unsecured(NONE, {"sub": "a", "exp": NOW - 30}), ("the token has expired", "exp", NOW - 30)),
        (unsecured(NONE, {"exp": NOW}), ("the token has no subject", "sub", None)),
        (unsecured(NONE, {"sub": "", "exp": NOW}), ("the token has no subject", "sub", "")),
        (unsecured(NONE, {"sub": 5, "exp": NOW}), ("the token has no subject", "sub", 5)),
    ],
)
def test_why_a_token_without_a_signature_is_not_taken(
    token: str, why: tuple[str, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: float(NOW))
    with pytest.raises(TokenRefusedError) as refused:
        UnsecuredTokens()(token)
    assert (str(refused.value), refused.value.field, refused.value.value) == why


@pytest.mark.parametrize("name", ["a", "ab", "abc", "abcd"])
def test_a_clock_may_be_late_by_less_than_half_a_minute(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: float(NOW))
    # Whatever number of characters its parts have.
    assert UnsecuredTokens()(unsecured(NONE, {"sub": name, "exp": NOW - 29.9})) == name


def key_set(path: Path, *secrets: tuple[str | None, bytes]) -> Path:
    rows: list[dict[str, str]] = []
    for key_id, secret in secrets:
        row = {"kty": "oct", "alg": "HS256", "k": urlsafe_b64encode(secret).decode().rstrip("=")}
        rows.append(row if key_id is None else {**row, "kid": key_id})
    return table(path, {"keys": rows})


ONE, OTHER = b"1" * 32, b"2" * 32


def signed(secret: bytes, key_id: str | None = None, **others: Any) -> str:
    content = {"sub": "me", "exp": time.time() + 600, **others}
    return str(jwt.encode(content, secret, "HS256", headers={} if key_id is None else {"kid": key_id}))


def test_a_single_key_needs_no_id_and_several_do(tmp_path: Path) -> None:
    single = SignedTokens(key_set(tmp_path / "one", ("a", ONE)))
    assert (single(signed(ONE)), single(signed(ONE, "a"))) == ("me", "me")
    with pytest.raises(TokenRefusedError) as refused:
        single(signed(ONE, "b"))
    assert (str(refused.value), refused.value.field, refused.value.value) == ("no key has the id 'b'", "kid", "b")
    both = SignedTokens(key_set(tmp_path / "both", ("a", ONE), ("b", OTHER)))
    assert (both(signed(OTHER, "b")), both(signed(ONE, "a"))) == ("me", "me")
    with pytest.raises(TokenRefusedError) as refused:
        both(signed(ONE))
    assert (str(refused.value), refused.value.value) == ("no key has the id None", None)
    with pytest.raises(TokenRefusedError) as refused:
        both(signed(ONE, "b"))
    assert (str(refused.value), refused.value.field) == ("Signature verification failed", "token")


def test_clocks_of_signers_may_differ_by_half_a_minute(tmp_path: Path) -> None:
    decide = SignedTokens(key_set(tmp_path / "one", ("a", ONE)))
    assert decide(signed(ONE, exp=time.time() - 25)) == "me"
    with pytest.raises(TokenRefusedError, match="expired"):
        decide(signed(ONE, exp=time.time() - 31))
    # Without an audience to look for, any is as good.
    assert decide(signed(ONE, aud="anything")) == "me"


def test_one_of_several_audiences_is_enough(tmp_path: Path) -> None:
    decide = SignedTokens(key_set(tmp_path / "one", ("a", ONE)), audience=("x", "y"))
    assert decide(signed(ONE, aud=["y", "z"])) == "me"
    with pytest.raises(TokenRefusedError, match="Audience doesn't match"):
        decide(signed(ONE, aud="z"))


@pytest.mark.parametrize("exists", [True, False])
def test_a_key_set_that_is_none_is_named(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "keys"
    if exists:
        path.write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        SignedTokens(path)
    why = "is not a JSON Web Key Set" if exists else f"cannot be read: [Errno 2] No such file or directory: '{path}'"
    assert (str(refused.value), refused.value.field, refused.value.value) == (f"{path} {why}", "oauth_jwks", str(path))
