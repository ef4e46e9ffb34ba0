package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateResult;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateResult;
import org.apache.kafka.server.share.persister.PartitionErrorData;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A persister that answers as the operation under way says, and notes what it was asked to write.
 *
 * The n-th write of an operation is answered as the n-th entry of its {@code persister_writes} says; further writes as the
 * last entry says, and with success where there is none. {@code completes_later} holds the answer back until a
 * {@code persister_completes} names its {@code async_id}, and {@code "result": "pending"} for ever.
 */
final class ScriptedPersister implements Persister {
    private record Held(CompletableFuture<WriteShareGroupStateResult> future, JsonNode result) { }

    private final Map<Integer, List<Held>> held = new LinkedHashMap<>();
    private JsonNode plan = JsonNodeFactory.instance.arrayNode();
    private JsonNode read;
    private int answered;
    private ArrayNode written = JsonNodeFactory.instance.arrayNode();

    /** From here on the writes belong to this operation. */
    void begin(JsonNode op) {
        plan = PartitionUnderTest.planned(op, "persister_writes");
        answered = 0;
        read = op.get("persister_read");
    }

    /** The writes noted since the last call. */
    ArrayNode takeWritten() {
        ArrayNode taken = written;
        written = JsonNodeFactory.instance.arrayNode();
        return taken;
    }

    /** Gives all answers that wait under this id; what one of them was, or null when none waits. */
    JsonNode complete(int id) {
        List<Held> waiting = held.remove(id);
        JsonNode result = null;
        if (waiting != null) {
            for (Held one : waiting) {
                result = one.result;
                answer(one.future, one.result);
            }
        }
        return result;
    }

    @Override
    public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters parameters) {
        for (TopicData<PartitionStateBatchData> topic : parameters.groupTopicPartitionData().topicsData()) {
            for (PartitionStateBatchData data : topic.partitions()) {
                return write(data);
            }
        }
        throw new IllegalArgumentException("a write of nothing");
    }

    private CompletableFuture<WriteShareGroupStateResult> write(PartitionStateBatchData data) {
        JsonNode planned = planned(answered++);
        JsonNode result = planned.path("result").isMissingNode() ? JsonNodeFactory.instance.textNode("error_code 0") : planned.get("result");
        ObjectNode noted = written.addObject();
        noted.put("leader_epoch", data.leaderEpoch());
        noted.put("state_epoch", data.stateEpoch());
        noted.put("start_offset", data.startOffset());
        noted.put("delivery_complete_count", data.deliveryCompleteCount());
        ArrayNode batches = noted.putArray("batches");
        for (PersisterStateBatch batch : data.stateBatches()) {
            batches.addArray().add(batch.firstOffset()).add(batch.lastOffset()).add(batch.deliveryState()).add(batch.deliveryCount());
        }
        noted.set("result", result);
        CompletableFuture<WriteShareGroupStateResult> future = new CompletableFuture<>();
        if (planned.path("completes_later").asBoolean(false)) {
            int id = planned.get("async_id").asInt();
            noted.put("completes_later", true).put("async_id", id);
            held.computeIfAbsent(id, unused -> new ArrayList<>()).add(new Held(future, result));
        } else {
            answer(future, result);
        }
        return future;
    }

    private JsonNode planned(int index) {
        return plan.size() == 0 ? JsonNodeFactory.instance.objectNode() : plan.get(Math.min(index, plan.size() - 1));
    }

    private static void answer(CompletableFuture<WriteShareGroupStateResult> future, JsonNode result) {
        if (result.has("partitions")) {
            future.complete(written(result.get("partitions")));
            return;
        }
        if (result.isObject()) {
            future.completeExceptionally(new RuntimeException("as planned"));
            return;
        }
        String text = result.asText();
        if (text.equals("pending")) {
            return;
        }
        short code = text.equals("ok") ? 0 : Short.parseShort(text.substring("error_code ".length()));
        future.complete(new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(
            PartitionUnderTest.TOPIC.topicId(),
            List.of(PartitionFactory.newPartitionErrorData(0, code, code == 0 ? "" : "as planned"))))).build());
    }

    /** An answer that is not for the one partition asked about. */
    private static WriteShareGroupStateResult written(JsonNode partitions) {
        List<PartitionErrorData> answers = new ArrayList<>();
        for (JsonNode partition : partitions) {
            answers.add(PartitionFactory.newPartitionErrorData(
                partition.get("partition").asInt(), (short) partition.get("error_code").asInt(), ""));
        }
        return new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(
            PartitionUnderTest.TOPIC.topicId(), answers))).build();
    }

    @Override
    public CompletableFuture<ReadShareGroupStateResult> readState(ReadShareGroupStateParameters parameters) {
        JsonNode response = read.get("response");
        if (response.has("error")) {
            return CompletableFuture.failedFuture(new RuntimeException("as planned"));
        }
        if (response.isTextual()) {
            return CompletableFuture.completedFuture(null);
        }
        if (response.has("partitions")) {
            return CompletableFuture.completedFuture(new ReadShareGroupStateResult.Builder().setTopicsData(List.of()).build());
        }
        List<PersisterStateBatch> batches = new ArrayList<>();
        for (JsonNode batch : response.get("batches")) {
            batches.add(new PersisterStateBatch(batch.get(0).asLong(), batch.get(1).asLong(),
                (byte) batch.get(2).asInt(), (short) batch.get(3).asInt()));
        }
        return CompletableFuture.completedFuture(new ReadShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(
            PartitionUnderTest.TOPIC.topicId(),
            List.of(PartitionFactory.newPartitionAllData(response.get("partition").asInt(), response.get("state_epoch").asInt(),
                response.get("start_offset").asLong(), (short) response.get("error_code").asInt(), "", batches))))).build());
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
