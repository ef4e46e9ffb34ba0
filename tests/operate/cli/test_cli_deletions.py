"""A group whose states were deleted is told from one that never was."""

import json
import re

import pytest
import typer

from share_state.cli.shared.deletions import Deletions, check_deleted
from share_state.operate import analysis
from tests.cli_runner import run
from tests.operate.cli.test_cli_choice import refused
from tests.recordings import ORDERS

GROUP = "orders-leaver"
TOLD = (
    f"--group {GROUP} has no state any more: that of its 2 share partitions was deleted, the last at 2026-11-21T09:45:15.649Z; "
    "`share-state history` shows its history"
)


@pytest.mark.parametrize("output", ["table", "jsonl"])
def test_state_tells_when_the_states_of_a_group_were_deleted(output: str) -> None:
    assert TOLD in refused("state", ORDERS, "--group", GROUP, "--format", output)


def test_as_of_earlier_only_what_was_deleted_then_is() -> None:
    choice = ("state", ORDERS, "--group", GROUP, "--as-of")
    assert run(*choice, "2026-11-21T09:45:00Z").returncode == 0
    assert TOLD in refused(*choice, "2026-11-21T09:46:00Z")
    assert "is not in the log as of" in refused(*choice, "2026-11-21T09:40:00Z")


def test_anomalies_of_a_deleted_state_say_so() -> None:
    rows = [json.loads(line) for line in run("anomalies", ORDERS, "--format", "jsonl").stdout.splitlines()]
    lines = run("anomalies", ORDERS).stdout.splitlines()
    evidence = lines[3 : 1 + 3 * len(rows) : 3]
    gone = [bool(re.search(r"; the state was deleted since, at 2026-11-21T09:45:15\.\d{3}Z$", line)) for line in evidence]
    assert gone == [row["group"] == GROUP for row in rows]
    assert gone.count(True) == 2


def test_one_share_partition_is_told_without_a_number() -> None:
    with pytest.raises(typer.BadParameter, match=r"that of its share partition was deleted at 2026-11-21T09:45:15\.647Z; "):
        check_deleted(GROUP, analysis.history(ORDERS, group=GROUP, partition=0))


def test_a_deletion_before_something_was_found_does_not_concern_it() -> None:
    seen = Deletions()
    rows = list(analysis.history(ORDERS, group=GROUP, partition=0))
    [deletion] = [row for row in rows if row.cause == analysis.HistoryCause.DELETED]
    [found] = analysis.find_anomalies(seen.watch(rows))
    assert seen.after(found) == deletion.at_timestamp
    assert seen.after(found._replace(since_offset=deletion.at_offset + 1)) is None
    assert seen.after(found._replace(partition=1)) is None
