"""The metrics of a gateway, and Kafka's names for them: the one table behind ``/metrics`` and ``docs/gateway-metrics.md``."""

from __future__ import annotations

from typing import Final

from share_state.operate.monitoring import metric
from share_state.operate.monitoring.metric import Kind, Metric

__all__ = ["METRICS", "UNSERVED", "as_markdown"]

_PLACE: Final = ("group", "topic", "partition")
_COUNTER, _GAUGE, _HISTOGRAM = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM

METRICS: Final = (
    Metric("share_gateway_info", _GAUGE, ("version", "cluster_id", "generation"), (), "1; the labels name the gateway."),
    # Requests.
    Metric(
        "share_gateway_request_seconds",
        _HISTOGRAM,
        ("api",),
        ("kafka.network:RequestMetrics RequestsPerSec", "kafka.network:RequestMetrics TotalTimeMs"),
        "From the arrival of a request to its answer. The time that a ShareFetch waits is part of it.",
    ),
    Metric(
        "share_gateway_request_errors",
        _COUNTER,
        ("api", "code"),
        ("kafka.network:RequestMetrics ErrorsPerSec",),
        "Answers with an error for the request as a whole.",
    ),
    Metric(
        "share_gateway_request_failures",
        _COUNTER,
        ("api",),
        (),
        "Exceptions in answering requests, which were answered with an error; the log has each.",
    ),
    Metric("share_gateway_malformed_requests", _COUNTER, (), (), "Requests that could not be read; the connection was closed."),
    Metric(
        "share_gateway_fetched_partitions",
        _COUNTER,
        ("topic",),
        ("kafka.server:BrokerTopicMetrics TotalShareFetchRequestsPerSec",),
        "Partitions that share fetches were for.",
    ),
    Metric(
        "share_gateway_fetched_partitions_failed",
        _COUNTER,
        ("topic",),
        ("kafka.server:BrokerTopicMetrics FailedShareFetchRequestsPerSec",),
        "Those of them that were answered with an error.",
    ),
    Metric(
        "share_gateway_acknowledged_partitions",
        _COUNTER,
        ("topic",),
        ("kafka.server:BrokerTopicMetrics TotalShareAcknowledgementRequestsPerSec",),
        "Partitions that acknowledgements were for.",
    ),
    Metric(
        "share_gateway_acknowledged_partitions_failed",
        _COUNTER,
        ("topic",),
        ("kafka.server:BrokerTopicMetrics FailedShareAcknowledgementRequestsPerSec",),
        "Those of them that were refused.",
    ),
    Metric(
        "share_gateway_hidden_errors",
        _COUNTER,
        ("cause",),
        (),
        "Partitions for which a client was told -1, because its own cause would have ended the client.",
    ),
    # Share groups and their records.
    Metric(
        "share_gateway_acknowledged_records",
        _COUNTER,
        ("type",),
        ("kafka.server:ShareGroupMetrics RecordAcknowledgementsPerSec",),
        "Records that members have acknowledged, by type of acknowledgement.",
    ),
    Metric(
        "share_gateway_partition_load_seconds",
        _HISTOGRAM,
        (),
        ("kafka.server:ShareGroupMetrics PartitionLoadTimeMs",),
        "Time to load a share partition.",
    ),
    Metric(
        "share_gateway_fetch_asked_partitions",
        _COUNTER,
        ("group",),
        ("kafka.server:ShareGroupMetrics RequestTopicPartitionsFetchRatio",),
        "Partitions that share fetches could have had records of.",
    ),
    Metric(
        "share_gateway_fetch_acquired_partitions",
        _COUNTER,
        ("group",),
        ("kafka.server:ShareGroupMetrics RequestTopicPartitionsFetchRatio",),
        "Those of them with records; divided by the former it is Kafka's ratio.",
    ),
    Metric(
        "share_gateway_fetch_acquire_seconds",
        _HISTOGRAM,
        ("group",),
        ("kafka.server:ShareGroupMetrics TopicPartitionsAcquireTimeMs",),
        "From a share fetch to its records, where it got some.",
    ),
    Metric(
        "share_gateway_dead_lettered_records",
        _COUNTER,
        _PLACE,
        ("kafka.server:ShareGroupMetrics DeadLetterQueueRecordCount",),
        "Records that went to a dead-letter queue.",
    ),
    Metric(
        "share_gateway_lock_timeouts",
        _COUNTER,
        _PLACE,
        ("kafka.server:SharePartitionMetrics AcquisitionLockTimeoutPerSec",),
        "Records whose acquisition lock ran out.",
    ),
    Metric(
        "share_gateway_in_flight_records",
        _GAUGE,
        (*_PLACE, "state"),
        ("kafka.server:SharePartitionMetrics InFlightMessageCount",),
        "Records between start and end offset, by state.",
    ),
    Metric(
        "share_gateway_lag_records",
        _GAUGE,
        _PLACE,
        (),
        "Records that are not yet through: end offset - start offset - delivery complete count (KIP-1226).",
    ),
    Metric(
        "share_gateway_deliverable_age_seconds",
        _GAUGE,
        _PLACE,
        (),
        "Time since the record at the start offset was appended; 0 without lag. Too large by what one read upstream spans.",
    ),
    # Sessions and waiting fetches.
    Metric("share_gateway_share_sessions", _GAUGE, (), ("kafka.server:ShareSessionCache ShareSessionsCount",), "Share sessions."),
    Metric(
        "share_gateway_share_session_partitions",
        _GAUGE,
        (),
        ("kafka.server:ShareSessionCache SharePartitionsCount",),
        "Partitions in all of them.",
    ),
    Metric(
        "share_gateway_waiting_fetches",
        _GAUGE,
        (),
        ("kafka.server:DelayedOperationPurgatory,delayedOperation=ShareFetch NumDelayedOperations",),
        "Share fetches that wait for records.",
    ),
    Metric(
        "share_gateway_watched_partitions",
        _GAUGE,
        (),
        ("kafka.server:DelayedOperationPurgatory,delayedOperation=ShareFetch PurgatorySize",),
        "Share partitions that they wait at, each counted once for each fetch.",
    ),
    Metric(
        "share_gateway_expired_fetches",
        _COUNTER,
        (),
        ("kafka.server:DelayedShareFetchMetrics ExpiresPerSec",),
        "Share fetches that waited to the end and got nothing.",
    ),
    # Groups and the logs of state.
    Metric(
        "share_gateway_groups",
        _GAUGE,
        ("state",),
        ("kafka.server:group-coordinator-metrics share-group-count", "kafka.server:group-coordinator-metrics group-count"),
        "Share groups by state.",
    ),
    Metric(
        "share_gateway_share_partitions",
        _GAUGE,
        ("state",),
        ("kafka.server:share-coordinator-metrics num-partitions",),
        "Share partitions in memory: active, or loading.",
    ),
    Metric(
        "share_gateway_log_writes",
        _COUNTER,
        ("log",),
        ("kafka.server:share-coordinator-metrics write-rate", "kafka.server:share-coordinator-metrics write-total"),
        "Calls that have written to a log of state: of share partitions, or of groups.",
    ),
    Metric("share_gateway_log_records", _COUNTER, ("log",), (), "Records that were written."),
    Metric("share_gateway_log_bytes", _COUNTER, ("log",), (), "Bytes that were written."),
    Metric(
        "share_gateway_log_commits",
        _COUNTER,
        ("log",),
        ("kafka.server:share-coordinator-metrics batch-flush-rate",),
        "Batches that were written: what arrives together shares one.",
    ),
    Metric("share_gateway_log_syncs", _COUNTER, ("log",), (), "Syncs of the disk."),
    Metric("share_gateway_log_pruned_segments", _COUNTER, ("log",), (), "Segments that were pruned."),
    Metric(
        "share_gateway_acknowledge_queue_seconds",
        _HISTOGRAM,
        (),
        ("kafka.server:share-coordinator-metrics batch-linger-time-ms",),
        "How long the first write of a round waits for the round before it.",
    ),
    Metric(
        "share_gateway_acknowledge_write_seconds",
        _HISTOGRAM,
        (),
        (
            "kafka.server:share-coordinator-metrics write-latency-avg",
            "kafka.server:share-coordinator-metrics write-latency-max",
            "kafka.server:share-coordinator-metrics batch-flush-time-ms",
        ),
        "How long a round of writes takes until it is durable.",
    ),
    Metric("share_gateway_acknowledge_settle_seconds", _HISTOGRAM, (), (), "How long it takes then to settle all of its writes."),
    # Clients.
    Metric(
        "share_gateway_connections",
        _GAUGE,
        (),
        ("kafka.server:socket-server-metrics connection-count",),
        "Connections of clients.",
    ),
    Metric(
        "share_gateway_connections_accepted",
        _COUNTER,
        (),
        ("kafka.server:socket-server-metrics connection-creation-total",),
        "Connections that were taken.",
    ),
    Metric("share_gateway_connections_refused", _COUNTER, (), (), "Connections that were closed at once: there were too many."),
    Metric("share_gateway_tls_failures", _COUNTER, (), (), "Connections that did not agree on TLS."),
    Metric(
        "share_gateway_authentications",
        _COUNTER,
        (),
        ("kafka.server:socket-server-metrics successful-authentication-total",),
        "Logins.",
    ),
    Metric(
        "share_gateway_authentications_failed",
        _COUNTER,
        (),
        ("kafka.server:socket-server-metrics failed-authentication-total",),
        "Logins that failed.",
    ),
    Metric("share_gateway_queued_request_bytes", _GAUGE, (), (), "Bytes of requests that have arrived and are not begun."),
    Metric("share_gateway_unsent_answer_bytes", _GAUGE, (), (), "Bytes of answers that clients have not taken."),
    # Upstream.
    Metric("share_gateway_upstream_fetch_seconds", _HISTOGRAM, (), (), "Fetch upstream; its waiting for records is part of it."),
    Metric("share_gateway_upstream_fetch_bytes", _COUNTER, (), (), "Bytes of answers to Fetch."),
    Metric("share_gateway_upstream_errors", _COUNTER, ("code",), (), "Partitions for which upstream answered with an error."),
    Metric("share_gateway_upstream_back_reads", _COUNTER, (), (), "Reads of records that were not in memory."),
    Metric("share_gateway_upstream_truncations", _COUNTER, (), (), "Logs that were cut upstream."),
    Metric("share_gateway_upstream_recreations", _COUNTER, (), (), "Topics that were deleted upstream and created again."),
    Metric("share_gateway_upstream_ring_bytes", _GAUGE, (), (), "Bytes of batches that are kept in memory for all groups."),
    Metric(
        "share_gateway_upstream_silence_seconds",
        _GAUGE,
        ("topic", "partition"),
        (),
        "Time since upstream last said where the log of a partition ends that is being read.",
    ),
)

