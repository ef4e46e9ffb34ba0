"""The prose of Markdown pages, docstrings and doc comments: text with its line, without code, links and markup."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

#: Stands for code in a sentence: one word, so that the sentence keeps its shape.
CODE: Final = "X"
_CODE: Final = re.compile(r"(`+).+?\1")
_COMMENT: Final = re.compile(r"<!--.*?-->")
_FENCE: Final = re.compile(r"^\s*(```+|~~~+)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_LINK: Final = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
_RUST_DOC: Final = re.compile(r"^\s*//[/!] ?(.*)$")
#: Lines of a doc comment, by the ending of a file; a run of them is one comment.
_LINES_OF: Final = {
    ".rs": re.compile(r"^\s*(?P<mark>///(?!/)|//!)\s*(?P<words>.*)$"),
    ".py": re.compile(r"^\s*(?P<mark>#:)\s*(?P<words>.*)$"),
    ".java": re.compile(r"^\s*(?P<mark>///(?!/))\s*(?P<words>.*)$"),  # as of Java 23
}
#: The first words of a block comment that documents an item, in Rust and in Java.
_BLOCK: Final = re.compile(r"^[ \t]*/\*[*!](?![*/])[\s*]*(?P<words>.*)$", re.MULTILINE)
_SPHINX_ROLE: Final = re.compile(r":[a-z]+:`~?([^`]+)`")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;])\)?\s+(?=[\"'(*]*[A-Z0-9`])|\s–\s|;\s")


class Paragraph(NamedTuple):
    """Prose that belongs together."""

    line: int
    text: str

    def sentences(self) -> list[str]:
        """Split it; a semicolon, and a colon before a capital, end a sentence too."""
        return [sentence for sentence in _SENTENCE_END.split(self.text) if sentence]


def of_markdown(text: str) -> list[Paragraph]:
    """Give the paragraphs, list items, headings and table cells of a page."""
    found: list[Paragraph] = []
    open_lines: list[str] = []
    for number, line in enumerate([*_without_fences(text.splitlines()), ""], start=1):
        is_row, is_heading = line.lstrip().startswith("|"), line.startswith("#")
        if open_lines and (is_row or is_heading or not line.strip() or _ITEM.match(line)):
            found.append(Paragraph(number - len(open_lines), _plain(" ".join(open_lines))))
            open_lines.clear()
        if is_row:
            found += [Paragraph(number, _plain(cell)) for cell in _cells(line)]
        elif is_heading:
            found.append(Paragraph(number, _plain(line.lstrip("# "))))
        elif line.strip():
            open_lines.append(_ITEM.sub("", line).strip())
    return [paragraph for paragraph in found if paragraph.text]


def of_python(text: str) -> list[Paragraph]:
    """Give the paragraphs of the docstrings of a module."""
    found = []
    for first, docstring in _docstrings(ast.walk(ast.parse(text))):
        found += [Paragraph(first - 1 + line, words) for line, words in of_markdown(_SPHINX_ROLE.sub(r"`\1`", docstring))]
    return found


def of_rust(text: str) -> list[Paragraph]:
    """Give the paragraphs of the doc comments of a file."""
    return of_markdown("\n".join(_RUST_DOC.sub(r"\1", line) if _RUST_DOC.match(line) else "" for line in text.splitlines()))


def openings(name: str, text: str) -> Iterator[Paragraph]:
    """Give the first line of each doc comment and docstring of a source in Rust, Python or Java."""
    lines = text.splitlines()
    if name.endswith(".py"):
        nodes = list(ast.walk(ast.parse(text)))
        for first, docstring in _docstrings(nodes):
            words = docstring.lstrip()
            blank = docstring[: len(docstring) - len(words)].count("\n")
            yield Paragraph(first + blank, words.partition("\n")[0])
        for number in _inside_strings(nodes):
            lines[number - 1] = ""
    else:
        for block in _BLOCK.finditer(text):
            yield Paragraph(text.count("\n", 0, block.start("words")) + 1, block["words"])
    given, comment_line = "", _LINES_OF[Path(name).suffix]
    for number, line in enumerate(lines, start=1):
        comment = comment_line.match(line)
        if comment is None:
            given = ""
        elif comment["words"] and comment["mark"] != given:
            given = comment["mark"]
            yield Paragraph(number, comment["words"])


def _docstrings(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Give each docstring with its first line."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            head = node.body[0]
            if isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant) and isinstance(head.value.value, str):
                yield head.lineno, head.value.value


def _inside_strings(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Give the lines that begin inside a string."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield from range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)


def _without_fences(lines: list[str]) -> Iterator[str]:
    """Replace blocks of code by empty lines."""
    fence = ""
    for line in lines:
        marks = _FENCE.match(line)
        if marks and not fence:
            fence = marks[1]
            yield ""
        elif fence:
            if marks and marks[1].startswith(fence):
                fence = ""
            yield ""
        else:
            yield line


def _cells(row: str) -> list[str]:
    """Split a row of a table; a bar that is escaped or in code is not a border."""
    cells = _CODE.sub(CODE, row.replace("\\|", "/")).strip().strip("|").split("|")
    return [cell for cell in cells if re.search("[a-z]{2}", cell)]


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", _CODE.sub(CODE, _COMMENT.sub("", text)))
    return re.sub(r"\s+", " ", text.replace("*", "")).strip()
