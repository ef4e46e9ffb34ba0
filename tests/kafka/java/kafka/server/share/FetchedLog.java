package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.FetchResponseData.AbortedTransaction;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.server.storage.log.FetchPartitionData;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Log as the leader has read it: the headers of batches, which is all that an acquire looks at, and whole markers.
 *
 * An operation says that a batch is a control batch, not of which kind: a marker of a producer with an open aborted transaction
 * is an ABORT, any other a COMMIT.
 */
final class FetchedLog {
    private static final int BASE_OFFSET = 0;
    private static final int ATTRIBUTES = 21;
    private static final int LAST_OFFSET_DELTA = 23;
    private static final int PRODUCER_ID = 43;
    private static final short TRANSACTIONAL = 0x10;
    private static final short CONTROL = 0x20;

    private static final byte[] PLAIN = bytes(MemoryRecords.withRecords(0L, Compression.NONE, new SimpleRecord(0L, new byte[0])));
    private static final byte[] ABORT = marker(ControlRecordType.ABORT);
    private static final byte[] COMMIT = marker(ControlRecordType.COMMIT);

    private FetchedLog() { }

    static FetchPartitionData of(JsonNode op) {
        List<AbortedTransaction> aborted = new ArrayList<>();
        for (JsonNode entry : op.path("aborted_transactions")) {
            aborted.add(new AbortedTransaction()
                .setProducerId(entry.get("producer_id").asLong()).setFirstOffset(entry.get("first_offset").asLong()));
        }
        return new FetchPartitionData(Errors.NONE, Long.MAX_VALUE, 0, records(op, aborted), Optional.empty(),
            OptionalLong.empty(), op.has("aborted_transactions") ? Optional.of(aborted) : Optional.empty(),
            OptionalInt.empty(), false);
    }

    private static MemoryRecords records(JsonNode op, List<AbortedTransaction> aborted) {
        List<AbortedTransaction> open = new ArrayList<>(aborted);
        open.sort((a, b) -> Long.compare(a.firstOffset(), b.firstOffset()));
        ByteBuffer log = ByteBuffer.allocate(op.get("fetched_batches").size() * ABORT.length);
        for (JsonNode batch : op.get("fetched_batches")) {
            long base = batch.get(0).asLong();
            JsonNode marks = batch.path(2);
            long producer = marks.path("producer_id").asLong(-1);
            byte[] template = PLAIN;
            if (marks.path("control").asBoolean(false)) {
                boolean ends = open.stream().anyMatch(a -> a.producerId() == producer && a.firstOffset() <= base);
                if (ends) {
                    open.remove(open.stream().filter(a -> a.producerId() == producer).findFirst().orElseThrow());
                }
                template = ends ? ABORT : COMMIT;
            }
            int at = log.position();
            log.put(template);
            log.putLong(at + BASE_OFFSET, base);
            log.putInt(at + LAST_OFFSET_DELTA, (int) (batch.get(1).asLong() - base));
            log.putLong(at + PRODUCER_ID, producer);
            log.putShort(at + ATTRIBUTES, (short) ((template == PLAIN ? 0 : CONTROL)
                | (marks.path("transactional").asBoolean(false) ? TRANSACTIONAL : 0)));
        }
        log.flip();
        return MemoryRecords.readableRecords(log);
    }

    private static byte[] marker(ControlRecordType type) {
        return bytes(MemoryRecords.withEndTransactionMarker(0L, (short) 0, new EndTransactionMarker(type, 0)));
    }

    private static byte[] bytes(MemoryRecords records) {
        byte[] bytes = new byte[records.sizeInBytes()];
        records.buffer().get(bytes);
        return bytes;
    }
}
