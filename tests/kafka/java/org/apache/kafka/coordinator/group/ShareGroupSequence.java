package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ShareGroupDescribeResponseData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer.TimeoutOperation;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupMember;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plays the operations of one sequence on Kafka's GroupCoordinatorShard. A heartbeat that asks the share coordinator for state is
 * answered by an {@code initialize_answer} of the sequence, or never; what alters and deletes is answered within its operation, by
 * {@code persister_code}. Each operation gives its result, the records appended, and the memory afterwards when it has changed.
 */
public final class ShareGroupSequence {
    private static final Method VALIDATE = validation();
    private static final int NO_EPOCH = 77;

    private final Map<String, Deque<Map<Uuid, Set<Integer>>>> asked = new HashMap<>();
    private final Set<String> names = new TreeSet<>();
    private ShardUnderTest at;
    private GroupAdministration administration;
    private ObjectNode lastState;

    private static Method validation() {
        try {
            Method method = GroupCoordinatorService.class
                .getDeclaredMethod("throwIfShareGroupHeartbeatRequestIsInvalid", ShareGroupHeartbeatRequestData.class);
            method.setAccessible(true);
            return method;
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** The outcome of each operation. */
    public ArrayNode play(JsonNode ops) {
        ArrayNode given = JsonNodeFactory.instance.arrayNode();
        for (JsonNode op : ops) {
            if (at == null || op.get("op").asText().equals("create")) {
                asked.clear();
                names.clear();
                at = new ShardUnderTest(op.path("config"));
                at.clock.now = op.path("now").asLong();
                at.wall.now = at.clock.now;
                administration = new GroupAdministration(at);
                lastState = JsonNodeFactory.instance.objectNode();
            }
            given.add(step(op));
        }
        return given;
    }

    private ObjectNode step(JsonNode op) {
        ObjectNode given = JsonNodeFactory.instance.objectNode();
        if (op.has("group")) {
            names.add(op.get("group").asText());
        }
        try {
            given.set("result", run(op, given));
        } catch (RuntimeException thrown) {
            given.putObject("result").put("code", Errors.forException(thrown).code()).put("error", thrown.getClass().getSimpleName());
        }
        ArrayNode appended = at.takeAppended();
        if (!appended.isEmpty()) {
            given.set("records", appended);
        }
        ObjectNode state = GroupState.show(at.groups, names);
        if (!state.equals(lastState)) {
            lastState = state;
            given.set("state", state);
        }
        return given;
    }

    private JsonNode run(JsonNode op, ObjectNode given) {
        switch (op.get("op").asText()) {
            case "create" -> { }
            case "heartbeat" -> {
                return heartbeat(op, given);
            }
            case "initialize_answer" -> {
                return initialized(op.get("group").asText(), op.get("code").asInt());
            }
            case "advance_clock" -> {
                at.clock.now += op.get("ms").asLong();
                at.wall.now += op.path("wall").asLong(op.get("ms").asLong());
                for (TimeoutOperation<CoordinatorRecord> due = at.timer.takeDue(); due != null; due = at.timer.takeDue()) {
                    at.append(due.generateRecords());
                }
            }
            case "topics" -> topics(op.get("topics"));
            case "group_config" -> at.configure(op.get("group").asText(), op.get("config"));
            case "restart" -> {
                // Whoever waited for an answer is gone.
                asked.clear();
                at.load(op.path("compacted").asBoolean());
            }
            case "replay" -> op.get("records").forEach(record -> at.append(ShardUnderTest.read(record)));
            case "describe" -> {
                return describe(op.get("group").asText());
            }
            default -> {
                return administration.run(op);
            }
        }
        return JsonNodeFactory.instance.nullNode();
    }

    private JsonNode heartbeat(JsonNode op, ObjectNode given) {
        ShareGroupHeartbeatRequestData request = new ShareGroupHeartbeatRequestData().setGroupId(op.get("group").asText())
            .setMemberId(op.get("member").asText()).setMemberEpoch(epoch(op)).setRackId(op.path("rack").textValue());
        if (op.path("topics").isArray()) {
            Set<String> topics = new HashSet<>();
            op.get("topics").forEach(topic -> topics.add(topic.asText()));
            request.setSubscribedTopicNames(List.copyOf(topics));
        }
        validate(request);
        Map.Entry<ShareGroupHeartbeatResponseData, Optional<InitializeShareGroupStateParameters>> answered = at.append(
            at.shard.shareGroupHeartbeat(new Client(op.path("client_id").asText("client"), op.path("client_host").asInt(1)), request));
        answered.getValue().ifPresent(initialize -> {
            Map<Uuid, Set<Integer>> partitions = new HashMap<>();
            initialize.groupTopicPartitionData().topicsData().forEach(topic ->
                topic.partitions().forEach(p -> partitions.computeIfAbsent(topic.topicId(), id -> new HashSet<>()).add(p.partition())));
            asked.computeIfAbsent(request.groupId(), group -> new ArrayDeque<>()).add(partitions);
            given.set("initialize", GroupAdministration.show(initialize));
        });
        ShareGroupHeartbeatResponseData response = answered.getKey();
        ObjectNode shown = JsonNodeFactory.instance.objectNode().put("code", response.errorCode()).put("member", response.memberId())
            .put("epoch", response.memberEpoch()).put("interval", response.heartbeatIntervalMs());
        if (response.assignment() != null) {
            Map<Uuid, Set<Integer>> assigned = new HashMap<>();
            response.assignment().topicPartitions().forEach(topic -> assigned.put(topic.topicId(), new HashSet<>(topic.partitions())));
            shown.set("assignment", GroupState.assignment(assigned));
        }
        return shown;
    }

    /** A number, or the member's {@code current} or {@code previous} epoch; a member that does not exist has neither. */
    private int epoch(JsonNode op) {
        JsonNode epoch = op.get("epoch");
        if (epoch.isNumber()) {
            return epoch.asInt();
        }
        Group group = at.groups.maybeGroup(op.get("group").asText(), SnapshotRegistry.LATEST_EPOCH);
        ShareGroupMember member = group instanceof ShareGroup share ? share.members().get(op.get("member").asText()) : null;
        if (member == null) {
            return NO_EPOCH;
        }
        return epoch.asText().equals("current") ? member.memberEpoch() : member.previousMemberEpoch();
    }

    private static void validate(ShareGroupHeartbeatRequestData request) {
        try {
            VALIDATE.invoke(null, request);
        } catch (InvocationTargetException refused) {
            throw (RuntimeException) refused.getCause();
        } catch (ReflectiveOperationException denied) {
            throw new IllegalStateException(denied);
        }
    }

    /** The share coordinator's answer to the oldest request of a group. */
    private JsonNode initialized(String group, int code) {
        Deque<Map<Uuid, Set<Integer>>> waiting = asked.getOrDefault(group, new ArrayDeque<>());
        if (!waiting.isEmpty()) {
            Map<Uuid, Set<Integer>> partitions = waiting.remove();
            at.append(code == 0 ? at.shard.initializeShareGroupState(group, partitions)
                : at.shard.uninitializeShareGroupState(group, partitions));
        }
        return JsonNodeFactory.instance.nullNode();
    }

    private void topics(JsonNode listed) {
        ClusterTopics before = at.topics;
        at.topics = new ClusterTopics(listed, before.version() + 1);
        ClusterTopics.Delta delta = at.topics.since(before);
        at.shard.onMetadataUpdate(delta, at.topics);
        if (!delta.deletedTopicIds().isEmpty()) {
            at.append(at.shard.maybeCleanupShareGroupState(delta.deletedTopicIds()));
        }
    }

    private JsonNode describe(String group) {
        ShareGroupDescribeResponseData.DescribedGroup described =
            at.shard.shareGroupDescribe(List.of(group), SnapshotRegistry.LATEST_EPOCH).get(0);
        ObjectNode shown = JsonNodeFactory.instance.objectNode().put("code", described.errorCode()).put("state", described.groupState())
            .put("epoch", described.groupEpoch()).put("assignment_epoch", described.assignmentEpoch())
            .put("assignor", described.assignorName());
        ArrayNode members = shown.putArray("members");
        described.members().stream().sorted(Comparator.comparing(ShareGroupDescribeResponseData.Member::memberId)).forEach(member -> {
            ObjectNode one = members.addObject().put("member", member.memberId()).put("epoch", member.memberEpoch())
                .put("rack", member.rackId()).put("client_id", member.clientId()).put("client_host", member.clientHost());
            member.subscribedTopicNames().stream().sorted().forEach(one.putArray("topics")::add);
            Map<String, List<Integer>> assigned = new TreeMap<>();
            member.assignment().topicPartitions().forEach(topic -> assigned.put(topic.topicId() + ":" + topic.topicName(),
                topic.partitions()));
            ObjectNode assignment = one.putObject("assignment");
            assigned.forEach((topic, partitions) -> partitions.stream().sorted().forEach(assignment.putArray(topic)::add));
        });
        return shown;
    }
}
