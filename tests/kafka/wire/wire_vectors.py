"""Bytes that Kafka's own classes produced, shared with the Rust tests of the codec."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FIXTURES = Path(__file__).resolve().parents[3] / "rust" / "wire" / "tests" / "fixtures"


class Message(NamedTuple):
    """Recorded request or answer, without its header."""

    api_key: int
    version: int
    response: bool
    data: bytes


class StateRecord(NamedTuple):
    """Recorded record of the state topic."""

    key: bytes
    value: bytes | None


def messages() -> list[Message]:
    """Recorded messages of RPC 83 to 87, and one of every message and version that we know."""
    found = []
    for line in _lines("rpc.txt") + _lines("messages.txt"):
        # Some requests say nothing.
        api_key, version, kind, data, *_ = [*line.split(), ""]
        found.append(Message(int(api_key), int(version), kind == "response", bytes.fromhex(data)))
    return found


def records() -> list[StateRecord]:
    """All recorded records."""
    found = []
    for line in _lines("records.txt"):
        key, value = line.split()
        found.append(StateRecord(bytes.fromhex(key), None if value == "-" else bytes.fromhex(value)))
    return found


def _lines(name: str) -> list[str]:
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
