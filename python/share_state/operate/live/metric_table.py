"""The metrics of the exporter: the one table behind ``/metrics`` and ``docs/exporter-metrics.md``."""

from __future__ import annotations

from typing import Final

from share_state.operate.monitoring import metric
from share_state.operate.monitoring.metric import Kind, Metric

__all__ = ["METRICS", "NAMESPACES", "SERIES_A_SHARE_PARTITION", "as_markdown"]

_PLACE: Final = ("group", "topic", "partition")
_COUNTER, _GAUGE = Kind.COUNTER, Kind.GAUGE

#: Prefixes of the names, by what they are about.
NAMESPACES: Final = ("share_exporter", "share_group", "share_state_topic")
#: The most that one share partition can have: its labels have few values.
SERIES_A_SHARE_PARTITION: Final = 30

METRICS: Final = (
    # Share partitions.
    Metric("share_group_start_offset", _GAUGE, _PLACE, (), "Start offset; absent while it is not resolved."),
    Metric("share_group_log_end_offset", _GAUGE, _PLACE, (), "Offset after the last record of the topic's partition."),
    Metric(
        "share_group_lag_records",
        _GAUGE,
        _PLACE,
        (),
        "Records that are not settled: log end offset - start offset - delivery complete count (KIP-1226).",
    ),
    Metric(
        "share_group_no_record_waits",
        _GAUGE,
        _PLACE,
        (),
        "1 where there is a lag, and the log is known to hold no record for the group in it: markers of transactions, and "
        "aborted records where the group reads committed ones. Absent elsewhere.",
    ),
    Metric(
        "share_group_window_records",
        _GAUGE,
        (*_PLACE, "state"),
        ("kafka.server:SharePartitionMetrics InFlightMessageCount",),
        "Records from the start offset on of which something is written, by state. One in a member's hands has its last written "
        "state.",
    ),
    Metric(
        "share_group_delivered_records",
        _GAUGE,
        (*_PLACE, "deliveries"),
        (),
        "Records of the window, by how often they were delivered; 10 stands for ten and more.",
    ),
    Metric("share_group_redelivered_records", _GAUGE, _PLACE, (), "Records of the window that were delivered more than once."),
    Metric(
        "share_group_window_offsets",
        _GAUGE,
        _PLACE,
        (),
        "Offsets from the start offset to the last one of which something is written: how wide the window is.",
    ),
    Metric(
        "share_group_head_blocked",
        _GAUGE,
        (*_PLACE, "by"),
        (),
        "1 where the start offset is held: by a record that is available, archiving, or unknown (never written about).",
    ),
    Metric(
        "share_group_oldest_unsettled_seconds",
        _GAUGE,
        _PLACE,
        (),
        "Age of the record that holds the start offset: time since a delivery first ended at or after it while the start offset "
        "stands. Absent where nothing holds it.",
    ),
    Metric("share_group_health", _GAUGE, (*_PLACE, "health"), (), "1 for the word that `share-state top` shows."),
    Metric(
        "share_group_anomalies",
        _GAUGE,
        (*_PLACE, "kind"),
        (),
        "Findings that `share-state anomalies` would tell, by kind: those that last, and those that were over within the last 15 "
        "minutes; absent where there are none. Of each state partition the latest 1,000 that are over are known.",
    ),
    Metric(
        "share_group_settled_records",
        _COUNTER,
        (*_PLACE, "outcome"),
        (),
        "Records that will not come back: accepted, rejected, delivery_limit, dead_letter; passed_available and passed_unknown "
        "where the start offset passed them unsettled, as when the log start moves. Counts since the exporter has read the state "
        "topic.",
    ),
    Metric(
        "share_group_released_records",
        _COUNTER,
        _PLACE,
        (),
        "Records that came back: released, or their locks ran out. The state topic does not tell which.",
    ),
    # Groups.
    Metric("share_group_members", _GAUGE, ("group",), (), "Members of the group."),
    Metric(
        "share_group_state",
        _GAUGE,
        ("group", "state"),
        ("kafka.server:group-coordinator-metrics share-group-count",),
        "1 for the state that the coordinator shows.",
    ),
    # The state topic.
    Metric("share_state_topic_read_offset", _GAUGE, ("state_partition",), (), "Offset up to which the exporter has read."),
    Metric(
        "share_state_topic_needed_offset",
        _GAUGE,
        ("state_partition",),
        ("kafka.server:share-coordinator-metrics last-pruned-offset",),
        "First offset that a share coordinator still needs; what is before it is redundant. Absent while a snapshot is missing.",
    ),
    Metric("share_state_topic_size_offsets", _GAUGE, ("state_partition",), (), "Offsets from the log start to the log end."),
    Metric(
        "share_state_topic_redundant_offsets",
        _GAUGE,
        ("state_partition",),
        (),
        "Offsets from the log start on that no share coordinator needs: the redundant prefix, which brokers prune.",
    ),
    # The exporter itself.
    Metric("share_exporter_info", _GAUGE, ("version",), (), "1; the label is the version of share_state."),
    Metric("share_exporter_behind_offsets", _GAUGE, (), (), "Offsets of the state topic that the exporter has not read yet."),
    Metric("share_exporter_view_age_seconds", _GAUGE, (), (), "Time since the numbers were taken."),
    Metric("share_exporter_share_partitions", _GAUGE, (), (), "Share partitions that are known."),
    Metric(
        "share_exporter_left_out_share_partitions",
        _GAUGE,
        (),
        (),
        "Share partitions without metrics of their own, because there are more than the limit: the ones with the least lag.",
    ),
    Metric("share_exporter_groups", _GAUGE, (), (), "Share groups that are known."),
    Metric("share_exporter_left_out_groups", _GAUGE, (), (), "Share groups without metrics of their own, by the same limit."),
    Metric(
        "share_exporter_problems", _GAUGE, (), (), "Things that cannot be seen at the moment; the log of the exporter names them."
    ),
    Metric("share_exporter_failures", _COUNTER, (), (), "Questions to the cluster that were not answered, or refused."),
    Metric(
        "share_exporter_otlp_failures",
        _COUNTER,
        (),
        (),
        "Times that an OpenTelemetry collector did not take the metrics; absent without `--otlp`.",
    ),
)


def as_markdown() -> str:
    """Write the table of ``docs/exporter-metrics.md``."""
    return "\n".join([*metric.as_markdown(METRICS), ""])
