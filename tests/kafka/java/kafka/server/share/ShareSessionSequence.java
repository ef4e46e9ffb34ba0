package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.ShareFetchResponseData;
import org.apache.kafka.common.message.ShareFetchResponseData.PartitionData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.ShareFetchResponse;
import org.apache.kafka.server.share.ErroneousAndValidPartitionData;
import org.apache.kafka.server.share.ShareGroupListener;
import org.apache.kafka.server.share.context.FinalContext;
import org.apache.kafka.server.share.context.ShareFetchContext;
import org.apache.kafka.server.share.context.ShareSessionContext;
import org.apache.kafka.server.share.fetch.PartitionRotateStrategy;
import org.apache.kafka.server.share.fetch.PartitionRotateStrategy.PartitionRotateMetadata;
import org.apache.kafka.server.share.fetch.PartitionRotateStrategy.StrategyType;
import org.apache.kafka.server.share.session.ShareSessionCache;
import org.apache.kafka.server.share.session.ShareSessionKey;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;

/**
 * Plays the operations of one sequence on Kafka's share sessions: the cache and the contexts as SharePartitionManager uses them.
 * Beyond the recordings: {@code create} with {@code max_sessions}; a {@code newContext} may name its context, and a
 * {@code respond} answers that context with [partition, error code, bytes of records]; {@code disconnect} ends a connection.
 */
final class ShareSessionSequence {
    private final Map<Integer, ShareFetchContext> contexts = new HashMap<>();
    private final boolean flags;
    private ShareSessionCache cache;
    private SharePartitionManager manager;
    private SessionState state;
    private ArrayNode events = JsonNodeFactory.instance.arrayNode();

    /** @param flags whether to show topic ids and which partitions the next answer lists whatever happens */
    ShareSessionSequence(boolean flags) {
        this.flags = flags;
    }

    ArrayNode play(JsonNode ops) {
        ArrayNode given = JsonNodeFactory.instance.arrayNode();
        for (JsonNode op : ops) {
            if (cache == null || op.get("op").asText().equals("create")) {
                create(op.path("max_sessions").asInt());
            }
            given.add(step(op));
        }
        return given;
    }

    private void create(int maxSessions) {
        contexts.clear();
        cache = new ShareSessionCache(maxSessions);
        manager = new SharePartitionManager(null, null, null, key -> { }, null, cache, new SharePartitionCache(), 0, null, 0, 0, 0,
            null, null, null, null, () -> false, null);
        state = new SessionState(cache);
        ShareGroupListener kafkas = state.listener();
        cache.registerShareGroupListener(new ShareGroupListener() {
            @Override
            public void onMemberLeave(String group, String member) {
                events.addArray().add("member_leave").add(group).add(member);
                kafkas.onMemberLeave(group, member);
            }

            @Override
            public void onGroupEmpty(String group) {
                events.addArray().add("group_empty").add(group);
                kafkas.onGroupEmpty(group);
            }
        });
    }

    private ObjectNode step(JsonNode op) {
        ObjectNode given = JsonNodeFactory.instance.objectNode();
        try {
            given.set("result", run(op, op.path("args")));
        } catch (RuntimeException thrown) {
            given.set("result", error(thrown));
        }
        if (!events.isEmpty()) {
            given.set("events", events);
            events = JsonNodeFactory.instance.arrayNode();
        }
        given.set("sessions", state.sessions(flags));
        given.put("total_partitions", cache.totalPartitions());
        return given;
    }

    private static ObjectNode error(Throwable thrown) {
        return JsonNodeFactory.instance.objectNode()
            .put("error", thrown.getClass().getSimpleName()).put("code", Errors.forException(thrown).code());
    }

