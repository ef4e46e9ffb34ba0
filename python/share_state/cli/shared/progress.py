"""A progress bar on stderr for reads that take long, and only where a person watches."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

from share_state.operate.reading.plain import Progress as Report

_Row = TypeVar("_Row")

#: Seconds before a bar appears: most reads end sooner and then leave the screen alone.
_PATIENCE = 0.5


def byte_progress(description: str, *, streams: bool = False) -> AbstractContextManager[Report | None]:
    """Return a callable to report bytes to.

    None where stderr is no terminal, or where it is the one that output is written to meanwhile (`streams`).
    """
    return _progress(description, DownloadColumn(), streams=streams)


def record_progress(description: str, *, streams: bool = False) -> AbstractContextManager[Report | None]:
    """Return a callable to report records to; see `byte_progress`."""
    return _progress(description, MofNCompleteColumn(), streams=streams)


@contextmanager
def _progress(description: str, figures: ProgressColumn, *, streams: bool) -> Iterator[Report | None]:
    if not sys.stderr.isatty() or (streams and sys.stdout.isatty()):
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), figures, TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(description, total=None)
    begun = time.monotonic()
    shown = False

    def report(done: int, total: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun >= _PATIENCE:
            bar.start()
            shown = True
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        bar.stop()


def counted(rows: Iterable[_Row], description: str) -> Iterator[_Row]:
    """Pass rows on and show how many; nothing where stderr is no terminal, or stdout is the same one."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from rows
        return
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(description, total=None)
    with bar:
        for row in rows:
            bar.advance(task)
            yield row
