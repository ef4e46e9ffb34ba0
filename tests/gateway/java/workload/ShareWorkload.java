import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;

/** A member by KafkaShareConsumer, of whichever release is on the class path. Its plan and its report are those of plan.py. */
public final class ShareWorkload {
    private static final AcknowledgeType[] TYPES = {
        AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT, AcknowledgeType.RENEW
    };
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration COMMIT = Duration.ofSeconds(30);

    private final JsonNode plan;
    private final Random random;
    private final KafkaShareConsumer<byte[], byte[]> consumer;
    /** Poll gives these deliveries again until they are settled. One whose renewal is refused comes again with another count. */
    private final Set<List<Object>> renewed = new HashSet<>();
    private volatile boolean told;
    private int received;
    private int stalls;
    private long lastRecord = System.nanoTime();

    private ShareWorkload(JsonNode plan) {
        this.plan = plan;
        random = new Random(plan.get("seed").longValue());
        Properties properties = new Properties();
        properties.put("bootstrap.servers", plan.get("bootstrap").textValue());
        properties.put("group.id", plan.get("group").textValue());
        properties.put("share.acknowledgement.mode", plan.get("explicit").booleanValue() ? "explicit" : "implicit");
        plan.get("settings").properties().forEach(one -> properties.put(one.getKey(), one.getValue().textValue()));
        consumer = new KafkaShareConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.setAcknowledgementCommitCallback(ShareWorkload::answered);
    }

    public static void main(String[] arguments) throws Exception {
        ShareWorkload workload = new ShareWorkload(JSON.readTree(arguments[0]));
        tell(event("started").put("pid", ProcessHandle.current().pid()));
        Thread input = new Thread(workload::listen, "input");
        input.setDaemon(true);
        input.start();
        workload.run();
        tell(event("ended"));
    }

    private void listen() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException closed) {
            // Closed as well.
        }
        told = true;
    }

    private void run() throws InterruptedException {
        List<String> topics = new ArrayList<>();
        plan.get("topics").forEach(topic -> topics.add(topic.textValue()));
        consumer.subscribe(topics);
        boolean fatal = false;
        while (!fatal && !done()) {
            try {
                onePoll();
            } catch (KafkaException | IllegalStateException failure) {
                failed(failure);
                // What poll() throws would end most applications.
                fatal = true;
            }
        }
        try {
            consumer.close();
        } catch (KafkaException failure) {
            failed(failure);
        }
    }

    private boolean done() {
        int records = plan.get("records").intValue();
        double idle = plan.get("idle_seconds").doubleValue();
        return told
            || records > 0 && received >= records
            || idle > 0 && (System.nanoTime() - lastRecord) / 1e9 >= idle;
    }

    private void onePoll() throws InterruptedException {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis((long) (plan.get("poll_seconds").doubleValue() * 1000)));
        if (polled.isEmpty()) {
            return;
        }
        lastRecord = System.nanoTime();
        ArrayNode fresh = JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            if (!renewed.contains(delivery(record))) {
                fresh.add(row(record).add(record.deliveryCount().map(Short::intValue).orElse(-1)));
            }
        }
        received += fresh.size();
        if (!fresh.isEmpty()) {
            tell(event("received").<ObjectNode>set("records", fresh));
        }
        int vanishAfter = plan.get("vanish_after").intValue();
        if (vanishAfter > 0 && received >= vanishAfter) {
            Runtime.getRuntime().halt(137);
        }
        int stallAfter = plan.get("stall_after").intValue();
        if (stallAfter > 0 && received / stallAfter > stalls) {
            stalls = received / stallAfter;
            Thread.sleep((long) (plan.get("stall_seconds").doubleValue() * 1000));
        }
        if (plan.get("explicit").booleanValue()) {
            acknowledge(polled);
        }
    }

    private void acknowledge(ConsumerRecords<byte[], byte[]> polled) {
        List<AcknowledgeType> chosen = new ArrayList<>();
        ArrayNode asked = JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            AcknowledgeType type = renewed.remove(delivery(record)) ? AcknowledgeType.ACCEPT : choose(record);
            chosen.add(type);
            asked.add(row(record).add(type.name()));
        }
        tell(event("acknowledging").<ObjectNode>set("records", asked));
        int number = 0;
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            AcknowledgeType type = chosen.get(number++);
            if (type == AcknowledgeType.RENEW) {
                renewed.add(delivery(record));
            }
            consumer.acknowledge(record, type);
        }
        String way = plan.get("commit").textValue();
        int drawn = way.equals("mixed") ? random.nextInt(3) : List.of("sync", "async", "poll").indexOf(way);
        if (drawn == 0) {
            consumer.commitSync(COMMIT);
        } else if (drawn == 1) {
            consumer.commitAsync();
        }
    }

    /** By what the record is, not by when it comes: so its fate is the same on every server. */
    private AcknowledgeType choose(ConsumerRecord<?, ?> record) {
        SplittableRandom own = new SplittableRandom(Objects.hash(plan.get("seed").longValue(), place(record), record.deliveryCount()));
        JsonNode weights = plan.get("weights");
        int sum = 0;
        for (JsonNode weight : weights) {
            sum += weight.intValue();
        }
        int drawn = own.nextInt(sum);
        int kind = 0;
        while (drawn >= weights.get(kind).intValue()) {
            drawn -= weights.get(kind++).intValue();
        }
        return TYPES[kind];
    }

    private static void answered(Map<TopicIdPartition, Set<Long>> offsets, Exception failure) {
        offsets.forEach((place, found) -> {
            ArrayNode rows = JSON.createArrayNode();
            found.stream().sorted().forEach(offset -> rows.add(JSON.createArrayNode().add(place.topic()).add(place.partition()).add(offset)));
            ObjectNode event = event("acknowledged");
            event.set("records", rows);
            if (failure == null) {
                event.putNull("error");
            } else {
                event.put("error", Errors.forException(failure).code());
            }
            tell(event);
        });
    }

    private static void failed(RuntimeException failure) {
        boolean ofKafka = failure instanceof KafkaException;
        ObjectNode event = event("error").put("text", failure.toString()).put("fatal", true);
        if (ofKafka) {
            event.put("code", Errors.forException(failure).code());
        } else {
            event.putNull("code");
        }
        tell(event);
    }

    private static List<Object> place(ConsumerRecord<?, ?> record) {
        return List.of(record.topic(), record.partition(), record.offset());
    }

    private static List<Object> delivery(ConsumerRecord<?, ?> record) {
        return List.of(place(record), record.deliveryCount());
    }

    private static ArrayNode row(ConsumerRecord<?, ?> record) {
        return JSON.createArrayNode().add(record.topic()).add(record.partition()).add(record.offset());
    }

    private static ObjectNode event(String name) {
        return JSON.createObjectNode().put("event", name).put("at", System.nanoTime());
    }

    private static synchronized void tell(ObjectNode event) {
        System.out.println(event);
    }
}
