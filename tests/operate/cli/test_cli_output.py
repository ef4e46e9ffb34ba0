"""Results as a person, a pipe and a hostile group id see them."""

import re
import subprocess

import pytest

from share_state.cli.dump.table import write_dump_table
from share_state.cli.state.render import write_states
from share_state.cli.state.summary import summarise
from share_state.operate.reading.plain import ShareState
from share_state.util.printable import printable
from tests.cli_runner import COMMAND, environment, run, run_on_terminal
from tests.recordings import ORDERS

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m")
ESCAPE = "\x1b"
TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
HOSTILE = "\x1b[2Jpwned\x07\u202egnp\u2066\x9b31m[bold]"


def a_state(group: str = "orders-workers") -> ShareState:
    return {
        "group": group,
        "topic_id": TOPIC_ID,
        "partition": 1,
        "state_partition": 1,
        "snapshot_epoch": 3,
        "state_epoch": 2,
        "leader_epoch": 0,
        "start_offset": 10,
        "delivery_complete_count": 4,
        "batches": [(10, 12, 2, 1), (13, 13, 0, 2), (14, 14, 3, 5), (15, 15, 4, 3)],
        "incomplete": False,
        "create_timestamp": 0,
        "write_timestamp": 0,
    }


def test_a_summary_counts_records_by_state() -> None:
    summary = summarise(a_state())
    assert (summary.acknowledged, summary.available, summary.archiving, summary.archived) == (3, 1, 1, 1)
    assert (summary.start_offset, summary.window_end) == (10, 15)
    assert (summary.highest_delivery_count, summary.oldest_unsettled) == (5, 13)


def test_an_incomplete_state_says_so() -> None:
    state = a_state()
    state["incomplete"] = True
    assert summarise(state).reason.startswith("incomplete, the snapshot before these updates is not in the log; ")


def test_the_state_table_of_a_real_broker() -> None:
    result = run("state", ORDERS)
    assert (result.returncode, result.stderr) == (0, "")
    assert ESCAPE not in result.stdout
    [row] = [line for line in result.stdout.splitlines() if TOPIC_ID in line and "1255" in line]
    assert re.split(r"\s{2,}", row.strip()) == [
        "orders-workers",
        TOPIC_ID,
        "1",
        "3/2/0",
        "1255",
        "1435",
        "118",
        "56",
        "0",
        "7",
        "3",
        "1258",
        "record 1258 is available after 2 deliveries; 1255-1257 are settled and passed with the next write",
    ]


def test_the_dump_table_of_a_real_broker() -> None:
    result = run("dump", ORDERS)
    assert (result.returncode, result.stderr) == (0, "")
    _header, *lines = result.stdout.splitlines()
    headings = [line for line in lines if line.startswith("__share_group_state-")]
    assert headings == [f"__share_group_state-{n}/00000000000000000000.log" for n in range(3)]
    assert len(lines) - len(headings) == 1495
    assert sum("  deleted   " in line for line in lines) == 2


def test_a_narrow_terminal_gets_a_block_a_share_partition() -> None:
    status, text = run_on_terminal("state", ORDERS, columns=80)
    assert status == 0
    assert TOPIC_ID in text
    assert "WHAT HOLDS THE START OFFSET" not in text
    words = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    assert "start 1255 end 1435 oldest 1258" in words
    assert "record 1258 is available after 2 deliveries" in words


@pytest.mark.parametrize("columns", ["55", "80"])
def test_lines_of_a_block_keep_their_indent_and_end_without_blanks(columns: str) -> None:
    blocks = run("state", ORDERS, COLUMNS=columns).stdout.split("\n\n")
    *blocks, legend = blocks
    assert len(blocks) > 3
    for block in blocks:
        title, *lines = block.splitlines()
        place = title if columns == "80" else f"{title}\n{lines[0]}"
        assert re.search(rf"^[\w-]+\s+{UUID}\s+partition \d+$", place)
        assert [line for line in lines if not re.match(r"  \S", line)] == []
        assert len(lines) >= 4
    assert [line for line in "\n".join([*blocks, legend]).splitlines() if line != line.rstrip()] == []
    assert legend.startswith("epochs are snapshot/state/leader; oldest is")


