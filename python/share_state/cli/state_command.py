"""`share-state state`: the folded state of every share partition."""

from typing import Annotated

import typer

from share_state.cli import findings, source
from share_state.cli.exit_codes import reading
from share_state.cli.json_output import write_rows
from share_state.cli.output_format import FormatOption, OutputFormat, PathArgument
from share_state.cli.progress import byte_progress
from share_state.cli.render import write_states
from share_state.cli.summary import summarise

#: The fields of a JSON row, in order.
_FIELDS = (
    "group",
    "topic_id",
    "partition",
    "snapshot_epoch",
    "state_epoch",
    "leader_epoch",
    "start_offset",
    "delivery_complete_count",
    "batches",
)


def state(
    path: PathArgument,
    group: Annotated[str | None, typer.Option("--group", "-g", help="Only this group.", show_default=False)] = None,
    output_format: FormatOption = OutputFormat.TABLE,
) -> None:
    """Show the state of every share partition.

    Epochs, records by state, and why the start offset stands where it stands.

    Nothing is locked or changed; a writer may be at work meanwhile.
    """
    with reading(path):
        with byte_progress("folding") as progress:
            states, found = source.fold_path(path, progress)
        chosen = [row for row in states if group is None or row["group"] == group]
        if output_format is OutputFormat.TABLE:
            write_states([summarise(row) for row in chosen])
        else:
            rows: list[dict[str, object]] = [dict(row) for row in chosen]
            write_rows(({field: row[field] for field in _FIELDS} for row in rows), output_format)
    findings.report(found)
