"""Fetched log batches, with the transaction marks the recording gives them."""

from __future__ import annotations

from share_state import ControlType, FetchedBatch

from .recordings import FormatError, Json


def fetched_batches(op: Json) -> list[FetchedBatch]:
    """The batches an acquire was handed.

    A recording says that a batch is a control batch but not of which kind. A marker of a producer with an
    aborted transaction that began before it ends that transaction, so it is an ABORT; any other is a COMMIT.
    """
    open_aborts = sorted((entry["first_offset"], entry["producer_id"]) for entry in op.get("aborted_transactions", ()))
    fetched: list[FetchedBatch] = []
    for batch in op["fetched_batches"]:
        base, last = batch[0], batch[1]
        marks: Json = batch[2] if len(batch) > 2 else {}
        if set(marks) - {"control", "transactional", "producer_id"}:
            raise FormatError(f"unknown marks of a log batch: {marks}")
        producer_id = marks.get("producer_id", -1)
        control: ControlType | None = None
        if marks.get("control", False):
            ended = next((a for a in open_aborts if a[1] == producer_id and a[0] <= base), None)
            control = ControlType.COMMIT if ended is None else ControlType.ABORT
            if ended is not None:
                open_aborts.remove(ended)
        fetched.append(FetchedBatch(base, last, producer_id, marks.get("transactional", False), control))
    return fetched
