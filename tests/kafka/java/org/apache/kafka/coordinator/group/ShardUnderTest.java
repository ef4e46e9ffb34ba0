package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetricsShard;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.coordinator.share.NoMetrics;
import org.apache.kafka.coordinator.share.WallClock;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/** Kafka's GroupCoordinatorShard over a log in memory: what it decides is appended and replayed at once. */
final class ShardUnderTest {
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final TopicPartition PARTITION = new TopicPartition("__consumer_offsets", 0);
    private static final LogContext LOG = new LogContext();

    /** The time that Kafka reads off the wall; the timer's never goes back. */
    final WallClock wall = new WallClock();
    final WallClock clock = new WallClock();
    GroupMetadataManager groups;
    GroupCoordinatorShard shard;
    ManualTimer timer;
    ClusterTopics topics = new ClusterTopics(JsonNodeFactory.instance.arrayNode(), 0);

    private final GroupCoordinatorConfig config;
    private final GroupConfigManager groupConfigs;
    private final List<CoordinatorRecord> log = new ArrayList<>();
    private ArrayNode appended = JsonNodeFactory.instance.arrayNode();

    ShardUnderTest(JsonNode brokerConfig) {
        Properties properties = properties(brokerConfig);
        config = GroupCoordinatorConfig.fromProps(properties);
        groupConfigs = new GroupConfigManager(config, ShareGroupConfig.fromProps(properties));
        load(false);
    }

    private static Properties properties(JsonNode fields) {
        Properties properties = new Properties();
        fields.properties().forEach(field -> properties.setProperty(field.getKey(), field.getValue().asText()));
        return properties;
    }

    /**
     * Another coordinator takes over: it reads the log from its beginning.
     *
     * @param compacted whether of each key only the latest record is left by then
     */
    void load(boolean compacted) {
        if (compacted) {
            compact();
        }
        SnapshotRegistry registry = new SnapshotRegistry(LOG);
        timer = new ManualTimer(clock);
        NoMetrics metrics = new NoMetrics();
        GroupCoordinatorMetricsShard counters = new GroupCoordinatorMetricsShard(registry, Map.of(), PARTITION) {
            @Override
            public void record(String sensor) { }

            @Override
            public void record(String sensor, double value) { }
        };
        groups = new GroupMetadataManager.Builder().withLogContext(LOG).withSnapshotRegistry(registry).withTime(wall).withTimer(timer)
            .withExecutor(new NoExecutor()).withConfig(config).withGroupConfigManager(groupConfigs)
            .withGroupCoordinatorMetricsShard(counters).withShareGroupAssignor(new SimpleAssignor())
            .withStreamsGroupAssignors(config.streamsGroupAssignors()).withAuthorizerPlugin(Optional.empty()).build();
        OffsetMetadataManager offsets = new OffsetMetadataManager.Builder().withLogContext(LOG).withSnapshotRegistry(registry)
            .withTime(wall).withGroupMetadataManager(groups).withGroupCoordinatorConfig(config)
            .withGroupCoordinatorMetricsShard(counters).build();
        shard = new GroupCoordinatorShard(LOG, groups, offsets, wall, timer, config, metrics, counters);
        for (int offset = 0; offset < log.size(); offset++) {
            shard.replay(offset, -1, (short) -1, log.get(offset));
        }
        shard.onLoaded(topics);
    }

    private void compact() {
        Map<String, CoordinatorRecord> latest = new LinkedHashMap<>();
        for (CoordinatorRecord record : log) {
            String key = HexFormat.of().formatHex(SERDE.serializeKey(record));
            latest.remove(key);
            if (record.value() != null) {
                latest.put(key, record);
            }
        }
        log.clear();
        log.addAll(latest.values());
    }

    /** Appends what was decided. */
    <T> T append(CoordinatorResult<T, CoordinatorRecord> decided) {
        decided.records().forEach(this::append);
        return decided.response();
    }

    void append(CoordinatorRecord record) {
        log.add(record);
        byte[] value = SERDE.serializeValue(record);
        appended.addArray().add(HexFormat.of().formatHex(SERDE.serializeKey(record)))
            .add(value == null ? null : HexFormat.of().formatHex(value));
        shard.replay(log.size() - 1, -1, (short) -1, record);
    }

    static CoordinatorRecord read(JsonNode record) {
        HexFormat hex = HexFormat.of();
        return SERDE.deserialize(ByteBuffer.wrap(hex.parseHex(record.get(0).asText())),
            record.get(1).isNull() ? null : ByteBuffer.wrap(hex.parseHex(record.get(1).asText())));
    }

    /** Takes the records appended since the last time, as key and value in hexadecimal. */
    ArrayNode takeAppended() {
        ArrayNode taken = appended;
        appended = JsonNodeFactory.instance.arrayNode();
        return taken;
    }

    void configure(String group, JsonNode values) {
        groupConfigs.updateGroupConfig(group, properties(values));
    }

    /** The share assignor runs inline, whatever the configuration says. */
    private static final class NoExecutor implements CoordinatorExecutor<CoordinatorRecord> {
        @Override
        public <R> boolean schedule(String key, TaskRunnable<R> task, TaskOperation<CoordinatorRecord, R> operation) {
            throw new UnsupportedOperationException(key);
        }

        @Override
        public boolean isScheduled(String key) {
            return false;
        }

        @Override
        public void cancel(String key) { }
    }
}
