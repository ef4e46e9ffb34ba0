package org.apache.kafka.coordinator.share;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.SharePartitionKey;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.lang.reflect.Field;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** State that a shard keeps, in the form of the conformance files; Kafka keeps the maps to itself. */
final class Memory {
    private final Map<SharePartitionKey, ShareGroupOffset> states;
    private final Map<SharePartitionKey, Integer> leaderEpochs;
    private final Map<SharePartitionKey, Integer> stateEpochs;
    private final Map<SharePartitionKey, Integer> updates;

    Memory(ShareCoordinatorShard shard) {
        states = map(shard, "shareStateMap");
        leaderEpochs = map(shard, "leaderEpochMap");
        stateEpochs = map(shard, "stateEpochMap");
        updates = map(shard, "snapshotUpdateCount");
    }

    @SuppressWarnings("unchecked")
    private static <T> Map<SharePartitionKey, T> map(ShareCoordinatorShard shard, String name) {
        try {
            Field field = ShareCoordinatorShard.class.getDeclaredField(name);
            field.setAccessible(true);
            return (Map<SharePartitionKey, T>) field.get(shard);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    ObjectNode show() {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        ArrayNode all = shown.putArray("share_state");
        for (SharePartitionKey key : sorted(states)) {
            ShareGroupOffset state = states.get(key);
            ObjectNode entry = all.addArray().add(show(key)).addObject();
            entry.put("snapshot_epoch", state.snapshotEpoch()).put("state_epoch", state.stateEpoch())
                .put("leader_epoch", state.leaderEpoch()).put("start_offset", state.startOffset())
                .put("delivery_complete_count", state.deliveryCompleteCount());
            ArrayNode batches = entry.putArray("batches");
            for (PersisterStateBatch b : state.stateBatches()) {
                batches.addArray().add(b.firstOffset()).add(b.lastOffset()).add(b.deliveryState()).add(b.deliveryCount());
            }
            entry.put("create_ts", state.createTimestamp()).put("write_ts", state.writeTimestamp());
        }
        shown.set("leader_epoch", show(leaderEpochs));
        shown.set("state_epoch", show(stateEpochs));
        shown.set("snapshot_update_count", show(updates));
        return shown;
    }

    private static ArrayNode show(Map<SharePartitionKey, Integer> map) {
        ArrayNode shown = JsonNodeFactory.instance.arrayNode();
        for (SharePartitionKey key : sorted(map)) {
            shown.addArray().add(show(key)).add(map.get(key));
        }
        return shown;
    }

    private static List<SharePartitionKey> sorted(Map<SharePartitionKey, ?> map) {
        return map.keySet().stream().sorted(Comparator.comparing(SharePartitionKey::groupId)
            .thenComparing(SharePartitionKey::topicId).thenComparing(SharePartitionKey::partition)).toList();
    }

    private static ObjectNode show(SharePartitionKey key) {
        return JsonNodeFactory.instance.objectNode()
            .put("group", key.groupId()).put("topic_id", key.topicId().toString()).put("partition", key.partition());
    }
}
