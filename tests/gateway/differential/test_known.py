"""Differences that may be are those on the page, and those on the page are all that may be."""

from __future__ import annotations

import re

from tests.gateway.differential.known import KNOWN
from tests.kafka.home import REPOSITORY

PAGE = REPOSITORY / "docs" / "gateway.md"
_BEFORE, _AFTER = "these fields may differ, and no others:", "The script does not show"


def test_the_page_lists_what_may_differ() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    listed = re.split(r"(?:^| )- ", text[text.index(_BEFORE) + len(_BEFORE) : text.index(_AFTER)].strip())
    assert {line.strip() for line in listed if line.strip()} == {known.reason for known in KNOWN}
