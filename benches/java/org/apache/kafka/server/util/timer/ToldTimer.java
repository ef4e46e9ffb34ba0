package org.apache.kafka.server.util.timer;

import org.apache.kafka.common.utils.Time;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A clock that stands still until it is told the time, and a timer on it: Kafka's own buckets, one for each millisecond in which
 * something ends. A task costs what it costs in Kafka's wheel with one level, or less, and runs on the thread that tells the time.
 */
public final class ToldTimer implements Timer, Time {
    private final TreeMap<Long, TimerTaskList> buckets = new TreeMap<>();
    private final AtomicInteger tasks = new AtomicInteger();
    private long latest = -1;
    private TimerTaskList latestBucket;
    private long now;

    @Override
    public void add(TimerTask task) {
        if (task.delayMs <= 0) {
            task.run();
            return;
        }
        long expires = now + task.delayMs;
        if (expires != latest) {
            latest = expires;
            latestBucket = buckets.computeIfAbsent(expires, unused -> new TimerTaskList(tasks));
        }
        latestBucket.add(new TimerTaskEntry(task, expires));
    }

    /** The time is this; what is due runs. */
    public void tell(long time) {
        now = Math.max(now, time);
        for (Map.Entry<Long, TimerTaskList> first = buckets.firstEntry(); first != null && first.getKey() <= now;
             first = buckets.firstEntry()) {
            buckets.remove(first.getKey());
            latest = -1;
            first.getValue().flush(entry -> {
                if (!entry.cancelled()) {
                    entry.timerTask.run();
                }
            });
        }
    }

    @Override
    public boolean advanceClock(long ms) {
        tell(now + ms);
        return true;
    }

    @Override
    public int size() {
        return tasks.get();
    }

    @Override
    public void close() { }

    @Override
    public long milliseconds() {
        return now;
    }

    @Override
    public long hiResClockMs() {
        return now;
    }

    @Override
    public long nanoseconds() {
        return now * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException();
    }
}
