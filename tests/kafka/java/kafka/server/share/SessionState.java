package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.internals.ImplicitLinkedHashCollection;
import org.apache.kafka.server.share.CachedSharePartition;
import org.apache.kafka.server.share.ShareGroupListener;
import org.apache.kafka.server.share.session.ShareSession;
import org.apache.kafka.server.share.session.ShareSessionCache;
import org.apache.kafka.server.share.session.ShareSessionKey;

import java.lang.reflect.Field;
import java.util.Comparator;
import java.util.Map;

/** The sessions of a cache in the form of the conformance files; Kafka keeps them to itself. */
final class SessionState {
    private static final Field FLAG = field(CachedSharePartition.class, "requiresUpdateInResponse");
    private static final Field SESSIONS = field(ShareSessionCache.class, "sessions");
    private static final Field LISTENER = field(ShareSessionCache.class, "shareGroupListener");

    private final Map<ShareSessionKey, ShareSession> sessions;
    private final ShareGroupListener listener;

    @SuppressWarnings("unchecked")
    SessionState(ShareSessionCache cache) {
        sessions = (Map<ShareSessionKey, ShareSession>) get(SESSIONS, cache);
        listener = (ShareGroupListener) get(LISTENER, cache);
    }

    /** Kafka's own listener. */
    ShareGroupListener listener() {
        return listener;
    }

    /** All sessions by their keys. */
    ArrayNode sessions(boolean flags) {
        ArrayNode shown = JsonNodeFactory.instance.arrayNode();
        sessions.values().stream()
            .sorted(Comparator.comparing((ShareSession s) -> s.key().groupId()).thenComparing(s -> s.key().memberId()))
            .forEach(session -> shown.add(show(session, flags)));
        return shown;
    }

    JsonNode show(ShareSession session, boolean flags) {
        if (session == null) {
            return JsonNodeFactory.instance.nullNode();
        }
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        shown.set("key", show(session.key()));
        shown.put("epoch", session.epoch()).put("connection", session.connectionId());
        ArrayNode partitions = shown.putArray("partitions");
        for (CachedSharePartition partition : session.partitionMap()) {
            ArrayNode one = partitions.addArray();
            if (flags) {
                one.add(partition.topicId().toString()).add(partition.partition()).add((boolean) get(FLAG, partition));
            } else {
                one.add(partition.topic()).add(partition.partition());
            }
        }
        return shown;
    }

    static ObjectNode show(ShareSessionKey key) {
        return JsonNodeFactory.instance.objectNode().put("group", key.groupId()).put("member", key.memberId());
    }

    /** The key of a recorded session, or a recorded key. */
    static ShareSessionKey key(JsonNode recorded) {
        JsonNode key = recorded.has("key") ? recorded.get("key") : recorded;
        return new ShareSessionKey(key.get("group").asText(), key.get("member").asText());
    }

    /** Partitions of which a recording has the names only. */
    ImplicitLinkedHashCollection<CachedSharePartition> partitions(JsonNode recorded) {
        ImplicitLinkedHashCollection<CachedSharePartition> partitions = new ImplicitLinkedHashCollection<>(recorded.size());
        for (JsonNode partition : recorded) {
            String topic = partition.get(0).asText();
            partitions.add(new CachedSharePartition(topic, new Uuid(1, topic.hashCode()), partition.get(1).asInt(), false));
        }
        return partitions;
    }

    private static Field field(Class<?> of, String name) {
        try {
            Field field = of.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private static Object get(Field field, Object of) {
        try {
            return field.get(of);
        } catch (ReflectiveOperationException denied) {
            throw new IllegalStateException(denied);
        }
    }
}
