"""The check of file sizes finds what it must, in both directions."""

from __future__ import annotations

from scripts import check_tree


def test_a_file_of_odd_size_needs_a_reason_and_no_other_has_one() -> None:
    lines = {"a.rs": 331, "b.py": 39, "c.rs": 330, "d.py": 40, "mod.rs": 3, "tests/t.py": 3, "page.md": 900}
    found = check_tree.odd_sizes(lines, {})
    assert [one.split(":")[0] for one in found] == ["a.rs", "b.py"]
    listed = {"long": {"a.rs": "a reason", "c.rs": "none is needed"}, "short": {"b.py": " "}}
    assert check_tree.odd_sizes(lines, listed) == ["file_sizes.toml: c.rs is not too long", "file_sizes.toml: b.py has no reason"]


def test_the_tree_is_as_its_check_wants_it() -> None:
    assert len(check_tree.sources()) > 1_000
    assert check_tree.main() == 0
