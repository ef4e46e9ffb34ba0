package kafka.server.share;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A clock that only the sequence moves, and the timers on it.
 *
 * A timer fires when the clock has reached its deadline, in the order of deadlines and then of being set. The recorder of the
 * conformance files worked otherwise: its timers fired strictly after their deadline, those of one deadline in the order in which
 * a heap gives them up, while the clock that Kafka reads stood still. {@link #likeRecorder} gives that clock, so that its files
 * can be played.
 */
final class ManualClock implements Time, Timer {
    private record Armed(TimerTaskEntry entry, long order) { }

    private final PriorityQueue<Armed> armed;
    private final boolean likeRecorder;
    private Consumer<TimerTask> fired = task -> { };
    private long now;
    private long order;

    ManualClock(boolean likeRecorder, long now) {
        this.likeRecorder = likeRecorder;
        this.now = now;
        Comparator<Armed> byDeadline = Comparator.comparingLong((Armed a) -> a.entry.expirationMs);
        armed = new PriorityQueue<>(likeRecorder ? byDeadline : byDeadline.thenComparingLong(Armed::order));
    }

    /** Sets the listener that is told of each timer that has fired, right after it. */
    void onFired(Consumer<TimerTask> listener) {
        fired = listener;
    }

    @Override
    public long milliseconds() {
        return likeRecorder ? 0 : now;
    }

    @Override
    public long hiResClockMs() {
        return milliseconds();
    }

    @Override
    public long nanoseconds() {
        return milliseconds() * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void add(TimerTask task) {
        if (task.delayMs <= 0) {
            task.run();
        } else {
            armed.add(new Armed(new TimerTaskEntry(task, now + task.delayMs), order++));
        }
    }

    @Override
    public boolean advanceClock(long ms) {
        now += ms;
        boolean anything = false;
        while (!armed.isEmpty() && isDue(armed.peek().entry.expirationMs)) {
            TimerTaskEntry entry = armed.poll().entry;
            if (!entry.cancelled()) {
                anything = true;
                entry.timerTask.run();
                fired.accept(entry.timerTask);
            }
        }
        return anything;
    }

    private boolean isDue(long expirationMs) {
        return likeRecorder ? expirationMs < now : expirationMs <= now;
    }

    @Override
    public int size() {
        return armed.size();
    }

    @Override
    public void close() { }
}