#: Kafka's metrics of share groups that have no counterpart, and why.
UNSERVED: Final = {
    "kafka.server:SharePartitionMetrics FetchLockTimeMs": "a fetch is served in one step from memory and needs no lock",
    "kafka.server:SharePartitionMetrics FetchLockRatio": "the same",
    "kafka.server:SharePartitionMetrics InFlightBatchCount": "the engine keeps runs of offsets, which no batch bounds",
    "kafka.server:SharePartitionMetrics InFlightBatchMessageCount": "the same",
    "kafka.server:ShareSessionCache ShareSessionEvictionsPerSec": "a session is never evicted",
    "kafka.server:ShareGroupMetrics DeadLetterQueueTotalProduceRequestsPerSec": "the gateway does not produce",
    "kafka.server:ShareGroupMetrics DeadLetterQueueFailedProduceRequestsPerSec": "the same",
    "kafka.server:group-coordinator-metrics share-group-rebalance-rate": "an assignment is part of a heartbeat",
    "kafka.server:group-coordinator-metrics share-group-rebalance-count": "the same",
    "kafka.server:share-coordinator-metrics last-pruned-offset": "pruning drops segments, which are counted",
    "kafka.server:share-coordinator-metrics event-queue-size": "there is no queue of events",
    "kafka.server:share-coordinator-metrics event-queue-time-ms": "the same",
    "kafka.server:share-coordinator-metrics thread-idle-ratio-avg": "there is no such thread",
    "kafka.server:share-coordinator-metrics partition-load-time-avg": "the logs are loaded at the start",
    "kafka.server:share-coordinator-metrics partition-load-time-max": "the same",
    "kafka.network:RequestMetrics RequestQueueTimeMs": "a request begins when it has arrived; all of its time is one number",
    "kafka.network:RequestMetrics LocalTimeMs": "the same",
    "kafka.network:RequestMetrics RemoteTimeMs": "the same",
    "kafka.network:RequestMetrics ResponseSendTimeMs": "the same",
}


def as_markdown() -> str:
    """Write the tables of ``docs/gateway-metrics.md``."""
    unserved = ["| Kafka | why not |", "|---|---|"]
    unserved += [f"| `{name}` | {why} |" for name, why in UNSERVED.items()]
    return "\n".join([*metric.as_markdown(METRICS), "", "## What Kafka has and the gateway does not", "", *unserved, ""])
