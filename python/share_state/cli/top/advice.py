"""One piece of advice for each word: what a person can look at, or do, next."""

from __future__ import annotations

from typing import Final

from share_state.live import Health

__all__ = ["ADVICE"]

ADVICE: Final = {
    Health.POISON: (
        "Look at the record, and at the logs of the members. At the limit it is archived for good: a greater "
        "share.delivery.count.limit gives it more tries."
    ),
    Health.STUCK: (
        "See under Records what holds the start offset. If it is unwritten, a member may have had it all the time: look at the "
        "logs of the members."
    ),
    Health.NO_MEMBERS: (
        "Start the group's consumers, or delete the group if nobody needs it. What retention deletes before is never delivered."
    ),
    Health.NO_STATE: (
        "Wait a moment if the group has just subscribed. If it stays, look in the brokers' logs for why the state was not "
        "initialised."
    ),
    Health.EXPIRING: (
        "Compare the time that members take for a record with share.record.lock.duration.ms. Their logs show what they release."
    ),
    Health.SLOW: (
        "Add members: several of them can share one partition. If they wait for records, look at "
        "share.partition.max.record.locks."
    ),
    Health.OK: "Nothing to do.",
}
