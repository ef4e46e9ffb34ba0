package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Plays assignments on Kafka's SimpleAssignor, each by itself: an operation brings its members with what they have. */
public final class SimpleAssignorSequence {
    private static final SimpleAssignor ASSIGNOR = new SimpleAssignor();
    private static final String NOT_ASSIGNABLE = "not_assignable_";

    private SimpleAssignorSequence() { }

    /** Results of the operations. */
    public static ArrayNode play(JsonNode ops) {
        ArrayNode given = JsonNodeFactory.instance.arrayNode();
        for (JsonNode op : ops) {
            given.addObject().set("result", assign(op));
        }
        return given;
    }

    private static ObjectNode assign(JsonNode op) {
        // Kafka numbers members as the map lists them, and who gets one more than another follows from the numbers. In the order of
        // their ids there is less that depends on hashes.
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new TreeMap<>();
        op.get("members").properties().forEach(member -> members.put(member.getKey(), member(member.getValue())));
        Map<Uuid, Integer> counts = new HashMap<>();
        Map<Uuid, Set<Integer>> assignable = new HashMap<>();
        boolean restricted = false;
        for (Map.Entry<String, JsonNode> topic : op.get("topics").properties()) {
            Uuid id = Uuid.fromString(topic.getKey());
            counts.put(id, topic.getValue().asInt());
            Set<Integer> some = new HashSet<>();
            for (int partition = 0; partition < topic.getValue().asInt(); partition++) {
                some.add(partition);
            }
            JsonNode not = op.get(NOT_ASSIGNABLE + topic.getKey());
            if (not != null) {
                restricted = true;
                not.forEach(partition -> some.remove(partition.asInt()));
            }
            assignable.put(id, some);
        }
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        try {
            ASSIGNOR.assign(
                new GroupSpecImpl(members, SubscriptionType.valueOf(op.get("subscription_type").asText().toUpperCase()), Map.of(),
                    restricted ? Optional.of(assignable) : Optional.empty()),
                new Counts(counts)
            ).members().forEach((member, assigned) -> shown.set(member, show(assigned)));
        } catch (RuntimeException thrown) {
            return shown.removeAll().put("error", thrown.getClass().getSimpleName());
        }
        return shown;
    }

    private static MemberSubscriptionAndAssignmentImpl member(JsonNode member) {
        Set<Uuid> subscribed = new HashSet<>();
        member.get("subscribed").forEach(id -> subscribed.add(Uuid.fromString(id.asText())));
        Map<Uuid, Set<Integer>> current = new HashMap<>();
        for (Map.Entry<String, JsonNode> topic : member.get("current").properties()) {
            Set<Integer> partitions = new HashSet<>();
            topic.getValue().forEach(partition -> partitions.add(partition.asInt()));
            current.put(Uuid.fromString(topic.getKey()), partitions);
        }
        return new MemberSubscriptionAndAssignmentImpl(Optional.ofNullable(member.path("rack").textValue()), Optional.empty(), subscribed,
            new Assignment(current));
    }

    private static ObjectNode show(MemberAssignment assigned) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        assigned.partitions().forEach((topic, partitions) -> {
            if (!partitions.isEmpty()) {
                ArrayNode list = shown.putArray(topic.toString());
                partitions.stream().sorted().forEach(list::add);
            }
        });
        return shown;
    }

    private record Counts(Map<Uuid, Integer> partitions) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return partitions.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
