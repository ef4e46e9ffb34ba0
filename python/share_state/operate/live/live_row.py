"""The row of a share partition that is followed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LiveRow"]


class LiveRow(NamedTuple):
    """State of a share partition, and what happened to it since it is followed.

    The fields up to ``snapshot_offset`` are what the state topic holds; those that end in ``_total`` count records since the view
    began to follow the share partition, or since its state was initialised if that was later.
    """

    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    state_partition: int
    state_epoch: int
    leader_epoch: int
    #: -1 while not yet resolved.
    start_offset: int
    #: Terminal records at or after the start offset; -1 when unknown.
    delivery_complete_count: int
    #: Last offset of which something is known; None when nothing is in flight.
    end_offset: int | None
    #: Records from the start offset on, by state. An acquired record counts as its last written state.
    available: int
    acknowledged: int
    archiving: int
    archived: int
    #: Pairs of a delivery count and the number of these records with it, in ascending order.
    delivery_counts: tuple[tuple[int, int], ...]
    #: The first offset from the start offset to the end that is not settled; None when there is none.
    held_offset: int | None
    #: Its delivery state and count. None when nothing was written about it: it was never delivered, or a member holds it since
    #: its first delivery.
    held_state: int | None
    held_count: int | None
    #: Time at which a delivery first ended since the start offset stands there, ms since the epoch; None when nothing holds it.
    held_since: int | None
    #: Time at which the start offset came to stand where it is, or was seen there first.
    start_since: int
    #: Times at which the state was initialised, or was seen first in the log, and last changed.
    oldest_write: int
    newest_write: int
    #: Offset in the state partition of the last snapshot; None when it is missing.
    snapshot_offset: int | None
    accepted_total: int
    #: Released by members, or given back by locks that ran out: the log does not tell which.
    released_total: int
    #: Sent to the dead-letter queue.
    archiving_total: int
    #: Pairs of a delivery count and the records that were archived with it: at the delivery limit, or rejected before it.
    archived_totals: tuple[tuple[int, int], ...]
    #: Passed by the start offset while they were available, or before anything was written about them.
    passed_available_total: int
    passed_unknown_total: int
    #: Times at which a delivery ended last, and ended last with an acceptance, in ms since the epoch; None where none has since
    #: the share partition is followed.
    newest_delivery: int | None = None
    newest_acceptance: int | None = None
