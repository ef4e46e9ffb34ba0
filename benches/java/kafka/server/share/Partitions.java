package kafka.server.share;

import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ShareFetchResponseData.AcquiredRecords;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.coordinator.group.ShareGroupAutoOffsetResetStrategy;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfigProvider;
import org.apache.kafka.server.partition.PartitionListener;
import org.apache.kafka.server.share.PartitionMetadataProvider;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.dlq.ShareGroupDLQManager;
import org.apache.kafka.server.share.dlq.ShareGroupDLQRecordParameter;
import org.apache.kafka.server.share.metrics.SharePartitionMetrics;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.ToldTimer;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Kafka's share partitions of one replay, and the calls on them. */
final class Partitions {
    static final TopicIdPartition TOPIC = new TopicIdPartition(new Uuid(0x0707070707070707L, 0x0707070707070707L), 0, "topic");
    private static final String GROUP = "group";
    private static final Uuid FETCH = new Uuid(9, 9);
    // Metrics register themselves for good, so that one object serves all share partitions.
    private static final SharePartitionMetrics METRICS = new SharePartitionMetrics(GROUP, TOPIC.topic(), TOPIC.partition());

    private static final int LAST_OFFSET_DELTA = 23;
    private static final byte[] LOG_BATCH = logBatch();
    private static final List<List<Byte>> TYPES = List.of(List.of((byte) 0), List.of((byte) 1), List.of((byte) 2), List.of((byte) 3),
        List.of((byte) 4));

    private final OperationLog log;
    private final ToldTimer timer = new ToldTimer();
    private final SharePartition[] partitions;
    private final InlinePersister[] persisters;
    private final InlinePersister counting;
    /** The fetched log batches that come before that of the next acquire, and the ranges before that of the next request. */
    private final List<long[]> fetched = new ArrayList<>();
    private List<ShareAcknowledgementBatch> ranges = new ArrayList<>();
    /** A fetch of one log batch, whose header is set for each acquire; nothing else of it is looked at. */
    private final ByteBuffer one = ByteBuffer.wrap(LOG_BATCH.clone());
    private final FetchPartitionData oneFetched = data(one.duplicate());

    /** With {@code keeps}, each share partition has a persister that remembers; else one that counts serves all. */
    Partitions(OperationLog log, boolean keeps) throws Exception {
        this(log, keeps, new InlinePersister(false));
    }

    /** Share partitions that {@code counting} serves, unless each has one that remembers. */
    Partitions(OperationLog log, boolean keeps, InlinePersister counting) throws Exception {
        this.log = log;
        this.counting = counting;
        partitions = new SharePartition[log.partitions];
        persisters = new InlinePersister[log.partitions];
        for (int i = 0; i < partitions.length; i++) {
            persisters[i] = keeps ? new InlinePersister(true) : counting;
            partitions[i] = make(persisters[i]);
        }
    }

    private SharePartition make(InlinePersister persister) throws Exception {
        SharePartition made = new SharePartition(GROUP, TOPIC, 0, log.maxRecordLocks, log.deliveryLimit, log.lockMs, timer, timer,
            persister, new NoLog(), key -> { }, new Config(), SharePartition.SharePartitionState.EMPTY, null, METRICS, () -> false,
            new NoDeadLetters());
        made.maybeInitialize().get();
        made.maybeAcquireFetchLock(FETCH);
        return made;
    }

    /** Commits what acknowledgements in a row have gathered, unless another follows and there is room for it. */
    void commitBefore(byte kind) {
        boolean isRequest = kind == OperationLog.RANGE || kind == OperationLog.ACKNOWLEDGE || kind == OperationLog.ACKNOWLEDGE_EACH;
        if (!isRequest || counting.gathered() >= AppendingPersister.GATHERED) {
            counting.commit();
        }
    }

    /** Runs an operation that changes something; its results go to {@code digest} if there is one. */
    void run(int op, Digest digest) throws Exception {
        SharePartition at = partitions[log.partition[op]];
        switch (log.kind[op]) {
            case OperationLog.ACKNOWLEDGE -> {
                ranges.add(new ShareAcknowledgementBatch(log.first[op], log.last[op], TYPES.get(log.arg[op])));
                acknowledge(at, op, digest);
            }
            case OperationLog.ACQUIRE -> acquire(at, op, digest);
            case OperationLog.ACKNOWLEDGE_EACH -> {
                ranges.add(new ShareAcknowledgementBatch(log.first[op], log.last[op], log.typesOf(op)));
                acknowledge(at, op, digest);
            }
            case OperationLog.NEXT_FETCH_OFFSET -> {
                long offset = at.nextFetchOffset();
                if (digest != null) {
                    digest.add(offset);
                }
            }
            case OperationLog.RELEASE -> {
                int code = code(at.releaseAcquiredRecords(log.members[log.member[op]]));
                if (digest != null) {
                    digest.end(code);
                }
            }
            case OperationLog.FETCHED -> fetched.add(new long[] {log.first[op], log.last[op]});
            case OperationLog.RANGE ->
                ranges.add(new ShareAcknowledgementBatch(log.first[op], log.last[op], TYPES.get(log.arg[op])));
            case OperationLog.TICK -> timer.tell(log.value[op]);
            case OperationLog.LOG_START -> at.updateCacheAndOffsets(log.first[op]);
            case OperationLog.CHECK -> {
                if (digest != null) {
                    digest.state(at.startOffset(), at.endOffset(), at.deliveryCompleteCount(),
                        persisters[log.partition[op]].read(at.startOffset()));
                }
            }
            case OperationLog.REOPEN -> {
                InlinePersister persister = persisters[log.partition[op]];
                persister.startAt(at.startOffset());
                partitions[log.partition[op]] = make(persister);
            }
            default -> throw new IllegalArgumentException("operation " + log.kind[op]);
        }
    }

