package kafka.server.share;

import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An operation log in memory, a column a field; {@code benches/README.md} has the format. */
final class OperationLog {
    static final byte FETCHED = 1;
    static final byte ACQUIRE = 2;
    static final byte RANGE = 3;
    static final byte ACKNOWLEDGE = 4;
    static final byte ACKNOWLEDGE_EACH = 5;
    static final byte RELEASE = 6;
    static final byte TICK = 7;
    static final byte NEXT_FETCH_OFFSET = 8;
    static final byte LOG_START = 9;
    static final byte CHECK = 10;
    static final byte BEGIN = 11;
    static final byte END = 12;
    static final byte REOPEN = 13;
    static final byte FOLD = 14;
    static final byte SNAPSHOT = 15;
    static final byte ENCODE = 16;
    static final String[] NAMES = {"", "fetched", "acquire", "range", "acknowledge", "acknowledge_each", "release", "tick",
        "next_fetch_offset", "log_start", "check", "begin", "end", "reopen", "fold", "snapshot", "encode"};

    private static final int HEADER = 96;
    private static final int OPERATION = 32;
    private static final int BATCH = 24;
    private static final byte[] MAGIC = "SSOPLOG1".getBytes(StandardCharsets.US_ASCII);

    final String workload;
    final int partitions;
    final int maxRecordLocks;
    final int lockMs;
    final int deliveryLimit;
    final String[] members;
    final int count;
    final byte[] kind;
    final byte[] arg;
    final char[] member;
    final int[] partition;
    final long[] first;
    final long[] last;
    final long[] value;
    private final byte[] blob;
    private final Map<Long, List<Byte>> types = new HashMap<>();

    OperationLog(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            ByteBuffer header = read(file, 0, HEADER);
            byte[] magic = new byte[MAGIC.length];
            header.get(magic);
            if (!Arrays.equals(magic, MAGIC)) {
                throw new IOException(path + " is no operation log");
            }
            byte[] name = new byte[16];
            header.get(name);
            workload = new String(name, StandardCharsets.US_ASCII).trim();
            count = Math.toIntExact(header.getLong(40));
            blob = new byte[Math.toIntExact(header.getLong(48))];
            partitions = header.getInt(64);
            members = new String[header.getInt(68)];
            maxRecordLocks = header.getInt(72);
            lockMs = header.getInt(76);
            deliveryLimit = header.getInt(80);
            for (int i = 0; i < members.length; i++) {
                members[i] = String.format("qL0uXW2hS3mJpW3Zt%05d", i);
            }
            kind = new byte[count];
            arg = new byte[count];
            member = new char[count];
            partition = new int[count];
            first = new long[count];
            last = new long[count];
            value = new long[count];
            int step = 1 << 16;
            for (int from = 0; from < count; from += step) {
                int n = Math.min(step, count - from);
                ByteBuffer ops = read(file, HEADER + (long) from * OPERATION, n * OPERATION);
                for (int i = from; i < from + n; i++) {
                    kind[i] = ops.get();
                    arg[i] = ops.get();
                    member[i] = ops.getChar();
                    partition[i] = ops.getInt();
                    first[i] = ops.getLong();
                    last[i] = ops.getLong();
                    value[i] = ops.getLong();
                }
            }
            read(file, HEADER + (long) count * OPERATION, blob.length).get(blob);
        }
        // Lists of types are made here: a broker has them from the request.
        for (int i = 0; i < count; i++) {
            if (kind[i] == ACKNOWLEDGE_EACH) {
                typesOf(i);
            }
        }
    }

    private static ByteBuffer read(FileChannel file, long at, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, at + buffer.position()) < 0) {
                throw new IOException("the operation log ends too early");
            }
        }
        return buffer.flip();
    }

    /** A type for each record of an operation. */
    List<Byte> typesOf(int op) {
        int length = (int) (last[op] - first[op] + 1);
        return types.computeIfAbsent(value[op] << 32 | length, unused -> {
            List<Byte> list = new ArrayList<>(length);
            for (int i = 0; i < length; i++) {
                list.add(blob[(int) value[op] + i]);
            }
            return list;
        });
    }

    /** The state batches of an operation. */
    List<PersisterStateBatch> batchesOf(int op) {
        ByteBuffer bytes = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
        List<PersisterStateBatch> batches = new ArrayList<>((int) last[op]);
        for (int at = (int) value[op]; at < value[op] + last[op] * BATCH; at += BATCH) {
            batches.add(new PersisterStateBatch(bytes.getLong(at), bytes.getLong(at + 8), bytes.get(at + 16), bytes.getShort(at + 18)));
        }
        return batches;
    }

    boolean has(byte wanted) {
        for (byte present : kind) {
            if (present == wanted) {
                return true;
            }
        }
        return false;
    }
}
