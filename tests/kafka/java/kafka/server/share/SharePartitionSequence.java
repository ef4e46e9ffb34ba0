package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.message.ShareFetchResponseData.AcquiredRecords;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.fetch.ShareAcquiredRecords;
import org.apache.kafka.server.storage.log.FetchIsolation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Plays the operations of one sequence on Kafka's SharePartition; each gets what it gave, in the form of the conformance files. */
final class SharePartitionSequence {
    private final boolean likeRecorder;
    private final EffectiveState states;
    private final ScriptedPersister persister = new ScriptedPersister();
    private final List<PartitionUnderTest> partitions = new ArrayList<>();
    private final List<Runnable> atTheEnd = new ArrayList<>();
    private final ArrayNode given = JsonNodeFactory.instance.arrayNode();
    private long now;

    SharePartitionSequence(boolean likeRecorder, boolean deadlines) {
        this.likeRecorder = likeRecorder;
        this.states = new EffectiveState(deadlines);
    }

    ArrayNode play(JsonNode ops) {
        for (JsonNode op : ops) {
            given.add(step(op));
        }
        atTheEnd.forEach(Runnable::run);
        return given;
    }

    /** Answers of the operations so far; that of the one under way says that it does not return. */
    ArrayNode hung() {
        ArrayNode soFar = given.deepCopy();
        soFar.addObject().put("code", Errors.UNKNOWN_SERVER_ERROR.code()).putObject("expect").putObject("result").put("error", "DoesNotReturn");
        return soFar;
    }

    private ObjectNode step(JsonNode op) {
        ObjectNode given = JsonNodeFactory.instance.objectNode();
        persister.begin(op);
        if (op.get("op").asText().equals("create")) {
            add(op.get("config"), op);
        } else if (op.get("op").asText().equals("inject_state")) {
            ObjectNode config = partitions.get(0).created.deepCopy();
            add(config.put("initial_status", op.get("state").get("status").asText()), op);
        }
        // Each leader has a clock of its own, on which the next one's begins. Time passes for the latest unless the operation names
        // another.
        int index = op.path("partition_index").asInt(op.get("op").asText().equals("advance_clock") ? partitions.size() - 1 : 0);
        if (index < 0 || index >= partitions.size()) {
            // A sequence that is being shrunk may speak of what is not made any more.
            return given;
        }
        PartitionUnderTest at = partitions.get(index);
        at.begin(op);
        try {
            run(at, op, given);
        } catch (RuntimeException thrown) {
            given.withObject("/expect").set("result", error(given, thrown));
        }
        note(given, "group_config", at.config.takeAsked());
        note(given, "persister_writes", persister.takeWritten());
        note(given, "dlq_enqueued", at.deadLetters.takeEnqueued());
        ObjectNode state = changed(at);
        if (state != null) {
            given.set("state", state);
        }
        if (likeRecorder && op.get("op").asText().equals("persister_completes")) {
            others(at, given);
        }
        return given;
    }

    /** A recording does not say to which leader a late answer goes. */
    private void others(PartitionUnderTest at, ObjectNode given) {
        for (PartitionUnderTest other : partitions) {
            ObjectNode state = other == at ? null : changed(other);
            if (state != null) {
                given.withArray("/states").add(state.deepCopy().put("partition_index", partitions.indexOf(other)));
            }
        }
    }

    private ObjectNode changed(PartitionUnderTest under) {
        ObjectNode state = states.of(under.partition);
        if (state.equals(under.lastState)) {
            return null;
        }
        under.lastState = state;
        return state;
    }

    private void add(JsonNode config, JsonNode op) {
        if (op.path("partition_index").asInt(0) == partitions.size()) {
            partitions.add(new PartitionUnderTest(config, new ManualClock(likeRecorder, now), persister));
        }
    }

    private static void note(ObjectNode given, String field, JsonNode value) {
        if (value.size() > 0) {
            given.set(field, value);
        }
    }

