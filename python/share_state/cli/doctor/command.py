"""`share-state doctor`: the causes of trouble on a running cluster, and the command that mends each."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from share_state.cli.shared.any_source import client_config
from share_state.cli.shared.choice import GroupOption, listed
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import Lines
from share_state.cli.shared.live_source import ClusterArgument, CopyOption, live_view
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, TimeoutOption
from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor import Finding, Tools, examine
from share_state.operate.doctor.json_rows import doctor_json
from share_state.operate.reading.cluster import SCHEME
from share_state.util.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

    from share_state.operate.live import LiveView
    from share_state.operate.live.view import View

#: Named in the commands where the cluster is secured: Kafka's tools take other settings than this command.
_ADMIN = "admin.properties"


def doctor(
    cluster: ClusterArgument,
    *,
    group: GroupOption = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--for",
            metavar="SECONDS",
            min=0,
            max=3600,
            help="Look again after so long, to see what grows or comes back meanwhile.",
        ),
    ] = 0.0,
    copy: CopyOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Find why share groups of a running cluster are in trouble, and the Kafka command that mends each cause.

    Joins no group and changes nothing. Exit status 1 means that something was found, 4 that something could not be seen, and 5
    both.

    Example: share-state doctor kafka://localhost:9092
    """
    with reading(cluster):
        live = live_view(cluster, command_config, copy, timeout)
        view, findings = asyncio.run(_examine(live, _tools(cluster, command_config), seconds))
        names = [one.group for one in view.groups]
        if group is not None and group not in names:
            raise typer.BadParameter(printable(f"--group {group} is not in the cluster, which has {listed(names)}"))
        # What concerns all groups concerns this one.
        rows = [one for one in findings if group is None or one.group in {None, group}]
        if output_format is OutputFormat.TABLE:
            _write(rows, whole=not view.problems)
        else:
            write_rows((doctor_json(view, one) for one in rows), output_format)
    for problem in view.problems:
        typer.echo(printable(f"share-state: warning: {problem}"), err=True)
    raise typer.Exit(_status(view, rows))


async def _examine(live: LiveView, tools: Tools, seconds: float) -> tuple[View, list[Finding]]:
    async with live:
        return await examine(live, tools, seconds=seconds)


def _tools(cluster: str, command_config: Path | None) -> Tools:
    settings = client_config(cluster, command_config) or {}
    user = settings.get("sasl.username")
    return Tools(
        cluster.removeprefix(SCHEME).rstrip("/"),
        _ADMIN if command_config is not None else None,
        None if user is None else f"User:{user}",
    )


def _status(view: View, rows: list[Finding]) -> ExitCode:
    if view.problems:
        return ExitCode.FINDINGS_AND_DAMAGE if rows else ExitCode.DAMAGE
    return ExitCode.FINDINGS if rows else ExitCode.OK


def _write(rows: list[Finding], *, whole: bool) -> None:
    out = Lines()
    if not rows:
        # What cannot be seen may be anything.
        out.write("Nothing is wrong, as far as the cluster tells." if whole else "Nothing is wrong in what can be seen.")
        return
    severities = Counter(one.severity for one in rows)
    counts = ", ".join(f"{severities[severity]} {severity}" for severity in reversed(Severity) if severities[severity])
    out.write(f"{len(rows)} {'finding' if len(rows) == 1 else 'findings'}: {counts}", more=2)
    for one in rows:
        partition = None if one.partition is None else f"partition {one.partition}"
        place = [part for part in (one.group, one.topic, partition) if part is not None]
        out.write("  ".join([one.severity.upper(), one.check, *place]), more=4)
        out.write(one.text, indent=2)
        out.write(one.advice, indent=2)
        for command in one.commands:
            # Whole, to be copied; it has no character that cannot be printed.
            typer.echo(f"  $ {command}")
