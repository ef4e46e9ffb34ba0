package org.apache.kafka.coordinator.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.DeleteShareGroupStateRequestDataJsonConverter;
import org.apache.kafka.common.message.DeleteShareGroupStateResponseDataJsonConverter;
import org.apache.kafka.common.message.InitializeShareGroupStateRequestDataJsonConverter;
import org.apache.kafka.common.message.InitializeShareGroupStateResponseDataJsonConverter;
import org.apache.kafka.common.message.ReadShareGroupStateRequestDataJsonConverter;
import org.apache.kafka.common.message.ReadShareGroupStateResponseDataJsonConverter;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryRequestDataJsonConverter;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryResponseDataJsonConverter;
import org.apache.kafka.common.message.WriteShareGroupStateRequestDataJsonConverter;
import org.apache.kafka.common.message.WriteShareGroupStateResponseDataJsonConverter;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Plays the operations of one sequence on Kafka's ShareCoordinatorShard. What an operation decides is replayed right after it, as
 * if it had been appended at the next offset, and lies in the answer with the memory afterwards.
 */
public final class ShareCoordinatorSequence {
    private final WallClock clock = new WallClock();
    private final AllTopics topics = new AllTopics();
    private ShareCoordinatorShard shard;
    private Memory memory;
    private long offset;

    /** The outcome of each operation. */
    public ArrayNode play(JsonNode ops) {
        ArrayNode given = JsonNodeFactory.instance.arrayNode();
        for (JsonNode op : ops) {
            given.add(step(op));
        }
        return given;
    }

    private ObjectNode step(JsonNode op) {
        ObjectNode given = JsonNodeFactory.instance.objectNode();
        if (op.get("op").asText().equals("create")) {
            create(op);
            return given;
        }
        if (shard == null) {
            return given;
        }
        clock.now = op.path("now").asLong(clock.now);
        topics.exist = op.path("topic_exists").asBoolean(true);
        ObjectNode result = given.putObject("result");
        try {
            ArrayNode shown = JsonNodeFactory.instance.arrayNode();
            // Several come in the order of a hash map, which means nothing; the log's offsets then depend on it.
            for (CoordinatorRecord record : decide(op, result).stream().sorted(Comparator.comparing(Records::partition)).toList()) {
                shown.add(Records.show(record));
                shard.replay(offset++, 0, (short) 0, record);
            }
            result.set("records", shown);
        } catch (RuntimeException thrown) {
            result.put("error", thrown.getClass().getSimpleName());
            return given;
        }
        given.set("state", memory.show());
        shard.lastRedundantOffset().response().ifPresent(value -> given.put("last_redundant_offset", value));
        return given;
    }

    private void create(JsonNode op) {
        AbstractConfig config = new AbstractConfig(ShareCoordinatorConfig.CONFIG_DEF, Map.of(
            ShareCoordinatorConfig.SNAPSHOT_UPDATE_RECORDS_PER_SNAPSHOT_CONFIG, op.get("snapshot_update_records_per_snapshot").asInt(),
            ShareCoordinatorConfig.COLD_PARTITION_SNAPSHOT_INTERVAL_MS_CONFIG, op.get("cold_partition_snapshot_interval_ms").asInt()),
            false);
        NoMetrics metrics = new NoMetrics();
        LogContext log = new LogContext();
        shard = new ShareCoordinatorShard(log, new ShareCoordinatorConfig(config), metrics, metrics, new SnapshotRegistry(log), clock);
        shard.onLoaded(topics);
        memory = new Memory(shard);
        offset = 0;
    }

    private List<CoordinatorRecord> decide(JsonNode op, ObjectNode result) {
        JsonNode argument = op.path("args").path(0);
        JsonNode data = argument.path("data");
        short version = (short) argument.path("version").asInt(0);
        return switch (op.get("op").asText()) {
            case "initializeState" -> answered(result,
                shard.initializeState(InitializeShareGroupStateRequestDataJsonConverter.read(data, version)),
                response -> InitializeShareGroupStateResponseDataJsonConverter.write(response, version));
            case "readStateAndMaybeUpdateLeaderEpoch" -> answered(result,
                shard.readStateAndMaybeUpdateLeaderEpoch(ReadShareGroupStateRequestDataJsonConverter.read(data, version)),
                response -> ReadShareGroupStateResponseDataJsonConverter.write(response, version));
            case "writeState" -> answered(result,
                shard.writeState(WriteShareGroupStateRequestDataJsonConverter.read(data, version)),
                response -> WriteShareGroupStateResponseDataJsonConverter.write(response, version));
            case "deleteState" -> answered(result,
                shard.deleteState(DeleteShareGroupStateRequestDataJsonConverter.read(data, version)),
                response -> DeleteShareGroupStateResponseDataJsonConverter.write(response, version));
            case "readStateSummary" -> answered(result,
                shard.readStateSummary(ReadShareGroupStateSummaryRequestDataJsonConverter.read(data, version)),
                response -> ReadShareGroupStateSummaryResponseDataJsonConverter.write(response, version));
            case "snapshotColdPartitions" -> shard.snapshotColdPartitions().records();
            case "maybeCleanupShareState" -> {
                Set<Uuid> deleted = new HashSet<>();
                argument.forEach(id -> deleted.add(Uuid.fromString(id.asText())));
                yield shard.maybeCleanupShareState(deleted).records();
            }
            default -> throw new IllegalArgumentException("unknown operation " + op);
        };
    }

    private static <T> List<CoordinatorRecord> answered(ObjectNode result, CoordinatorResult<T, CoordinatorRecord> decided,
                                                        Function<T, JsonNode> json) {
        result.set("response", json.apply(decided.response()));
        return decided.records();
    }
}
