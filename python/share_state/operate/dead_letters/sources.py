"""Sources of the dead letters of a group: its queue, or the history of its share state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, cast

from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.read_history import history as everything
from share_state.operate.dead_letters.archived import archived, became_archived
from share_state.operate.dead_letters.cluster import Asking
from share_state.operate.dead_letters.dead_letter import DeadLetter
from share_state.operate.dead_letters.errors import NoSuchTopicError, UnknownGroupError
from share_state.operate.dead_letters.queue_record import BadQueueRecordError, QueueRecord, group_of, letter_of
from share_state.operate.dead_letters.topic_log import TopicLog
from share_state.operate.reading.plain import Finding, Progress
from share_state.operate.reading.topic_ends import topic_names

__all__ = ["Letters", "Source", "source_of"]

#: Records between two reports of progress.
_REPORT_EVERY = 512


class Source(NamedTuple):
    """Source of the dead letters of a group."""

    group: str
    #: The topic of the queue; None: the history of the share state.
    queue: str | None
    delivery_count_limit: int | None

    @property
    def words(self) -> str:
        """Name it for people."""
        return "the history of its share state" if self.queue is None else f"the dead-letter queue {self.queue}"


def source_of(asking: Asking, group: str, *, queue: str | None = None, from_history: bool = False) -> Source:
    """Choose what tells of the dead letters: the given queue, or that of the group's configuration, or the history.

    Raises:
        ClusterRefusedError: the configuration of the group may not be read, and no queue is given.
        ClusterReadError: the cluster does not answer.
    """
    if queue is not None:
        return Source(group, queue, None)
    configured = asking.group(group)
    return Source(group, None if from_history else configured.queue, configured.delivery_count_limit)


class Letters:
    """The dead letters of a group, in order of the queue's partitions and offsets, or of the state topic's; iterate once.

    Args:
        cluster: ``kafka://HOST:PORT[,...]``.
        source: what tells of them.
        settings: further settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer.
        progress: is called from time to time with the records read and their total.

    Attributes:
        findings: what could not be read so far.
    """

    def __init__(
        self,
        cluster: str,
        source: Source,
        *,
        settings: Mapping[str, object] | None = None,
        timeout: float = 10.0,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self._cluster = cluster
        self._source = source
        self._settings = settings
        self._timeout = timeout
        self._progress: Progress | None = progress
        self.findings: list[Finding] = []

    def __iter__(self) -> Iterator[DeadLetter]:
        """Read them.

        Raises:
            NoSuchTopicError: the queue is not there.
            UnknownGroupError: the history knows no such group.
            ReadNotAllowedError: the principal may not read the queue, or the state topic.
            ClusterReadError: the cluster does not answer.
        """
        return self._of_history() if self._source.queue is None else self._of_queue(self._source.queue)

    def _of_queue(self, queue: str) -> Iterator[DeadLetter]:
        with TopicLog(self._cluster, self._settings, self._timeout) as log:
            partitions = log.partitions(queue)
            if partitions is None:
                raise NoSuchTopicError(f"the dead-letter queue {queue} is not in the cluster", field="queue", value=queue)
            bounds = {partition: log.bounds(queue, partition) for partition in partitions}
            total = sum(one.end - one.start for one in bounds.values())
            done = 0
            for partition, one in bounds.items():
                for record in log.records(queue, partition, one):
                    told = QueueRecord(queue, partition, record.offset, record.timestamp, record.headers, record.has_value)
                    letter = self._letter(told)
                    if letter is not None:
                        yield letter
                    self._report(done + record.offset - one.start, total)
                done += one.end - one.start
                self._report(done, total)

    def _letter(self, record: QueueRecord) -> DeadLetter | None:
        """Return what a record tells, if it is of the group; one that tells nothing is a finding."""
        try:
            return letter_of(record) if group_of(record) == self._source.group else None
        except BadQueueRecordError as error:
            place = f"{record.topic}-{record.partition}"
            text = f"the record at offset {record.offset} tells of no dead letter and is passed over: {error}"
            self.findings.append({"file": place, "position": record.offset, "kind": "record", "message": text})
            return None

    def _of_history(self) -> Iterator[DeadLetter]:
        group = self._source.group
        history = partial(everything, self._cluster, client_config=self._settings, timeout=self._timeout)
        scan = history(group=group, progress=self._progress)
        rows: list[HistoryRow] = []
        known = False
        for row in scan:
            known = True
            if became_archived(row):
                rows.append(row)
        self.findings += cast("list[Finding]", scan.findings)
        if not known:
            raise UnknownGroupError(group, sorted({row.group for row in history()}))
        names = topic_names(self._cluster, self._settings, {row.topic_id for row in rows}, timeout=self._timeout)
        yield from archived(rows, names, self._source.delivery_count_limit)

    def _report(self, done: int, total: int) -> None:
        if self._progress is not None and (done % _REPORT_EVERY == 0 or done == total):
            self._progress(done, total)
