"""The code blocks of a Markdown page, and which of them are run.

* A ```` ```python ```` block is run as a script of its own: a reader copies one block, so each stands alone.
* A ```` ```console ```` block right after the line `<!-- test -->` is run: a line that begins with `$ ` is a command
  (`\\` at its end goes on with the next), the lines after it are the output it must have.
* A ```` ```text ```` block right after the line `<!-- output -->` is what the Python block before it prints.

In expected output a line `...` stands for any number of lines, and ` ... ` inside a line for any text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[A-Za-z0-9_+-]*).*$")
_RUN_MARK = "<!-- test -->"
_OUTPUT_MARK = "<!-- output -->"


class Fence(NamedTuple):
    """A fenced block as it stands on the page."""

    line: int
    language: str
    mark: str
    text: str


class PythonBlock(NamedTuple):
    """A script, and what it prints where the page says so."""

    line: int
    code: str
    output: str | None


class Command(NamedTuple):
    """Command of a console block."""

    command: str
    output: str


class ConsoleBlock(NamedTuple):
    """Commands that run one after the other in one directory."""

    line: int
    commands: list[Command]


class PageError(ValueError):
    """The page cannot be taken apart as its author meant it."""


def blocks(markdown: str) -> list[PythonBlock | ConsoleBlock]:
    """All blocks that are run, in order."""
    found: list[PythonBlock | ConsoleBlock] = []
    for fence in fences(markdown):
        if fence.mark == _OUTPUT_MARK:
            if fence.language != "text" or not found or not isinstance(found[-1], PythonBlock):
                raise PageError(f"line {fence.line}: an output block is text, and stands after a Python block")
            found[-1] = found[-1]._replace(output=fence.text)
        elif fence.language == "python":
            found.append(PythonBlock(fence.line, fence.text, None))
        elif fence.mark == _RUN_MARK:
            if fence.language != "console":
                raise PageError(f"line {fence.line}: only console blocks are marked to be run")
            found.append(ConsoleBlock(fence.line, commands(fence)))
    return found


def fences(markdown: str) -> Iterator[Fence]:
    """All fenced blocks, with the mark in the line before."""
    lines = markdown.splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        first = number + 1
        closing = f"{opening['indent']}{opening['fence']}"
        try:
            end = next(index for index in range(first, len(lines)) if lines[index].rstrip() == closing)
        except StopIteration:
            raise PageError(f"line {number + 1}: the block is never closed") from None
        indent = len(opening["indent"])
        text = "".join(line[indent:] + "\n" for line in lines[first:end])
        yield Fence(number + 1, opening["language"], lines[number - 1].strip() if number else "", text)
        number = end + 1


def commands(fence: Fence) -> list[Command]:
    """The commands of a console block with their outputs."""
    found: list[Command] = []
    lines = iter(fence.text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            parts = [line[2:]]
            while parts[-1].endswith("\\"):
                parts.append(next(lines, ""))
            found.append(Command("\n".join(parts), ""))
        elif found:
            found[-1] = found[-1]._replace(output=found[-1].output + line + "\n")
        else:
            raise PageError(f"line {fence.line}: the block begins with output, not with a command")
    if not found:
        raise PageError(f"line {fence.line}: the block holds no command")
    return found


def matches(printed: str, expected: str) -> bool:
    """Returns true if output is as the page says; blanks at the ends of lines do not count."""
    pattern = []
    for line in expected.rstrip().splitlines():
        if line.strip() == "...":
            pattern.append(r"(?:.*\n)*?")
        else:
            inside = ".*".join(re.escape(part) for part in line.rstrip().split(" ... "))
            pattern.append(inside + r"\n")
    lines = "".join(line.rstrip() + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(pattern), lines) is not None
