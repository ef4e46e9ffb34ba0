"""Runs a share consumer's own integration tests against a server, and judges what it did by what a broker did.

    python -m tests.gateway.suites --suite FOLDER (--bootstrap HOST:PORT | --upstream KIND) [--expected FILE] [-k EXPRESSION]

The folder of the suite is an argument, or ``SHARE_STATE_CONSUMER_SUITE``: it is run as it is and no part of this tree. Without
``--expected`` the verdict is against ``expected/confluent-share-consumer.json``, which a real 4.4.0 broker has written
(``--upstream "share groups" --write``).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from tests.gateway.upstreams import KINDS, running
from tests.kafka.broker import die_with_parent
from tests.kafka.home import REPOSITORY

FOLDER = "SHARE_STATE_CONSUMER_SUITE"
#: Interpreter of the environment that `make gateway-suite` makes.
INTERPRETER = REPOSITORY / "build" / "gateway-suite" / "bin" / "python"
EXPECTED = Path(__file__).with_name("expected") / "confluent-share-consumer.json"
_PLUGINS = Path(__file__).with_name("plugins")
_TESTS = "tests/integration/share_consumer"
#: Time limit of a test; the slowest takes half a minute on a broker.
_TEST_TIMEOUT_S = 120

Outcome = Literal["passed", "skipped", "failed"]


class Case(NamedTuple):
    """Result of a test."""

    outcome: Outcome
    seconds: float
    #: The first line of what went wrong, or why it was left out.
    message: str = ""


class Verdict(NamedTuple):
    """A run beside what was expected of it."""

    #: Tests that pass on a broker and did not pass here.
    worse: list[str]
    #: Tests that pass here and not on a broker.
    better: list[str]
    #: Expected and not run; run and not expected.
    missing: list[str]
    unknown: list[str]

    def __bool__(self) -> bool:
        """True if the run is as good as a broker's."""
        return not (self.worse or self.missing or self.unknown)


def run(folder: Path, bootstrap: str, *, expression: str | None = None, seconds: float = 3600.0) -> dict[str, Case]:
    """Run the tests of a suite against a server; the cases by name."""
    if not INTERPRETER.exists():
        raise RuntimeError("`make gateway-suite` makes the environment of the suite")
    with tempfile.TemporaryDirectory(prefix="gateway-suite-") as name:
        report = Path(name) / "report.xml"
        command = [
            str(INTERPRETER), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "stand_ins", f"--timeout={_TEST_TIMEOUT_S}",
            f"--junit-xml={report}", "-o", "junit_family=xunit2",
            "--continue-on-collection-errors", _TESTS,
        ]  # fmt: skip
        if expression is not None:
            command += ["-k", expression]
        environment = {**os.environ, "BROKERS": bootstrap, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(_PLUGINS)}
        # In a session of its own: what it starts ends with it.
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if not report.exists():
            text = output.decode("utf-8", "replace")[-4000:]
            raise RuntimeError(f"the suite wrote no report (exit status {process.returncode}):\n{text}")
        return cases(report)


def cases(report: Path) -> dict[str, Case]:
    """The cases of a JUnit report, by module and name."""
    found: dict[str, Case] = {}
    for element in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - written by the run that has just ended
        name = f"{element.get('classname', '').rpartition('.')[2]}::{element.get('name')}"
        seconds = float(element.get("time", "0"))
        outcome: Outcome = "passed"
        message = ""
        for child in element:
            if child.tag in {"failure", "error"}:
                outcome, message = "failed", child.get("message", "")
            elif child.tag == "skipped" and outcome == "passed":
                outcome, message = "skipped", child.get("message", "")
        found[name] = Case(outcome, seconds, message.partition("\n")[0])
    return found


def judge(found: Mapping[str, Case], expected: Mapping[str, Outcome]) -> Verdict:
    """Compare by name: whatever passes on a broker passes."""
    passed = {name for name, case in found.items() if case.outcome == "passed"}
    wanted = {name for name, outcome in expected.items() if outcome == "passed"}
    # What is skipped on a broker may fail for no reason of ours only if it is known to fail there as well.
    failed = {name for name, case in found.items() if case.outcome == "failed"}
    may_fail = {name for name, outcome in expected.items() if outcome == "failed"}
    both = found.keys() & expected.keys()
    return Verdict(
        worse=sorted(((wanted - passed) | (failed - may_fail)) & both),
        better=sorted((passed - wanted) & both),
        missing=sorted(expected.keys() - found.keys()),
        unknown=sorted(found.keys() - expected.keys()),
    )


def _print(found: Mapping[str, Case]) -> None:
    for outcome in ("passed", "skipped", "failed"):
        named = {name: case for name, case in found.items() if case.outcome == outcome}
        print(f"{outcome}: {len(named)}")
        if outcome != "passed":
            for name, case in sorted(named.items()):
                print(f"  {name}: {case.message}")


def main() -> int:
    """Run, print, and judge: 1 when a test fared worse than on a broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.gateway.suites")
    parser.add_argument("--suite", type=Path, default=os.environ.get(FOLDER), help=f"folder of the suite ({FOLDER})")
    server = parser.add_mutually_exclusive_group(required=True)
    server.add_argument("--bootstrap", help="HOST:PORT of a server that runs")
    server.add_argument("--upstream", choices=sorted(KINDS), help="start one of these for the run")
    parser.add_argument("--expected", type=Path, default=EXPECTED, help="outcomes by name")
    parser.add_argument("--write", action="store_true", help="write the outcomes there instead of judging by them")
    parser.add_argument("-k", dest="expression", help="only tests with these names, as pytest has it")
    given = parser.parse_args()
    if given.suite is None:
        parser.error(f"where is the suite? --suite FOLDER or {FOLDER}")
    with ExitStack() as stack:
        bootstrap = given.bootstrap
        if bootstrap is None:
            room = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            bootstrap = stack.enter_context(running(given.upstream, room)).bootstrap
        started = time.monotonic()
        found = run(given.suite, bootstrap, expression=given.expression)
        print(f"{len(found)} tests in {time.monotonic() - started:.0f} s")
    _print(found)
    if given.write:
        outcomes = {name: case.outcome for name, case in sorted(found.items())}
        given.expected.parent.mkdir(exist_ok=True)
        given.expected.write_text(json.dumps(outcomes, indent=2) + "\n", encoding="utf-8")
        return 0
    expected: dict[str, Outcome] = json.loads(given.expected.read_text(encoding="utf-8"))
    if given.expression is not None:
        expected = {name: outcome for name, outcome in expected.items() if name in found}
    verdict = judge(found, expected)
    for name, listed in verdict._asdict().items():
        if listed:
            print(f"{name} than on a broker" if name in {"worse", "better"} else name, *listed, sep="\n  ")
    return 0 if verdict else 1


if __name__ == "__main__":
    sys.exit(main())
