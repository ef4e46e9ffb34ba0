package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.share.metrics.SharePartitionMetrics;

/** Kafka's share partition, with everything around it played by the sequence. */
final class PartitionUnderTest {
    static final TopicIdPartition TOPIC = new TopicIdPartition(new Uuid(0x0001020304050607L, 0x08090a0b0c0d0e0fL), 0, "topic");
    private static final String GROUP = "group";
    // Metrics register themselves for good, so that one object serves all.
    private static final SharePartitionMetrics METRICS = new SharePartitionMetrics(GROUP, TOPIC.topic(), TOPIC.partition());

    final JsonNode created;
    final ManualClock clock;
    final GroupConfig config = new GroupConfig();
    final ScriptedPersister persister;
    final ScriptedDeadLetterQueue deadLetters = new ScriptedDeadLetterQueue();
    final ScriptedMetadata metadata = new ScriptedMetadata();
    final SharePartition partition;
    ObjectNode lastState;

    PartitionUnderTest(JsonNode config, ManualClock clock, ScriptedPersister persister) {
        this.created = config;
        this.clock = clock;
        this.persister = persister;
        boolean deadLettersOn = config.get("dlq_enabled").asBoolean();
        partition = new SharePartition(GROUP, TOPIC, config.get("leader_epoch").asInt(), config.get("max_in_flight").asInt(),
            config.get("max_delivery_count").asInt(), config.get("record_lock_ms").asInt(), clock, clock, persister, metadata,
            key -> { }, this.config, SharePartition.SharePartitionState.valueOf(config.get("initial_status").asText()), null,
            METRICS, () -> deadLettersOn, deadLetters);
    }

    /** The answers planned for an operation: its own, then those of the time-outs that a recording shows. */
    static ArrayNode planned(JsonNode op, String field) {
        ArrayNode plan = JsonNodeFactory.instance.arrayNode();
        op.path(field).forEach(plan::add);
        op.path("lock_timeouts_fired").forEach(timeout -> timeout.path(field).forEach(plan::add));
        return plan;
    }

    /** Sets the world around as the operation says; this counts from here on. */
    void begin(JsonNode op) {
        config.set(op);
        deadLetters.begin(op);
        metadata.begin(op);
    }
}
