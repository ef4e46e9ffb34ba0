"""Refusals of the pages, and what their answers forbid: bad requests, methods, names, logins, proxies."""

from __future__ import annotations

import base64
import html
import re
from ipaddress import ip_network
from typing import Any

import pytest

from share_state.operate.web import letters
from tests.operate.web.asking import PAGES, PARTITION, RECORD, asked
from tests.operate.web.made_up import WORKERS, MadeUp, made_up_letters, recorded


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> MadeUp:
    monkeypatch.setattr(letters, "read_letters", made_up_letters)
    return recorded()


@pytest.mark.parametrize(
    ("path", "params", "says"),
    [
        ("/", {"health": "FINE"}, "health is 'FINE'; expected one of trouble, POISON, STUCK, "),
        ("/", {"sort": "size"}, "sort is 'size'; expected one of health, group, "),
        ("/", {"order": "up"}, "order is 'up'; expected asc or desc"),
        ("/", {"page": "0"}, "page is '0'; expected a number from 1 to 2147483648"),
        ("/", {"page": "9" * 5000}, "page is '999"),
        ("/", {"rows": "1001"}, "rows is '1001'; expected a number from 1 to 1000"),
        ("/", {"format": "xml"}, "format is 'xml'; expected html or json"),
        ("/share-partition", {**PARTITION, "partition": "-1"}, "partition is '-1'; expected a number from 0 to 2147483647"),
        ("/record", {**RECORD, "offset": "1e3"}, "offset is '1e3'; expected a number from 0 to 9223372036854775807"),
        ("/dead-letters", {"group": WORKERS, "sort": "lag"}, "sort is 'lag'; expected one of time, topic, "),
        ("/share-partition", {**PARTITION, "last": "2h"}, "last is '2h'; expected one of 15m, 1h, 6h, 1d"),
    ],
)
def test_a_request_that_cannot_be_is_refused_with_the_field(
    made_up: MadeUp, path: str, params: dict[str, str], says: str
) -> None:
    page = asked(made_up, path, params)
    assert page.status_code == 400
    assert says in html.unescape(page.text)
    if "format" not in params:
        told = asked(made_up, path, {**params, "format": "json"})
        assert (told.status_code, says in told.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("path", "params", "says"),
    [
        ("/group", {"group": "nobody<b>"}, "There is no share group “nobody<b>”."),
        ("/dead-letters", {"group": "nobody"}, "There is no share group “nobody”."),
        ("/record", {**RECORD, "topic_id": "x"}, "no share partition of the topic “x”"),
        ("/group", {}, "There is no share group “”."),
        ("/share-partition", {**PARTITION, "partition": "77"}, f"The group “{WORKERS}” has no share partition of the topic"),
        ("/share-partition", {**PARTITION, "topic_id": "../x"}, "../x"),
        ("/else", {}, "Not Found"),
        ("/static/../pages.py", {}, "Not Found"),
    ],
)
def test_what_is_not_there_is_not_found(made_up: MadeUp, path: str, params: dict[str, str], says: str) -> None:
    page = asked(made_up, path, params)
    assert page.status_code == 404
    assert says in html.unescape(page.text)
    assert "<b>”" not in page.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_get_and_head_is_answered(made_up: MadeUp, method: str) -> None:
    answer = asked(made_up, "/", method=method)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(("path", "params"), [*PAGES, ("/group", {"group": "nobody"}), ("/static/web.js", {}), ("/healthz", {})])
def test_every_answer_forbids_the_browser_what_the_pages_do_not_need(made_up: MadeUp, path: str, params: dict[str, str]) -> None:
    headers = asked(made_up, path, params).headers
    policy = dict(one.strip().split(" ", 1) for one in headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'", "connect-src": "'self'",
        "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert (headers["x-frame-options"], headers["cache-control"]) == ("DENY", "no-store")
    head = asked(made_up, path, params, method="HEAD")
    assert (head.content, head.headers["content-security-policy"]) == (b"", headers["content-security-policy"])


def test_every_address_on_a_page_is_relative_so_that_a_proxy_may_serve_it_below_a_path(made_up: MadeUp) -> None:
    found = 0
    for path, params in PAGES:
        page = asked(made_up, path, params).text
        addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page)
        found += len(addresses)
        assert [one for one in addresses if one.startswith("/") or ":" in one.partition("?")[0]] == []
        assert re.findall(r'\s(?:style|on\w+)="', page) == []
    assert found > 60


def login(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def test_a_login_is_asked_for_where_there_are_users(made_up: MadeUp, caplog: pytest.LogCaptureFixture) -> None:
    users = {"ops": "pässword"}
    for path in ("/", "/group", "/static/web.css", "/else"):
        answer = asked(made_up, path, users=users)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Basic realm="share-state", charset="UTF-8"')
    assert caplog.messages == []
    assert asked(made_up, "/", users=users, headers=login("ops", "pässword")).status_code == 200
    assert asked(made_up, "/", users=users, headers=login("ops", "wrong")).status_code == 401
    assert caplog.messages == ["a login was refused: client='127.0.0.1'"]
    assert asked(made_up, "/", users=users, headers={"Authorization": "Basic ?"}).status_code == 401
    assert asked(made_up, "/healthz", users=users).text == "ok\n"


@pytest.mark.parametrize(
    ("client", "trusted", "noted"),
    [
        ("127.0.0.1", (), "127.0.0.1"),
        ("127.0.0.1", ("127.0.0.0/8",), "203.0.113.9"),
        ("192.0.2.1", ("127.0.0.1",), "192.0.2.1"),
    ],
)
def test_forwarded_addresses_are_believed_of_proxies_only(
    made_up: MadeUp, caplog: pytest.LogCaptureFixture, client: str, trusted: tuple[str, ...], noted: str
) -> None:
    headers = login("ops", "wrong") | {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    networks = tuple(map(ip_network, trusted))
    answer = asked(made_up, "/", users={"ops": "right"}, headers=headers, client=(client, 5), trusted=networks)
    assert answer.status_code == 401
    assert caplog.messages == [f"a login was refused: client='{noted}'"]


@pytest.mark.parametrize(
    ("host", "options", "status"),
    [
        ("localhost:9405", {}, 200),
        ("127.0.0.1:9405", {}, 200),
        ("[::1]:9405", {}, 200),
        ("evil.example", {}, 421),
        ("localhost.evil.example:9405", {}, 421),
        ("", {}, 421),
        ("ops.example", {"local_only": False}, 200),
        ("ops.example", {"trusted": (ip_network("127.0.0.1"),)}, 200),
        ("ops.example", {"trusted": (ip_network("127.0.0.1"),), "client": ("127.0.0.2", 5)}, 421),
    ],
)
def test_a_server_of_this_machine_answers_to_no_other_name(
    made_up: MadeUp, host: str, options: dict[str, Any], status: int
) -> None:
    assert asked(made_up, "/", headers={"Host": host}, **options).status_code == status
