"""Codes and texts of ShareFetch and ShareAcknowledge: what clients are told of what goes wrong, and what is checked first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway.access import Access, Operation, Resource, Rule
from share_state.gateway.answers import acknowledge_code, acknowledge_text, fetch_code, text_of
from share_state.gateway.requests import Client, check_member
from share_state.kafka.client.peers import Address


def client(*rules: Rule) -> Client:
    return Client(3, "host", Address("here", 1), Access(rules) if rules else Access(), client_id="me", software="lab 1")


@pytest.mark.parametrize(
    ("code", "fetched", "acknowledged"),
    [(0, 0, 0), (-1, -1, -1), (3, 3, 3), (29, 29, 29), (78, 78, 78), (100, 100, 100),
     # It is loaded anew.
     (6, 0, 6), (74, 0, 74), (124, 0, 124),
     # Clients do not survive these.
     (2, -1, 2), (5, -1, 5), (14, -1, 14), (15, -1, 15), (16, -1, 16), (42, -1, 42), (56, -1, -1), (69, -1, 69), (121, -1, 121)],
)  # fmt: skip
def test_only_codes_that_clients_survive(code: int, fetched: int, acknowledged: int) -> None:
    assert (fetch_code(code), acknowledge_code(code)) == (fetched, acknowledged)


def test_texts_beside_codes() -> None:
    unexpected = "The server experienced an unexpected error when processing the request."
    assert {code: text_of(code) for code in (0, -1, 3, 15, 24, 29, 30, 42, 68, 121, 56)} == {
        0: None,
        -1: unexpected,
        3: "This server does not host this topic-partition.",
        15: "The coordinator is not available.",
        24: "The group id is invalid.",
        29: "Topic authorization failed.",
        30: "Group authorization failed.",
        42: "The request is malformed, or was sent to a server of another kind.",
        68: "The group is not empty.",
        121: "The record state is invalid. The acknowledgement of delivery could not be completed.",
        56: unexpected,
    }
    # What was refused before a share partition has seen it has no text.
    assert [acknowledge_text(code) for code in (0, 3, 29, 100)] == [None] * 4
    assert [acknowledge_text(code) for code in (-1, 42, 6)] == [unexpected, text_of(42), unexpected]


def test_clients_have_names_for_the_log_and_are_let_in_until_their_login_fails() -> None:
    one = client()
    assert str(one) == "client='me' host=host principal='User:ANONYMOUS' software='lab 1'"
    assert not one.is_refused
    for failed in (False, True):
        one.login = cast("Any", SimpleNamespace(failed=failed))
        assert one.is_refused == failed


@pytest.mark.parametrize(
    ("group", "member", "code"),
    [(None, "m", 42), ("", "m", 42), ("h", "m", 30), ("h", None, 30), ("g", None, 42), ("g", "", 42), ("g", "m" * 37, 42),
     ("g", "m" * 36, 0), ("g", "m", 0)],
)  # fmt: skip
def test_the_group_is_checked_before_the_member(group: str | None, member: str | None, code: int) -> None:
    reader = client(Rule("User:ANONYMOUS", Operation.READ, Resource.GROUP, "g", False, True))
    assert check_member(reader, group, member) == code
