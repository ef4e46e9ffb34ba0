"""The pages without a browser: what they show, what they refuse, and what their answers forbid."""

from __future__ import annotations

import asyncio
import base64
import html
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import httpx
import pytest

from share_state.live import GroupView, Health, Verdict
from share_state.web import letters
from share_state.web.app import application
from share_state.web.background import Background
from tests.python.web.made_up import (
    CLUSTER,
    LONG,
    SCRIPT,
    TOPIC_ID,
    TURNED,
    WORKERS,
    MadeUp,
    made_up_letters,
    recorded,
    share_partition,
)

PARTITION = {"group": WORKERS, "topic_id": TOPIC_ID, "partition": "1"}
RELEASED = "probably released by a member or with its session, 2016 ms after the last write: a lock lasts 30000 ms"
RECORD = {**PARTITION, "offset": "1247"}
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("/", {}),
    ("/group", {"group": WORKERS}),
    ("/share-partition", PARTITION),
    ("/record", RECORD),
    ("/dead-letters", {"group": WORKERS}),
)


@asynccontextmanager
async def asking(made_up: MadeUp, client: tuple[str, int] = ("127.0.0.1", 5), **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    watch, background = made_up.watch(), Background(patience=30)
    await watch.start()
    try:
        app = application(watch, background, made_up.source(), CLUSTER, **options)
        transport = httpx.ASGITransport(app, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:9405") as found:
            yield found
    finally:
        await background.close()
        await watch.close()


def asked(made_up: MadeUp, path: str, params: Mapping[str, str] | None = None, **options: Any) -> httpx.Response:
    """One answer."""
    headers, method = options.pop("headers", {}), options.pop("method", "GET")

    async def ask() -> httpx.Response:
        async with asking(made_up, **options) as client:
            return await client.request(method, path, params=dict(params) if params else None, headers=headers)

    return asyncio.run(ask())


def cells(page: str, table: str) -> list[list[str]]:
    """The texts of the rows of a table, without their markup."""
    part = page.partition(f'id="{table}"')[2].partition("</table>")[0].partition("<tbody")[2]
    rows = re.findall(r"<tr.*?</tr>", part, re.DOTALL)
    return [[words(cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL)] for row in rows]


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup)).split())


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> MadeUp:
    monkeypatch.setattr(letters, "read_letters", made_up_letters)
    return recorded()


def test_the_overview_has_a_row_a_group_the_ones_in_trouble_first(made_up: MadeUp) -> None:
    page = asked(made_up, "/")
    assert page.status_code == 200
    rows = cells(page.text, "groups")
    health = ["POISON", "STUCK", "NO MEMBERS", "NO STATE", "EXPIRING", "SLOW", "OK", "OK", "OK", "OK", "OK"]
    assert [row[0] for row in rows] == health
    assert rows[0] == ["POISON", "poison", "Stable", "1", "1", "1", "8,123",
                       "payments 0: record 120000 is available after 4 deliveries, and the limit is 5"]  # fmt: skip
    assert rows[1][:7] == ["STUCK", WORKERS, "Stable", "3", "3", "1", "236"]
    assert [row for row in rows if row[1] == "idle"] == [["OK", "idle", "–", "–", "0", "0", "0", "it has no share partitions"]]


def test_a_group_has_its_share_partitions_members_and_configuration(made_up: MadeUp) -> None:
    page = asked(made_up, "/group", {"group": WORKERS}).text
    rows = cells(page, "rows")
    assert [row[:3] for row in rows] == [["STUCK", "returns", "0"], ["OK", "orders", "1"], ["OK", "orders", "0"]]
    assert rows[1][3:] == ["118", "1,255", "118", "3", "1", "1,240", "everything is settled"]
    assert [row[1:] for row in cells(page, "members")] == [[f"worker-{n}", f"/10.0.0.{n}", "–", "1"] for n in (1, 2, 3)]
    assert "<dt>share.delivery.count.limit</dt><dd>5</dd>" in page


