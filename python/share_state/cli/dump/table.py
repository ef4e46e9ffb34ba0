"""The dump for people: a heading for each segment, then one line a record, written as they come."""

import base64
from collections.abc import Iterable, Mapping
from typing import cast
from uuid import UUID

from share_state.cli.shared.lines import HANGING, Lines
from share_state.operate.analysis.names import counted_state, instant
from share_state.operate.reading.plain import file_of

#: Batches written out on one line; `--format jsonl` has them all.
_BATCHES_SHOWN = 4
#: Over the columns of the lines; epochs are snapshot/state/leader.
_HEADER = f"{'OFFSET':>8}  {'TIME (UTC)':<24}  {'KIND':<8}  GROUP  TOPIC-ID  PARTITION  EPOCHS  START  COMPLETE  BATCHES"
_KINDS = {"0": "snapshot", "1": "update"}


def write_dump_table(rows: Iterable[Mapping[str, object]]) -> None:
    """Write one line a row; every text from the log is escaped."""
    heading: tuple[object, object] | None = None
    out = Lines()
    for row in rows:
        if heading is None:
            out.write(_HEADER, more=HANGING)
        segment = (row["partition"], row["segment"])
        if segment != heading:
            out.write(file_of(cast("int", segment[0]), cast("str | None", segment[1])), more=HANGING)
            heading = segment
        out.write(_line(row), more=HANGING)
    if heading is None:
        out.write("No record is here.")


def _line(row: Mapping[str, object]) -> str:
    when = instant(cast("int", row["timestamp"]))
    key = cast("dict[str, object]", row["key"])
    value = cast("dict[str, object] | None", row["value"])
    head = f"{row['offset']:>8}  {when}"
    if "data" not in key:
        return f"{head}  raw key {key.get('raw', '')} value {'null' if value is None else value.get('raw', '')}"
    identity = cast("dict[str, object]", key["data"])
    topic_id = _hyphenated(str(identity["topicId"]))
    kind = "deleted" if value is None else _KINDS.get(str(key["type"]), f"type {key['type']}")
    line = f"{head}  {kind:<8}  {identity['groupId']}  {topic_id}  {identity['partition']}"
    if value is None:
        return line
    return f"{line}  {_contents(cast('dict[str, object]', value['data']))}"


def _contents(data: Mapping[str, object]) -> str:
    # An update has no state epoch: it belongs to the snapshot before it.
    epochs = f"{data['snapshotEpoch']}/{data.get('stateEpoch', '-')}/{data['leaderEpoch']}"
    complete = data.get("deliveryCompleteCount", "-")
    batches = cast("list[dict[str, int]]", data["stateBatches"])
    shown = " ".join(_batch(batch) for batch in batches[:_BATCHES_SHOWN])
    more = len(batches) - _BATCHES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"epochs {epochs}  start {data['startOffset']}  complete {complete}  {shown or 'no batch'}{rest}"


def _batch(batch: Mapping[str, int]) -> str:
    first, last = batch["firstOffset"], batch["lastOffset"]
    span = str(first) if first == last else f"{first}-{last}"
    return f"{span}:{counted_state(batch['deliveryState'], batch['deliveryCount'])}"


def _hyphenated(topic_id: str) -> str:
    return str(UUID(bytes=base64.urlsafe_b64decode(topic_id + "==")))
