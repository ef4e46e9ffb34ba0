"""TLS and SASL: who gets in, who does not, and what they are told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import scramp  # type: ignore[import-untyped]

from share_state.errors import ConfigError
from share_state.kafka import (
    AuthenticationFailedError,
    NotAuthorizedError,
    OAuthBearer,
    Plain,
    RetryPolicy,
    Scram,
    SecurityOptions,
)
from share_state.kafka.shown_key import shown_key
from tests.kafka.scripted import (
    AUTHENTICATE,
    FIND,
    HANDSHAKE,
    KEY,
    WRITE,
    Action,
    ScriptedBroker,
    TestClock,
    Turn,
    close,
    error,
    held,
    persister,
    run,
    write,
)

ONCE = RetryPolicy(attempts=1)


def sasl_broker(step: Callable[[Turn, bytes], dict[str, Any]], mechanisms: list[str]) -> ScriptedBroker:
    """A broker that lets in whom ``step`` lets in; no request of a stranger is answered."""
    broker = ScriptedBroker()
    broker.extra_versions = {HANDSHAKE: (0, 1), AUTHENTICATE: (0, 2)}

    async def handshake(turn: Turn) -> bytes:
        known = turn.asked()["mechanism"] in mechanisms
        return turn.answer({"errorCode": 0 if known else 33, "mechanisms": mechanisms})

    async def authenticate(turn: Turn) -> bytes:
        usual = {"errorCode": 0, "errorMessage": None, "authBytes": b"", "sessionLifetimeMs": 0}
        return turn.answer(usual | step(turn, turn.asked()["authBytes"]))

    broker.always = {HANDSHAKE: handshake, AUTHENTICATE: authenticate}
    return broker


def refused(text: str = "Authentication failed: Invalid username or password") -> dict[str, Any]:
    return {"errorCode": 58, "errorMessage": text}


def plain_step(_turn: Turn, said: bytes) -> dict[str, Any]:
    return {} if said == b"\0alice\0alice-secret" else refused()


def scram_step(name: str) -> Callable[[Turn, bytes], dict[str, Any]]:
    mechanism = scramp.ScramMechanism(name)
    stored = mechanism.make_auth_info("alice", iteration_count=4096)
    assert stored is not None
    known = {"alice": mechanism.make_auth_info("alice-secret", iteration_count=4096)}
    under_way: dict[int, Any] = {}

    def step(turn: Turn, said: bytes) -> dict[str, Any]:
        try:
            if turn.connection not in under_way:
                server = under_way[turn.connection] = mechanism.make_server(lambda user: known[user])
                server.set_client_first(said.decode())
                return {"authBytes": server.get_server_first().encode()}
            server = under_way[turn.connection]
            server.set_client_final(said.decode())
            return {"authBytes": server.get_server_final().encode()}
        except (scramp.ScramException, KeyError):
            return refused(f"Authentication failed during authentication due to invalid credentials with {name}")

    return step


def bearer_step(_turn: Turn, said: bytes) -> dict[str, Any]:
    if said == b"n,,\x01auth=Bearer good\x01\x01":
        return {}
    return refused("{...}") if said == b"\x01" else {"authBytes": b'{"status":"invalid_token"}'}


async def async_token() -> str:
    return "good"


MECHANISMS: dict[str, tuple[Callable[[], Callable[[Turn, bytes], dict[str, Any]]], Any, Any]] = {
    "PLAIN": (lambda: plain_step, Plain("alice", "alice-secret"), Plain("alice", "wrong")),
    **{
        name: (partial(scram_step, name), Scram("alice", "alice-secret", name), Scram("alice", "wrong", name))
        for name in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    },
    "OAUTHBEARER": (lambda: bearer_step, OAuthBearer(lambda: "good"), OAuthBearer(lambda: "bad")),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_who_knows_the_secret_gets_in(name: str) -> None:
    async def test() -> None:
        step, right, _ = MECHANISMS[name]
        async with (
            sasl_broker(step(), [name]) as broker,
            persister(await broker.start(), security=SecurityOptions(sasl=right)) as client,
        ):
            await client.reset_state(KEY, 1, 7)
            assert (await client.read_summary(KEY)).start_offset == 7
            assert [message["mechanism"] for message in broker.said(HANDSHAKE)] == [name]
            assert broker.connections == 1

    run(test)


@pytest.mark.parametrize("name", MECHANISMS)
def test_who_does_not_is_told_so_once(name: str) -> None:
    async def test() -> None:
        step, _, wrong = MECHANISMS[name]
        async with (
            sasl_broker(step(), [name]) as broker,
            persister(address := await broker.start(), security=SecurityOptions(sasl=wrong)) as client,
        ):
            with pytest.raises(AuthenticationFailedError) as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.attempts, raised.value.key) == (58, 1, shown_key(KEY))
            assert raised.value.node == f"{address.host}:{address.port}"
            assert not raised.value.outcome_unknown
            # Wrong credentials are not sent again and again: that would lock an account.
            assert len(broker.said(HANDSHAKE)) == 1
            assert not broker.said(FIND)

    run(test)


@pytest.mark.parametrize("answer", [b"", b"v=AAAA", b"e=other-error", b"\xff"])
def test_a_broker_that_does_not_know_the_password_itself(answer: bytes) -> None:
    async def test() -> None:
        step = scram_step("SCRAM-SHA-256")

        def impostor(turn: Turn, said: bytes) -> dict[str, Any]:
            return step(turn, said) if said.startswith(b"n,") else {"authBytes": answer}

        security = SecurityOptions(sasl=Scram("alice", "alice-secret", "SCRAM-SHA-256"))
        async with (
            sasl_broker(impostor, ["SCRAM-SHA-256"]) as broker,
            persister(address := await broker.start(), security=security) as client,
        ):
            with pytest.raises(AuthenticationFailedError) as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.node) == (58, f"{address.host}:{address.port}")
            assert not broker.said(FIND)

    run(test)


@pytest.mark.parametrize("stage", [HANDSHAKE, AUTHENTICATE])
def test_a_connection_cut_while_authenticating_is_tried_again(stage: int) -> None:
    async def test() -> None:
        security = SecurityOptions(sasl=Plain("alice", "alice-secret"))
        async with (
            sasl_broker(plain_step, ["PLAIN"]) as broker,
            persister(await broker.start(), security=security) as client,
        ):
            broker.script[stage].append(close)
            await client.reset_state(KEY, 1, 0)
            assert broker.connections == 2

    run(test)


def test_a_token_that_is_not_taken_is_acknowledged_as_refused() -> None:
    async def test() -> None:
        asked = []

        def content_in_the_end(turn: Turn, said: bytes) -> dict[str, Any]:
            asked.append(said)
            return {} if said == b"\x01" else bearer_step(turn, said)

        security = SecurityOptions(sasl=OAuthBearer(lambda: "bad"))
        async with (
            sasl_broker(content_in_the_end, ["OAUTHBEARER"]) as broker,
            persister(await broker.start(), security=security) as client,
        ):
            # Refused is refused, whatever the broker says afterwards.
            with pytest.raises(AuthenticationFailedError, match="invalid_token"):
                await client.read_summary(KEY)
            assert asked == [b"n,,\x01auth=Bearer bad\x01\x01", b"\x01"]

    run(test)


def test_a_coroutine_may_give_the_token() -> None:
    async def test() -> None:
        async with sasl_broker(bearer_step, ["OAUTHBEARER"]) as broker:
            security = SecurityOptions(sasl=OAuthBearer(async_token))
            async with persister(await broker.start(), security=security) as client:
                await client.reset_state(KEY, 1, 0)

    run(test)


def test_a_session_that_ends_is_followed_by_another() -> None:
    async def test() -> None:
        def for_an_hour(turn: Turn, said: bytes) -> dict[str, Any]:
            return plain_step(turn, said) | {"sessionLifetimeMs": 3_600_000}

        clock = TestClock()
        security = SecurityOptions(sasl=Plain("alice", "alice-secret"))
        async with (
            sasl_broker(for_an_hour, ["PLAIN"]) as broker,
            persister(await broker.start(), security=security, clock=clock) as client,
        ):
            await client.reset_state(KEY, 1, 0)
            release = asyncio.Event()
            broker.script[WRITE].append(held(release))
            writing = asyncio.create_task(client.write_state(KEY, write(start_offset=5)))
            await broker.until(lambda: bool(broker.said(WRITE)))
            assert clock.expire(3060.0) == 1
            other = asyncio.create_task(client.reset_state(KEY._replace(group="other"), 1, 0))
            await other
            # What is under way on the old connection is still answered.
            assert broker.connections == 2
            assert not writing.done()
            release.set()
            await writing
            assert broker.store.read_summary(KEY).start_offset == 5
            assert len(broker.said(WRITE)) == 1

    run(test)


def test_a_principal_without_the_right_is_told_so() -> None:
    async def test() -> None:
        deny: Action = error(31, "Cluster authorization failed.")
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.always[FIND] = deny
            with pytest.raises(NotAuthorizedError) as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.attempts) == (31, 1)

    run(test)


def test_secrets_are_not_shown() -> None:
    options = SecurityOptions(sasl=Plain("alice", "hidden"))
    shown = [repr(options), repr(Scram("alice", "hidden")), repr(OAuthBearer(lambda: "hidden"))]
    assert all("alice" in text or "OAuth" in text for text in shown)
    assert not any("hidden" in text for text in shown)


def test_scram_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        monkeypatch.setitem(sys.modules, "scramp", None)
        security = SecurityOptions(sasl=Scram("alice", "secret"))
        async with (
            sasl_broker(plain_step, ["SCRAM-SHA-512"]) as broker,
            persister(await broker.start(), security=security) as client,
        ):
            with pytest.raises(ConfigError, match="kafka-scram"):
                await client.read_summary(KEY)

    run(test)
