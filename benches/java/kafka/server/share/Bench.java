package kafka.server.share;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntPredicate;

/**
 * Replays an operation log on Kafka's own classes: once for the results, then until it is warm, then against the clock. Prints
 * one JSON object with the fields of {@code benches/rust/src/result.rs}.
 *
 * Arguments: FILE ROUNDS TAIL_ROUNDS LIMIT_S WARM_UP_MS TRACE [DURABILITY SEGMENT]; with TAIL_ROUNDS -1 the bytes in use are
 * measured instead. With a durability the timed replays append the commits of the segment, see {@link AppendingPersister}.
 */
public final class Bench {
    private static final int LOOK_EVERY = 64;

    private final OperationLog log;
    private final int rounds;
    private final int tailRounds;
    private final long limit;
    private final long warmUp;
    private final boolean trace;
    private final AppendingPersister.Durability durability;
    private final List<ByteBuffer> commits;
    private final Path directory;
    private long digest;
    private int stopped = -1;
    private long[] persisted = new long[3];
    private final List<Long> spent = new ArrayList<>();
    private final Map<String, int[]> tails = new TreeMap<>();
    private final Map<String, String> more = new TreeMap<>();

    private Bench(String[] arguments) throws Exception {
        log = new OperationLog(Path.of(arguments[0]));
        rounds = Integer.parseInt(arguments[1]);
        tailRounds = Integer.parseInt(arguments[2]);
        limit = Long.parseLong(arguments[3]) * 1_000_000_000L;
        warmUp = Long.parseLong(arguments[4]) * 1_000_000L;
        trace = Boolean.parseBoolean(arguments[5]);
        boolean appends = arguments.length > 6;
        durability = appends ? AppendingPersister.Durability.valueOf(arguments[6].toUpperCase(Locale.ROOT)) : null;
        directory = appends ? Path.of(arguments[7]).toAbsolutePath().getParent() : null;
        commits = appends ? AppendingPersister.commits(Path.of(arguments[7])) : List.of();
    }

    public static void main(String[] arguments) throws Exception {
        Bench bench = new Bench(arguments);
        if (bench.tailRounds < 0) {
            bench.memory();
        } else {
            bench.run();
        }
        System.out.println(bench.json());
        System.exit(0);
    }

    private void run() throws Exception {
        boolean folds = log.has(OperationLog.FOLD) || log.has(OperationLog.ENCODE);
        long began = System.nanoTime();
        Digest results = new Digest(trace);
        long total = folds ? new FoldReplay(log).run(results, limit) : replay(results, null, limit);
        long took = System.nanoTime() - began;
        if (total < 0) {
            stopped = (int) -total;
            return;
        }
        digest = results.value();
        if (rounds == 0) {
            return;
        }
        // Two rounds at least, and as many as it takes for the compiler to have had its time.
        long warming = System.nanoTime();
        for (int i = 0; i < 2 || System.nanoTime() - warming < warmUp; i++) {
            once(folds);
        }
        long collecting = collecting();
        for (int i = 0; i < affordable(rounds, took); i++) {
            spent.add(once(folds));
        }
        more.put("gc_ms", Long.toString(collecting() - collecting));
        if (log.workload.equals("W16")) {
            more.put("two_threads_ratio", Double.toString(twoThreads()));
        }
        if (tailRounds > 0 && !folds) {
            int[] least = new int[log.count];
            Arrays.fill(least, Integer.MAX_VALUE);
            for (int i = 0; i < affordable(tailRounds, took); i++) {
                replay(null, least, Long.MAX_VALUE);
            }
            for (int kind = 1; kind < OperationLog.NAMES.length; kind++) {
                int[] times = new int[log.count];
                int n = 0;
                for (int op = 0; op < log.count; op++) {
                    if (log.kind[op] == kind && least[op] != Integer.MAX_VALUE) {
                        times[n++] = least[op];
                    }
                }
                if (n > 0) {
                    times = Arrays.copyOf(times, n);
                    Arrays.sort(times);
                    tails.put(OperationLog.NAMES[kind], times);
                }
            }
        }
    }

    private long once(boolean folds) throws Exception {
        if (durability != null) {
            try (AppendingPersister persister = new AppendingPersister(durability, commits, directory)) {
                return replay(null, null, Long.MAX_VALUE, partition -> true, new Partitions(log, false, persister));
            }
        }
        return folds ? new FoldReplay(log).run(null, Long.MAX_VALUE) : replay(null, null, Long.MAX_VALUE);
    }