    private void acquire(SharePartition at, int op, Digest digest) {
        FetchPartitionData data = oneFetched;
        if (fetched.isEmpty()) {
            put(one, 0, log.first[op], log.last[op]);
        } else {
            fetched.add(new long[] {log.first[op], log.last[op]});
            ByteBuffer many = ByteBuffer.allocate(fetched.size() * LOG_BATCH.length);
            for (long[] batch : fetched) {
                int from = many.position();
                many.put(LOG_BATCH);
                put(many, from, batch[0], batch[1]);
            }
            data = data(many.flip());
        }
        long from = fetched.isEmpty() ? log.first[op] : fetched.get(0)[0];
        fetched.clear();
        List<AcquiredRecords> acquired = at.acquire(log.members[log.member[op]], ShareAcquireMode.BATCH_OPTIMIZED,
            (int) (log.value[op] >> 32), (int) log.value[op], from, data, FetchIsolation.HIGH_WATERMARK).acquiredRecords();
        if (digest != null) {
            for (AcquiredRecords range : acquired) {
                digest.grant(range.firstOffset(), range.lastOffset(), range.deliveryCount());
            }
            digest.end(0);
        }
    }

    private void acknowledge(SharePartition at, int op, Digest digest) {
        int code = code(at.acknowledge(log.members[log.member[op]], ranges));
        ranges = new ArrayList<>(1);
        if (digest != null) {
            digest.end(code);
        }
    }

    /** The code that the member is sent; 0 also while the write is not answered. */
    private static int code(CompletableFuture<Void> future) {
        if (!future.isCompletedExceptionally()) {
            return 0;
        }
        try {
            future.join();
            return 0;
        } catch (CompletionException failed) {
            return Errors.forException(failed.getCause()).code();
        }
    }

    private static void put(ByteBuffer into, int at, long first, long last) {
        into.putLong(at, first);
        into.putInt(at + LAST_OFFSET_DELTA, (int) (last - first));
    }

    private static FetchPartitionData data(ByteBuffer records) {
        return new FetchPartitionData(Errors.NONE, Long.MAX_VALUE, 0, MemoryRecords.readableRecords(records), Optional.empty(),
            OptionalLong.empty(), Optional.empty(), OptionalInt.empty(), false);
    }

    private static byte[] logBatch() {
        MemoryRecords records = MemoryRecords.withRecords(0L, Compression.NONE, new SimpleRecord(0L, new byte[0]));
        byte[] bytes = new byte[records.sizeInBytes()];
        records.buffer().get(bytes);
        return bytes;
    }

    /** Writes, state batches and bytes persisted. */
    long[] persisted() {
        long[] sums = new long[3];
        for (InlinePersister persister : persisters[0].keeps ? persisters : new InlinePersister[] {counting}) {
            sums[0] += persister.writes;
            sums[1] += persister.batches;
            sums[2] += persister.bytes;
        }
        return sums;
    }

    private static final class Config extends ShareGroupConfigProvider {
        Config() {
            super(null);
        }

        @Override
        public int recordLockDurationMsOrDefault(String group, int otherwise) {
            return otherwise;
        }

        @Override
        public int deliveryCountLimitOrDefault(String group, int otherwise) {
            return otherwise;
        }

        @Override
        public int partitionMaxRecordLocksOrDefault(String group, int otherwise) {
            return otherwise;
        }

        @Override
        public boolean isRenewAcknowledgeEnabled(String group) {
            return true;
        }

        @Override
        public ShareGroupAutoOffsetResetStrategy autoOffsetReset(String group) {
            return ShareGroupAutoOffsetResetStrategy.EARLIEST;
        }

        @Override
        public Optional<String> errorsDLQTopicName(String group) {
            return Optional.empty();
        }
    }

    private static final class NoDeadLetters implements ShareGroupDLQManager {
        @Override
        public CompletableFuture<Void> enqueue(ShareGroupDLQRecordParameter record) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void stop() { }
    }

    private static final class NoLog implements PartitionMetadataProvider {
        @Override
        public long offsetForEarliestTimestamp(TopicIdPartition partition, int leaderEpoch) {
            return 0;
        }

        @Override
        public long offsetForLatestTimestamp(TopicIdPartition partition, int leaderEpoch) {
            return 0;
        }

        @Override
        public long offsetForTimestamp(TopicIdPartition partition, long timestamp, int leaderEpoch) {
            return 0;
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
}
