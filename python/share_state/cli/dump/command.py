"""`share-state dump`: every record of the state topic, as it lies on disk or as a cluster hands it out."""

from collections.abc import Iterator

from share_state.cli.dump.table import write_dump_table
from share_state.cli.shared import any_source, findings
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.shared.progress import counted
from share_state.errors import ShareStateError
from share_state.operate.reading import plain


def dump(
    path: SourceArgument,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show every record, including deletions and, on disk, records below the log start.

    Records are in order of partition and offset, with the fields of Kafka's DumpLogSegments. A running cluster is read from
    the log start of each partition; its records have no segment.

    Takes no lock and changes nothing; a writer may be active.
    """
    client = any_source.Client(command_config, timeout)
    with reading(path):
        found: list[plain.Finding] = []
        scan = any_source.scan(path, client)
        rows = counted(_rows(scan, found), "records")
        if output_format is OutputFormat.TABLE:
            write_dump_table(rows)
        else:
            write_rows(rows, output_format)
        found.extend(scan.findings)
    findings.report(found)


def _rows(scan: plain.Scan, found: list[plain.Finding]) -> Iterator[dict[str, object]]:
    for record in scan:
        partition, segment, offset, timestamp, key, value = record
        try:
            decoded = plain.decode_record(key, value)
        except ShareStateError as error:
            decoded = {"key": {"raw": key.hex()}, "value": None if value is None else {"raw": value.hex()}}
            message = f"the record at offset {offset} cannot be decoded and is shown raw: {error}"
            found.append({"file": plain.file_of(partition, segment), "position": offset, "kind": "record", "message": message})
        yield {"partition": partition, "segment": segment, "offset": offset, "timestamp": timestamp, **decoded}
