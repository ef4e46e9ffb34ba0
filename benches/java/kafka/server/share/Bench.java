package kafka.server.share;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntPredicate;

/**
 * Replays an operation log on Kafka's own classes: once for the results, then as often as is asked, with the questions and
 * answers of {@code benches/rust/src/bin/oplog.rs}. An answer also has what the compiler and the collector took meanwhile.
 *
 * Arguments: FILE LIMIT_S [DURABILITY STORE], or FILE memory for the bytes in use. With a durability the timed replays
 * append the commits of the store's segments, see {@link AppendingPersister}.
 */
public final class Bench {
    private static final int LOOK_EVERY = 64;
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private final OperationLog log;
    private final long limit;
    private final AppendingPersister.Durability durability;
    private final List<ByteBuffer> commits;
    private final Path directory;
    private long digest;
    private int stopped = -1;
    private long[] persisted = new long[3];

    private Bench(String[] arguments) throws Exception {
        log = new OperationLog(Path.of(arguments[0]));
        limit = Long.parseLong(arguments[1]) * 1_000_000_000L;
        boolean appends = arguments.length > 2;
        durability = appends ? AppendingPersister.Durability.valueOf(arguments[2].toUpperCase(Locale.ROOT)) : null;
        directory = appends ? Path.of(arguments[3]).toAbsolutePath() : null;
        commits = appends ? AppendingPersister.commits(directory) : List.of();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[1].equals("memory")) {
            new Bench(new String[] {arguments[0], "0"}).memory();
        } else {
            new Bench(arguments).run();
        }
        System.exit(0);
    }

    private void run() throws Exception {
        boolean folds = log.has(OperationLog.FOLD) || log.has(OperationLog.ENCODE);
        Digest results = new Digest();
        long total = folds ? new FoldReplay(log).run(results, limit) : replay(results, null, limit);
        if (total < 0) {
            stopped = (int) -total;
        } else {
            digest = results.value();
        }
        System.out.println(json());
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String[] words = line.split(" ");
            int times = Integer.parseInt(words[1]);
            System.out.println(switch (words[0]) {
                case "replays" -> replays(folds, times);
                case "tails" -> tails(times);
                case "threads" -> String.format(Locale.ROOT, "{\"two_threads_ratio\": %f}", twoThreads());
                default -> throw new IllegalArgumentException(line);
            });
        }
    }

    private String replays(boolean folds, int times) throws Exception {
        long compiling = COMPILER.getTotalCompilationTime();
        long collecting = collecting();
        long total = 0;
        for (int i = 0; i < times; i++) {
            total += once(folds);
        }
        return String.format("{\"ns\": %d, \"compiling_ms\": %d, \"gc_ms\": %d}", total,
            COMPILER.getTotalCompilationTime() - compiling, collecting() - collecting);
    }

    private String tails(int times) throws Exception {
        int[] least = new int[log.count];
        Arrays.fill(least, Integer.MAX_VALUE);
        for (int i = 0; i < times; i++) {
            replay(null, least, Long.MAX_VALUE);
        }
        StringJoiner tails = new StringJoiner(", ", "{\"tails\": {", "}}");
        for (int kind = 1; kind < OperationLog.NAMES.length; kind++) {
            int[] found = new int[log.count];
            int n = 0;
            for (int op = 0; op < log.count; op++) {
                if (log.kind[op] == kind && least[op] != Integer.MAX_VALUE) {
                    found[n++] = least[op];
                }
            }
            if (n > 0) {
                int[] sorted = Arrays.copyOf(found, n);
                Arrays.sort(sorted);
                tails.add(String.format("\"%s\": {\"count\": %d, \"p50\": %d, \"p99\": %d, \"p9999\": %d, \"max\": %d}",
                    OperationLog.NAMES[kind], n, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 0.9999), sorted[n - 1]));
            }
        }
        return tails.toString();
    }

    private long once(boolean folds) throws Exception {
        if (durability != null) {
            try (AppendingPersister persister = new AppendingPersister(durability, commits, directory)) {
                return replay(null, null, Long.MAX_VALUE, partition -> true, new Partitions(log, false, persister));
            }
        }
        return folds ? new FoldReplay(log).run(null, Long.MAX_VALUE) : replay(null, null, Long.MAX_VALUE);
    }

    /** Time in the timed sections, or less than 0: the operation at which the time was up. */
    private long replay(Digest results, int[] least, long patience) throws Exception {
        return replay(results, least, patience, partition -> true);
    }

    /** Returns the speed-up of the log with two threads, one for share partition 0 and one for the others. */
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
        System.out.println("{\"memory_bytes\": " + (inUse() - before) + "}");
        partitions.persisted();
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
        return String.format("{\"engine\": \"kafka\", \"digest\": %s, \"stopped\": %s, \"writes\": %d, \"batches\": %d, "
            + "\"bytes\": %d, \"java\": \"%s\"}", stopped < 0 ? String.format("\"%016x\"", digest) : "null",
            stopped < 0 ? "null" : Integer.toString(stopped), persisted[0], persisted[1], persisted[2],
            System.getProperty("java.version"));
    }

    private static int at(int[] sorted, double share) {
        return sorted[Math.max(1, (int) Math.ceil(sorted.length * share)) - 1];
    }
}