@pytest.mark.parametrize("command", ["dump", "history"])
def test_80_columns_show_rows_whole(command: str) -> None:
    narrow, whole = run(command, ORDERS, COLUMNS="80"), run(command, ORDERS)
    assert (narrow.returncode, whole.returncode) == (0, 0)
    assert max(map(len, whole.stdout.splitlines())) > 80
    assert max(map(len, narrow.stdout.splitlines())) <= 80
    # Only blanks and ends of lines differ.
    assert narrow.stdout.split() == whole.stdout.split()


def test_a_wide_terminal_gets_the_table_in_colour() -> None:
    status, text = run_on_terminal("state", ORDERS, columns=400)
    assert status == 0
    assert "WHAT HOLDS THE START OFFSET" in text
    assert COLOUR.search(text)


@pytest.mark.parametrize("columns", [80, 400])
def test_no_color_is_honoured(columns: int) -> None:
    status, text = run_on_terminal("state", ORDERS, columns=columns, NO_COLOR="1")
    assert status == 0
    assert TOPIC_ID in text
    assert not COLOUR.search(text)


def test_a_hostile_group_id_is_escaped_in_the_state_table(capsys: pytest.CaptureFixture[str]) -> None:
    write_states([summarise(a_state(HOSTILE))])
    shown = capsys.readouterr().out
    assert r"\x1b[2Jpwned\x07\u202egnp\u2066\x9b31m[bold]" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_a_hostile_group_id_is_escaped_in_the_dump_table(capsys: pytest.CaptureFixture[str]) -> None:
    key = {"type": "0", "data": {"groupId": HOSTILE, "topicId": "Xz_yUKmhQhW7NshHKP1g6A", "partition": 0}}
    write_dump_table([{"partition": 0, "segment": "s", "offset": 0, "timestamp": 2**62, "key": key, "value": None}])
    shown = capsys.readouterr().out
    assert r"\x1b[2Jpwned\x07" in shown
    assert f"{2**62} ms" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_printable_keeps_ordinary_text_and_is_unambiguous() -> None:
    assert printable("grüße 注文") == "grüße 注文"
    assert printable("a\\x1b") == "a\\\\x1b"
    assert printable("\U000e0001") == "\\U000e0001"


def test_a_hostile_path_is_escaped() -> None:
    result = run("state", "/nowhere/\x1b[2J")
    assert result.returncode == 3
    assert ESCAPE not in result.stderr


@pytest.mark.parametrize("arguments", [["state"], ["dump", "--format", "xml", "."], ["fold", "."]])
def test_a_wrong_command_line_is_a_usage_failure(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Usage: share-state" in result.stderr


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    with subprocess.Popen(
        [*COMMAND, "dump", str(ORDERS), "--format", "jsonl"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"partition":0,')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["state", ".", "--format", "yaml"],
            "Invalid value for '--format' / '-f': 'yaml' is not one of 'table', 'json', 'jsonl'.",
        ),
        (["spark", "run", "--input", "a", "--output", "b", "--mode", "x"], "Invalid value for '--mode': 'x' is not one of "),
        (["anomalies", str(ORDERS), "--set", "stuck_ms=-1"], "Invalid value: stuck_ms is -1; expected at least 1"),
        (
            ["anomalies", str(ORDERS), "--set", "stuck_ms=1.5"],
            "Invalid value: --set is 'stuck_ms=1.5'; expected NAME=NUMBER, with NAME one of ",
        ),
    ],
)
def test_a_value_that_is_refused_is_told_in_our_words(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"Error: {said}" in result.stderr


def test_completion_is_installed_by_the_root_alone() -> None:
    assert "--install-completion" in run("--help").stdout
    assert "completion" not in run("spark", "--help").stdout
