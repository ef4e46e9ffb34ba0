"""Every scenario that is not run, each by name with its reason, in one table.

A skip is a hole in the proof, so there are few: fewer than five in a hundred over all files
(:data:`MAX_SKIPPED_PERCENT`). What the format announces itself (``pre-4.4 rule``) does not count.
"""

from __future__ import annotations

from .recordings import Scenario

MAX_SKIPPED_PERCENT = 5

PRE_44 = "pre-4.4 rule"

_INTERNAL_TIMER = "creates one of Kafka's timer objects and nothing else; our locks exist with a record only"
_THREADS = "threads: records an interleaving of concurrent calls, not a sequence"
_STUBBED_OFFSETS = "the offsets manager behind the shard is a stub: the answer follows from no operation"

#: (suite, scenario) → why.
BY_NAME: dict[tuple[str, str], str] = {
    (
        "share_partition",
        "testMaybeInitializeSharePartitionAgainConcurrentRequests",
    ): _THREADS,
    (
        "share_partition",
        "testScheduleAcquisitionLockTimeoutValueFromGroupConfig",
    ): _INTERNAL_TIMER,
    ("share_coordinator_shard", "testLastRedundantOffset"): _STUBBED_OFFSETS,
}


def skip_reason(suite: str, scenario: Scenario) -> str | None:
    """Why a scenario is not run, or ``None``.

    Names come first. A scenario nobody has seen yet is skipped only where its recording says by itself that
    it cannot be driven: threads, and operations on objects that exist only inside Kafka.
    """
    named = BY_NAME.get((suite, scenario.name))
    if named is not None:
        return named
    if "multithreaded" in scenario.tags:
        return _THREADS
    if any(op.get("op") == "schedule_lock" for op in scenario.ops):
        return _INTERNAL_TIMER
    return None
