"""Writes the docstrings of the extension into its stub, python/share_state/_core.pyi, where editors look for them.

The signatures of the stub are written by hand; the docstrings have one home, the Rust sources in rust/python, and are replaced
as a whole. `python scripts/stub_docs.py` renews the file, `--check` says what is not the same and changes nothing.
"""

import argparse
import ast
import difflib
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

STUB = Path(__file__).resolve().parents[1] / "python" / "share_state" / "_core.pyi"
MODULE = "share_state._core"
_INDENT = 4


class StubError(Exception):
    """The stub and the extension do not fit together."""


class Place(NamedTuple):
    """A class or function of the stub, with what the extension says about it."""

    node: ast.ClassDef | ast.FunctionDef
    name: str
    doc: str


def renewed(stub: str, module: object) -> str:
    """Return the text of a stub with the docstrings of `module`."""
    lines = stub.splitlines()
    # From the end, so that the numbers of the lines above stay true.
    for place in sorted(places(ast.parse(stub), module), key=lambda place: place.node.lineno, reverse=True):
        _write(lines, place)
    return "\n".join(lines) + "\n"


def places(tree: ast.Module, module: object) -> Iterator[Place]:
    """Every public class, method, property and function of the stub."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            owner = _member(module, node.name, node.name)
            yield Place(node, node.name, _doc(owner, node.name))
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_") and not _is_setter(inner):
                    name = f"{node.name}.{inner.name}"
                    yield Place(inner, name, _doc(_member(owner, inner.name, name), name))
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield Place(node, node.name, _doc(_member(module, node.name, node.name), node.name))


def _is_setter(node: ast.FunctionDef) -> bool:
    """Tell whether this sets a property: its documentation belongs to the getter."""
    return any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in node.decorator_list)


def _member(owner: object, name: str, full_name: str) -> Any:  # noqa: ANN401  a class, a function or a descriptor
    try:
        return inspect.getattr_static(owner, name)
    except AttributeError:
        raise StubError(f"{full_name}: the extension has no such member") from None


def _doc(member: Any, name: str) -> str:  # noqa: ANN401  as above
    # A static method is found as its wrapper, which has the docstring of all wrappers.
    text = getattr(member.__func__ if isinstance(member, staticmethod) else member, "__doc__", None)
    if not text:
        raise StubError(f"{name}: it has no docstring")
    return inspect.cleandoc(text)


def _write(lines: list[str], place: Place) -> None:
    first = place.node.body[0]
    has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    indent = " " * (place.node.col_offset + _INDENT)
    docstring = list(_docstring(place.doc, indent))
    if has_doc:
        lines[first.lineno - 1 : first.end_lineno] = docstring
    elif isinstance(place.node, ast.ClassDef) and not _is_ellipsis(first):
        above = min([one.lineno for one in getattr(first, "decorator_list", [])] + [first.lineno])
        lines[above - 1 : above - 1] = docstring
    elif _is_ellipsis(first):
        at = first.lineno - 1
        head = lines[at][: first.col_offset].rstrip()
        lines[at : at + 1] = ([head] if head else []) + docstring
    else:
        raise StubError(f"{place.name}: its body is neither a docstring nor `...`")


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _docstring(doc: str, indent: str) -> Iterator[str]:
    if '"""' in doc:
        raise StubError(f"a docstring holds three quotes: {doc!r}")
    start = 'r"""' if "\\" in doc else '"""'
    first, *rest = doc.split("\n")
    if not rest and not first.endswith('"'):
        yield f'{indent}{start}{first}"""'
        return
    yield f"{indent}{start}{first}"
    yield from (f"{indent}{line}" if line else "" for line in rest)
    yield f'{indent}"""'


def _formatted(text: str) -> str:
    """As `ruff format` leaves it, so that it finds nothing to do."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def main(arguments: list[str]) -> int:
    """Renew the stub, or with `--check` say what is not the same; the exit status is then 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args(arguments)
    found = STUB.read_text(encoding="utf-8")
    wanted = _formatted(renewed(found, importlib.import_module(MODULE)))
    if options.check:
        shown = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "the stub", "the extension", lineterm="")
        for line in shown:
            print(line)
        if found != wanted:
            print("The docstrings of the stub are not those of the extension: `make stubs` renews them.", file=sys.stderr)
            return 1
        return 0
    STUB.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
