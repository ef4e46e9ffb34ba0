"""A choice that leaves nothing is refused, and what there is instead is named."""

import json
import re
from pathlib import Path

import pytest

from share_state.cli.shared.choice import listed
from tests.cli_in_process import run_here
from tests.recordings import JOBS, ORDERS

TOPIC = "6b65c5c4-c6a9-4608-8d1c-fc6ed4ad77d2"
GROUPS = "jobs-leaver, jobs-tx-workers, jobs-workers"


def refused(*arguments: str | Path) -> str:
    """The error on one line, without its frame."""
    result = run_here(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
@pytest.mark.parametrize("command", ["state", "history", "anomalies"])
def test_an_unknown_group_is_named_beside_those_that_exist(command: str, output: str) -> None:
    told = refused(command, JOBS, "--group", "nobody", "--format", output)
    assert "--group nobody is not in the log, which has " in told
    assert "jobs-tx-workers" in told


def test_a_picture_of_an_unknown_group_is_refused_in_the_same_words(tmp_path: Path) -> None:
    told = refused("plot", JOBS, "--group", "nobody", "-o", tmp_path / "x.png")
    assert f"--group nobody is not in the log, which has {GROUPS}" in told


@pytest.mark.parametrize("command", ["state", "history", "anomalies"])
def test_an_unknown_partition_and_topic_are_named_within_what_was_chosen_before(command: str) -> None:
    # The states of the one that left were deleted.
    group = "jobs-workers" if command == "state" else "jobs-leaver"
    told = refused(command, JOBS, "--group", group, "--partition", "7")
    assert re.search(rf"--partition 7 of --group {group} is not in the log, which has [0-9, ]+ ", told)
    told = refused(command, JOBS, "--topic-id", "5f3ff250-a9a1-4215-bb36-c84728fd60e8")
    assert "--topic-id 5f3ff250-a9a1-4215-bb36-c84728fd60e8 is not in the log, which has " in told
    told = refused(command, JOBS, "--topic-id", "a2XFxMapRgiNHPxu1K130g", "--partition", "99")
    assert "--partition 99 of --topic-id a2XFxMapRgiNHPxu1K130g is not in the log" in told


def test_states_are_chosen_by_group_topic_and_partition() -> None:
    def keys(*chosen: str) -> list[tuple[str, str, int]]:
        result = run_here("state", JOBS, "--format", "json", *chosen)
        assert result.returncode == 0, result.stderr
        return [(row["group"], row["topic_id"], row["partition"]) for row in json.loads(result.stdout)]

    everything = keys()
    group, _, number = everything[0]
    for chosen, takes in (
        (("--partition", str(number)), lambda key: key[2] == number),
        (("--topic-id", "a2XFxMapRgiNHPxu1K130g"), lambda key: key[1] == TOPIC),
        (("--group", group, "--partition", str(number)), lambda key: (key[0], key[2]) == (group, number)),
    ):
        wanted = [key for key in everything if takes(key)]
        assert keys(*chosen) == wanted
        assert 0 < len(wanted) < len(everything), chosen


def test_an_offset_of_which_nothing_is_written_is_refused_with_those_that_are() -> None:
    choice = ("history", JOBS, "--group", "jobs-leaver", "--topic-id", TOPIC, "--partition", "0", "--format", "json")
    told = refused(*choice, "--offset", "99999999")
    found = re.search(r"--offset 99999999: the log has only offsets (\d+) to (\d+)", told)
    assert found
    for offset in found.groups():
        assert run_here(*choice, "--offset", offset).returncode == 0


@pytest.mark.parametrize("command", ["history", "anomalies"])
def test_a_topic_id_that_is_none_is_refused(command: str) -> None:
    assert "topic_id is 'x'; expected" in refused(command, JOBS, "--topic-id", "x")


@pytest.mark.parametrize("option", ["--partition", "--offset"])
@pytest.mark.parametrize("number", ["-1", "9" * 30])
def test_numbers_that_cannot_be_are_refused(option: str, number: str) -> None:
    told = refused("history", JOBS, option, number)
    assert f"{option} is {number}; expected 0 to " in told


def test_damage_is_told_beside_a_group_that_was_not_found(tmp_path: Path) -> None:
    torn = tmp_path / "__share_group_state-0"
    torn.mkdir()
    segment = JOBS / "__share_group_state-0" / "00000000000000000000.log"
    (torn / segment.name).write_bytes(segment.read_bytes()[:-3])
    for command in ("state", "history"):
        assert "torn_tail: " in refused(command, torn, "--group", "nobody")


def test_an_unknown_place_of_as_of_is_named() -> None:
    told = refused("state", ORDERS, "--as-of", "9=1")
    assert "--as-of 9=1: no such state partition; the log has 0, 1, 2" in told
    told = refused("state", ORDERS, "--as-of", "0=99999999")
    assert re.search(r"--as-of 0=99999999: state partition 0 ends before offset \d+", told)


def test_a_hostile_choice_is_escaped() -> None:
    assert r"--group \x1b[2J is not in the log" in refused("state", JOBS, "--group", "\x1b[2J")


def test_a_long_list_is_cut() -> None:
    assert listed(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert listed([]) == "none"
