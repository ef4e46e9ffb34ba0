"""`share-state state`: the folded state of every share partition."""

from typing import Annotated

import typer

from share_state.cli import any_source, findings
from share_state.cli.as_of_option import AsOfOption, parse_as_of
from share_state.cli.exit_codes import reading
from share_state.cli.json_output import write_rows
from share_state.cli.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument
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
    path: SourceArgument,
    group: Annotated[str | None, typer.Option("--group", "-g", help="Only this group.", show_default=False)] = None,
    as_of: AsOfOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
) -> None:
    """Show the state of every share partition, now or as of earlier.

    Epochs, records by state, and why the start offset stands where it stands.

    Nothing is locked or changed; a writer may be at work meanwhile. A running cluster needs the extra `kafka` of the package.
    """
    prefix = parse_as_of(as_of)
    with reading(path):
        with any_source.watched(path, "folding") as progress:
            states, found = any_source.fold(path, progress, command_config, prefix)
        chosen = [row for row in states if group is None or row["group"] == group]
        if output_format is OutputFormat.TABLE:
            write_states([summarise(row) for row in chosen])
        else:
            rows: list[dict[str, object]] = [dict(row) for row in chosen]
            write_rows(({field: row[field] for field in _FIELDS} for row in rows), output_format)
    findings.report(found)
