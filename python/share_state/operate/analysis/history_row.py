"""A row of a history: a change that a state topic shows, for an interval of offsets, with its cause.

A state topic does not show everything. An acquisition is never written. A release and an expired lock look alike, and so do a
rejection and the delivery limit.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["HistoryCause", "HistoryRow"]


class HistoryCause(StrEnum):
    """The cause of a change, as far as the log shows it.

    The first nine concern the share partition as a whole and come without offsets; ``FOUND`` comes with and without.
    """

    #: The state was initialised, or initialised again with another state epoch: nothing is known of its records any more.
    INITIALISED = "initialised"
    #: The log starts here for this share partition; it does not show how this state arose.
    FOUND = "found"
    #: The state was deleted, with everything known of its records.
    DELETED = "deleted"
    #: The leader epoch changed: a new leader read the state.
    LED = "led"
    #: The start offset became known; it was -1 before. ``share.auto.offset.reset`` was applied.
    START_OFFSET_RESOLVED = "start_offset_resolved"
    #: A snapshot repeats what was known.
    SNAPSHOT = "snapshot"
    #: Only the delivery complete count changed.
    COUNTED = "counted"
    #: A snapshot whose epoch does not rise, which no coordinator should write.
    SNAPSHOT_EPOCH_NOT_RISING = "snapshot_epoch_not_rising"
    #: An update of another snapshot epoch than the current one, which no coordinator should write.
    UPDATE_OF_OTHER_SNAPSHOT = "update_of_other_snapshot"
    #: A member accepted the records.
    ACCEPTED = "accepted"
    #: Members released the records, or their locks expired.
    RELEASED = "released"
    #: The records are on their way to the dead-letter queue (KIP-1191).
    ARCHIVING = "archiving"
    #: The records are not delivered again: rejected, at the delivery limit, or reported as gaps.
    ARCHIVED = "archived"
    #: A delivery state that this release does not know.
    OTHER_STATE = "other_state"
    #: The start offset moved past the records. If nothing is known of them, nothing was ever written about them.
    PASSED = "passed"
    #: The start offset went back below the records, as brokers before 4.4 may write.
    START_OFFSET_WENT_BACK = "start_offset_went_back"
    #: The delivery count, or the state at the same count, went back, which only a snapshot can do.
    WENT_BACK = "went_back"
    #: A snapshot omits the records, although the start offset has not passed them.
    FORGOTTEN = "forgotten"


class HistoryRow(NamedTuple):
    """A change of an interval of offsets, or of the share partition as a whole.

    Rows of one record of the state topic are adjacent: first those of the share partition as a whole, then the intervals in
    ascending order. From ``start_offset`` on, the fields hold the state after the record and are the same in all its rows.
    Applying the rows in order, interval by interval, gives the folded state after every record.
    """

    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    #: The interval, inclusive; None for the share partition as a whole.
    first_offset: int | None
    last_offset: int | None
    #: State of each offset before, by the ids of :class:`share_state.RecordState`; None if it was not known.
    from_state: int | None
    from_count: int | None
    #: State of each offset now; None if it is not known.
    to_state: int | None
    to_count: int | None
    #: A :class:`HistoryCause`.
    cause: str
    #: The record of the state topic that made the change, and its time in ms since the epoch.
    at_offset: int
    at_timestamp: int
    state_partition: int
    #: -1 while not resolved. For a deleted share partition this and all later fields have their last values.
    start_offset: int
    #: Terminal records at or after the start offset; -1 when unknown.
    delivery_complete_count: int
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    #: Offset in the state topic of the last snapshot; None if it is missing (pruned, or lost).
    snapshot_offset: int | None
