"""Random sequences on Kafka's own classes and on share_state, compared after every operation.

    python -m tests.proof.judge.differential --seed 1 --sequences 20000 --length 60 --jobs 2 --profile all

The same seed gives the same sequences as long as share_state answers the same: a sequence is chosen with our state in sight.
A difference that is not a deliberate one (``docs/deliberate-differences.md``) is made small and written as a conformance file,
which ``python -m tests.proof.conformance`` plays, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kafka.home import REPOSITORY, KafkaMissingError, judge_command, our_side

PROFILES = ("combiner", "engine", "coordinator", "session", "assignor", "group")


@dataclass(slots=True)
class Result:
    """Result of the runs of one profile."""

    profile: str
    operations: int = 0
    compared: int = 0
    #: Time of the slowest job.
    seconds: float = 0.0
    coverage: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    unexplained: Counter[str] = field(default_factory=Counter)
    differences: list[dict[str, Any]] = field(default_factory=list)
    #: Example of each deliberate difference, with its class, when asked for.
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, report: dict[str, Any]) -> None:
        """Take a job's report in."""
        self.operations += report["operations"]
        self.compared += report["compared"]
        self.seconds = max(self.seconds, report["seconds"])
        self.coverage.update(report["coverage"])
        self.classes.update(report["classes"])
        self.unexplained.update(report["unexplained"])
        self.differences += report["differences"]
        self.examples += report["examples"]


def run(
    profile: str,
    seed: int,
    sequences: int,
    length: int,
    *,
    jobs: int = 1,
    shrink: int = 5,
    examples: bool = False,
    program: Path | None = None,
) -> Result:
    """Run one profile, its sequences shared out among ``jobs`` pairs of processes; ``program`` is another build of our side.

    With ``examples`` one of each deliberate difference is made small and exported too, a job; without ``shrink`` as it is.
    """
    command = judge_command()
    if program is None:
        program = our_side()
    share, rest = divmod(sequences, jobs)
    counts = [share + (job < rest) for job in range(jobs)]

    def one(job: int) -> dict[str, Any]:
        first = sum(counts[:job])
        numbers = [str(number) for number in (seed, first, counts[job], length, shrink, int(examples))]
        ran = subprocess.run([program, profile, *numbers, *command], capture_output=True, check=False)
        if ran.returncode != 0:
            raise RuntimeError(f"the judge failed: {ran.stderr.decode('utf-8', 'replace')}")
        report: dict[str, Any] = json.loads(ran.stdout)
        return report

    result = Result(profile)
    with ThreadPoolExecutor(jobs) as pool:
        for report in pool.map(one, range(jobs)):
            result.add(report)
    return result


def rules() -> set[tuple[str, str, str]]:
    """Every way in which the judge recognises a deliberate difference: profile, id and what happens."""
    ran = subprocess.run([our_side(), "rules"], capture_output=True, check=True)
    return {(rule["profile"], rule["id"], rule["what"]) for rule in json.loads(ran.stdout)}


def show(result: Result, directory: Path, seed: int) -> None:
    """Print what was reached and every difference; write the conformance files."""
    speed = result.operations / result.seconds if result.seconds else 0.0
    print(f"{result.profile}: {result.operations:,} operations, {result.compared:,} compared, {speed:,.0f} a second")
    print("  reached:")
    for what, times in sorted(result.coverage.items()):
        print(f"    {times:>9,}  {what}")
    print("  deliberate differences:", ", ".join(f"{name} {times:,}" for name, times in sorted(result.classes.items())) or "none")
    if not result.unexplained:
        print("  no other difference")
        return
    print("  DIFFERENCES:")
    for what, times in sorted(result.unexplained.items()):
        print(f"    {times:>9,}  {what}")
    for path in write(result.differences, directory, seed):
        print(f"  written: {path}")
    for found in result.differences:
        print(f"\n  {found['what']} ({found['scenario']['name']})")
        for index, op in enumerate(found["ops"]):
            print(f"    {index}: {json.dumps(op)}")
        for when in ("before", "after"):
            for side, state in found[when].items():
                print(f"    {when}, {side}: {state}")
        for point in found["points"]:
            print(f"    {point['what']}:\n      Kafka {point['kafka']}\n      ours  {point['ours']}")


def write(differences: list[dict[str, Any]], directory: Path, seed: int) -> list[Path]:
    """The differences as conformance files, one a suite."""
    scenarios: dict[str, list[Any]] = {}
    for found in differences:
        scenarios.setdefault(found["file"], []).append(found["scenario"])
    written = []
    directory.mkdir(parents=True, exist_ok=True)
    for suite, list_of in scenarios.items():
        path = directory / f"{suite}_differential_{seed}.json"
        document = {"meta": {"what": "differences found", "source": {"kafka": "4.4.0"}, "seed": seed}, "scenarios": list_of}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.proof.judge.differential", description="Compare with Kafka's own classes."
    )
    parser.add_argument("--seed", type=int, help="default: a fresh one, printed")
    parser.add_argument("--sequences", type=int, default=2_000)
    parser.add_argument("--length", type=int, default=60, help="operations of a sequence")
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--profile", choices=(*PROFILES, "all"), default="all")
    parser.add_argument("--shrink", type=int, default=5, help="differences to make small, a job")
    parser.add_argument("--directory", type=Path, default=REPOSITORY / "build" / "differential", help="for conformance files")
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}")
    differ = False
    try:
        for profile in PROFILES if arguments.profile == "all" else (arguments.profile,):
            result = run(profile, seed, arguments.sequences, arguments.length, jobs=arguments.jobs, shrink=arguments.shrink)
            show(result, arguments.directory, seed)
            differ = differ or bool(result.unexplained)
    except KafkaMissingError as error:
        print(error, file=sys.stderr)
        return 2
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