    private JsonNode run(JsonNode op, JsonNode args) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        switch (op.get("op").asText()) {
            case "create" -> {
                return json.nullNode();
            }
            case "newContext" -> {
                ShareFetchContext context = manager.newContext(args.get(0).asText(), Tips.list(args.get(1)), Tips.list(args.get(2)),
                    args.get(3).asText(), args.get(4).asInt(), args.get(5).asBoolean(), args.get(6).asText());
                if (op.has("context")) {
                    contexts.put(op.get("context").asInt(), context);
                }
                return show(context, args.get(4));
            }
            case "respond" -> {
                ShareFetchContext context = contexts.get(args.get(0).asInt());
                return context == null ? json.nullNode() : respond(context, args.get(1));
            }
            case "acknowledgeSessionUpdate" -> {
                manager.acknowledgeSessionUpdate(args.get(0).asText(), args.get(1).asText(), args.get(2).asInt());
                return json.nullNode();
            }
            case "releaseSession" -> {
                return release(args.get(0).asText(), args.get(1).asText());
            }
            case "disconnect" -> {
                cache.connectionDisconnectListener().onDisconnect(args.get(0).asText());
                return json.nullNode();
            }
            case "maybeCreateSession" -> {
                ShareSessionKey key = cache.maybeCreateSession(args.get(0).asText(), args.get(1).asText(), state.partitions(args.get(2)),
                    args.get(3).asText());
                return key == null ? json.nullNode() : SessionState.show(key);
            }
            case "get" -> {
                return state.show(cache.get(SessionState.key(args.get(0))), flags);
            }
            case "remove" -> {
                return state.show(cache.remove(SessionState.key(args.get(0))), flags);
            }
            case "removeAllSessions" -> {
                cache.removeAllSessions();
                return json.nullNode();
            }
            case "size" -> {
                return json.numberNode(cache.size());
            }
            case "totalPartitions" -> {
                return json.numberNode(cache.totalPartitions());
            }
            default -> throw new IllegalArgumentException("unknown operation " + op);
        }
    }

    private ObjectNode show(ShareFetchContext context, JsonNode epoch) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        if (context instanceof FinalContext) {
            shown.put("context", "final");
        } else {
            shown.put("context", "session").put("request_epoch", epoch.asInt())
                .put("subsequent", ((ShareSessionContext) context).isSubsequent());
        }
        if (flags) {
            ErroneousAndValidPartitionData partitions = context.getErroneousAndValidTopicIdPartitions();
            ArrayNode erroneous = shown.putArray("erroneous");
            partitions.erroneous().keySet().stream().map(Tips::show).sorted().forEach(erroneous::add);
            // In the order in which they are fetched.
            PartitionRotateStrategy.type(StrategyType.ROUND_ROBIN)
                .rotate(partitions.validTopicIdPartitions(), new PartitionRotateMetadata(epoch.asInt()))
                .stream().map(Tips::show).forEach(shown.putArray("valid")::add);
        }
        return shown;
    }

    private static JsonNode respond(ShareFetchContext context, JsonNode partitions) {
        LinkedHashMap<TopicIdPartition, PartitionData> data = new LinkedHashMap<>();
        for (JsonNode partition : partitions) {
            TopicIdPartition tip = Tips.read(partition.get(0));
            int bytes = partition.get(2).asInt();
            data.put(tip, new PartitionData().setPartitionIndex(tip.partition()).setErrorCode((short) partition.get(1).asInt())
                .setRecords(bytes == 0 ? MemoryRecords.EMPTY : MemoryRecords.readableRecords(ByteBuffer.allocate(bytes))));
        }
        ShareFetchResponse response = context.updateAndGenerateResponseData("", "", data);
        ObjectNode shown = JsonNodeFactory.instance.objectNode().put("code", response.error().code());
        ArrayNode listed = shown.putArray("partitions");
        for (ShareFetchResponseData.ShareFetchableTopicResponse topic : response.data().responses()) {
            for (PartitionData partition : topic.partitions()) {
                listed.addArray().add(topic.topicId().toString()).add(partition.partitionIndex()).add(partition.errorCode())
                    .add(ShareFetchResponse.recordsSize(partition))
                    .add(partition.currentLeader().leaderId()).add(partition.currentLeader().leaderEpoch());
            }
        }
        return shown;
    }

    private JsonNode release(String group, String member) {
        try {
            ArrayNode released = JsonNodeFactory.instance.arrayNode();
            manager.releaseSession(group, member).join().forEach((tip, data) ->
                released.addArray().add(Tips.show(tip)).add(data.errorCode()));
            return released;
        } catch (CompletionException failed) {
            return error(failed.getCause());
        }
    }

    /** Partitions as the recordings write them: {@code id:name-0}, where the name of an unknown id is {@code null}. */
    static final class Tips {
        private Tips() { }

        static List<TopicIdPartition> list(JsonNode list) {
            TopicIdPartition[] partitions = new TopicIdPartition[list.size()];
            for (int at = 0; at < partitions.length; at++) {
                partitions[at] = read(list.get(at));
            }
            return List.of(partitions);
        }

        static TopicIdPartition read(JsonNode text) {
            String tip = text.asText();
            int colon = tip.indexOf(':');
            int dash = tip.lastIndexOf('-');
            String name = tip.substring(colon + 1, dash);
            return new TopicIdPartition(org.apache.kafka.common.Uuid.fromString(tip.substring(0, colon)),
                Integer.parseInt(tip.substring(dash + 1)), name.equals("null") ? null : name);
        }

        static String show(TopicIdPartition tip) {
            return tip.topicId() + ":" + tip.topic() + "-" + tip.partition();
        }
    }
}
