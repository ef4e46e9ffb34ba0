"""The pages without a browser: what they show, what they refuse, and what their answers forbid."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import httpx
import pytest

from share_state.operate.live import GroupView, Health, Verdict
from share_state.operate.web import letters
from tests.operate.web.asking import PAGES, PARTITION, RECORD, asked, asking
from tests.operate.web.made_up import LONG, SCRIPT, TOPIC_ID, TURNED, WORKERS, MadeUp, made_up_letters, recorded, share_partition

RELEASED = "probably released by a member or with its session, 2016 ms after the last write: a lock lasts 30000 ms"


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
    assert "cannot be read: offset 99999 was never seen: the topic's partition ends before offset 1436" in words(page)
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


async def test_rows_are_filtered_sorted_and_paged(made_up: MadeUp) -> None:
    many = tuple(
        share_partition("many", f"topic-{n % 3}", n, Verdict(Health.OK if n % 100 else Health.SLOW, ""), n) for n in range(1000)
    )
    made_up.view = replace(made_up.view, groups=(GroupView("many", "Stable", (), {}, many),))
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


def test_what_is_not_known_comes_last_in_either_order(made_up: MadeUp) -> None:
    for order in ("", "desc"):
        rows = cells(asked(made_up, "/", {"sort": "lag", "order": order}).text, "groups")
        assert rows[-1][6] == "–"
        assert rows[0][6] == ("8,123" if order else "0")


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
