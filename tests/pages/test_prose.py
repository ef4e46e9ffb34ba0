"""The linter of English finds what it should, where it is, and leaves code alone."""

from __future__ import annotations

import pytest

from scripts import check_prose, prose

PAGE = """\
# A title

The store is on disk, and `records behind it` are code.
It has [a link](docs/behind.md).

- An item
  of two lines.

| a cell | another `a|b` cell |
|---|---|

```python
shall = "not prose"
```
"""


def test_the_prose_of_a_page_has_its_lines_and_no_code() -> None:
    assert prose.of_markdown(PAGE) == [
        prose.Paragraph(1, "A title"),
        prose.Paragraph(3, "The store is on disk, and X are code. It has a link."),
        prose.Paragraph(6, "An item of two lines."),
        prose.Paragraph(9, "a cell"),
        prose.Paragraph(9, "another X cell"),
    ]
    assert list(check_prose.of_page(PAGE)) == []


def test_the_prose_of_sources_has_its_lines() -> None:
    python = '"""A module."""\n\n\ndef work() -> None:\n    """Work.\n\n    See :func:`other`.\n    """\n    # Left out.\n'
    assert prose.of_python(python) == [prose.Paragraph(1, "A module."), prose.Paragraph(5, "Work."), prose.Paragraph(7, "See X.")]
    rust = "//! A module.\n\n/// A function\n/// of two lines.\nfn work() {} // left out\n"
    assert prose.of_rust(rust) == [prose.Paragraph(1, "A module."), prose.Paragraph(3, "A function of two lines.")]


@pytest.mark.parametrize(
    ("sentence", "complaint"),
    [
        ("Records at or behind the start offset count.", "“at or behind”: write “after”"),
        ("The caller shall close it.", "“shall”: write “must”, or use the present tense"),
        ("Its answer hangs on the clock.", "“hangs on”: write “depends on”"),
        ("The store is opened anew.", "“anew”: write “again” or “new”"),
        ("That is no error.", "“is no error”: write “is not a …”"),
        ("Who gets an error has changed nothing.", "“Who”: begin with the subject"),
        ("The damage is told.", "“is told”: write “is reported”"),
        ("It is kept in a file of ours.", "“of ours”: write “our” or “your”"),
        (
            "It was closed closed.",
            "There's a lexical illusion in 'closed closed' - a phrase is repeated. (proselint: lexical_illusions)",
        ),
    ],
)
def test_what_to_avoid_is_found_in_its_line(sentence: str, complaint: str) -> None:
    page = f"A first paragraph.\n\nA second one. {sentence}\n"
    assert check_prose.Finding(3, complaint) in check_prose.of_page(page)


def test_a_sentence_has_at_most_35_words() -> None:
    most = "two words, three words, " * 8
    assert list(check_prose.of_page(f"One word, {most} end.\n")) == []
    [finding] = check_prose.of_page(f"One word, {most} the end.\n")
    assert finding.text.startswith("a sentence of 36 words, at most 35: One word, two words")


def test_generated_pages_and_blocks_are_left_out() -> None:
    assert not check_prose.is_page("docs/benchmarks.md")
    assert not check_prose.is_page("CHANGELOG.md")
    assert check_prose.is_page("docs/gateway.md")
    block = "<!-- benchmarks -->\nIt shall be so.\n<!-- end of benchmarks -->\n"
    assert list(check_prose.of_page(block)) == []
    assert list(check_prose.of_page(f"{block}\nIt shall be so.\n")) == [
        check_prose.Finding(5, "“shall”: write “must”, or use the present tense")
    ]
