"""Facts that a state topic does not hold and the command line can give: log end offsets, and the existing topics."""

import csv
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from share_state.cli.shared.choice import listed
from share_state.operate.analysis import beside
from share_state.operate.analysis.search import LogEndOffsets
from share_state.operate.reading.plain import Place
from share_state.util.printable import printable

LogEndOffsetsOption = Annotated[
    Path | None,
    typer.Option(
        "--log-end-offsets",
        metavar="FILE",
        help="For the lag: lines TOPIC_ID,PARTITION,MS,LOG_END_OFFSET, in any order; ids are UUID or base64. Not needed for a"
        " running cluster.",
        show_default=False,
    ),
]
LiveTopicsOption = Annotated[
    Path | None,
    typer.Option(
        "--live-topics",
        metavar="FILE",
        help="To find state of deleted topics: the ids of all existing topics, one a line.",
        show_default=False,
    ),
]


def log_end_offsets(file: Path | None) -> LogEndOffsets | None:
    """Read measurements of log end offsets; a file without a line is a mapping without a topic."""
    if file is None:
        return None
    with _understood(file, f"lines {beside.ROW}"), file.open(encoding="utf-8", newline="") as lines:
        return beside.log_end_offsets(csv.reader(line for line in lines if line.strip()))


def warn_of_unmatched(file: Path | None, told: LogEndOffsets | None, there: Collection[Place], *, all_are_there: bool) -> None:
    """Tell on stderr which partitions of a file of measurements are not in the log; they are skipped.

    Where not all share partitions of the log are known, for a choice was made, only a file that matches none of them is told.
    """
    if file is None or told is None:
        return
    unmatched = [f"{topic_id} {partition}" for topic_id, partition in told if (topic_id, partition) not in there]
    if not told:
        reason = "no line is in it"
    elif len(unmatched) == len(told) or (unmatched and all_are_there):
        chosen = "log" if all_are_there else "log, or not chosen"
        some = "no partition of it is" if len(unmatched) == len(told) else "not all partitions of it are"
        reason = f"{some} in the {chosen}: not {listed(unmatched)}"
    else:
        return
    sys.stdout.flush()
    typer.echo(printable(f"share-state: warning: {file}: {reason}"), err=True)


def live_topics(file: Path | None) -> tuple[str, ...] | None:
    """Read the ids of all topics that there are."""
    if file is None:
        return None
    with _understood(file, "a topic id a line"):
        return beside.live_topics(line for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def source_options(ends: Path | None, topics: Path | None) -> dict[str, str]:
    """Read both files as the options by which Spark's data source takes them."""
    told = {"logEndOffsets": log_end_offsets(ends), "liveTopics": live_topics(topics)}
    return {name: beside.as_json(value) for name, value in told.items() if value is not None}


@contextmanager
def _understood(file: Path, form: str) -> Iterator[None]:
    """Call a file that cannot be read a mistake on the command line."""
    try:
        yield
    except (OSError, ValueError, csv.Error) as error:
        raise typer.BadParameter(printable(f"{file} cannot be read as {form}: {error}")) from None
