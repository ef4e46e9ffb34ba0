"""The rules that the proof of the judge breaks stand where it looks for them."""

from __future__ import annotations

import pytest

from tests.kafka.home import REPOSITORY

from .prove import BREAKS, Break


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.rule.partition(":")[0])
def test_a_rule_stands_once_where_it_is_broken(broken: Break) -> None:
    assert (REPOSITORY / broken.file).read_text(encoding="utf-8").count(broken.right) == 1
    assert broken.right != broken.wrong
