package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.AlterShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Share groups for administrators, by the steps of GroupCoordinatorService, with the share coordinator's answer between. */
final class GroupAdministration {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final ShardUnderTest at;

    GroupAdministration(ShardUnderTest at) {
        this.at = at;
    }

    JsonNode run(JsonNode op) {
        int code = op.path("persister_code").asInt(0);
        String group = op.path("group").asText();
        return switch (op.get("op").asText()) {
            case "list" -> list(op);
            case "delete_group" -> delete(group, code);
            case "alter_offsets" -> alter(group, op.get("topics"), code);
            case "delete_offsets" -> deleteOffsets(group, op.get("topics"), code);
            case "initialized_partitions" -> GroupState.assignment(at.shard.initializedShareGroupPartitions(group));
            default -> throw new IllegalArgumentException("unknown operation " + op);
        };
    }

    private JsonNode list(JsonNode op) {
        ArrayNode shown = JSON.arrayNode();
        at.shard.listGroups(texts(op.path("states")), texts(op.path("types")), SnapshotRegistry.LATEST_EPOCH).stream()
            .sorted(Comparator.comparing(ListGroupsResponseData.ListedGroup::groupId))
            .forEach(one -> shown.addArray().add(one.groupId()).add(one.protocolType()).add(one.groupState()).add(one.groupType()));
        return shown;
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asText).toList();
    }

    private JsonNode delete(String group, int persisterCode) {
        ObjectNode shown = JSON.objectNode();
        Map.Entry<DeleteShareGroupStateParameters, Errors> first = at.append(at.shard.sharePartitionDeleteRequests(List.of(group))).get(group);
        if (first != null && first.getValue() != Errors.NONE) {
            return shown.put("code", first.getValue().code());
        }
        if (first != null) {
            shown.set("delete", show(first.getKey()));
            if (persisterCode != 0) {
                return shown.put("code", persisterCode);
            }
        }
        return shown.put("code", at.append(at.shard.deleteGroups(null, List.of(group))).find(group).errorCode());
    }

    private JsonNode alter(String group, JsonNode topics, int persisterCode) {
        AlterShareGroupOffsetsRequestData request = new AlterShareGroupOffsetsRequestData().setGroupId(group);
        for (JsonNode topic : topics) {
            AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestTopic one =
                new AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestTopic().setTopicName(topic.get(0).asText());
            topic.get(1).forEach(partition -> one.partitions().add(
                new AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestPartition()
                    .setPartitionIndex(partition.get(0).asInt()).setStartOffset(partition.get(1).asLong())));
            request.topics().add(one);
        }
        Map.Entry<AlterShareGroupOffsetsResponseData, InitializeShareGroupStateParameters> decided =
            at.append(at.shard.alterShareGroupOffsets(group, request));
        InitializeShareGroupStateParameters initialize = decided.getValue();
        ObjectNode shown = JSON.objectNode().put("code", decided.getKey().errorCode());
        ObjectNode answered = shown.putObject("topics");
        decided.getKey().responses().forEach(topic -> {
            ArrayNode partitions = answered.putArray(topic.topicName());
            topic.partitions().stream()
                .sorted(Comparator.comparingInt(AlterShareGroupOffsetsResponseData.AlterShareGroupOffsetsResponsePartition::partitionIndex))
                .forEach(partition -> partitions.addArray().add(partition.partitionIndex()).add(partition.errorCode()));
        });
        if (initialize.groupTopicPartitionData().topicsData().isEmpty()) {
            return shown;
        }
        shown.set("initialize", show(initialize));
        if (persisterCode == 0) {
            Map<Uuid, Set<Integer>> partitions = new HashMap<>();
            initialize.groupTopicPartitionData().topicsData().forEach(topic ->
                topic.partitions().forEach(p -> partitions.computeIfAbsent(topic.topicId(), id -> new HashSet<>()).add(p.partition())));
            at.append(at.shard.initializeShareGroupState(group, partitions));
        }
        return shown;
    }

    private JsonNode deleteOffsets(String group, JsonNode topics, int persisterCode) {
        DeleteShareGroupOffsetsRequestData request = new DeleteShareGroupOffsetsRequestData().setGroupId(group);
        topics.forEach(topic -> request.topics().add(
            new DeleteShareGroupOffsetsRequestData.DeleteShareGroupOffsetsRequestTopic().setTopicName(topic.asText())));
        GroupCoordinatorShard.DeleteShareGroupOffsetsResultHolder holder = at.append(at.shard.initiateDeleteShareGroupOffsets(group, request));
        ObjectNode shown = JSON.objectNode().put("code", holder.topLevelErrorCode());
        if (holder.topLevelErrorCode() != 0) {
            return shown;
        }
        Map<String, Integer> codes = new TreeMap<>();
        holder.errorTopicResponseList().forEach(topic -> codes.put(topic.topicName(), (int) topic.errorCode()));
        DeleteShareGroupStateParameters parameters = holder.deleteStateRequestParameters();
        if (parameters != null) {
            shown.set("delete", show(parameters));
            Map<Uuid, String> deleted = new HashMap<>();
            parameters.groupTopicPartitionData().topicsData().forEach(topic -> {
                // A topic may be gone from the image while its state is still being deleted.
                String name = at.topics.topicMetadata(topic.topicId()).map(found -> found.name()).orElse(null);
                if (persisterCode != 0) {
                    codes.put(String.valueOf(name), persisterCode);
                } else if (name != null) {
                    deleted.put(topic.topicId(), name);
                }
            });
            if (!deleted.isEmpty()) {
                DeleteShareGroupOffsetsResponseData response =
                    at.append(at.shard.completeDeleteShareGroupOffsets(group, deleted, List.of()));
                shown.put("code", response.errorCode());
                response.responses().forEach(topic -> codes.put(topic.topicName(), (int) topic.errorCode()));
            }
        }
        ObjectNode answered = shown.putObject("topics");
        codes.forEach(answered::put);
        return shown;
    }

    /** Topic ids with partition, state epoch and start offset of each. */
    static ObjectNode show(InitializeShareGroupStateParameters parameters) {
        Map<String, ArrayNode> sorted = new TreeMap<>();
        parameters.groupTopicPartitionData().topicsData().forEach(topic -> {
            ArrayNode partitions = sorted.computeIfAbsent(topic.topicId().toString(), id -> JSON.arrayNode());
            topic.partitions().stream().sorted(Comparator.comparingInt(p -> p.partition())).forEach(p ->
                partitions.addArray().add(p.partition()).add(p.stateEpoch()).add(p.startOffset()));
        });
        ObjectNode shown = JSON.objectNode();
        sorted.forEach(shown::set);
        return shown;
    }

    private static ObjectNode show(DeleteShareGroupStateParameters parameters) {
        Map<Uuid, Set<Integer>> partitions = new HashMap<>();
        parameters.groupTopicPartitionData().topicsData().forEach(topic -> topic.partitions().forEach(p ->
            partitions.computeIfAbsent(topic.topicId(), id -> new HashSet<>()).add(p.partition())));
        return GroupState.assignment(partitions);
    }
}
