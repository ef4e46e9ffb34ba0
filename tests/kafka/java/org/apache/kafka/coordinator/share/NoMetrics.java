package org.apache.kafka.coordinator.share;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetricsShard;
import org.apache.kafka.timeline.SnapshotRegistry;

/** Metrics that nobody reads. */
public final class NoMetrics extends CoordinatorMetrics implements CoordinatorMetricsShard {
    private final TopicPartition partition = new TopicPartition("__share_group_state", 0);

    @Override
    public CoordinatorMetricsShard newMetricsShard(SnapshotRegistry registry, TopicPartition partition) {
        return this;
    }

    @Override
    public void activateMetricsShard(CoordinatorMetricsShard shard) { }

    @Override
    public void deactivateMetricsShard(CoordinatorMetricsShard shard) { }

    @Override
    public void onUpdateLastCommittedOffset(TopicPartition partition, long offset) { }

    @Override
    public void record(String sensor) { }

    @Override
    public void record(String sensor, double value) { }

    @Override
    public TopicPartition topicPartition() {
        return partition;
    }

    @Override
    public void commitUpTo(long offset) { }
}
