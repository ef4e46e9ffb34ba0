"""Tables that a page shows in parts: what a request asks for, and the rows that this gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from share_state.errors import ConfigError
from share_state.operate.live.health import Health

__all__ = ["TROUBLE", "Arranged", "Column", "Query", "Table", "number"]

_Row = TypeVar("_Row")
#: Rows of one page, by default and at most.
_ROWS: Final = 200
_MOST_ROWS: Final = 1000
_MOST_PAGES: Final = 2**31
#: Characters of a filter; names of Kafka's are shorter.
_MOST_TEXT: Final = 1000
#: The choice of everything that is not OK.
TROUBLE: Final = "trouble"


class Column(NamedTuple, Generic[_Row]):
    """A column by which a table can be sorted."""

    #: As the request names it.
    name: str
    title: str
    #: Value that is compared; None is not known, and comes last.
    key: Callable[[_Row], Any]
    is_number: bool = False


class Query(NamedTuple):
    """Choice of rows that a request makes."""

    #: A part of a name, whatever its case.
    text: str
    #: A word of `Health`, `trouble`, or empty for all.
    health: str
    #: The name of a column; empty for the table's own order.
    sort: str
    descending: bool
    #: From 1 on.
    page: int
    #: Rows of one page.
    rows: int


@dataclass(frozen=True, slots=True)
class Arranged(Generic[_Row]):
    """The rows of one page of a table.

    Attributes:
        rows: what is shown.
        query: what was asked for; its page is one that there is.
        total: rows of the whole table.
        matching: rows that the filter leaves.
        pages: how many there are.
    """

    rows: Sequence[_Row]
    query: Query
    total: int
    matching: int
    pages: int


@dataclass(frozen=True, slots=True)
class Table(Generic[_Row]):
    """Rules by which rows are found and put in order.

    Attributes:
        columns: by which rows can be sorted.
        names: the texts of a row in which a filter looks.
        health: the word of a row; None where rows have none.
        order: the order unless a request asks for another.
    """

    columns: tuple[Column[_Row], ...]
    names: Callable[[_Row], Iterable[str]]
    health: Callable[[_Row], Health] | None
    order: Callable[[_Row], Any]

    def query(self, asked: Mapping[str, str]) -> Query:
        """Take what a request asks for.

        Raises:
            ConfigError: a value cannot be used.
        """
        health = asked.get("health", "")
        if health not in {"", TROUBLE, *Health} and self.health is not None:
            raise ConfigError(
                f"health is {health!r}; expected one of {', '.join((TROUBLE, *Health))}", field="health", value=health
            )
        sort = asked.get("sort", "")
        names = [column.name for column in self.columns]
        if sort not in {"", *names}:
            raise ConfigError(f"sort is {sort!r}; expected one of {', '.join(names)}", field="sort", value=sort)
        order = asked.get("order", "")
        if order not in {"", "asc", "desc"}:
            raise ConfigError(f"order is {order!r}; expected asc or desc", field="order", value=order)
        return Query(
            text=asked.get("q", "").strip()[:_MOST_TEXT],
            health="" if self.health is None else health,
            sort=sort,
            descending=order == "desc",
            page=number("page", asked.get("page", "") or "1", least=1, most=_MOST_PAGES),
            rows=number("rows", asked.get("rows", "") or str(_ROWS), least=1, most=_MOST_ROWS),
        )

    def arrange(self, rows: Sequence[_Row], query: Query) -> Arranged[_Row]:
        """Filter, sort, and take one page; beyond the last page it is the last one."""
        found = [row for row in rows if self._matches(row, query)]
        column = next((one for one in self.columns if one.name == query.sort), None)
        found.sort(key=self.order)
        if column is not None:
            known = [row for row in found if column.key(row) is not None]
            unknown = [row for row in found if column.key(row) is None]
            # Stable both ways: rows that are equal keep the table's own order.
            known.sort(key=column.key, reverse=query.descending)
            found = known + unknown
        elif query.descending:
            found.reverse()
        pages = max(1, -(-len(found) // query.rows))
        page = min(query.page, pages)
        first = (page - 1) * query.rows
        return Arranged(found[first : first + query.rows], query._replace(page=page), len(rows), len(found), pages)

    def _matches(self, row: _Row, query: Query) -> bool:
        if query.health and self.health is not None:
            word = self.health(row)
            if word is Health.OK if query.health == TROUBLE else word != query.health:
                return False
        text = query.text.casefold()
        return not text or any(text in name.casefold() for name in self.names(row))


def number(field: str, text: str, *, least: int, most: int) -> int:
    """Take a whole number of a request.

    Raises:
        ConfigError: it is none, or too small or great.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise ConfigError(f"{field} is {text[:40]!r}; expected a number from {least} to {most}", field=field, value=text)
    return int(text)
