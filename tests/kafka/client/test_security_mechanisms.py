"""Mechanisms of a client, message by message, and what they refuse before anything is sent."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Awaitable
from typing import Any

import pytest
import scramp  # type: ignore[import-untyped]

from share_state.kafka import OAuthBearer, Plain, Scram, SecurityOptions
from share_state.kafka.client.security import UnconvincedError
from tests.kafka.lines import refusal


def test_a_name_to_check_needs_tls() -> None:
    expected = ("server_hostname needs an ssl_context", "server_hostname", "broker")
    assert refusal(lambda: SecurityOptions(server_hostname="broker")) == expected
    context = ssl.create_default_context()
    assert SecurityOptions(context, "broker") == SecurityOptions(ssl_context=context, server_hostname="broker", sasl=None)
    assert SecurityOptions(context).server_hostname is None
    assert SecurityOptions() == SecurityOptions(None, None, None)


@pytest.mark.parametrize("given", [("al\0ice", "secret"), ("alice", "sec\0ret"), ("\0", "\0")])
def test_a_login_in_clear_has_no_zero_character(given: tuple[str, str]) -> None:
    expected = ("a user name or password of PLAIN contains a zero character", "username", None)
    assert refusal(lambda: Plain(*given)) == expected


def test_a_login_in_clear_is_one_message() -> None:
    async def test() -> None:
        # Letters and digits are what they are, and an X or a backslash ends nothing.
        conversation = Plain("aXX\\0é", "X0").start()
        assert await conversation.first() == b"\0aXX\\0\xc3\xa9\0X0"
        assert await conversation.answer(b"") is None
        conversation.check_ended()

    asyncio.run(test())
    assert (Plain.name, OAuthBearer.name, Scram("a", "b").name) == ("PLAIN", "OAUTHBEARER", "SCRAM-SHA-512")


@pytest.mark.parametrize("name", ["SCRAM-SHA-1", "scram-sha-256", ""])
def test_a_scram_that_brokers_do_not_have_is_refused(name: str) -> None:
    expected = (f"{name!r} is not one of SCRAM-SHA-256, SCRAM-SHA-512", "name", name)
    assert refusal(lambda: Scram("alice", "secret", name)) == expected


@pytest.mark.parametrize("name", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_scram_takes_two_messages_of_each_side(name: str) -> None:
    mechanism = scramp.ScramMechanism(name)
    keys = mechanism.make_auth_info("secret", iteration_count=4096)
    server = mechanism.make_server({"alice": keys}.__getitem__)
    conversation = Scram("alice", "secret", name).start()
    first = await conversation.first()
    assert first.startswith(b"n,,n=alice,r=")
    server.set_client_first(first.decode())
    final = await conversation.answer(server.get_server_first().encode())
    assert final is not None
    with pytest.raises(UnconvincedError) as early:
        conversation.check_ended()
    assert str(early.value) == "the broker accepted the login before it proved that it knows the password"
    # It raises where the password is another.
    server.set_client_final(final.decode())
    assert await conversation.answer(server.get_server_final().encode()) is None
    conversation.check_ended()


class _Client:
    """Stands for the client of the package: takes what begins with ``s``."""

    def __init__(self, mechanisms: list[str], username: str, password: str) -> None:
        self.given = (mechanisms, username, password)
        self.heard: list[tuple[str, str]] = []

    def get_client_first(self) -> str:
        return f"first of {self.given}"

    def set_server_first(self, said: str) -> None:
        self._take("first", said)

    def get_client_final(self) -> str:
        return f"final after {self.heard}"

    def set_server_final(self, said: str) -> None:
        self._take("final", said)

    def _take(self, which: str, said: str) -> None:
        if not said.startswith("s"):
            raise _OddError(f"{said} is not for me")
        self.heard.append((which, said))


class _OddError(Exception):
    pass


class _Package:
    ScramClient = _Client
    ScramException = _OddError


@pytest.fixture
def conversation(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Conversation with a stand-in for the package."""
    monkeypatch.setitem(sys.modules, "scramp", _Package)
    return Scram("alice", "secret").start()


async def test_the_package_is_given_what_it_needs(conversation: Any) -> None:
    assert await conversation.first() == b"first of (['SCRAM-SHA-512'], 'alice', 'secret')"
    assert await conversation.answer(b"s1") == b"final after [('first', 's1')]"
    assert await conversation.answer("sé".encode()) is None
    conversation.check_ended()
    assert conversation._client.heard == [("first", "s1"), ("final", "sé")]
    # All that comes later is a final message.
    assert await conversation.answer(b"s3") is None
    assert conversation._client.heard[2:] == [("final", "s3")]


@pytest.mark.parametrize("before", [[], [b"s1"]])
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"e=x", "e=x is not for me"),
        (b"s\xff", "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte"),
    ],
)
async def test_a_message_that_the_package_does_not_take_is_told(
    conversation: Any, before: list[bytes], said: bytes, why: str
) -> None:
    for message in before:
        await conversation.answer(message)
    with pytest.raises(UnconvincedError) as wrong:
        await conversation.answer(said)
    assert str(wrong.value) == why


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scramp", None)
    expected = "SCRAM needs the package scramp: run pip install '.[kafka-scram]' in the checkout of share_state"
    for name in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        assert refusal(Scram("alice", "secret", name).start) == (expected, "sasl", name)


async def given() -> str:
    return "XX"


def promised() -> Awaitable[str]:
    return given()


@pytest.mark.parametrize("token", [given, promised, lambda: "XX"])
def test_a_token_may_come_in_three_ways(token: Any) -> None:
    async def test() -> None:
        conversation = OAuthBearer(token).start()
        assert await conversation.first() == b"n,,\x01auth=Bearer XX\x01\x01"
        assert await conversation.answer(b"") is None
        conversation.check_ended()

    asyncio.run(test())


async def test_a_token_that_is_refused_is_acknowledged_once() -> None:
    conversation = OAuthBearer(given).start()
    await conversation.first()
    assert [await conversation.answer(said) for said in (b"", b"{\xff}", b"more")] == [None, b"\x01", None]
    with pytest.raises(UnconvincedError) as refused:
        conversation.check_ended()
    assert str(refused.value) == "{\ufffd}"


@pytest.mark.parametrize("token", ["\x01", "a\x01b"])
def test_a_token_that_would_end_its_message_is_refused(token: str) -> None:
    with pytest.raises(UnconvincedError) as refused:
        asyncio.run(OAuthBearer(lambda: token).start().first())
    assert str(refused.value) == "the token contains a character that cannot be sent"
