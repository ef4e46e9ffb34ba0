package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup.InitMapValue;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup.ShareGroupStatePartitionMetadataInfo;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupMember;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** State that the coordinator keeps of share groups, everything in the order of its name or id. */
final class GroupState {
    private GroupState() { }

    static ObjectNode show(GroupMetadataManager groups, Collection<String> names) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        for (String name : new TreeSet<>(names)) {
            ObjectNode one = shown.objectNode();
            Group group = groups.maybeGroup(name, Long.MAX_VALUE);
            if (group instanceof ShareGroup share) {
                show(share, one);
            }
            ShareGroupStatePartitionMetadataInfo states = groups.shareGroupStatePartitionMetadata().get(name);
            if (states != null) {
                one.set("initializing", partitions(states.initializingTopics()));
                one.set("initialized", partitions(states.initializedTopics()));
                ArrayNode deleting = one.putArray("deleting");
                states.deletingTopics().stream().map(Uuid::toString).sorted().forEach(deleting::add);
            }
            if (!one.isEmpty()) {
                shown.set(name, one);
            }
        }
        return shown;
    }

    private static void show(ShareGroup group, ObjectNode shown) {
        shown.put("state", group.stateAsString()).put("epoch", group.groupEpoch()).put("metadata_hash", group.metadataHash())
            .put("assignment_epoch", group.assignmentEpoch()).put("assignment_timestamp", group.assignmentTimestamp());
        ObjectNode members = shown.putObject("members");
        for (Map.Entry<String, ShareGroupMember> entry : new TreeMap<>(group.members()).entrySet()) {
            ShareGroupMember member = entry.getValue();
            ObjectNode one = members.putObject(entry.getKey());
            one.put("epoch", member.memberEpoch()).put("previous_epoch", member.previousMemberEpoch()).put("rack", member.rackId())
                .put("client_id", member.clientId()).put("client_host", member.clientHost());
            ArrayNode topics = one.putArray("topics");
            new TreeSet<>(member.subscribedTopicNames()).forEach(topics::add);
            one.set("assigned", assignment(member.assignedPartitions()));
        }
        ObjectNode target = shown.putObject("target");
        new TreeMap<>(group.targetAssignment()).forEach((member, assigned) -> target.set(member, assignment(assigned.partitions())));
    }

    static ObjectNode assignment(Map<Uuid, Set<Integer>> assigned) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        Map<String, Set<Integer>> sorted = new TreeMap<>();
        assigned.forEach((topic, partitions) -> sorted.put(topic.toString(), partitions));
        sorted.forEach((topic, partitions) -> new TreeSet<>(partitions).forEach(shown.putArray(topic)::add));
        return shown;
    }

    private static ObjectNode partitions(Map<Uuid, InitMapValue> topics) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        Map<String, InitMapValue> sorted = new TreeMap<>();
        topics.forEach((topic, value) -> sorted.put(topic.toString(), value));
        sorted.forEach((topic, value) -> {
            ArrayNode one = shown.putArray(topic).add(value.name());
            new TreeSet<>(value.partitions()).forEach(one.addArray()::add);
        });
        return shown;
    }
}
