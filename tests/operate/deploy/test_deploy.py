"""Files of deploy/ for systemd: the unit is one, and its command line serves; and docs/gateway.md."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from share_state.testing import MockCluster
from tests.cli_runner import environment, started
from tests.recordings import REPOSITORY, shared_is_required

DEPLOY = REPOSITORY / "deploy"
UNIT = (DEPLOY / "share-state-gateway.service").read_text(encoding="utf-8")
EXECUTABLE = "/opt/share-state/bin/share-state"


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        assert not shared_is_required(), "CI has systemd-analyze: a run without it has not tried the unit"
        pytest.skip("systemd-analyze is not installed (Debian: systemd)")
    path = tmp_path / "share-state-gateway.service"
    # It looks for the executable, which is not installed here.
    path.write_text(UNIT.replace(EXECUTABLE, sys.executable), encoding="utf-8")
    done = subprocess.run([analyze, "verify", str(path)], capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_command_line_of_the_unit_serves_and_ends_with_sigterm(tmp_path: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)
    assert line.startswith(f"{EXECUTABLE} ")
    properties = tmp_path / "gateway.properties"
    properties.write_text("share.auto.offset.reset=earliest\n", encoding="utf-8")
    with MockCluster() as upstream:
        values = {
            "UPSTREAM": upstream.bootstrap_servers,
            "LISTEN": "127.0.0.1:0",
            "ADVERTISE": "gateway.example:9192",
            "STATE_DIRECTORY": str(tmp_path / "state"),
        }
        words = line.removeprefix(f"{EXECUTABLE} ").replace("/etc/share-state/gateway.properties", str(properties)).split()
        arguments = [re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], word) for word in words]
        with started(*arguments) as gateway:
            assert gateway.begins.startswith("serving share groups on 127.0.0.1:")
    assert {"gateway", "groups", "state"} <= {path.name for path in (tmp_path / "state").iterdir()}


def test_the_unit_names_its_variables() -> None:
    (line,) = re.findall(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)
    explained = set(re.findall(r"^#   (\w+)=", UNIT, re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+)\}", line)) == explained | {"STATE_DIRECTORY"}


def test_the_page_names_every_option_and_no_other() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "share_state", "gateway", "--help"],
        env=environment(COLUMNS="200", NO_COLOR="1"),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    there = set(re.findall(r"--[a-z][a-z-]+", done.stdout)) - {"--help", "--no-relay", "--no-oauth-unsecured", "--no-verbose"}
    page = (REPOSITORY / "docs" / "gateway.md").read_text(encoding="utf-8")
    table = re.search(r"^## Configuration\n\n(.+?)\n\n", page, re.MULTILINE | re.DOTALL)
    assert table is not None
    assert set(re.findall(r"--[a-z][a-z-]+", table[1])) == there
