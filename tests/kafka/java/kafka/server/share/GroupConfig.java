package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.group.ShareGroupAutoOffsetResetStrategy;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfigProvider;

import java.util.Optional;

/**
 * The group configuration as operations set it: {@code group_config} names what Kafka asks for, and a setting stays until it is
 * named again. What Kafka asked for during an operation is noted.
 */
final class GroupConfig extends ShareGroupConfigProvider {
    private final ObjectNode values = JsonNodeFactory.instance.objectNode();
    private ObjectNode asked = JsonNodeFactory.instance.objectNode();

    GroupConfig() {
        super(null);
    }

    /** Takes over the settings of an operation; a renewal is off unless the operation that renews says otherwise. */
    void set(JsonNode op) {
        if (op.path("op").asText().equals("acknowledge")) {
            values.remove("isRenewAcknowledgeEnabled");
        }
        JsonNode given = op.get("group_config");
        if (given != null) {
            values.setAll((ObjectNode) given);
        }
    }

    ObjectNode takeAsked() {
        ObjectNode taken = asked;
        asked = JsonNodeFactory.instance.objectNode();
        return taken;
    }

    @Override
    public int recordLockDurationMsOrDefault(String group, int otherwise) {
        return integer("recordLockDurationMsOrDefault", otherwise);
    }

    @Override
    public int deliveryCountLimitOrDefault(String group, int otherwise) {
        return integer("deliveryCountLimitOrDefault", otherwise);
    }

    @Override
    public int partitionMaxRecordLocksOrDefault(String group, int otherwise) {
        return integer("partitionMaxRecordLocksOrDefault", otherwise);
    }

    @Override
    public boolean isRenewAcknowledgeEnabled(String group) {
        boolean enabled = values.path("isRenewAcknowledgeEnabled").asBoolean(false);
        asked.put("isRenewAcknowledgeEnabled", enabled);
        return enabled;
    }

    @Override
    public ShareGroupAutoOffsetResetStrategy autoOffsetReset(String group) {
        String text = values.path("autoOffsetReset").asText("earliest");
        asked.put("autoOffsetReset", text);
        boolean known = text.equals("latest") || text.equals("earliest");
        return ShareGroupAutoOffsetResetStrategy.fromString(known ? text : "by_duration:PT1H");
    }

    @Override
    public Optional<String> errorsDLQTopicName(String group) {
        String text = values.path("errorsDLQTopicName").asText("Optional.empty");
        asked.put("errorsDLQTopicName", text);
        return text.equals("Optional.empty") ? Optional.empty() : Optional.of(text);
    }

    private int integer(String name, int otherwise) {
        int value = values.path(name).asInt(otherwise);
        asked.put(name, value);
        return value;
    }
}
