"""A link whose text is a name in code leads to a file that defines this name; docs/where-is.md consists of such links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.pages.pages import pages
from tests.pages.runner import REPOSITORY

WHERE_IS = REPOSITORY / "docs" / "where-is.md"
#: Questions of a reader's test, by a part of each.
ASKED = (
    "at its delivery limit is archived when released",
    "to a lock when the write is refused",
    "a durable inline acknowledgement reach the disk",
    "when Kafka adds a record state",
)
_LINK = re.compile(r"\[`(\w+)`\]\(([^)#\s]+\.(?:rs|py))\)")
_DEFINES = r"^\s*(?:pub(?:\([\w :]+\))? )?(?:const |async |static )*(?:fn|def|class|struct|enum|trait|const|static|mod) {name}\b"


class Named(NamedTuple):
    """A link from a name to a file."""

    name: str
    target: str


def named(text: str) -> list[Named]:
    return [Named(*found) for found in _LINK.findall(text)]


def undefined(text: str, folder: Path) -> list[Named]:
    """The links whose file does not define the name."""
    return [link for link in named(text) if not defines(folder / link.target, link.name)]


def defines(file: Path, name: str) -> bool:
    if not file.is_file():
        return False
    if file.name == "mod.rs" and file.parent.name == name:
        return True
    pattern = _DEFINES.replace("{name}", re.escape(name))
    assigned = rf"^{re.escape(name)}(?:: [^=]+)? ="
    return re.search(f"{pattern}|{assigned}", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_a_name_leads_to_the_file_that_defines_it(page: Path) -> None:
    # The changelog tells of what was.
    if page.name != "CHANGELOG.md":
        assert undefined(page.read_text(encoding="utf-8"), page.parent) == []


def test_each_question_has_one_answer_one_function_in_one_file() -> None:
    parts = WHERE_IS.read_text(encoding="utf-8").split("\n## ")[1:]
    for part in parts:
        question, _, rest = part.partition("\n")
        assert question.endswith("?")
        answers = [line for line in rest.splitlines() if line.startswith("Answer: ")]
        assert len(answers) == 1, question
        assert len(named(answers[0])) == 1, question
    for asked in ASKED:
        assert sum(asked in part.partition("\n")[0] for part in parts) == 1, asked


def test_a_name_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text(
        "impl A {\n    pub(super) const fn kept(self) {}\n}\nfn mentioned() { gone() }\n", encoding="utf-8"
    )
    page = "[`kept`](a.rs) [`gone`](a.rs) [`kept`](b.rs) [words](a.rs)"
    assert undefined(page, tmp_path) == [Named("gone", "a.rs"), Named("kept", "b.rs")]