def test_a_share_partition_has_its_records_and_what_became_of_them(made_up: MadeUp) -> None:
    page = asked(made_up, "/share-partition", PARTITION).text
    assert cells(page, "batches")[:3] == [
        ["1,255", "1", "archived", "3"],
        ["1,256 – 1,257", "2", "acknowledged", "1"],
        ["1,258", "1", "available", "2"],
    ]
    assert cells(page, "changes")[0] == ["2026-11-21 09:45:05 UTC", "archived", "1,255", "available×2 → archived×3"]
    assert "15 of 772 changes" in page
    pictures = re.findall(r'<svg role="img" aria-label="([^"]*)"', page)
    span = "offsets 250 to 1435, from 2026-11-21 09:44:59 UTC to 2026-11-21 09:45:05 UTC"
    assert pictures == [f"States over time: {span}", f"Deliveries over time: {span}"]
    assert set(re.findall(r'class="fill-(\w+)"', page)) == {"acknowledged", "archived", "available", "d1", "d2", "d3"}


def test_pictures_of_the_last_hour_show_only_that(made_up: MadeUp) -> None:
    page = asked(made_up, "/share-partition", {**PARTITION, "last": "1h"}).text
    assert "Nothing is known of records in this time." in page
    assert "No change was written in this time." in page
    assert "<figure" not in page


def test_a_share_partition_without_state_says_so(made_up: MadeUp) -> None:
    page = asked(made_up, "/share-partition", {"group": "no-state", "topic_id": TOPIC_ID, "partition": "0"})
    assert page.status_code == 200
    assert "a member is assigned it, and the state topic has no state of it" in page.text


def test_a_record_has_its_events_and_what_stays_open(made_up: MadeUp) -> None:
    page = asked(made_up, "/record", RECORD).text
    events = [words(one) for one in re.findall(r'<li class="event.*?</li>', page, re.DOTALL)]
    assert events[1:4] == [
        "2026-11-21 09:44:59 UTC +5.0 s the start offset was resolved: it is at 250",
        "2026-11-21 09:45:00 UTC +0.2 s available again after delivery 1: released, or its lock ran out",
        f"2026-11-21 09:45:02 UTC +2.0 s available again after delivery 2: {RELEASED}",
    ]
    assert len(events) == 6
    assert "A release and a lock that ran out are written alike." in page
    page = html.unescape(asked(made_up, "/record", {**RECORD, "offset": "99999"}).text)
    assert "cannot be read: offset 99999 was never seen: the topic's partition ends before offset 1373" in words(page)
    none = {"group": "no-state", "topic_id": TOPIC_ID, "partition": "0", "offset": "1"}
    assert "the state topic has no state of the share partition" in asked(made_up, "/record", none).text


def test_dead_letters_are_filtered_sorted_and_lead_to_their_records(made_up: MadeUp) -> None:
    page = asked(made_up, "/dead-letters", {"group": WORKERS, "q": "delivery_limit"}).text
    assert cells(page, "letters") == [["2026-11-21 09:45:05 UTC", SCRIPT, "0", "17 – 48", "5", "delivery limit", "–", "–"]]
    page = asked(made_up, "/dead-letters", {"group": WORKERS, "sort": "offset", "order": "desc"}).text
    rows = cells(page, "letters")
    assert (len(rows), rows[0][1:]) == (
        200,
        ["orders", "1", "1,499", "5", "rejected", f"rejected {SCRIPT}", f"{SCRIPT}-dlq 0, 499"],
    )
    assert "the newest 301 of 12,345" in words(page)
    [link, *_] = (html.unescape(one) for one in re.findall(r'href="(record\?[^"]*)"', page))
    assert httpx.URL(link).params == httpx.QueryParams({**PARTITION, "offset": "1499"})
    assert "The group has no dead letters." in asked(made_up, "/dead-letters", {"group": "poison"}).text


