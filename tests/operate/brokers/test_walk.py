"""The walk of docs/operate.md: the commands of the page on the cluster that the page starts."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli_runner import run
from tests.pages.runner import REPOSITORY

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

_BLOCK = re.compile(r"<!-- walk -->\n```console\n\$ share-state (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)
_ADDRESS = "localhost:9092"
#: Text that differs from run to run: a time, a topic id.
_OWN = re.compile(r"\d{4}-\d\d-\d\dT|[0-9a-f]{8}-[0-9a-f]{4}-")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "examples/operate/run.py", "--port", "0"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            said = (re.match(r"kafka://(\S+) is ready", line) for line in process.stdout)
            ready = next(filter(None, said), None)
            assert ready is not None, "the cluster did not come up"
            yield ready[1]
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0


def test_the_commands_of_the_walk_print_what_the_page_shows(address: str) -> None:
    page = (REPOSITORY / "docs" / "operate.md").read_text(encoding="utf-8")
    compared = 0
    for block in _BLOCK.finditer(page):
        command = shlex.split(block["command"].replace(_ADDRESS, address))
        ran = run(*command)
        assert (ran.returncode, ran.stderr) == (1 if command[0] in ("top", "doctor") else 0, "")
        # How far columns stand apart depends on the terminal.
        printed = [" ".join(line.split()) for line in ran.stdout.replace(address, _ADDRESS).splitlines()]
        shown = [" ".join(line.split()) for line in block["output"].splitlines()]
        for line in shown:
            if _OWN.search(line) is None and not line.startswith("─"):
                assert line in printed, (command[0], line, ran.stdout)
                compared += 1
        # Each delivery that came back, whatever is known of it.
        count = sum("available" in line for line in shown)
        assert sum("available" in line for line in printed) == count, ran.stdout
    assert compared >= 20
