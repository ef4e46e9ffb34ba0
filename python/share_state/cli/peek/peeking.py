"""Finds the records that `share-state peek` is to show, and reads them beside what became of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING, Final

import typer

from share_state.cli.peek.view import Peeked
from share_state.cli.shared import any_source, asking_brokers
from share_state.cli.shared.choice import Choice, listed
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.read_states import StateRow, states_of_rows
from share_state.operate.analysis.record_choice import ArchivedLately, Place, head, poison
from share_state.operate.analysis.trace import NotInLogError, RecordFacts, RecordTrace, RecordTracer
from share_state.operate.live.group_limits import delivery_limit_of
from share_state.operate.live.health import near_limit
from share_state.operate.payloads import Missing, Payload, Showing
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live.about import About
    from share_state.operate.reading.plain import Finding

__all__ = ["NOTHING", "Peeking", "Wanted"]


class Wanted(Enum):
    """Kind of records to look for."""

    HEAD = auto()
    POISON = auto()
    ARCHIVED = auto()


#: Said where there is no such record.
NOTHING: Final = {
    Wanted.HEAD: "No record holds a start offset: everything that was produced is settled.",
    Wanted.POISON: "No record in the window is near the delivery limit.",
    Wanted.ARCHIVED: "No record was archived, as far as the log goes back.",
}


class Peeking:
    """Records of one topic in one share group.

    Args:
        cluster: its address.
        client: how it is asked.
        choice: the group, the topic's id, and a partition or all.
        known: what the brokers say of the topic and the group.
    """

    def __init__(self, cluster: str, client: any_source.Client, choice: Choice, known: About) -> None:
        self._cluster = cluster
        self._client = client
        self._choice = choice
        self._known = known
        self._archived = ArchivedLately(0)
        #: Damage in the state topic: what could not be read.
        self.damage: list[Finding] = []

    def at(self, offset: int) -> list[Place]:
        """Return the record at an offset, of the one partition that is meant.

        Raises:
            typer.BadParameter: the group has no state of the topic, or of several partitions.
        """
        there = {state.partition for state in self._states()}
        if len(there) != 1:
            raise typer.BadParameter(f"--offset needs --partition: the group has state of the partitions {listed(there)}")
        return [Place(there.pop(), offset)]

    def places(self, wanted: Wanted, limit: int) -> list[Place]:
        """Read the state topic once, and return which records are meant.

        Raises:
            typer.BadParameter: the group has no state of the topic.
        """
        self._archived = ArchivedLately(limit)
        states = self._states()
        if wanted is Wanted.ARCHIVED:
            return self._archived.places()
        if wanted is Wanted.HEAD:
            found: Iterable[Place] = (place for place in head(states) if self._is_produced(place))
        else:
            most = delivery_limit_of(self._known.configs)
            found = poison(states, near_limit(most), most)
        return list(islice(found, limit))

    def _is_produced(self, place: Place) -> bool:
        """Return whether the topic has, or had, a record at a place; yes where its end is not known."""
        return place.offset < self._known.ends.get(place.partition, place.offset + 1)

    def _states(self) -> list[StateRow]:
        topic = self._known.topic
        partition = self._choice.partition
        if partition is not None and partition >= len(topic.leaders):
            text = f"--partition {partition}: the topic {topic.name} has {len(topic.leaders)}, from 0"
            raise typer.BadParameter(printable(text))
        with any_source.watched(self._cluster, "reading") as progress:
            scan = any_source.history(self._cluster, self._choice, self._client, progress)
            states = sorted(states_of_rows(self._seen(scan)), key=lambda state: state.partition)
        self.damage += scan.findings
        if not states:
            where = "" if partition is None else f"partition {partition} of "
            text = f"GROUP {self._choice.group} has no state of {where}the topic {topic.name} in the cluster"
            raise typer.BadParameter(printable(text))
        return states

    def _seen(self, rows: Iterable[HistoryRow]) -> Iterator[HistoryRow]:
        for row in rows:
            self._archived.see(row)
            yield row

    def records(self, places: Sequence[Place], showing: Showing, *, must_be: bool) -> Iterator[Peeked]:
        """Read the histories of the records in one go, and then the records, one at a time.

        A record that nobody has seen is refused where it `must_be` there, else left out.

        Raises:
            typer.BadParameter: it must be there, and is not.
        """
        if not places:
            return
        tracers = self._traced(places)
        topic = self._known.topic.name
        with asking_brokers.payload_reader(self._cluster, self._client) as reader:
            for place in places:
                [found] = reader.read(topic, place.partition, [place.offset])
                try:
                    trace = self._trace(tracers[place], place, found)
                except NotInLogError as error:
                    if must_be:
                        raise typer.BadParameter(printable(str(error))) from None
                    continue
                shown = showing.record(found) if isinstance(found, Payload) else None
                yield Peeked(topic, trace, self._known.delivery_limit, found, shown)

    def _traced(self, places: Iterable[Place]) -> dict[Place, RecordTracer]:
        tracers = {place: RecordTracer(place.offset) for place in places}
        ordered = sorted(tracers)
        for row in any_source.history(self._cluster, self._choice, self._client):
            # A row without offsets is of all records of its partition.
            first, last = (row.first_offset or 0, row.last_offset) if row.first_offset is not None else (0, None)
            begin = bisect_left(ordered, (row.partition, first))
            end = bisect_left(ordered, (row.partition + 1,)) if last is None else bisect_right(ordered, (row.partition, last))
            for place in ordered[begin:end]:
                tracers[place].see(row)
        return tracers

    def _trace(self, tracer: RecordTracer, place: Place, found: Payload | Missing) -> RecordTrace:
        limits = self._known.delivery_limit, self._known.lock_duration_ms
        if isinstance(found, Payload):
            # It may be newer than the end that was asked for.
            return tracer.trace(RecordFacts(found.timestamp_ms, place.offset + 1, *limits))
        return tracer.trace(RecordFacts(None, self._known.ends.get(place.partition), *limits))