    private int affordable(int asked, long took) {
        return (int) Math.min(asked, Math.max(2, 5 * limit / Math.max(took, 1)));
    }

    /** Time in the timed sections, or less than 0: the operation at which the time was up. */
    private long replay(Digest results, int[] least, long patience) throws Exception {
        return replay(results, least, patience, partition -> true);
    }

    /** How many times as fast the log is with two threads, one for share partition 0 and one for the others. */
    private double twoThreads() throws Exception {
        List<IntPredicate> parts = List.of(partition -> partition == 0, partition -> partition != 0);
        long alone = 0;
        for (IntPredicate part : parts) {
            alone += replay(null, null, Long.MAX_VALUE, part);
        }
        ExecutorService threads = Executors.newFixedThreadPool(2);
        List<Future<Long>> together = new ArrayList<>();
        for (IntPredicate part : parts) {
            together.add(threads.submit(() -> replay(null, null, Long.MAX_VALUE, part)));
        }
        threads.shutdown();
        return (double) alone / Math.max(together.get(0).get(), together.get(1).get());
    }

    private long replay(Digest results, int[] least, long patience, IntPredicate counts) throws Exception {
        boolean keeps = results != null || log.has(OperationLog.REOPEN);
        return replay(results, least, patience, counts, new Partitions(log, keeps));
    }

    private long replay(Digest results, int[] least, long patience, IntPredicate counts, Partitions partitions) throws Exception {
        long began = System.nanoTime();
        long section = 0;
        long total = 0;
        boolean timed = false;
        for (int op = 0; op < log.count; op++) {
            if (op % LOOK_EVERY == 0 && System.nanoTime() - began > patience) {
                return -Math.max(op, 1);
            }
            byte kind = log.kind[op];
            partitions.commitBefore(kind);
            if (kind != OperationLog.BEGIN && kind != OperationLog.END && !counts.test(log.partition[op])) {
                continue;
            }
            if (kind == OperationLog.BEGIN) {
                timed = true;
                section = System.nanoTime();
            } else if (kind == OperationLog.END) {
                total += System.nanoTime() - section;
                timed = false;
            } else if (least != null && timed && kind != OperationLog.FETCHED && kind != OperationLog.RANGE) {
                long from = System.nanoTime();
                partitions.run(op, results);
                least[op] = (int) Math.min(least[op], System.nanoTime() - from);
            } else {
                partitions.run(op, results);
            }
        }
        persisted = partitions.persisted();
        return total;
    }

    /** Bytes that the share partitions keep alive once everything before the first timed operation has happened. */
    private void memory() throws Exception {
        long before = inUse();
        Partitions partitions = new Partitions(log, false);
        for (int op = 0; op < log.count && log.kind[op] != OperationLog.BEGIN; op++) {
            partitions.run(op, null);
        }
        more.put("memory_bytes", Long.toString(inUse() - before));
        persisted = partitions.persisted();
    }

    private static long inUse() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    private static long collecting() {
        long ms = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ms += collector.getCollectionTime();
        }
        return ms;
    }

    private String json() {
        StringJoiner tailTexts = new StringJoiner(", ", "{", "}");
        tails.forEach((kind, times) -> tailTexts.add(String.format(
            "\"%s\": {\"count\": %d, \"p50\": %d, \"p99\": %d, \"p9999\": %d, \"max\": %d}", kind, times.length, at(times, 0.5),
            at(times, 0.99), at(times, 0.9999), times[times.length - 1])));
        StringBuilder text = new StringBuilder(String.format(
            "{\"engine\": \"kafka\", \"digest\": %s, \"stopped\": %s, \"writes\": %d, \"batches\": %d, \"bytes\": %d, "
                + "\"rounds_ns\": %s, \"tails\": %s", stopped < 0 ? String.format("\"%016x\"", digest) : "null",
            stopped < 0 ? "null" : Integer.toString(stopped), persisted[0], persisted[1], persisted[2], spent, tailTexts));
        more.forEach((name, value) -> text.append(", \"").append(name).append("\": ").append(value));
        return text.append(", \"java\": \"").append(System.getProperty("java.version")).append("\"}").toString();
    }

    private static int at(int[] sorted, double share) {
        return sorted[Math.max(1, (int) Math.ceil(sorted.length * share)) - 1];
    }
}
