"""The words for people: the meaning of each, and one piece of advice, what a person can look at or do next."""

from __future__ import annotations

from typing import Final

from share_state.operate.live import Health

__all__ = ["ADVICE", "WORDS"]

#: As docs/operate.md explains them.
WORDS: Final = {
    Health.POISON: "the record at the start offset has one delivery left, or records were archived at the limit",
    Health.STUCK: "the start offset stands for more than 150 s although records after it were delivered",
    Health.NO_MEMBERS: "there are records to deliver, and the group has no members",
    Health.FULL: "as many offsets are in flight as the limit allows, and records wait after them",
    Health.NO_STATE: "a member is assigned it, and the state topic has no state of it",
    Health.STALLED: "there are members and records, and no delivery has ended for more than 150 s",
    Health.EXPIRING: "more records came back than were accepted, or their locks run out again and again",
    Health.SLOW: "the lag grew by 1,000 records or more in the last minute",
    Health.OK: "none of these",
}

ADVICE: Final = {
    Health.POISON: (
        "Look at the record, and at the logs of the members: they should reject what they cannot take. At the limit it is "
        "archived for good."
    ),
    Health.STUCK: (
        "See under Records what holds the start offset. If it is unwritten, a member may have had it all the time: look at the "
        "logs of the members."
    ),
    Health.NO_MEMBERS: ("Start the group's consumers. What retention deletes before is never delivered."),
    Health.FULL: (
        "Nothing more is delivered until the start offset moves: see under Records what holds it. More locks "
        "(share.partition.max.record.locks) gain time."
    ),
    Health.NO_STATE: (
        "Wait a moment if the group has just subscribed. If it stays, look in the brokers' logs for why the state was not "
        "initialised."
    ),
    Health.STALLED: (
        "Look at the logs of the members: they take nothing, or hold what they took. For an open transaction, share-state doctor "
        "names Kafka's command."
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
