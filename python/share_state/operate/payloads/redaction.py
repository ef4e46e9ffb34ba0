"""Parts of a record that are hidden before it is shown: key, value, headers by name, members of a structure by path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple, Self

from share_state.errors import ConfigError

__all__ = ["HIDDEN", "Redaction"]

#: Stands where something is hidden.
HIDDEN: Final = "<redacted>"
_PARTS: Final = ("key", "value", "headers")
_HEADER: Final = "header:"
_STEP: Final = re.compile(r"\.\.(?P<anywhere>[^.\[\]*]+)|\.(?P<name>[^.\[\]*]+)|(?P<every>\.\*|\[\*\])|\[(?P<index>\d{1,9})\]")
_EXPECTED: Final = "key, value, headers, header:NAME, key:$.PATH or value:$.PATH"


class _Step(NamedTuple):
    """Step of a path: a name or a number, of all members where there is neither, at any depth where it says so."""

    name: str | None = None
    number: int | None = None
    anywhere: bool = False


class Redaction(NamedTuple):
    """Parts of a record that are hidden.

    Attributes:
        whole: of ``key``, ``value`` and ``headers`` those that are hidden as a whole.
        headers: names of headers whose values are hidden, in lower case: their case is not looked at.
        paths: of ``key`` and ``value``, the members that are hidden.
    """

    whole: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    paths: tuple[tuple[str, tuple[_Step, ...]], ...] = ()

    @classmethod
    def of(cls, rules: Iterable[str]) -> Self:
        """Read rules: ``key``, ``value``, ``headers``, ``header:NAME``, ``key:$.PATH``, ``value:$.PATH``.

        A path goes by ``.name``, ``[number]``, ``.*`` or ``[*]`` for all members, and ``..name`` for a name at any depth.

        Raises:
            ConfigError: a rule is none of these.
        """
        whole, headers, paths = set(), set(), []
        for rule in rules:
            part, _, path = rule.partition(":")
            if rule in _PARTS:
                whole.add(rule)
            elif rule.startswith(_HEADER) and path:
                headers.add(path.lower())
            elif part in {"key", "value"} and (steps := _steps(path)):
                paths.append((part, steps))
            else:
                raise ConfigError(f"redact is {rule!r}; expected {_EXPECTED}", field="redact", value=rule)
        return cls(frozenset(whole), frozenset(headers), tuple(paths))

    def hides(self, part: str) -> bool:
        """Return whether the key, the value or all headers are hidden as a whole."""
        return part in self.whole

    def hides_header(self, name: str) -> bool:
        """Return whether the value of a header is hidden."""
        return "headers" in self.whole or name.lower() in self.headers

    def looks_into(self, part: str) -> bool:
        """Return whether members of the key or of the value are hidden: what has no members is then hidden as a whole."""
        return any(of == part for of, _ in self.paths)

    def without(self, part: str, tree: object) -> object:
        """Return a structure in which the hidden members of a key or a value are replaced; it is changed in place."""
        for of, steps in self.paths:
            if of == part:
                tree = _without(tree, steps)
        return tree


def _steps(path: str) -> tuple[_Step, ...]:
    """Read a path; empty where it is none."""
    found, at = [], 1
    while path.startswith("$") and at < len(path) and (step := _STEP.match(path, at)):
        index = step["index"]
        name = step["anywhere"] or step["name"]
        found.append(_Step(name, None if index is None else int(index), step["anywhere"] is not None))
        at = step.end()
    return tuple(found) if at == len(path) else ()


def _without(tree: object, steps: tuple[_Step, ...]) -> object:
    if not steps:
        return HIDDEN
    step, rest = steps[0], steps[1:]
    for place, member in _members(tree):
        if step.anywhere:
            # At any depth: first within, so that what is hidden is not looked into.
            _put(tree, place, _without(member, steps))
        if _meets(step, place):
            _put(tree, place, _without(_at(tree, place), rest))
    return tree


def _members(tree: object) -> list[tuple[object, object]]:
    if isinstance(tree, dict):
        return list(tree.items())
    return list(enumerate(tree)) if isinstance(tree, list) else []


def _meets(step: _Step, place: object) -> bool:
    if step.name is not None:
        return str(place) == step.name and not isinstance(place, int)
    return step.number is None or place == step.number


def _at(tree: object, place: object) -> object:
    return tree[place] if isinstance(tree, dict | list) else tree  # type: ignore[call-overload]  # a place of it


def _put(tree: object, place: object, member: object) -> None:
    if isinstance(tree, dict | list):
        tree[place] = member  # type: ignore[call-overload]  # a place of it
