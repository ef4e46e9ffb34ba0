"""JSON for machines: one object a line, or one array, written as the rows come."""

import json
import sys
from collections.abc import Iterable

from share_state.cli.shared.output_format import OutputFormat


def compact(row: object) -> str:
    """Return `row` as JSON without spaces, in ASCII: no byte of a group id reaches a terminal raw."""
    return json.dumps(row, separators=(",", ":"))


def write_rows(rows: Iterable[object], output_format: OutputFormat) -> None:
    """Write rows as they come, never more than one in memory."""
    write = sys.stdout.write
    if output_format is OutputFormat.JSONL:
        for row in rows:
            write(compact(row) + "\n")
        return
    separator = "[\n"
    for row in rows:
        write(f"{separator}  {compact(row)}")
        separator = ",\n"
    write("[]\n" if separator == "[\n" else "\n]\n")
