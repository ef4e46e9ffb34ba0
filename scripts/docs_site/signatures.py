"""A Sphinx extension: members of the compiled part are shown with the types of the stub, which the extension does not carry."""

from __future__ import annotations

import ast
import copy
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STUB = Path(__file__).resolve().parents[2] / "python" / "share_state" / "_core.pyi"


class _Pair(NamedTuple):
    field: int


_FIELD = type(_Pair.field)


class _Aliases(ast.NodeTransformer):
    """Puts what an alias of the stub stands for in its place: outside the stub the alias has no meaning."""

    def __init__(self, module: ast.Module) -> None:
        self._meant = {
            node.target.id: node.value
            for node in module.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.annotation, ast.Name)
            and node.annotation.id == "TypeAlias"
            and node.value is not None
        }

    def visit_Name(self, node: ast.Name) -> ast.expr:
        meant = self._meant.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if meant is None else self.visit(copy.deepcopy(meant))


class Signatures:
    """The signatures of the stub, by name."""

    def __init__(self, stub: str) -> None:
        self._functions: dict[str, ast.FunctionDef] = {}
        module = ast.parse(stub)
        _Aliases(module).visit(module)
        for node in module.body:
            if isinstance(node, ast.FunctionDef):
                self._functions[node.name] = node
            elif isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef):
                        self._functions.setdefault(f"{node.name}.{inner.name}", inner)

    def of_call(self, name: str) -> tuple[str, str | None] | None:
        """Return arguments and result of a function or a method; of a class, those of making an object."""
        node = self._functions.get(name) or self._functions.get(f"{name}.__new__")
        if node is None:
            return None
        arguments = copy.deepcopy(node.args)
        for listed in (arguments.posonlyargs, arguments.args):
            listed[:] = [one for one in listed if one.arg not in {"self", "cls"}]
        shown = f"({ast.unparse(arguments)})"
        result = ast.unparse(node.returns) if node.returns and node.name != "__new__" else None
        return shown, result

    def of_property(self, name: str) -> str | None:
        """Return the type of a property."""
        node = self._functions.get(name)
        is_property = node is not None and any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)
        return ast.unparse(node.returns) if node and node.returns and is_property else None


def returns_as_field(lines: list[str]) -> None:
    """Turn a section `Returns:` into a field, in place: napoleon would take the words before a colon for a type."""
    if "Returns:" not in lines:
        return
    start = lines.index("Returns:")
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
        end += 1
    told = [line.removeprefix("    ") for line in lines[start + 1 : end]]
    lines[start:end] = [f":returns: {told[0]}", *(f"    {line}" if line else "" for line in told[1:])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to what autodoc asks."""
    signatures = Signatures(STUB.read_text(encoding="utf-8"))

    def call(_: Sphinx, what: str, name: str, *__: object) -> tuple[str, str | None] | None:
        package, _dot, short = name.partition(".")
        return signatures.of_call(short) if package == "share_state" and what in {"class", "function", "method"} else None

    def typed(_: Sphinx, what: str, name: str, __: object, ___: object, lines: list[str]) -> None:
        package, _dot, short = name.partition(".")
        shown = signatures.of_property(short) if package == "share_state" and what in {"attribute", "property"} else None
        if shown is not None:
            lines[:0] = [f"``{shown}``", ""]
        returns_as_field(lines)

    def skipped(_: Sphinx, __: str, ___: str, member: object, *____: object) -> bool | None:
        # An enum's members need no docstring to be of use; what a named tuple says of its fields is of none.
        return False if isinstance(member, Enum) else True if isinstance(member, _FIELD) else None

    app.connect("autodoc-process-signature", call)
    app.connect("autodoc-skip-member", skipped)
    # Before napoleon, which has the usual priority of 500.
    app.connect("autodoc-process-docstring", typed, priority=400)
    return {"parallel_read_safe": True}
