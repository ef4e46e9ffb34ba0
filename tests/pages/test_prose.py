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


#: Sources with a comment that opens with `{}` in their third line, by the kind of comment.
COMMENTS = {
    "a Rust item": ("rust/core/src/new.rs", "//! A module.\n\n/// {} it holds.\nfn held() {{}}\n"),
    "a Rust item after attributes": ("rust/core/tests/new.rs", "#[test]\n///\n/// {} it holds.\nfn held() {{}}\n"),
    "a Rust module": ("benches/rust/src/new.rs", "\n\n//! {} it holds.\n//! Two lines.\n"),
    "a Rust block": ("rust/log/src/new.rs", "mod new {{\n\n    /*! {} it holds. */\n}}\n"),
    "a Python module": ("scripts/new.py", '# A note.\n\n"""{} it holds."""\n'),
    "a Python class": ("tests/new.py", 'class New:\n\n    """{} it holds.\n\n    And more.\n    """\n'),
    "a Python function": ("python/share_state/new.py", 'def held():\n    """\n    {} it holds.\n    """\n'),
    "a coroutine": ("examples/new.py", 'class New:\n    async def held(self):\n        r"""*{}* it holds."""\n'),
    "a Python name": ("benches/new.py", 'A = """\n"""\n#: {} it holds.\n#: Two lines.\nB = 1\n'),
    "a Java class": ("benches/java/New.java", "\n/**\n * {} it holds.\n * Two lines.\n */\nclass New {{}}\n"),
    "a Java field": ("tests/kafka/java/New.java", "class New {{\n\n    /// {} it holds.\n    int held;\n}}\n"),
    "a Java method": ("tests/kafka/java/New.java", "class New {{\n\n    /** {} it holds. */\n    void held() {{}}\n}}\n"),
}


@pytest.mark.parametrize("kind", COMMENTS)
def test_a_comment_that_opens_badly_is_found_in_its_line(kind: str) -> None:
    name, source = COMMENTS[kind]
    assert check_prose.must_open_well(name)
    for opening in check_prose.REFUSED_OPENINGS:
        for word in (opening, opening.lower()):
            advice = f"“{word}”: open with a noun phrase or a verb"
            assert list(check_prose.of_openings(name, source.format(word))) == [check_prose.Finding(3, advice)]
    for opening in ("Records", "Returns true if", "Offset", "Oneself", "`Which`"):
        assert list(check_prose.of_openings(name, source.format(opening))) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("new.rs", "/// Records of a member.\n/// What they are is not said.\n// What it is.\n//// Whether\nfn held() {}\n"),
        (
            "new.py",
            '"""A module.\n\nWhat it is.\n"""\n# What it is.\n#: A name.\n#: Whether it is one.\nA = """\n#: What it is.\n"""\n',
        ),
        ("New.java", "/** Records.\n * What they are. */\n// What it is.\n/* What it is. */\nclass New {}\n"),
    ],
)
def test_only_the_opening_of_a_comment_that_documents_is_judged(name: str, source: str) -> None:
    assert [words for _, words in prose.openings(name, source)]
    assert list(check_prose.of_openings(name, source)) == []


def test_the_openings_of_the_gateway_wait_for_its_data_plane() -> None:
    assert not check_prose.must_open_well("python/share_state/gateway/gateway.py")
    assert check_prose.must_open_well("tests/gateway/connections/test_access.py")
    assert check_prose.must_open_well("rust/gateway/src/buffer.rs")


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
    assert check_prose.is_page("CHANGELOG.md")
    assert check_prose.is_page("docs/gateway.md")
    block = "<!-- benchmarks -->\nIt shall be so.\n<!-- end of benchmarks -->\n"
    assert list(check_prose.of_page(block)) == []
    assert list(check_prose.of_page(f"{block}\nIt shall be so.\n")) == [
        check_prose.Finding(5, "“shall”: write “must”, or use the present tense")
    ]
