"""The program that makes operation logs and replays them, as the tests build it."""

import json
import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


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


def replay(path: Path, engine: str, *options: str) -> dict[str, object]:
    command = [str(program()), "run", str(path), "--engine", engine, "--rounds", "0", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(ran.stdout)
    return found
