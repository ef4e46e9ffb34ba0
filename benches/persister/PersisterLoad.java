import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import kafka.server.KafkaConfig;
import kafka.server.NetworkUtils;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.server.share.SharePartitionKey;
import org.apache.kafka.server.share.persister.DefaultStatePersister;
import org.apache.kafka.server.share.persister.GroupTopicPartitionData;
import org.apache.kafka.server.share.persister.PartitionErrorData;
import org.apache.kafka.server.share.persister.PartitionFactory;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.share.persister.ShareCoordinatorMetadataCacheHelper;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;

/**
 * Writes through Kafka's own {@code DefaultStatePersister}, put together as {@code BrokerServer} does, but for the metadata
 * cache: the one broker there is coordinates everything, so no time goes into looking that up.
 *
 * Arguments: server.properties of the broker, its port, group, topic id, number of share partitions. In, a line a round:
 * {@code CONCURRENCY WRITES}. Out, a line of JSON: nanoseconds, latencies in nanoseconds, requests sent, CPU nanoseconds.
 */
public final class PersisterLoad {
    private static final int BATCH = 10;

    private final DefaultStatePersister persister;
    private final Metrics metrics;
    private final String group;
    private final Uuid topicId;
    /** Writes made so far, by share partition; one worker at a time has one. */
    private final long[] written;

    private PersisterLoad(DefaultStatePersister persister, Metrics metrics, String group, Uuid topicId, int partitions) {
        this.persister = persister;
        this.metrics = metrics;
        this.group = group;
        this.topicId = topicId;
        this.written = new long[partitions];
    }

    /** Reads standard input to its end. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(Path.of(arguments[0]))) {
            properties.load(in);
        }
        Node broker = new Node(1, "127.0.0.1", Integer.parseInt(arguments[1]));
        Metrics metrics = new Metrics();
        NetworkClient client = NetworkUtils.buildNetworkClient(
            "Persister", KafkaConfig.fromProps(properties), metrics, Time.SYSTEM, new LogContext());
        DefaultStatePersister persister = DefaultStatePersister.instance(
            client, new OneBroker(broker), Time.SYSTEM, new SystemTimerReaper("reaper", new SystemTimer("persister")));
        PersisterLoad load = new PersisterLoad(
            persister, metrics, arguments[2], Uuid.fromString(arguments[3]), Integer.parseInt(arguments[4]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println(load.round(Integer.parseInt(words[0]), Integer.parseInt(words[1])));
        }
        persister.stop();
        System.exit(0);
    }

    private String round(int concurrency, int writes) throws InterruptedException {
        long[] latencies = new long[writes];
        AtomicInteger taken = new AtomicInteger();
        AtomicReference<String> failure = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(concurrency);
        double requests = requests();
        long cpu = cpuNanos();
        long start = System.nanoTime();
        for (int worker = 0; worker < concurrency; worker++) {
            new Worker(worker, concurrency, latencies, taken, failure, done).next();
        }
        done.await();
        long nanos = System.nanoTime() - start;
        cpu = cpuNanos() - cpu;
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
        StringBuilder out = new StringBuilder("{\"nanos\": " + nanos + ", \"cpu_nanos\": " + cpu);
        out.append(", \"requests\": ").append(Math.round(requests() - requests)).append(", \"latencies\": [");
        for (int i = 0; i < writes; i++) {
            out.append(i == 0 ? "" : ",").append(latencies[i]);
        }
        return out.append("]}").toString();
    }

    private double requests() {
        double sum = 0;
        for (KafkaMetric metric : metrics.metrics().values()) {
            if (metric.metricName().name().equals("request-total") && !metric.metricName().tags().containsKey("node-id")) {
                sum += (Double) metric.metricValue();
            }
        }
        return sum;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** The same write as that of {@code load.py}. */
    private WriteShareGroupStateParameters write(int partition, long start) {
        List<PersisterStateBatch> batches = List.of(
            new PersisterStateBatch(start, start + BATCH / 2 - 1, (byte) 2, (short) 1),
            new PersisterStateBatch(start + BATCH / 2, start + BATCH - 1, (byte) 0, (short) 1));
        var data = PartitionFactory.newPartitionStateBatchData(partition, 0, start, BATCH / 2, 1, batches);
        return new WriteShareGroupStateParameters.Builder()
            .setGroupTopicPartitionData(
                new GroupTopicPartitionData<>(group, List.of(new TopicData<>(topicId, List.of(data)))))
            .build();
    }

    /** Writes to every so-manieth share partition in turn, the next when the last is answered. */
    private final class Worker {
        private final int step;
        private final long[] latencies;
        private final AtomicInteger taken;
        private final AtomicReference<String> failure;
        private final CountDownLatch done;
        private final int first;
        private int partition;
        private int index;
        private long began;

        Worker(int first, int step, long[] latencies, AtomicInteger taken, AtomicReference<String> failure, CountDownLatch done) {
            this.first = first;
            this.step = step;
            this.latencies = latencies;
            this.taken = taken;
            this.failure = failure;
            this.done = done;
            this.partition = first;
        }

        void next() {
            index = taken.getAndIncrement();
            if (index >= latencies.length || failure.get() != null) {
                done.countDown();
                return;
            }
            long start = BATCH * written[partition]++;
            began = System.nanoTime();
            persister.writeState(write(partition, start)).whenComplete(this::answered);
        }

        private void answered(WriteShareGroupStateResult result, Throwable thrown) {
            latencies[index] = System.nanoTime() - began;
            if (thrown != null) {
                failure.compareAndSet(null, thrown.toString());
            } else {
                PartitionErrorData answer = result.topicsData().get(0).partitions().get(0);
                if (answer.errorCode() != 0) {
                    failure.compareAndSet(null, answer.errorCode() + " " + answer.errorMessage());
                }
            }
            partition += step;
            if (partition >= written.length) {
                partition = first;
            }
            next();
        }
    }

    private record OneBroker(Node broker) implements ShareCoordinatorMetadataCacheHelper {
        @Override
        public boolean containsTopic(String topic) {
            return true;
        }

        @Override
        public Node getShareCoordinator(SharePartitionKey key, String topic) {
            return broker;
        }

        @Override
        public List<Node> getClusterNodes() {
            return List.of(broker);
        }
    }
}
