package kafka.server.share;

import org.apache.kafka.common.message.WriteShareGroupStateRequestData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.coordinator.share.PersisterStateBatchCombiner;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Replays the logs of a share coordinator: folds with Kafka's combiner, snapshots and requests with its generated classes. */
final class FoldReplay {
    private static final int LOOK_EVERY = 64;

    private final OperationLog log;
    private final Object[] prepared;
    private List<PersisterStateBatch> state = List.of();

    FoldReplay(OperationLog log) {
        this.log = log;
        // Requests and deltas are made before anything is timed, as a coordinator has them from the network.
        prepared = new Object[log.count];
        Map<Long, Object> requests = new HashMap<>();
        for (int op = 0; op < log.count; op++) {
            int at = op;
            if (log.kind[op] == OperationLog.FOLD) {
                prepared[op] = log.batchesOf(op);
            } else if (log.kind[op] == OperationLog.ENCODE) {
                prepared[op] = requests.computeIfAbsent(log.value[op], unused -> request(at));
            }
        }
    }

    private WriteShareGroupStateRequestData request(int op) {
        List<WriteShareGroupStateRequestData.StateBatch> batches = log.batchesOf(op).stream()
            .map(batch -> new WriteShareGroupStateRequestData.StateBatch().setFirstOffset(batch.firstOffset())
                .setLastOffset(batch.lastOffset()).setDeliveryState(batch.deliveryState()).setDeliveryCount(batch.deliveryCount()))
            .toList();
        return new WriteShareGroupStateRequestData().setGroupId("group").setTopics(List.of(
            new WriteShareGroupStateRequestData.WriteStateData().setTopicId(Partitions.TOPIC.topicId()).setPartitions(List.of(
                new WriteShareGroupStateRequestData.PartitionData().setPartition(0).setStateEpoch(0).setLeaderEpoch(0)
                    .setStartOffset(log.first[op]).setDeliveryCompleteCount(0).setStateBatches(batches)))));
    }

    /** Time in the timed sections, or less than 0: the operation at which the time was up. */
    @SuppressWarnings("unchecked")
    long run(Digest digest, long patience) {
        long began = System.nanoTime();
        long section = 0;
        long total = 0;
        for (int op = 0; op < log.count; op++) {
            if (op % LOOK_EVERY == 0 && System.nanoTime() - began > patience) {
                return -Math.max(op, 1);
            }
            switch (log.kind[op]) {
                case OperationLog.BEGIN -> section = System.nanoTime();
                case OperationLog.END -> {
                    total += System.nanoTime() - section;
                }
                case OperationLog.FOLD -> state = new PersisterStateBatchCombiner(state, (List<PersisterStateBatch>) prepared[op],
                    log.first[op]).combineStateBatches();
                case OperationLog.SNAPSHOT -> bytes(snapshot(), digest);
                case OperationLog.ENCODE -> bytes(MessageUtil.toByteBufferAccessor(
                    (WriteShareGroupStateRequestData) prepared[op], (short) 1).buffer(), digest);
                default -> {
                    if (digest != null) {
                        digest.state(0, 0, 0, state);
                    }
                }
            }
        }
        return total;
    }

    private ByteBuffer snapshot() {
        ShareSnapshotValue value = new ShareSnapshotValue().setSnapshotEpoch(0).setStateEpoch(0).setLeaderEpoch(0)
            .setStartOffset(0).setDeliveryCompleteCount(0).setCreateTimestamp(0).setWriteTimestamp(0)
            .setStateBatches(state.stream().map(batch -> new ShareSnapshotValue.StateBatch().setFirstOffset(batch.firstOffset())
                .setLastOffset(batch.lastOffset()).setDeliveryState(batch.deliveryState())
                .setDeliveryCount(batch.deliveryCount())).toList());
        ByteBuffer bytes = MessageUtil.toVersionPrefixedByteBuffer((short) 0, value);
        ByteBuffer read = bytes.duplicate();
        short version = read.getShort();
        if (!new ShareSnapshotValue(new ByteBufferAccessor(read), version).equals(value)) {
            throw new IllegalStateException("the snapshot reads differently");
        }
        return bytes;
    }

    private static void bytes(ByteBuffer bytes, Digest digest) {
        if (digest == null) {
            return;
        }
        long sum = 0;
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            sum = sum * Digest.POINT + (bytes.get(i) & 0xff);
        }
        digest.add(bytes.remaining());
        digest.add(sum);
    }
}
