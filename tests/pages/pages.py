"""The Markdown pages of the repository: which there are, where their links lead, and the tree that is drawn on one."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.pages.blocks import fences
from tests.pages.runner import REPOSITORY

_TREE_MARK = "<!-- tree -->"
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_INLINE_CODE = re.compile(r"`[^`]*`")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


class Link(NamedTuple):
    """A link to a place in the repository."""

    line: int
    path: str
    anchor: str


def pages() -> list[Path]:
    """All pages that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return sorted(path for name in listed.stdout.split("\0") if name and (path := REPOSITORY / name).is_file())


def prose(markdown: str) -> str:
    """The page with its fenced blocks blanked, line for line."""
    lines = markdown.splitlines()
    for fence in fences(markdown):
        for index in range(fence.line - 1, fence.line + fence.text.count("\n") + 1):
            lines[index] = ""
    return "\n".join(lines)


def links(markdown: str) -> list[Link]:
    """All links that do not lead out of the repository."""
    found = []
    for number, line in enumerate(prose(markdown).splitlines(), start=1):
        # Code in a link's text is its text; a link inside code is none.
        for match in _LINK.finditer(_INLINE_CODE.sub("code", line)):
            target = match["target"]
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            found.append(Link(number, path, anchor))
    return found


def broken(page: Path) -> list[str]:
    """Faults of the links of a page."""
    wrong = []
    for link in links(page.read_text(encoding="utf-8")):
        target = page if not link.path else page.parent / link.path
        where = f"{page.name}:{link.line}: {link.path}#{link.anchor}"
        if not target.exists():
            wrong.append(f"{where} does not exist")
        elif REPOSITORY not in [target.resolve(), *target.resolve().parents]:
            wrong.append(f"{where} leads out of the repository")
        elif link.anchor and link.anchor not in anchors(target.read_text(encoding="utf-8")):
            wrong.append(f"{where} is no heading there")
    return wrong


def anchors(markdown: str) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = (match["text"] for match in _HEADING.finditer(prose(markdown)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def drawn_paths(markdown: str) -> list[str]:
    """Every path in the blocks marked `<!-- tree -->`, relative to the root of the repository.

    Two blanks a level; before the first wider gap of a line stand names, after it words. What is further in belongs to the
    first name of the line above.
    """
    found: list[str] = []
    for fence in fences(markdown):
        if fence.mark != _TREE_MARK:
            continue
        above: list[str] = []
        for line in fence.text.splitlines():
            level = (len(line) - len(line.lstrip(" "))) // 2
            names = re.split(r" {2,}", line.strip())[0].split(" ")
            del above[level:]
            found.extend("/".join([*above, name]) for name in names)
            above.append(names[0])
    return found
