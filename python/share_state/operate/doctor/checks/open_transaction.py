"""Transactions that are open for long: groups that read committed records are given nothing after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.health import Health, is_hanging, waiting_behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts

_CHECK: Final = "open_transaction"


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each share partition that waits for a transaction; critical where it waits for nothing else."""
    for _, one in facts.share_partitions():
        transaction = one.transaction
        stalled = one.verdict.health is Health.STALLED
        if transaction is None or one.topic is None or not (stalled or is_hanging(transaction, facts.view.at_ms)):
            continue
        nothing_before = stalled or (one.head is not None and one.head.offset is None)
        abort = facts.tools.call(
            "kafka-transactions.sh", "abort", *_log(one.topic, one.partition), "--start-offset", str(transaction.offset)
        )
        yield Finding.of(
            one,
            _CHECK,
            Severity.CRITICAL if nothing_before else Severity.WARNING,
            waiting_behind(transaction),
            "The group reads committed records, so nothing behind it is delivered until it ends. A live producer ends it, or its "
            f"coordinator does after transaction.timeout.ms. One that hangs is ended by hand, and its records are lost: {abort}",
            commands=(facts.tools.call("kafka-transactions.sh", "find-hanging", *_log(one.topic, one.partition)),),
            last_stable_offset=transaction.offset,
            log_end_offset=one.log_end_offset,
            waiting=transaction.waiting,
            since_timestamp=transaction.since_ms,
            producer_id=transaction.producer_id,
        )


def _log(topic: str, partition: int) -> tuple[str, ...]:
    return "--topic", topic, "--partition", str(partition)
