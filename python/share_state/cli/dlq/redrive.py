"""A redrive from the command line: its parts are put together, it is watched, and it ends with an exit status."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import typer

from share_state.cli.dlq.options import refused
from share_state.cli.dlq.view import RedriveView
from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output_format import OutputFormat
from share_state.cli.shared.progress import record_progress
from share_state.operate.dead_letters import (
    ClusterRefusedError,
    Doubt,
    Execution,
    Filter,
    Identity,
    InDoubtError,
    Intervals,
    Journal,
    JournalError,
    JournalState,
    Letters,
    Outcome,
    Pace,
    Redrive,
    RedriveRow,
    Sender,
    SendError,
    Source,
    TargetProducer,
    TopicLog,
    read_journal,
    resolve,
)
from share_state.operate.dead_letters.json_rows import redrive_json
from share_state.operate.payloads import PayloadReader
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.cli.dlq.options import Cluster
    from share_state.operate.dead_letters import Asking

__all__ = ["RedriveOrder", "run_redrive"]

_UNSENT = (Outcome.MISSING, Outcome.REFUSED, Outcome.IN_DOUBT)


class RedriveOrder(NamedTuple):
    """Order for a redrive, from the command line."""

    group: str
    target: str | None
    wanted: Filter
    journal: Path | None
    execute: bool
    rate: float | None
    limit: int | None
    settle_s: float
    doubt: Doubt | None
    intervals: Intervals | None = None

    def with_letters(self, letters: Letters) -> RedriveOrder:
        """Read the dead letters, and keep which records they are of."""
        chosen = self.wanted.chosen(letters)
        return self._replace(intervals=Intervals(chosen))

    @property
    def journal_path(self) -> Path:
        """The file of the journal."""
        to = "" if self.target is None else f"--to-{quote(self.target, safe='')}"
        return self.journal or Path(f"dlq-{quote(self.group, safe='')}{to}.journal")


def run_redrive(cluster: Cluster, asking: Asking, order: RedriveOrder, source: Source, output_format: OutputFormat) -> None:
    """Redrive, or say what would be; leaves through `typer.Exit` where a record could not be sent.

    Raises:
        NoSuchTopicError: the target is not there.
        ShareStateError: the cluster does not answer, or refuses.
    """
    view = RedriveView()
    try:
        with ExitStack() as stack:
            run = _Run(cluster, asking, order, stack)
            rows = run.rows(view, streams=output_format is not OutputFormat.TABLE)
            failure: SendError | None = None
            if output_format is OutputFormat.TABLE:
                failure = _consumed(rows)
                view.write()
            else:
                write_rows((redrive_json(order.group, row) for row in _until_failure(rows, run)), output_format)
                failure = run.failure
            sys.stdout.flush()
            _say(_summary(view, order, source, run))
    except (JournalError, InDoubtError, ClusterRefusedError) as error:
        raise refused(error, ExitCode.IO) from None
    if failure is not None:
        raise refused(failure, ExitCode.DAMAGE)
    if any(view.count(outcome) for outcome in _UNSENT):
        raise typer.Exit(ExitCode.DAMAGE)


class _Run:
    """Run of a redrive, with what it has opened."""

    def __init__(self, cluster: Cluster, asking: Asking, order: RedriveOrder, stack: ExitStack) -> None:
        self.failure: SendError | None = None
        self.found = 0
        self.path = order.journal_path
        self._order = order
        self._intervals = order.intervals if order.intervals is not None else Intervals()
        self._log = stack.enter_context(TopicLog(*cluster))
        for target in sorted(self._targets()):
            asking.check_target(target)
        identity = Identity(asking.cluster_id(), order.group, order.target)
        self.state: JournalState | None
        execution = None
        if order.execute:
            journal = stack.enter_context(Journal(self.path, identity, _now_ms))
            self._resolve(journal)
            self.state = journal.state
            producer = stack.enter_context(TargetProducer(cluster.address, cluster.settings))
            execution = Execution(journal, Sender(producer, Pace(order.rate)))
        else:
            self.state = read_journal(self.path, identity)
        address, settings, timeout = cluster
        payloads = stack.enter_context(PayloadReader(address, client_config=settings, timeout=timeout))
        self.redrive = Redrive(payloads, self._log, target=order.target, state=self.state, execution=execution, limit=order.limit)

    def rows(self, view: RedriveView, *, streams: bool) -> Iterator[RedriveRow]:
        """Return the rows as they come, and count them."""
        total = self._intervals.count()
        with record_progress("redriving" if self._order.execute else "looking", streams=streams) as progress:
            done = 0
            for row in self.redrive.rows(self._intervals):
                view.add(row)
                done += row.last_offset - row.first_offset + 1
                if progress is not None:
                    progress(min(done + self.redrive.sent_before, total), total)
                yield row

    def _targets(self) -> set[str]:
        """Return the topics to send to; a source that is gone is told with its records."""
        if self._order.target is not None:
            return {self._order.target}
        return {topic for topic in {one.topic for one in self._intervals} if self._log.partitions(topic) is not None}

    def _resolve(self, journal: Journal) -> None:
        count = len(journal.state.in_doubt)
        if count:
            # The lock of the journal says that the run before is over, and nothing says since when.
            _say(f"{count} records in doubt: waiting {self._order.settle_s:g} s for what was under way (--settle)")
            time.sleep(self._order.settle_s)
        self.found = len(resolve(journal, self._log, self._order.doubt))


def _consumed(rows: Iterator[RedriveRow]) -> SendError | None:
    try:
        for _ in rows:
            pass
    except SendError as error:
        return error
    return None


def _until_failure(rows: Iterator[RedriveRow], run: _Run) -> Iterator[RedriveRow]:
    try:
        yield from rows
    except SendError as error:
        run.failure = error


def _summary(view: RedriveView, order: RedriveOrder, source: Source, run: _Run) -> str:
    counts = f"{view.count(Outcome.SENT)} sent" if order.execute else f"{view.count(Outcome.WOULD_SEND)} would be sent"
    more = [f"{view.count(outcome)} {outcome.value.replace('_', ' ')}" for outcome in _UNSENT if view.count(outcome)]
    before = run.redrive.sent_before
    if before:
        more.append(f"{before} sent by an earlier run")
    if run.found:
        more.append(f"of those {run.found} were in doubt and are in the target")
    if not order.execute and run.state is not None and run.state.in_doubt:
        more.append(f"{len(run.state.in_doubt)} in doubt after an interrupted run, which --execute finds out about first")
    end = f"journal {run.path}" if order.execute else "nothing was sent; --execute sends"
    return f"{'; '.join([f'from {source.words}: {counts}', *more])}; {end}"


def _say(text: str) -> None:
    typer.echo(f"share-state: {printable(text)}", err=True)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
