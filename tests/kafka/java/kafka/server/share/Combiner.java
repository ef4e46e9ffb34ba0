package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.share.PersisterStateBatchCombiner;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

import java.util.ArrayList;
import java.util.List;

/** Plays merges of state batches on Kafka's PersisterStateBatchCombiner. */
final class Combiner {
    private Combiner() { }

    static ArrayNode play(JsonNode merges) {
        ArrayNode given = JsonNodeFactory.instance.arrayNode();
        for (JsonNode merge : merges) {
            ObjectNode answer = given.addObject();
            try {
                ArrayNode merged = answer.putArray("expect");
                for (PersisterStateBatch batch : new PersisterStateBatchCombiner(batches(merge.get("so_far")),
                    batches(merge.get("new")), merge.get("start_offset").asLong()).combineStateBatches()) {
                    merged.addArray().add(batch.firstOffset()).add(batch.lastOffset()).add(batch.deliveryState()).add(batch.deliveryCount());
                }
            } catch (RuntimeException thrown) {
                answer.putObject("expect").put("error", thrown.getClass().getSimpleName());
            }
        }
        return given;
    }

    private static List<PersisterStateBatch> batches(JsonNode list) {
        List<PersisterStateBatch> batches = new ArrayList<>();
        for (JsonNode b : list) {
            batches.add(new PersisterStateBatch(b.get(0).asLong(), b.get(1).asLong(), (byte) b.get(2).asInt(), (short) b.get(3).asInt()));
        }
        return batches;
    }
}