    private void run(PartitionUnderTest at, JsonNode op, ObjectNode given) {
        SharePartition partition = at.partition;
        switch (op.get("op").asText()) {
            case "create" -> { }
            case "inject_state" -> Inside.inject(at, op.get("state"));
            case "lock_timeout" -> Inside.lockTimeout(partition, op);
            case "write_state" -> future(given, () -> partition.writeShareGroupState(Inside.batches(op)));
            case "schedule_lock" -> given.putObject("expect").put("result", partition.scheduleAcquisitionLockTimeout(
                op.get("member").asText(), op.get("first").asLong(), op.get("last").asLong()).getClass().getSimpleName());
            case "set_find_next_fetch_offset" -> partition.updateFindNextFetchOffset(op.get("value").asBoolean());
            case "find_last_acknowledged" -> Inside.findLastAcknowledged(partition, given.putObject("expect"));
            case "initialize" -> future(given, partition::maybeInitialize);
            case "acquire" -> acquire(partition, op, given);
            case "acknowledge" -> future(given, () -> partition.acknowledge(op.get("member").asText(), ranges(op)));
            case "release_session" -> future(given, () -> partition.releaseAcquiredRecords(op.get("member").asText()));
            case "advance_clock" -> advance(at, op, given);
            case "persister_completes" -> {
                JsonNode result = persister.complete(op.get("async_id").asInt());
                ObjectNode expect = given.putObject("expect");
                if (result != null && result.isTextual()) {
                    int code = result.asText().equals("ok") ? 0 : Integer.parseInt(result.asText().substring("error_code ".length()));
                    expect.putObject("result").put("partition", 0).put("error_code", code);
                } else {
                    expect.set("result", result);
                }
            }
            case "dead_letters_complete" -> at.deadLetters.complete(op.get("async_id").asInt());
            case "move_log_start_offset" -> partition.updateCacheAndOffsets(op.get("log_start_offset").asLong());
            case "next_fetch_offset" -> given.putObject("expect").put("result", partition.nextFetchOffset());
            case "can_acquire_records" -> given.putObject("expect").put("result", partition.canAcquireRecords());
            case "mark_fenced" -> partition.markFenced();
            default -> given.put("unknown", true);
        }
    }

    private void advance(PartitionUnderTest at, JsonNode op, ObjectNode given) {
        if (at == partitions.get(partitions.size() - 1)) {
            now += op.get("ms").asLong();
        }
        ArrayNode timeouts = JsonNodeFactory.instance.arrayNode();
        at.clock.onFired(task -> {
            ObjectNode timeout = timeouts.addObject();
            timeout.put("member", Timers.member(task)).put("first", Timers.first(task)).put("last", Timers.last(task));
            note(timeout, "persister_writes", persister.takeWritten());
            note(timeout, "dlq_enqueued", at.deadLetters.takeEnqueued());
        });
        given.putObject("expect").put("result", at.clock.advanceClock(op.get("ms").asLong()));
        note(given, "lock_timeouts_fired", timeouts);
    }

    private static void acquire(SharePartition partition, JsonNode op, ObjectNode given) {
        ObjectNode expect = given.putObject("expect");
        ShareAcquiredRecords records;
        try {
            records = partition.acquire(op.get("member").asText(),
                op.get("mode").asText().equals("record_limit") ? ShareAcquireMode.RECORD_LIMIT : ShareAcquireMode.BATCH_OPTIMIZED,
                op.get("batch_size").asInt(), op.get("max_fetch_records").asInt(), op.get("fetch_offset").asLong(),
                FetchedLog.of(op), FetchIsolation.valueOf(op.get("isolation").asText()));
        } catch (RuntimeException thrown) {
            expect.set("result", error(given, thrown));
            return;
        }
        ArrayNode acquired = expect.putArray("acquired");
        for (AcquiredRecords range : records.acquiredRecords()) {
            acquired.addArray().add(range.firstOffset()).add(range.lastOffset()).add(range.deliveryCount());
        }
        expect.put("count", records.count());
    }

    private static List<ShareAcknowledgementBatch> ranges(JsonNode op) {
        List<ShareAcknowledgementBatch> ranges = new ArrayList<>();
        for (JsonNode batch : op.get("batches")) {
            List<Byte> types = new ArrayList<>();
            JsonNode coded = batch.get(2).path("rle");
            for (JsonNode pair : coded) {
                for (int i = 0; i < pair.get(1).asInt(); i++) {
                    types.add((byte) pair.get(0).asInt());
                }
            }
            if (coded.isMissingNode()) {
                batch.get(2).forEach(type -> types.add((byte) type.asInt()));
            }
            ranges.add(new ShareAcknowledgementBatch(batch.get(0).asLong(), batch.get(1).asLong(), types));
        }
        return ranges;
    }

    private interface Call {
        CompletableFuture<Void> run();
    }

    /** Writes the outcome of a call, also when it is known only later. */
    private void future(ObjectNode given, Call call) {
        ObjectNode expect = given.putObject("expect");
        CompletableFuture<Void> future;
        try {
            future = call.run();
        } catch (RuntimeException thrown) {
            expect.set("result", error(given, thrown));
            return;
        }
        if (future.isDone()) {
            settle(given, expect, future);
            return;
        }
        expect.put("result", "pending");
        expect.put("pending_at_return", true);
        atTheEnd.add(() -> {
            if (future.isDone()) {
                settle(given, expect, future);
            }
        });
    }

    private static void settle(ObjectNode given, ObjectNode expect, CompletableFuture<Void> future) {
        try {
            future.join();
            expect.put("result", "ok");
        } catch (CompletionException failed) {
            expect.set("result", error(given, failed.getCause()));
        }
    }

    private static JsonNode error(ObjectNode given, Throwable thrown) {
        given.put("code", Errors.forException(thrown).code());
        return JsonNodeFactory.instance.objectNode().put("error", thrown.getClass().getSimpleName());
    }
}
