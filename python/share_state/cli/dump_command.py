"""`share-state dump`: every record of the state topic as it lies on disk."""

from collections.abc import Iterator

from share_state.cli import findings, source
from share_state.cli.dump_table import write_dump_table
from share_state.cli.exit_codes import reading
from share_state.cli.json_output import write_rows
from share_state.cli.output_format import FormatOption, OutputFormat, PathArgument
from share_state.cli.progress import counted
from share_state.errors import ShareStateError


def dump(path: PathArgument, output_format: FormatOption = OutputFormat.TABLE) -> None:
    """Show every record, also deletions and what lies below the log start.

    In order of partition and offset, with the fields of Kafka's DumpLogSegments.

    Nothing is locked or changed; a writer may be at work meanwhile.
    """
    with reading(path):
        found: list[source.Finding] = []
        scan = source.scan_path(path)
        rows = counted(_rows(scan, found), "records")
        if output_format is OutputFormat.TABLE:
            write_dump_table(rows)
        else:
            write_rows(rows, output_format)
        found.extend(scan.findings)
    findings.report(found)


def _rows(scan: source.Scan, found: list[source.Finding]) -> Iterator[dict[str, object]]:
    for record in scan:
        partition, segment, offset, timestamp, key, value = record
        try:
            decoded = source.decode_record(key, value)
        except ShareStateError as error:
            decoded = {"key": {"raw": key.hex()}, "value": None if value is None else {"raw": value.hex()}}
            message = f"the record at offset {offset} cannot be decoded and is shown raw: {error}"
            file = f"__share_group_state-{partition}/{segment}"
            found.append({"file": file, "position": offset, "kind": "record", "message": message})
        yield {"partition": partition, "segment": segment, "offset": offset, "timestamp": timestamp, **decoded}
