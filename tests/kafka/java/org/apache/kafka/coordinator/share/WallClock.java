package org.apache.kafka.coordinator.share;

import org.apache.kafka.common.utils.Time;

import java.util.function.Supplier;

/** The wall clock, as operations set it. */
public final class WallClock implements Time {
    /** In ms. */
    public long now;

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
