"""Runs cargo-mutants crate by crate, and compares the survivors with the list in rust/mutants.toml.

    mutants.py TOOL                     every mutant
    mutants.py TOOL --shard 1/8         one part of them
    mutants.py TOOL --sample 12         so many of each crate, drawn with a seed that is printed
    mutants.py TOOL --only REGEX        those whose names match

The sources are copied into build/mutants/tree, and changed only there. The exit status is 1 when a mutant survives
that is not listed, when a listed one is caught, and when one no longer exists.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
LIST = REPOSITORY / "rust/mutants.toml"
_WORK = REPOSITORY / "build/mutants"
_TREE = _WORK / "tree"
_OUTCOMES = {"CaughtMutant": "caught", "MissedMutant": "survived", "Timeout": "timed out", "Unviable": "unviable"}


class Mutant(NamedTuple):
    """What a mutant is called without its line, which every edit above it moves: file, change, line of code."""

    file: str
    change: str
    code: str

    @classmethod
    def of(cls, listed: dict[str, Any]) -> "Mutant":
        """Read an entry of `cargo mutants --json`."""
        file, name = str(listed["file"]), str(listed["name"])
        line = (_TREE / file).read_text(encoding="utf-8").splitlines()[listed["span"]["start"]["line"] - 1]
        return cls(file, name.removeprefix(f"{file}:").split(": ", 1)[1], line.strip())

    def __str__(self) -> str:
        return f"{self.file}: {self.change}, at: {self.code}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, print each disagreement, and say how many of each outcome there were."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--shard")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only")
    options = parser.parse_args(arguments)
    settings = tomllib.loads(LIST.read_text(encoding="utf-8"))
    lived = {Mutant(entry["file"], entry["change"], entry["code"]): entry["reason"] for entry in settings.get("lives", [])}
    copy_tree()
    tool = [str(options.tool.resolve()), "mutants", "--dir", str(_TREE)]
    listed = json.loads(_output([*tool, "--list", "--json"]))
    absent = lived.keys() - {Mutant.of(entry) for entry in listed}
    chosen = [entry for entry in listed if not options.only or re.search(options.only, entry["name"])]
    if options.sample:
        seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
        print(f"mutants: --sample {options.sample} --seed {seed}")
        chosen = list(sample(chosen, options.sample, random.Random(seed)))  # noqa: S311 - it can be drawn again
    found: list[tuple[Mutant, str]] = []
    for crate in settings["tests"]:
        names = [entry["name"] for entry in chosen if entry["package"] == crate["crate"]]
        if names:
            shard = ["--shard", options.shard] if options.shard else []
            found += run([*tool, *shard], crate, names)
    print("mutants:", ", ".join(f"{count} {outcome}" for outcome, count in Counter(o for _, o in found).items()))
    wrong = [f"no longer exists: {mutant}" for mutant in absent]
    wrong += [f"survives: {mutant}" for mutant, outcome in found if outcome == "survived" and mutant not in lived]
    # One line of code may hold two mutants of one name: an entry stands for both, and one of them has to live.
    survivors = {mutant for mutant, outcome in found if outcome == "survived"}
    whole = not (options.sample or options.shard or options.only)
    wrong += [f"is caught: {mutant}" for mutant in lived if whole and mutant not in survivors | absent]
    for line in wrong:
        print(line, file=sys.stderr)
    if not found:
        print("no mutant was run", file=sys.stderr)
    return 1 if wrong or not found else 0


def copy_tree() -> None:
    """Copy the files that git knows, as they are now: they are changed in place, so that one build serves all."""
    shutil.rmtree(_TREE, ignore_errors=True)
    names = _output(["git", "ls-files", "-z"])
    for name in filter(None, names.split("\0")):
        if (REPOSITORY / name).is_file():
            (_TREE / name).parent.mkdir(parents=True, exist_ok=True)
            # Not with its time: a build of a mutant is newer, and would pass for one of this file.
            shutil.copyfile(REPOSITORY / name, _TREE / name)


def sample(listed: list[dict[str, Any]], size: int, source: random.Random) -> Iterator[dict[str, Any]]:
    """So many mutants of each crate."""
    for crate in sorted({entry["package"] for entry in listed}):
        of_crate = [entry for entry in listed if entry["package"] == crate]
        yield from source.sample(of_crate, min(size, len(of_crate)))


def run(tool: list[str], crate: dict[str, Any], names: list[str]) -> Iterator[tuple[Mutant, str]]:
    """Run mutants of a crate, and say what became of each."""
    output = _WORK / crate["crate"]
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    # Unchanged sources are tested first, so that a test that fails anyhow catches nothing.
    command = [*tool, "--in-place", "--output", str(output), "--package", crate["crate"]]
    command += [word for name in names for word in ("--re", f"^{re.escape(name)}$")]
    # cargo-mutants 27.1 also tries every deleted field of the crate, whatever the names.
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(_WORK / "target"),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_INCREMENTAL": "1",
    }
    done = subprocess.run([*command, "--", *crate["arguments"]], env=environment, check=False)
    # 0: all caught, 2: some survived, 3: some timed out. Everything else tested nothing, or not all.
    if done.returncode not in {0, 2, 3}:
        sys.exit(f"cargo-mutants ended with status {done.returncode}")
    for outcome in json.loads((output / "mutants.out/outcomes.json").read_text(encoding="utf-8"))["outcomes"]:
        if isinstance(outcome["scenario"], dict):
            yield Mutant.of(outcome["scenario"]["Mutant"]), _OUTCOMES[outcome["summary"]]


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY).stdout


if __name__ == "__main__":
    sys.exit(main())
