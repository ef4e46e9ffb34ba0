"""The prose of Markdown pages, Python docstrings and Rust doc comments: text with its line, without code, links and markup."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

#: Stands for code in a sentence: one word, so that the sentence keeps its shape.
CODE: Final = "X"
_CODE: Final = re.compile(r"(`+).+?\1")
_COMMENT: Final = re.compile(r"<!--.*?-->")
_FENCE: Final = re.compile(r"^\s*(```+|~~~+)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_LINK: Final = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
_RUST_DOC: Final = re.compile(r"^\s*//[/!] ?(.*)$")
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
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            head = node.body[0]
            if isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant) and isinstance(head.value.value, str):
                docstring = of_markdown(_SPHINX_ROLE.sub(r"`\1`", head.value.value))
                found += [Paragraph(head.lineno - 1 + line, words) for line, words in docstring]
    return found


def of_rust(text: str) -> list[Paragraph]:
    """Give the paragraphs of the doc comments of a file."""
    return of_markdown("\n".join(_RUST_DOC.sub(r"\1", line) if _RUST_DOC.match(line) else "" for line in text.splitlines()))


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