@pytest.mark.parametrize(("path", "params"), PAGES)
def test_names_of_the_cluster_are_text_on_every_page(made_up: MadeUp, path: str, params: dict[str, str]) -> None:
    page = asked(made_up, path, {**params, "q": '"><script>x</script>' if path == "/" else "", "sort": ""}).text
    assert "<script>" not in page
    assert "onerror=" not in page
    assert "\u202e" not in page
    assert page.count("<script ") == 1


@pytest.mark.parametrize("name", [SCRIPT, TURNED, LONG, "idle"])
def test_every_name_is_found_by_its_link(made_up: MadeUp, name: str) -> None:
    overview = asked(made_up, "/").text
    [href] = [
        one for one in re.findall(r'href="(group\?[^"]*)"', overview) if httpx.URL(html.unescape(one)).params["group"] == name
    ]
    page = asked(made_up, "/" + html.unescape(href))
    assert page.status_code == 200
    assert "<script>" not in page.text
    links = [html.unescape(one) for one in re.findall(r'href="(share-partition\?[^"]*)"', page.text)]
    assert len(links) == (0 if name == "idle" else 3)
    for link in links:
        told = asked(made_up, "/" + link)
        assert told.status_code == 200
        assert "<b>events" not in told.text


def test_rows_are_filtered_sorted_and_paged(made_up: MadeUp) -> None:
    many = tuple(
        share_partition("many", f"topic-{n % 3}", n, Verdict(Health.OK if n % 100 else Health.SLOW, ""), n) for n in range(1000)
    )
    made_up.view = replace(made_up.view, groups=(GroupView("many", "Stable", (), {}, many),))

    async def test() -> None:
        async with asking(made_up) as client:

            async def rows(**asked_for: str | int) -> tuple[str, list[str]]:
                page = await client.get("/group", params={"group": "many", **asked_for})
                assert page.status_code == 200
                told = words(page.text.partition('<div class="paging">')[2].partition("</p>")[0])
                return told, [row[2] for row in cells(page.text, "rows")]

            told, found = await rows()
            assert told == "1,000 share partitions, page 1 of 5"
            assert found[:11] == [*(str(n) for n in range(900, -1, -100)), "999"]
            assert len(found) == 200
            assert (await rows(page=5))[1][-1] == "1"
            assert (await rows(page=99))[0] == "1,000 share partitions, page 5 of 5"
            assert (await rows(sort="lag", rows=3))[1] == ["0", "1", "2"]
            assert (await rows(sort="lag", order="desc", rows=3))[1] == ["999", "998", "997"]
            assert await rows(q="TOPIC-1", health="trouble", sort="partition") == (
                "3 of 1,000 share partitions",
                ["100", "400", "700"],
            )
            assert (await rows(health="SLOW"))[0] == "10 of 1,000 share partitions"
            assert (await rows(q="nothing"))[1] == []

    asyncio.run(test())


def test_what_is_not_known_comes_last_in_either_order(made_up: MadeUp) -> None:
    for order in ("", "desc"):
        rows = cells(asked(made_up, "/", {"sort": "lag", "order": order}).text, "groups")
        assert rows[-1][6] == "–"
        assert rows[0][6] == ("8,123" if order else "0")


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


def test_what_cannot_be_seen_is_said_on_every_page(made_up: MadeUp) -> None:
    made_up.view = replace(made_up.view, problems=(f"log end offsets: {SCRIPT}: Connection refused",), behind=1234)
    for path, params in PAGES:
        page = asked(made_up, path, params).text
        assert "log end offsets: &lt;script&gt;" in page
        assert "1,234 offsets of the state topic are not read yet." in page
    answer = asked(made_up, "/group", {"group": "nobody"})
    assert (answer.status_code, "in what can be seen at the moment" in answer.text) == (404, True)


def test_a_history_that_cannot_be_read_is_said(made_up: MadeUp) -> None:
    made_up.log = made_up.log / "gone"
    page = asked(made_up, "/share-partition", PARTITION)
    assert page.status_code == 200
    assert "The history cannot be read: " in page.text
