"""Differences that may be are those on the page, and those on the page are all that may be."""

from __future__ import annotations

import re

from tests.gateway.differential import values
from tests.gateway.differential.known import KNOWN
from tests.kafka.home import REPOSITORY

TEXT = " ".join((REPOSITORY / "docs" / "gateway.md").read_text(encoding="utf-8").split())
_BEFORE, _AFTER = "these fields may differ, and no others:", "The script does not show"


def test_the_page_lists_what_may_differ() -> None:
    listed = re.split(r"(?:^| )- ", TEXT[TEXT.index(_BEFORE) + len(_BEFORE) : TEXT.index(_AFTER)].strip())
    assert {line.strip() for line in listed if line.strip()} == {known.reason for known in KNOWN}


def test_what_differs_for_values_that_no_client_means_is_on_the_page() -> None:
    assert [known.reason for known in values.KNOWN if known.reason not in TEXT] == []


def test_every_field_is_changed_in_every_version() -> None:
    found = list(values.samples("values", "group"))
    assert len({(name, version) for _, name, version, _ in found}) == 53
    assert len(found) > 2500
    # Of these a broker keeps nothing, so one sample does not change the next one.
    assert len({str(message.get("memberId")) for _, name, _, message in found if name == "ShareFetch"}) > 100
