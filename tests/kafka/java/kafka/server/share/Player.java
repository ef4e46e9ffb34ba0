package kafka.server.share;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.group.ShareGroupSequence;
import org.apache.kafka.coordinator.group.SimpleAssignorSequence;
import org.apache.kafka.coordinator.share.ShareCoordinatorSequence;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicReference;

/** Plays sequences one after the other, until the input ends or it is abandoned because Kafka does not return. */
final class Player extends Thread {
    private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

    private final ObjectMapper json = new ObjectMapper();
    private final BufferedReader in;
    private final BufferedWriter out;
    /** The share-partition sequence under way, until either its player or whoever gives up on it takes it to answer. */
    private final AtomicReference<SharePartitionSequence> playing = new AtomicReference<>();
    private volatile long since;
    private volatile boolean failed;
    private SharePartitionSequence sequence;

    Player(BufferedReader in, BufferedWriter out) {
        super("player");
        setDaemon(true);
        this.in = in;
        this.out = out;
    }

    /** True if the pipes broke. */
    boolean failed() {
        return failed;
    }

    /** Processor time that the share-partition sequence under way has taken, in ns; 0 when none is. */
    long playingFor() {
        return playing.get() == null ? 0 : TIMES.getThreadCpuTime(getId()) - since;
    }

    /** Gives up on a call of Kafka's that does not return; the answer for its sequence, or null when it has returned after all. */
    @SuppressWarnings({"deprecation", "removal"})
    String abandon() {
        SharePartitionSequence hung = playing.getAndSet(null);
        if (hung == null) {
            return null;
        }
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        answer.set("ops", hung.hung());
        // An endless loop sees no interrupt. Newer runtimes cannot end it; then it goes on by itself, beside the next player.
        try {
            stop();
        } catch (UnsupportedOperationException unsupported) {
            setPriority(MIN_PRIORITY);
        }
        return answer + "\n";
    }

    @Override
    public void run() {
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                ObjectNode answer = JsonNodeFactory.instance.objectNode();
                sequence = null;
                try {
                    answer.set("ops", play(json.readTree(line)));
                } catch (RuntimeException failure) {
                    answer.put("failure", failure + " at " + failure.getStackTrace()[0]);
                }
                if (sequence != null && !playing.compareAndSet(sequence, null)) {
                    // Another player has taken over.
                    return;
                }
                out.write(json.writeValueAsString(answer));
                out.write('\n');
                if (!in.ready()) {
                    out.flush();
                }
            }
        } catch (IOException broken) {
            failed = true;
        }
    }

    private ArrayNode play(JsonNode request) {
        JsonNode ops = request.get("ops");
        switch (request.get("suite").asText()) {
            case "share_partition" -> {
                sequence = new SharePartitionSequence(
                    request.path("clock").asText().equals("recorder"), request.path("deadlines").asBoolean(false));
                since = TIMES.getCurrentThreadCpuTime();
                playing.set(sequence);
                return sequence.play(ops);
            }
            case "combiner" -> {
                return Combiner.play(ops);
            }
            case "share_coordinator_shard" -> {
                return new ShareCoordinatorSequence().play(ops);
            }
            case "share_session" -> {
                return new ShareSessionSequence(request.path("flags").asBoolean(false)).play(ops);
            }
            case "simple_assignor" -> {
                return SimpleAssignorSequence.play(ops);
            }
            case "share_group" -> {
                return new ShareGroupSequence().play(ops);
            }
            default -> throw new IllegalArgumentException("unknown suite");
        }
    }
}
