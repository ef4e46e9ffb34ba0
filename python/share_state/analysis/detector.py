"""The rules that look at one share partition while its history is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from share_state.analysis.advice import ADVICE, holder
from share_state.analysis.anomaly import Anomaly, AnomalyConfig, AnomalyKind, Severity
from share_state.analysis.history import HistoryCause, HistoryRow
from share_state.analysis.window import Run, Window
from share_state.types import RecordState

__all__ = ["Mark", "SharePartitionRules"]

_DELIVERIES = frozenset({HistoryCause.RELEASED, HistoryCause.ACCEPTED, HistoryCause.ARCHIVING, HistoryCause.ARCHIVED})
_ENDS_OF_DELIVERIES = frozenset({HistoryCause.RELEASED, HistoryCause.ARCHIVING, HistoryCause.ARCHIVED})


class Mark(NamedTuple):
    """A record of the state topic, and its time."""

    offset: int
    ms: int


class _Open(NamedTuple):
    """Something that has begun and is told when it is over."""

    since: Mark
    first_offset: int | None
    evidence: str
    advice: str


class SharePartitionRules:
    """One share partition, from its initialisation on (or from where the log begins) to its deletion."""

    def __init__(self, config: AnomalyConfig, row: HistoryRow) -> None:
        self._config = config
        self._lock_ms = config.lock_duration_ms(row.group)
        self._window = Window()
        self.row = row
        #: The first delivery behind the start offset since it moved, and how many records there were in all.
        self._behind: Mark | None = None
        self._behind_records = 0
        self._stuck: _Open | None = None
        self._disagreeing = 0
        self._count: _Open | None = None

    def record(self, rows: list[HistoryRow]) -> Iterator[Anomaly]:
        """Take the rows of one record of the state topic."""
        old, self.row = self.row, rows[0]
        yield from self._epochs(old, rows)
        for row in rows:
            if row.first_offset is not None and row.last_offset is not None:
                yield from self._interval(row, row.first_offset, row.last_offset)
        yield from self._start_offset(rows, moved=old.start_offset != self.row.start_offset)
        yield from self._delivery_complete_count()

    def ended(self, rows: list[HistoryRow]) -> Iterator[Anomaly]:
        """Take the rows that end this life, of a deletion or a new initialisation, and tell what lasted until then."""
        old, self.row = self.row, rows[0]
        if self.row.state_epoch < old.state_epoch:
            yield self._epoch(f"the state epoch goes from {old.state_epoch} back to {self.row.state_epoch}")
        yield from self._over(AnomalyKind.START_OFFSET_STUCK, self._stuck)
        yield from self._over(AnomalyKind.COUNT_DISAGREES, self._count)
        for run in self._window.runs:
            if run.loops >= self._config.loop_releases:
                yield self._loop(run, until=self.row.at_timestamp)

    def end(self, log_end: Mark) -> Iterator[Anomaly]:
        """Tell what lasts at the end of the log."""
        yield from self._over(AnomalyKind.START_OFFSET_STUCK, self._stuck, lasts=True)
        yield from self._over(AnomalyKind.COUNT_DISAGREES, self._count, lasts=True)
        for run in self._window.runs:
            if run.loops >= self._config.loop_releases:
                yield self._loop(run, until=None)
        if self.row.snapshot_offset is None:
            yield self._anomaly(
                AnomalyKind.MISSING_SNAPSHOT,
                Severity.CRITICAL,
                (None, None),
                self._mark(),
                until=None,
                evidence="the log holds updates of this share partition but no snapshot below them: its state epoch is not known",
            )
        for first, last, behind in self._window.holes(self.row.start_offset):
            age = log_end.ms - behind.known_ms
            if self.row.start_offset >= 0 and age >= self._config.gap_ms:
                yield self._anomaly(
                    AnomalyKind.GAP,
                    Severity.INFO,
                    (first, last),
                    Mark(behind.known_offset, behind.known_ms),
                    until=None,
                    evidence=(
                        f"nothing was ever written of {last - first + 1} offsets, while {behind.first} behind them is known for "
                        f"{age} ms"
                    ),
                )

    def _interval(self, row: HistoryRow, first: int, last: int) -> Iterator[Anomaly]:
        taken = self._window.take(first, last)
        if row.cause in (HistoryCause.WENT_BACK, HistoryCause.FORGOTTEN):
            yield self._anomaly(
                AnomalyKind.STATE_WENT_BACK,
                Severity.CRITICAL,
                (first, last),
                self._mark(),
                until=row.at_timestamp,
                evidence=f"a snapshot takes {_told(row.from_state, row.from_count)} back to {_told(row.to_state, row.to_count)}",
            )
        if row.cause == HistoryCause.START_OFFSET_WENT_BACK:
            yield self._went_back(row, first, last)
        new: list[Run] = []
        for run in taken:
            next_run = self._next(row, run)
            goes_on = next_run is not None and next_run.loops > run.loops
            is_last = next_run is None or next_run.state != RecordState.AVAILABLE
            looped = next_run if goes_on and next_run is not None else run
            if looped.loops >= self._config.loop_releases and (is_last or not goes_on):
                yield self._loop(looped, until=row.at_timestamp)
            if next_run is not None:
                _join(new, next_run._replace(loops=0) if is_last else next_run)
        if not taken and row.to_state is not None:
            at = row.at_timestamp
            new.append(Run(first, last, row.to_state, row.to_count or 0, row.at_offset, at, at))
        for run in new:
            self._window.put(run)

    def _next(self, row: HistoryRow, run: Run) -> Run | None:
        """Return what becomes of a run by a row that holds it."""
        if row.to_state is None:
            return None
        count = row.to_count or 0
        loops, loop_offset, loop_ms = 0, 0, 0
        since = row.at_timestamp - run.changed_ms
        # The last of them is archived: its delivery was the limit.
        again = row.cause in _ENDS_OF_DELIVERIES and run.state == RecordState.AVAILABLE and count > run.deliveries
        if again and self._lock_ms <= since <= 2 * self._lock_ms:
            loops = run.loops + 1
            loop_offset, loop_ms = (run.loop_offset, run.loop_ms) if run.loops else (row.at_offset, row.at_timestamp)
        return run._replace(
            state=row.to_state,
            deliveries=count,
            changed_ms=row.at_timestamp,
            loops=loops,
            loop_offset=loop_offset,
            loop_ms=loop_ms,
        )

    def _start_offset(self, rows: list[HistoryRow], *, moved: bool) -> Iterator[Anomaly]:
        row = self.row
        if moved:
            yield from self._over(AnomalyKind.START_OFFSET_STUCK, self._stuck)
            self._stuck, self._behind, self._behind_records = None, None, 0
        records = sum(
            (changed.last_offset or 0) - (changed.first_offset or 0) + 1 for changed in rows if changed.cause in _DELIVERIES
        )
        if not records or row.start_offset < 0:
            return
        self._behind = self._behind or self._mark()
        self._behind_records += records
        stood = row.at_timestamp - self._behind.ms
        if self._stuck or stood < self._config.stuck_ms or self._behind_records < self._config.stuck_records:
            return
        offset, run = self._window.holder(row.start_offset)
        if offset > self._window.runs[-1].last:
            # All is settled: the next write moves the start offset.
            return
        held, advice = holder(run)
        evidence = (
            f"start offset {row.start_offset} stood for {stood} ms while {self._behind_records} records behind it were released, "
            f"accepted or archived; {offset} holds it: {held}"
        )
        self._stuck = _Open(self._behind, offset, evidence, advice)

    def _delivery_complete_count(self) -> Iterator[Anomaly]:
        """Compare the count with what is settled: it is at least that.

        It may be more: what a leader archives without a write (aborted transactions, markers) counts too.
        """
        row, settled = self.row, self._window.terminal
        count = row.delivery_complete_count
        if count < 0 or row.start_offset < 0 or row.snapshot_offset is None or count >= settled:
            yield from self._over(AnomalyKind.COUNT_DISAGREES, self._count)
            self._count, self._disagreeing = None, 0
            return
        self._disagreeing += 1
        if self._disagreeing == self._config.count_records:
            evidence = f"the delivery complete count is {count}, but {settled} records from {row.start_offset} on are settled"
            self._count = _Open(self._mark(), None, evidence, ADVICE[AnomalyKind.COUNT_DISAGREES])

    def _epochs(self, old: HistoryRow, rows: list[HistoryRow]) -> Iterator[Anomaly]:
        row = self.row
        causes = {changed.cause for changed in rows}
        told = []
        if row.leader_epoch < old.leader_epoch:
            told.append(f"the leader epoch goes from {old.leader_epoch} back to {row.leader_epoch}")
        if HistoryCause.SNAPSHOT_EPOCH_NOT_RISING in causes:
            told.append(f"a snapshot of epoch {row.snapshot_epoch} follows one of no lower epoch")
        if HistoryCause.UPDATE_OF_OTHER_SNAPSHOT in causes:
            told.append(f"an update names another snapshot than the last, which has epoch {row.snapshot_epoch}")
        if told:
            yield self._epoch("; ".join(told))
        if row.start_offset < 0 <= old.start_offset:
            yield self._went_back(row, None, None)

    def _epoch(self, evidence: str) -> Anomaly:
        until = self.row.at_timestamp
        return self._anomaly(
            AnomalyKind.EPOCH_WENT_BACK, Severity.CRITICAL, (None, None), self._mark(), until=until, evidence=evidence
        )

    def _went_back(self, row: HistoryRow, first: int | None, last: int | None) -> Anomaly:
        evidence = f"the start offset goes back to {row.start_offset} at state epoch {row.state_epoch}"
        return self._anomaly(
            AnomalyKind.START_OFFSET_WENT_BACK,
            Severity.CRITICAL,
            (first, last),
            self._mark(),
            until=row.at_timestamp,
            evidence=evidence,
        )

    def _loop(self, run: Run, *, until: int | None) -> Anomaly:
        what = f"record {run.first}" if run.first == run.last else f"records {run.first}-{run.last}"
        return self._anomaly(
            AnomalyKind.LOCK_EXPIRY_LOOP,
            Severity.WARNING,
            (run.first, run.last),
            Mark(run.loop_offset, run.loop_ms),
            until=until,
            evidence=(
                f"{what} came back {run.loops} times in a row after at least {self._lock_ms} ms, the lock duration, and count "
                f"{run.deliveries} deliveries"
            ),
        )

    def _over(self, kind: AnomalyKind, begun: _Open | None, *, lasts: bool = False) -> Iterator[Anomaly]:
        if begun is not None:
            severity = Severity.CRITICAL if lasts else Severity.WARNING
            until = None if lasts else self.row.at_timestamp
            place = (begun.first_offset, begun.first_offset)
            yield self._anomaly(kind, severity, place, begun.since, until=until, evidence=begun.evidence, advice=begun.advice)

    def _mark(self) -> Mark:
        return Mark(self.row.at_offset, self.row.at_timestamp)

    def _anomaly(
        self,
        kind: AnomalyKind,
        severity: Severity,
        place: tuple[int | None, int | None],
        since: Mark,
        *,
        until: int | None,
        evidence: str,
        advice: str | None = None,
    ) -> Anomaly:
        group, topic_id, partition = self.row[:3]
        where = self.row.state_partition
        return Anomaly(kind, severity, group, topic_id, partition, *place, where, *since, until, evidence, advice or ADVICE[kind])


def _join(runs: list[Run], run: Run) -> None:
    """Append a run, joined with the one before where both are alike."""
    if runs and runs[-1].last + 1 == run.first and runs[-1][2:] == run[2:]:
        runs[-1] = runs[-1]._replace(last=run.last)
    else:
        runs.append(run)


def _told(state: int | None, count: int | None) -> str:
    if state is None:
        return "unknown"
    try:
        name = RecordState(state).name.lower()
    except ValueError:
        name = f"state-{state}"
    return f"{name}x{count}"
