package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.server.partition.PartitionListener;
import org.apache.kafka.server.share.PartitionMetadataProvider;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;

/** Offsets of the log, as {@code offset_lookup} of the operation under way gives them. */
final class ScriptedMetadata implements PartitionMetadataProvider {
    private JsonNode lookups;

    void begin(JsonNode op) {
        lookups = op.path("offset_lookup");
    }

    private long answer(String lookup) {
        JsonNode answer = lookups.path(lookup);
        if (answer.has("error")) {
            throw new RuntimeException("as planned");
        }
        if (!answer.isNumber()) {
            throw new IllegalStateException(lookup + " has no answer");
        }
        return answer.asLong();
    }

    @Override
    public long offsetForEarliestTimestamp(TopicIdPartition partition, int leaderEpoch) {
        return answer("offsetForEarliestTimestamp");
    }

    @Override
    public long offsetForLatestTimestamp(TopicIdPartition partition, int leaderEpoch) {
        return answer("offsetForLatestTimestamp");
    }

    @Override
    public long offsetForTimestamp(TopicIdPartition partition, long timestamp, int leaderEpoch) {
        return answer("offsetForTimestamp");
    }

    @Override
    public LogOffsetMetadata endOffsetMetadata(TopicIdPartition partition, FetchIsolation isolation) {
        return new LogOffsetMetadata(Long.MAX_VALUE);
    }

    @Override
    public int leaderEpoch(TopicIdPartition partition) {
        return 0;
    }

    @Override
    public boolean addPartitionListener(TopicIdPartition partition, PartitionListener listener) {
        return true;
    }

    @Override
    public void removePartitionListener(TopicIdPartition partition, PartitionListener listener) { }
}
