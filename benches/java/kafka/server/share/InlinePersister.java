package kafka.server.share;

import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateResult;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateResult;
import org.apache.kafka.server.share.persister.PartitionFactory;
import org.apache.kafka.server.share.persister.PartitionStateBatchData;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.share.persister.ReadShareGroupStateParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateResult;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryResult;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Answers at once and counts. Where results are compared it keeps what was written, offset by offset: of each
 * the greatest of {@code delivery count × 8 + state}. Answers are made beforehand, which spares Kafka their cost.
 */
class InlinePersister implements Persister {
    private static final long REQUEST = 51;
    private static final long BATCH = 20;

    static final WriteShareGroupStateResult OK = new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(
        Partitions.TOPIC.topicId(), List.of(PartitionFactory.newPartitionErrorData(0, Errors.NONE.code(), ""))))).build();

    final boolean keeps;
    long writes;
    long batches;
    long bytes;
    private long base;
    private int[] codes = new int[0];
    private long startOffset;

    InlinePersister(boolean keeps) {
        this.keeps = keeps;
    }

    @Override
    public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters parameters) {
        for (TopicData<PartitionStateBatchData> topic : parameters.groupTopicPartitionData().topicsData()) {
            for (PartitionStateBatchData data : topic.partitions()) {
                int n = data.stateBatches().size();
                writes++;
                batches += n;
                bytes += REQUEST + (38 - Integer.numberOfLeadingZeros(n + 1)) / 7 + BATCH * n;
                if (keeps) {
                    keep(data);
                }
            }
        }
        return CompletableFuture.completedFuture(OK);
    }

    /** Writes that wait for {@code commit}. */
    int gathered() {
        return 0;
    }

    /** Makes durable what was gathered, where something is kept. */
    void commit() { }

    private void keep(PartitionStateBatchData data) {
        long below = data.startOffset() - base;
        if (below >= codes.length) {
            codes = new int[0];
            base = Math.max(base, data.startOffset());
        } else if (below > codes.length / 2) {
            codes = Arrays.copyOfRange(codes, (int) below, codes.length);
            base = data.startOffset();
        }
        for (PersisterStateBatch batch : data.stateBatches()) {
            int from = (int) Math.max(0, batch.firstOffset() - base);
            int to = (int) Math.max(0, batch.lastOffset() + 1 - base);
            if (codes.length < to) {
                codes = Arrays.copyOf(codes, Math.max(to, codes.length + codes.length / 2));
            }
            int code = batch.deliveryCount() << 3 | batch.deliveryState();
            for (int i = from; i < to; i++) {
                codes[i] = Math.max(codes[i], code);
            }
        }
    }

    /** Returns what is persisted of the records from {@code start} on, in maximal runs. */
    List<PersisterStateBatch> read(long start) {
        List<PersisterStateBatch> runs = new ArrayList<>();
        int i = (int) Math.max(0, start - base);
        while (i < codes.length) {
            int from = i;
            while (i < codes.length && codes[i] == codes[from]) {
                i++;
            }
            if (codes[from] > 0) {
                runs.add(new PersisterStateBatch(base + from, base + i - 1, (byte) (codes[from] & 7), (short) (codes[from] >> 3)));
            }
        }
        return runs;
    }

    /** Sets the offset at which the next leader begins. */
    void startAt(long offset) {
        startOffset = offset;
    }

    @Override
    public CompletableFuture<ReadShareGroupStateResult> readState(ReadShareGroupStateParameters parameters) {
        return CompletableFuture.completedFuture(new ReadShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(
            Partitions.TOPIC.topicId(),
            List.of(PartitionFactory.newPartitionAllData(0, 0, startOffset, Errors.NONE.code(), "", read(startOffset)))))).build());
    }

    @Override
    public CompletableFuture<InitializeShareGroupStateResult> initializeState(InitializeShareGroupStateParameters parameters) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<DeleteShareGroupStateResult> deleteState(DeleteShareGroupStateParameters parameters) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<ReadShareGroupStateSummaryResult> readSummary(ReadShareGroupStateSummaryParameters parameters) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void stop() { }
}
