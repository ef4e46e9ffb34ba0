package kafka.server.share;

import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.util.List;

/** Digest of all results of a replay in one number, computed as {@code benches/rust/src/digest.rs} does. */
final class Digest {
    static final long POINT = 0x9E3779B97F4A7C15L;
    private static final long END = Long.MIN_VALUE + 65_536;

    private long sum;
    private boolean open;
    private long first;
    private long last;
    private int deliveryCount;

    long value() {
        return sum;
    }

    void add(long value) {
        sum = sum * POINT + value;
    }

    void grant(long from, long to, int count) {
        if (open && last + 1 == from && deliveryCount == count) {
            last = to;
            return;
        }
        close();
        open = true;
        first = from;
        last = to;
        deliveryCount = count;
    }

    void end(int code) {
        close();
        add(END + code);
    }

    void state(long start, long end, long complete, List<PersisterStateBatch> durable) {
        add(start);
        add(end);
        add(complete);
        for (PersisterStateBatch batch : durable) {
            add(batch.firstOffset());
            add(batch.lastOffset());
            add((long) batch.deliveryCount() << 3 | batch.deliveryState());
        }
        add(END);
    }

    private void close() {
        if (open) {
            open = false;
            add(first);
            add(last);
            add(deliveryCount);
        }
    }
}
