"""`share-state state`: the folded state of every share partition."""

import typer

from share_state.cli.shared import any_source, beside_option, findings, lag
from share_state.cli.shared.as_of_option import AsOfOption, as_of_words, parse_as_of
from share_state.cli.shared.beside_option import LogEndOffsetsOption
from share_state.cli.shared.choice import Choice, GroupOption, Key, PartitionOption, TopicIdOption
from share_state.cli.shared.deletions import check_deleted
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.state.json_rows import state_json
from share_state.cli.state.render import write_states
from share_state.cli.state.summary import summarise
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.plain import Place, ShareState


def state(
    path: SourceArgument,
    *,
    group: GroupOption = None,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    as_of: AsOfOption = None,
    log_end_offsets: LogEndOffsetsOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show the state of every share partition, now or as of earlier.

    Shows epochs, records by state, and what holds the start offset back. It shows the lag of a running cluster, and that of a
    directory with --log-end-offsets.

    Takes no lock and changes nothing; a writer may be active.
    """
    prefix, choice = parse_as_of(as_of), Choice(group, topic_id, partition)
    measured = beside_option.log_end_offsets(log_end_offsets)
    client = any_source.Client(command_config, timeout)
    with reading(path):
        with any_source.watched(path, "folding") as progress:
            states, found = any_source.fold(path, progress, client, prefix)
        try:
            if group is not None and all(row["group"] != group for row in states):
                check_deleted(group, any_source.history(path, Choice(group), client, as_of=prefix))
            choice.check((_key(row) for row in states), as_of_words(as_of))
        except typer.BadParameter:
            findings.show(found)
            raise
        chosen = [row for row in states if choice.takes(_key(row))]
        if measured is not None:
            ends = lag.newest(measured)
        elif as_of is None:
            ends = lag.ends_now(path, client, [_place(row) for row in chosen])
        else:
            # Where the topics ended then is not asked.
            ends = {}
        if output_format is OutputFormat.TABLE:
            summaries = [summarise(row, ends.get(_place(row))) for row in chosen]
            is_untold = measured is None and not is_cluster(path)
            write_states(summaries, as_of_words(as_of), whole=not found, lag_untold=is_untold)
        else:
            write_rows((state_json(row, ends.get(_place(row))) for row in chosen), output_format)
    beside_option.warn_of_unmatched(log_end_offsets, measured, {_place(row) for row in states}, all_are_there=True)
    findings.report(found)


def _key(state: ShareState) -> Key:
    return state["group"], state["topic_id"], state["partition"]


def _place(state: ShareState) -> Place:
    return state["topic_id"], state["partition"]
