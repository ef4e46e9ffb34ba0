"""The program that makes operation logs and replays them, as the tests build it."""

import json
import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


@cache
def program() -> Path:
    """The generator and Rust's runner, unoptimised as every test is."""
    command = ["cargo", "build", "--locked", "--quiet", "-p", "share-state-benches", "--bin", "oplog", "--message-format=json"]
    built = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return Path(next(message["executable"] for message in messages if message.get("executable")))


def generate(workload: str, size: int, directory: Path) -> Path:
    path = directory / f"{workload}.oplog"
    subprocess.run([str(program()), "generate", workload, str(path), "--size", str(size)], check=True)
    return path


def replay(path: Path, engine: str, *options: str, replays: int = 0) -> dict[str, object]:
    """The results of an engine, and what it says of so many replays."""
    # The limit is for published runs: a busy machine must not end a comparison.
    command = [str(program()), "run", str(path), "--engine", engine, "--limit-s", "900", *options]
    asked = f"replays {replays}\n" if replays else ""
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found: dict[str, object] = {}
    for line in ran.stdout.splitlines():
        found |= json.loads(line)
    return found
