package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.dlq.ShareGroupDLQManager;
import org.apache.kafka.server.share.dlq.ShareGroupDLQRecordParameter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A dead-letter queue that notes what it is given, and takes or fails it as {@code dlq_enqueued} of the operation says: at once, or
 * with {@code completes_later} when a {@code dead_letters_complete} names its {@code async_id}, or with {@code "pending"} never.
 */
final class ScriptedDeadLetterQueue implements ShareGroupDLQManager {
    private final Map<Integer, List<Runnable>> held = new LinkedHashMap<>();
    private JsonNode plan = JsonNodeFactory.instance.arrayNode();
    private ArrayNode enqueued = JsonNodeFactory.instance.arrayNode();

    void begin(JsonNode op) {
        plan = PartitionUnderTest.planned(op, "dlq_enqueued");
    }

    ArrayNode takeEnqueued() {
        ArrayNode taken = enqueued;
        enqueued = JsonNodeFactory.instance.arrayNode();
        return taken;
    }

    @Override
    public CompletableFuture<Void> enqueue(ShareGroupDLQRecordParameter record) {
        JsonNode planned = plan.size() == 0 ? null : plan.get(Math.min(enqueued.size(), plan.size() - 1));
        JsonNode result = planned == null || !planned.has("result") ? JsonNodeFactory.instance.textNode("ok") : planned.get("result");
        ObjectNode noted = enqueued.addObject();
        noted.put("first", record.firstOffset()).put("last", record.lastOffset());
        noted.put("delivery_count", record.deliveryCount().toString()).put("cause", record.cause().toString());
        noted.set("result", result);
        CompletableFuture<Void> future = new CompletableFuture<>();
        if (planned != null && planned.path("completes_later").asBoolean(false)) {
            int id = planned.get("async_id").asInt();
            noted.put("completes_later", true).put("async_id", id);
            held.computeIfAbsent(id, unused -> new ArrayList<>()).add(() -> answer(future, result));
        } else {
            answer(future, result);
        }
        return future;
    }

    /** Says what became of everything that waits under this id. */
    void complete(int id) {
        List<Runnable> waiting = held.remove(id);
        if (waiting != null) {
            waiting.forEach(Runnable::run);
        }
    }

    private static void answer(CompletableFuture<Void> future, JsonNode result) {
        if (result.isObject()) {
            future.completeExceptionally(new RuntimeException("as planned"));
        } else if (!result.asText().equals("pending")) {
            future.complete(null);
        }
    }

    @Override
    public void stop() { }
}
