"""What may differ is on the page, and on the page is what may differ."""

from __future__ import annotations

import re

from tests.gateway.differential.known import KNOWN
from tests.kafka.home import REPOSITORY

PAGE = REPOSITORY / "docs" / "gateway.md"
_BEFORE, _AFTER = "these fields may differ, and no others:", "Three more the script"


def test_the_page_lists_what_may_differ() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    listed = re.split(r"(?:^| )- ", text[text.index(_BEFORE) + len(_BEFORE) : text.index(_AFTER)].strip())
    assert {line.strip() for line in listed if line.strip()} == {known.reason for known in KNOWN}
