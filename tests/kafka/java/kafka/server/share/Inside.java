package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.fetch.AcquisitionLockTimerTask;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.RecordState;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operations of the format that no caller of a share partition could ask for: what Kafka's own tests do to its inside. */
final class Inside {
    private Inside() { }

    /**
     * Fires the time-out of exactly this range now. A range that is not locked as such has no timer any more, or one that was
     * cancelled; firing it changes nothing.
     */
    static void lockTimeout(SharePartition partition, JsonNode op) {
        timer(partition, op.get("first").asLong(), op.get("last").asLong())
            .filter(task -> Timers.member(task).equals(op.get("member").asText()))
            .ifPresent(AcquisitionLockTimerTask::run);
    }

    private static Optional<AcquisitionLockTimerTask> timer(SharePartition partition, long first, long last) {
        for (InFlightBatch batch : partition.cachedState().values()) {
            if (batch.offsetState() == null) {
                if (batch.firstOffset() == first && batch.lastOffset() == last) {
                    return Optional.ofNullable(batch.batchAcquisitionLockTimeoutTask());
                }
            } else if (first == last && batch.offsetState().containsKey(first)) {
                return Optional.ofNullable(batch.offsetState().get(first).acquisitionLockTimeoutTask());
            }
        }
        return Optional.empty();
    }

    /** The batches that {@code write_state} hands to the persister. */
    static List<PersisterStateBatch> batches(JsonNode op) {
        List<PersisterStateBatch> batches = new ArrayList<>();
        for (JsonNode b : op.get("batches")) {
            batches.add(new PersisterStateBatch(b.get(0).asLong(), b.get(1).asLong(), (byte) b.get(2).asInt(), (short) b.get(3).asInt()));
        }
        return batches;
    }

    /** Finds how far the start offset could move. */
    static void findLastAcknowledged(SharePartition partition, ObjectNode expect) {
        SharePartition.OffsetAndMetadata found = partition.findLastOffsetAcknowledgedAndMetadata();
        expect.putObject("result").put("last_acknowledged_offset", found.lastAcknowledgedOffset())
            .put("num_terminal_records", found.numTerminalRecords());
    }

    /** Puts a share partition into a recorded state in which nobody holds anything. */
    static void inject(PartitionUnderTest under, JsonNode state) {
        SharePartition partition = under.partition;
        set(partition, "startOffset", state.get("start_offset").asLong());
        set(partition, "endOffset", state.get("end_offset").asLong());
        set(partition, "stateEpoch", state.get("state_epoch").asInt());
        partition.updateFindNextFetchOffset(state.get("find_next_fetch_offset").asBoolean());
        for (JsonNode batch : state.get("batches")) {
            if (!batch.isArray() || batch.get(2).asText().equals("ACQUIRED") || batch.get(6).asBoolean()) {
                throw new IllegalArgumentException("a state that cannot be injected: " + batch);
            }
            long first = batch.get(0).asLong();
            partition.cachedState().put(first, new InFlightBatch(under.clock, under.clock, InFlightState.EMPTY_MEMBER_ID, first,
                batch.get(1).asLong(), RecordState.valueOf(batch.get(2).asText()), batch.get(3).asInt(), null, null, null));
        }
    }

    private static void set(SharePartition partition, String name, Object value) {
        try {
            Field field = SharePartition.class.getDeclaredField(name);
            field.setAccessible(true);
            field.set(partition, value);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
