package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.dlq.ShareGroupDLQManager;
import org.apache.kafka.server.share.dlq.ShareGroupDLQRecordParameter;

import java.util.concurrent.CompletableFuture;

/** A dead-letter queue that notes what it is given, and takes or fails it at once as {@code dlq_enqueued} of the operation says. */
final class ScriptedDeadLetterQueue implements ShareGroupDLQManager {
    private JsonNode plan = JsonNodeFactory.instance.arrayNode();
    private ArrayNode enqueued = JsonNodeFactory.instance.arrayNode();

    void begin(JsonNode op) {
        plan = op.path("dlq_enqueued");
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
        return result.isObject() ? CompletableFuture.failedFuture(new RuntimeException("as planned")) : CompletableFuture.completedFuture(null);
    }

    @Override
    public void stop() { }
}
