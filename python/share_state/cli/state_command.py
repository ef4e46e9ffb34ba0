"""`share-state state`: the folded state of every share partition."""

import typer

from share_state.cli import any_source, findings
from share_state.cli.as_of_option import AsOfOption, parse_as_of
from share_state.cli.choice import Choice, GroupOption
from share_state.cli.exit_codes import reading
from share_state.cli.json_output import write_rows
from share_state.cli.json_rows import state_json
from share_state.cli.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.render import write_states
from share_state.cli.summary import summarise


def state(
    path: SourceArgument,
    *,
    group: GroupOption = None,
    as_of: AsOfOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show the state of every share partition, now or as of earlier.

    Epochs, records by state, and why the start offset stands where it stands.

    Nothing is locked or changed; a writer may be at work meanwhile. A running cluster needs the extra `kafka` of the package.
    """
    prefix = parse_as_of(as_of)
    client = any_source.Client(command_config, timeout)
    with reading(path):
        with any_source.watched(path, "folding") as progress:
            states, found = any_source.fold(path, progress, client, prefix)
        try:
            Choice(group).check((row["group"], row["topic_id"], row["partition"]) for row in states)
        except typer.BadParameter:
            findings.show(found)
            raise
        chosen = [row for row in states if group is None or row["group"] == group]
        if output_format is OutputFormat.TABLE:
            write_states([summarise(row) for row in chosen])
        else:
            write_rows((state_json(row) for row in chosen), output_format)
    findings.report(found)
