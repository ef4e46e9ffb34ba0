"""Fates of the mutants, read from what mutmut leaves beside the mutated files."""

from __future__ import annotations

import ast
import difflib
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

CAUGHT, TIMED_OUT, LIVES, UNTESTED, NO_TYPES, WORDS, UNTRIED = (
    "caught", "timed out", "lives", "untested", "no types", "words", "untried",
)  # fmt: skip
#: By the exit codes of a mutant's tests (mutmut: `status_by_exit_code`).
_VERDICTS: Final = {
    None: UNTRIED, 1: CAUGHT, 3: CAUGHT, 0: LIVES, 5: UNTESTED, 33: UNTESTED, 37: NO_TYPES,
    36: TIMED_OUT, 24: TIMED_OUT, -24: TIMED_OUT, 152: TIMED_OUT, 255: TIMED_OUT,
}  # fmt: skip
_SEPARATOR: Final = "ǁ"


class Mutant(NamedTuple):
    """A function with one change.

    Attributes:
        name: mutmut's name for it, which changes with the function.
        function: module, class and function.
        was: the changed lines as they are in the tree.
        now: the changed lines as they are in the mutant.
        verdict: what became of it.
    """

    name: str
    function: str
    was: str
    now: str
    verdict: str


def mutants(folder: Path) -> Iterator[Mutant]:
    """Read all mutants that mutmut made in a copy of the tree, but those that mean the same as the code."""
    for meta in sorted((folder / "mutants" / "share_state").rglob("*.py.meta")):
        yield from _of_file(meta, meta.with_suffix(""))


def _of_file(meta: Path, source: Path) -> Iterator[Mutant]:
    codes: dict[str, int | None] = json.loads(meta.read_text())["exit_code_by_key"]
    if not codes:
        return
    spans = json.loads(source.with_suffix(".py.spans").read_text())["spans"]
    lines = source.read_text().splitlines()
    for name, code in codes.items():
        mangled = name.rpartition(".")[2]
        original, mutated = (_text(lines, spans[key]) for key in (mangled.rpartition("_")[0] + "_orig", mangled))
        if means_the_same(original, mutated):
            continue
        verdict = _VERDICTS.get(code)
        if verdict is None:
            # What kills the process is a fault that nobody foresaw: looked at, not counted.
            verdict = f"status {code}"
        if verdict in {LIVES, UNTESTED} and is_about_words(original, mutated):
            verdict = WORDS
        yield Mutant(name, _plain(name), *_difference(original, mutated), verdict)


def _text(lines: list[str], span: list[int]) -> str:
    first, last = span
    return textwrap.dedent("\n".join(lines[first - 1 : last])).strip()


def _plain(name: str) -> str:
    """`a.b.xǁClassǁmethod__mutmut_3` is `a.b.Class.method`."""
    module, _, mangled = name.partition("__mutmut_")[0].rpartition(".")
    function = mangled[2:] if mangled.startswith("x_") else mangled[1:].strip(_SEPARATOR).replace(_SEPARATOR, ".")
    return f"{module}.{function}"


def _difference(original: str, mutated: str) -> tuple[str, str]:
    was: list[str] = []
    now: list[str] = []
    for line in difflib.ndiff(original.splitlines(), mutated.splitlines()):
        if line[:2] in {"- ", "+ "} and "__mutmut_" not in line:
            (was if line[0] == "-" else now).append(line[2:].strip())
    if not was and not now:  # in the line of the name: a default of a parameter
        was, now = ([_head(text)] for text in (original, mutated))
    return "\n".join(was), "\n".join(now)


def _head(text: str) -> str:
    first = next(line for line in text.splitlines() if "def " in line)
    return first[first.index("(") :]


def is_about_words(original: str, mutated: str) -> bool:
    """Return true if a change is in what people read: a text with a blank in it, or what goes to the log.

    No name of the protocol, of an option or of a field has a blank.
    """
    path = list(_to_the_change(_body(original), _body(mutated)))
    was, now = (node.value if isinstance(node, ast.Constant) else None for node in path[-1])
    is_text = isinstance(was, str) and isinstance(now, str) and " " in was.strip()
    return is_text or any(_is_logging(node) for node, _ in path)


def means_the_same(original: str, mutated: str) -> bool:
    """Return true if a change is in how a call says what it does: no test can tell the two apart.

    `zip` with another `strict`, big-endian bytes, and the case of an encoding.
    """
    return any(
        isinstance(was, ast.Call) and isinstance(now, ast.Call) and _plainly(was) == _plainly(now)
        for was, now in _to_the_change(_body(original), _body(mutated))
    )


def _plainly(call: ast.Call) -> str:
    """Show a call without what does not change it."""
    args, keywords = call.args, call.keywords
    match call.func:
        case ast.Name("zip"):
            keywords = [keyword for keyword in keywords if keyword.arg != "strict"]
        case ast.Attribute(attr="to_bytes" | "from_bytes"):
            args = [arg for arg in args if not (isinstance(arg, ast.Constant) and arg.value == "big")]
        case ast.Attribute(attr="encode" | "decode"):
            args = [
                ast.Constant(arg.value.lower()) if isinstance(arg, ast.Constant) and isinstance(arg.value, str) else arg
                for arg in args
            ]
    return _dump([call.func, *args, *keywords])


def _body(text: str) -> ast.AST:
    function = ast.parse(text).body[0]
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        raise TypeError(f"no function: {text}")
    return ast.Module([ast.Expr(function.args), *function.body], [])  # type: ignore[arg-type]


def _to_the_change(was: object, now: object) -> Iterator[tuple[object, object]]:
    """Walk from the function to the smallest part that holds all of the change; each part with what it became."""
    yield was, now
    if isinstance(was, ast.Constant):
        return
    if isinstance(was, ast.AST) and type(was) is type(now):
        pairs = [(getattr(was, field), getattr(now, field)) for field in was._fields]
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        pairs = list(zip(was, now, strict=True))
    else:
        return
    differing = [pair for pair in pairs if _dump(pair[0]) != _dump(pair[1])]
    if len(differing) == 1:
        yield from _to_the_change(*differing[0])


def _is_logging(node: object) -> bool:
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("_LOG")))):
            return True
        case _:
            return False


def _dump(node: object) -> str:
    if isinstance(node, list):
        return repr([_dump(one) for one in node])
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)
