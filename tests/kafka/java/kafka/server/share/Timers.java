package kafka.server.share;

import org.apache.kafka.server.share.fetch.AcquisitionLockTimerTask;
import org.apache.kafka.server.util.timer.TimerTask;

import java.lang.reflect.Field;

/** Reads the member and the range whose lock a timer ends; Kafka's timer keeps them to itself. */
final class Timers {
    private static final Field MEMBER = field("memberId");
    private static final Field FIRST = field("firstOffset");
    private static final Field LAST = field("lastOffset");

    private Timers() { }

    static String member(TimerTask task) {
        return (String) value(MEMBER, task);
    }

    static long first(TimerTask task) {
        return (Long) value(FIRST, task);
    }

    static long last(TimerTask task) {
        return (Long) value(LAST, task);
    }

    private static Object value(Field field, TimerTask task) {
        try {
            return field.get(task);
        } catch (IllegalAccessException denied) {
            throw new IllegalStateException(denied);
        }
    }

    private static Field field(String name) {
        try {
            Field field = AcquisitionLockTimerTask.class.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }
}
