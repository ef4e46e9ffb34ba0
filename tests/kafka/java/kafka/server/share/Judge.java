package kafka.server.share;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;

/**
 * Kafka's own classes as a judge: a line of JSON in for each sequence, a line of JSON out with what each operation gave.
 *
 * In: {@code {"suite": ..., "ops": [...]}}, the operations in the form of the conformance files, of whose outcomes only the planned
 * answers are read; the suites are those of {@link Player}. {@code "clock": "recorder"} asks for the clock of these files,
 * {@code "deadlines": true} shows when locks end, {@code "flags": true} what recordings of sessions leave out. Out:
 * {@code {"ops": [...]}}, or {@code {"failure": ...}} when a sequence cannot be played. The end of the input is the end of the
 * process.
 */
public final class Judge {
    /** Processor time for a sequence, so that a busy machine is not taken for an endless loop. A sequence takes some ms. */
    private static final long PATIENCE_NANOS = 1_500_000_000L;

    private Judge() { }

    /** Reads standard input to its end. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        Player player = new Player(in, out);
        player.start();
        while (true) {
            player.join(250);
            if (!player.isAlive()) {
                out.flush();
                // Timers and metrics of Kafka's leave threads behind.
                System.exit(player.failed() ? 1 : 0);
            }
            String abandoned = player.playingFor() > PATIENCE_NANOS ? player.abandon() : null;
            if (abandoned != null) {
                out.write(abandoned);
                out.flush();
                player = new Player(in, out);
                player.start();
            }
        }
    }
}
