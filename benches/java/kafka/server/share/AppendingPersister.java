package kafka.server.share;

import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Does the work of share_state's store: appends the bytes of each of its commits to a file, and syncs as it does. The bytes are
 * read from a segment that the store has written of the same operation log, which spares Kafka their making.
 */
final class AppendingPersister extends InlinePersister implements AutoCloseable {
    /** Writes that are gathered at most, as by share_state's caller. */
    static final int GATHERED = 1_000;
    private static final int BEFORE_LENGTH = 8;
    private static final int INTERVAL_MS = 1_000;

    private final Durability durability;
    private final List<ByteBuffer> commits;
    private final Path path;
    private final FileChannel file;
    private final ScheduledExecutorService syncing;
    private int next;
    private List<CompletableFuture<WriteShareGroupStateResult>> waiting = new ArrayList<>();

    /** Time at which commits reach the disk; {@code benches/rust/src/stored.rs} describes each value. */
    enum Durability { NEVER, INTERVAL, ALWAYS, POLLED }

    AppendingPersister(Durability durability, List<ByteBuffer> commits, Path directory) throws IOException {
        super(false);
        this.durability = durability;
        this.commits = commits;
        path = Files.createTempFile(directory, "kafka", ".log");
        file = FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        if (durability == Durability.INTERVAL) {
            syncing = Executors.newSingleThreadScheduledExecutor();
            syncing.scheduleWithFixedDelay(this::sync, INTERVAL_MS, INTERVAL_MS, TimeUnit.MILLISECONDS);
        } else {
            syncing = null;
        }
    }

    /** The record batches of a store's segments, without the first, with which it gave every share partition its state. */
    static List<ByteBuffer> commits(Path store) throws IOException {
        List<Path> segments;
        try (Stream<Path> files = Files.walk(store)) {
            segments = files.filter(file -> file.toString().endsWith(".log")).sorted().toList();
        }
        List<ByteBuffer> found = new ArrayList<>();
        for (Path segment : segments) {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(segment));
            for (int at = 0; at < bytes.limit();) {
                int length = BEFORE_LENGTH + Integer.BYTES + bytes.getInt(at + BEFORE_LENGTH);
                ByteBuffer commit = ByteBuffer.allocateDirect(length);
                found.add(commit.put(bytes.slice(at, length)).flip());
                at += length;
            }
        }
        return found.subList(1, found.size());
    }

    @Override
    public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters parameters) {
        if (durability != Durability.POLLED) {
            append();
            return super.writeState(parameters);
        }
        super.writeState(parameters);
        CompletableFuture<WriteShareGroupStateResult> later = new CompletableFuture<>();
        waiting.add(later);
        return later;
    }

    @Override
    int gathered() {
        return waiting.size();
    }

    /** Makes durable what was gathered, and answers it. */
    @Override
    void commit() {
        if (!waiting.isEmpty()) {
            append();
            List<CompletableFuture<WriteShareGroupStateResult>> durable = waiting;
            waiting = new ArrayList<>();
            durable.forEach(future -> future.complete(OK));
        }
    }

    private void append() {
        if (next == commits.size()) {
            throw new IllegalStateException("more commits than the " + next + " of share_state's store");
        }
        try {
            file.write(commits.get(next++).rewind());
            if (durability == Durability.ALWAYS || durability == Durability.POLLED) {
                file.force(false);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private void sync() {
        try {
            file.force(false);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The end of a replay: every commit must have been made. */
    @Override
    public void close() throws IOException {
        if (syncing != null) {
            syncing.shutdownNow();
        }
        file.close();
        Files.delete(path);
        if (next != commits.size()) {
            throw new IllegalStateException(next + " commits; share_state's store made " + commits.size());
        }
    }
}
