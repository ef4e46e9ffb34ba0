"""From options to the pieces that tasks read, and from a piece to rows."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import InputPartition

from share_state import frames
from share_state.errors import CorruptLogError
from share_state.operate.reading.as_of import AsOf
from share_state.spark import kafka_topic
from share_state.spark.fold import Fold
from share_state.spark.options import Options
from share_state.spark.storage import Folder, base_offset, folders, local_folder, segment_starts
from share_state.spark.superseded import Snapshots

__all__ = ["Piece", "at_segments", "for_anomalies", "pieces", "read", "records"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Piece:
    """Records of one state partition: all that there are, or those of `start` <= offset < `end`."""

    state_partition: int
    #: None: it is in a cluster.
    folder: Folder | None = None
    start: int | None = None
    end: int | None = None


def pieces(options: Options) -> list[Piece]:
    """Find what there is to read now, in order of state partition."""
    if options.paths:
        return [Piece(folder.state_partition, folder) for folder in folders(options.paths)]
    return [Piece(one.partition, None, one.start, one.end) for one in kafka_topic.ranges(options.kafka)]


def at_segments(options: Options, piece: Piece) -> list[Piece]:
    """Divide a state partition where its segments begin, for a table that has a row a record and nothing to fold.

    What lies elsewhere is copied whole by its task, and a time ends a state partition at a record that one task finds.
    """
    if piece.folder is None or not piece.folder.is_local or options.as_of.timestamp is not None:
        return [piece]
    starts: list[int | None] = [*segment_starts(piece.folder)[1:]]
    bounds = zip([None, *starts], [*starts, None], strict=True)
    return [Piece(piece.state_partition, piece.folder, start, end) for start, end in bounds]


def for_anomalies(options: Options, found: list[Piece]) -> list[InputPartition]:
    """Divide the work of the anomalies.

    A delivery limit that is learned from the log is learned from all state partitions of a group: then one task reads them all.
    """
    if options.config.delivery_count_limit is None:
        return [InputPartition(tuple(found))]
    return [InputPartition((piece,)) for piece in found]


def read(options: Options, some: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
    """Make the table that the options name of the records of pieces."""
    fold = Fold(
        options.table,
        options.choice,
        options.as_of,
        options.on_error,
        options.config,
        options.log_end_offsets,
        options.live_topics,
    )
    passed_over: list[dict[str, object]] = []
    whole = _whole(some)
    if whole is None:
        yield from fold.run(batch for piece in some for batch in records(options, piece, passed_over))
    else:
        with local_folder(whole) as path:
            # The log itself and not its batches: from the segments to the rows without a stop at Python.
            scan = frames.read(path)
            yield from fold.run(scan)
            passed_over += _damage(scan.findings, options, whole.state_partition)
    if options.table == "errors" and passed_over:
        yield pa.RecordBatch.from_pylist(passed_over, schema=frames.SCHEMAS["errors"])


def _whole(some: Sequence[Piece]) -> Folder | None:
    """Return the one state partition that is read, where it lies in files and is read from beginning to end."""
    if len(some) != 1 or some[0].start is not None or some[0].end is not None:
        return None
    return some[0].folder


def records(options: Options, piece: Piece, passed_over: list[dict[str, object]]) -> Iterator[pa.RecordBatch]:
    """Return the records of a piece in order of their offsets; damage that is skipped goes into the list, as rows of errors."""
    if piece.folder is None:
        yield from kafka_topic.records(options.kafka, piece.state_partition, piece.start or 0, piece.end or 0)
        return
    with local_folder(piece.folder, piece.start or 0, piece.end) as path:
        scan = frames.read(path)
        for batch in _needed(options, scan, path):
            kept = _within(batch, piece)
            if kept.num_rows:
                yield kept
            elif piece.end is not None and batch.column("offset")[0].as_py() >= piece.end:
                break
        passed_over += _damage(
            [finding for finding in scan.findings if _concerns(finding, piece)], options, piece.state_partition
        )


def _within(batch: pa.RecordBatch, piece: Piece) -> pa.RecordBatch:
    offsets = batch.column("offset")
    if piece.start is not None and batch.num_rows and offsets[0].as_py() < piece.start:
        batch = batch.filter(pc.greater_equal(offsets, piece.start))
        offsets = batch.column("offset")
    if piece.end is not None and batch.num_rows and offsets[-1].as_py() >= piece.end:
        batch = batch.filter(pc.less(offsets, piece.end))
    return batch


def _needed(options: Options, scan: frames.RecordBatches, path: Path) -> Iterator[pa.RecordBatch]:
    """Leave out what the table does not depend on, if so asked.

    As of earlier, and where a snapshot may be put aside, it does depend on it.
    """
    if options.table != "state" or not options.skip_superseded or options.as_of != AsOf() or options.on_error != "fail":
        return scan
    snapshots = Snapshots()
    snapshots.see(frames.read(path))
    return snapshots.without_superseded(scan)


def _concerns(finding: dict[str, object], piece: Piece) -> bool:
    """Return true if a finding lies before the end of a piece: the segment after it is another piece's."""
    return piece.end is None or base_offset(Path(str(finding["file"])).name) < piece.end


def _damage(findings: list[dict[str, object]], options: Options, state_partition: int) -> Iterator[dict[str, object]]:
    """Raise for damage and holes, or return them as rows; a torn tail, from a writer or a crash, is none."""
    for finding in findings:
        if finding["kind"] == "torn_tail":
            _LOG.warning("%s", finding["message"])
        elif options.on_error == "quarantine" or options.table == "errors":
            yield {"row": 0, "partition": state_partition, "reason": finding["kind"], "message": finding["message"]}
        else:
            raise CorruptLogError(
                str(finding["message"]),
                segment=str(finding["file"]),
                position=int(str(finding["position"])),
                kind=str(finding["kind"]),
            )
