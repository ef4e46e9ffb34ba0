"""Operation logs, read as tables; `README.md` has the format. And the digest of results, as every runner computes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MAGIC = b"SSOPLOG1"
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("workload", "S16"),
        ("seed", "<u8"),
        ("size", "<u8"),
        ("ops", "<u8"),
        ("blob", "<u8"),
        ("elements", "<u8"),
        ("partitions", "<u4"),
        ("members", "<u4"),
        ("max_record_locks", "<u4"),
        ("lock_ms", "<u4"),
        ("delivery_limit", "<u4"),
        ("nothing", "V12"),
    ]
)
OPERATION = np.dtype(
    [
        ("kind", "u1"),
        ("arg", "i1"),
        ("member", "<u2"),
        ("partition", "<u4"),
        ("first", "<i8"),
        ("last", "<i8"),
        ("value", "<i8"),
    ]
)
BATCH = np.dtype([("first", "<i8"), ("last", "<i8"), ("state", "i1"), ("nothing", "V1"), ("count", "<i2"), ("nothing2", "V4")])


class Kind(IntEnum):
    """Kind of an operation; `benches/rust/src/oplog/mod.rs` describes each."""

    FETCHED = 1
    ACQUIRE = 2
    RANGE = 3
    ACKNOWLEDGE = 4
    ACKNOWLEDGE_EACH = 5
    RELEASE = 6
    TICK = 7
    NEXT_FETCH_OFFSET = 8
    LOG_START = 9
    CHECK = 10
    BEGIN = 11
    END = 12
    REOPEN = 13
    FOLD = 14
    SNAPSHOT = 15
    ENCODE = 16


class NoOperationLogError(Exception):
    """The file is no operation log."""


@dataclass(frozen=True)
class OpLog:
    """A workload. `ops` is one row an operation, of the type OPERATION."""

    workload: str
    size: int
    seed: int
    elements: int
    partitions: int
    members: list[str]
    max_record_locks: int
    lock_ms: int
    delivery_limit: int
    ops: NDArray[np.void]
    blob: bytes

    @staticmethod
    def read(path: Path) -> OpLog:
        if path.stat().st_size < HEADER.itemsize:
            raise NoOperationLogError(path)
        header = np.fromfile(path, HEADER, 1)[0]
        count, blob = int(header["ops"]), int(header["blob"])
        behind = HEADER.itemsize + count * OPERATION.itemsize
        if bytes(header["magic"]) != MAGIC or path.stat().st_size != behind + blob:
            raise NoOperationLogError(path)
        with path.open("rb") as file:
            file.seek(behind)
            held = file.read()
        return OpLog(
            workload=bytes(header["workload"]).decode("ascii"),
            size=int(header["size"]),
            seed=int(header["seed"]),
            elements=int(header["elements"]),
            partitions=int(header["partitions"]),
            members=[f"qL0uXW2hS3mJpW3Zt{i:05}" for i in range(int(header["members"]))],
            max_record_locks=int(header["max_record_locks"]),
            lock_ms=int(header["lock_ms"]),
            delivery_limit=int(header["delivery_limit"]),
            ops=np.fromfile(path, OPERATION, count, offset=HEADER.itemsize),
            blob=held,
        )

    def types(self, op: np.void) -> bytes:
        """A type for each record of an operation."""
        at = int(op["value"])
        return self.blob[at : at + int(op["last"] - op["first"]) + 1]

    def batches(self, op: np.void) -> NDArray[np.void]:
        """The state batches of an operation, of the type BATCH."""
        return np.frombuffer(self.blob, BATCH, int(op["last"]), int(op["value"]))

    def is_fold(self) -> bool:
        return bool(np.isin(self.ops["kind"], [Kind.FOLD, Kind.ENCODE]).any())


class Digest:
    """Digest of all results: a polynomial over 64-bit integers that wrap. Grants that touch and have one count are one."""

    POINT = 0x9E3779B97F4A7C15
    _END = -(2**63) + 65_536
    _STEP = 1 << 16

    def __init__(self) -> None:
        self.values: list[int] = []
        self._open: tuple[int, int, int] | None = None

    def grant(self, first: int, last: int, delivery_count: int) -> None:
        if self._open is not None and (self._open[1] + 1, self._open[2]) == (first, delivery_count):
            self._open = (self._open[0], last, delivery_count)
            return
        self._close()
        self._open = (first, last, delivery_count)

    def end(self, code: int) -> None:
        self._close()
        self.values.append(self._END + code)

    def offset(self, offset: int) -> None:
        self.values.append(offset)

    def state(self, window: tuple[int, int, int], durable: list[tuple[int, int, int, int]]) -> None:
        self.values += window
        for first, last, state, count in durable:
            self.values += (first, last, count << 3 | state)
        self.values.append(self._END)

    def data(self, data: bytes) -> None:
        """Bytes count by their number and by the polynomial over them."""
        self.values.append(len(data))
        total = _polynomial(np.frombuffer(data, np.uint8).astype(np.uint64), self.POINT, self._STEP)
        self.values.append(total - 2**64 if total >= 2**63 else total)

    def value(self) -> str:
        self._close()
        values = np.array(self.values, np.int64).view(np.uint64)
        return f"{_polynomial(values, self.POINT, self._STEP):016x}"

    def _close(self) -> None:
        if self._open is not None:
            self.values += self._open
            self._open = None


def _polynomial(values: NDArray[np.uint64], point: int, step: int) -> int:
    powers = np.full(step, point, np.uint64)
    powers[0] = 1
    powers = np.multiply.accumulate(powers)[::-1]
    total = 0
    for at in range(0, len(values), step):
        block = values[at : at + step]
        factor = pow(point, len(block), 2**64)
        total = (total * factor + int((block * powers[-len(block) :]).sum(dtype=np.uint64))) % 2**64
    return total


def timed(ops: NDArray[np.void]) -> NDArray[np.bool_]:
    """Select the operations that lie in a timed section."""
    kind = ops["kind"]
    depth = np.cumsum((kind == Kind.BEGIN).astype(np.int8) - (kind == Kind.END).astype(np.int8), dtype=np.int8)
    inside: NDArray[np.bool_] = (depth == 1) & (kind != Kind.BEGIN)
    return inside
