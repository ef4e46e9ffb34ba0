package org.apache.kafka.coordinator.group;

import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.share.WallClock;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The coordinator's timer on the sequence's clock. A time-out is due at its deadline; what is due at one moment goes by its key. */
final class ManualTimer implements CoordinatorTimer<CoordinatorRecord> {
    private final WallClock clock;
    private final Map<String, Timeout> timeouts = new HashMap<>();

    private record Timeout(String key, long deadline, TimeoutOperation<CoordinatorRecord> operation) { }

    ManualTimer(WallClock clock) {
        this.clock = clock;
    }

    /** Takes the next time-out that is due; null when none is. */
    TimeoutOperation<CoordinatorRecord> takeDue() {
        Timeout due = timeouts.values().stream().filter(timeout -> timeout.deadline <= clock.now)
            .min(Comparator.comparingLong(Timeout::deadline).thenComparing(Timeout::key)).orElse(null);
        if (due == null) {
            return null;
        }
        timeouts.remove(due.key);
        return due.operation;
    }

    @Override
    public void schedule(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
        // Expiry of offsets and the counting of groups are no affair of share groups, and would go on for ever.
        if (!key.equals(GroupCoordinatorShard.GROUP_EXPIRATION_KEY) && !key.equals(GroupCoordinatorShard.GROUP_SIZE_COUNTER_KEY)) {
            timeouts.put(key, new Timeout(key, clock.now + unit.toMillis(delay), operation));
        }
    }

    @Override
    public void schedule(String key, long delay, TimeUnit unit, boolean retry, long backoff,
                         TimeoutOperation<CoordinatorRecord> operation) {
        schedule(key, delay, unit, retry, operation);
    }

    @Override
    public void scheduleIfAbsent(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
        if (!timeouts.containsKey(key)) {
            schedule(key, delay, unit, retry, operation);
        }
    }

    @Override
    public void cancel(String key) {
        timeouts.remove(key);
    }

    @Override
    public boolean isScheduled(String key) {
        return timeouts.containsKey(key);
    }
}
