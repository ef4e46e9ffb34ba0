package kafka.server.share;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.server.share.fetch.AcquisitionLockTimerTask;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.RecordState;

import java.util.Map;

/**
 * The state of a share partition in the form of the conformance files. With deadlines each entry has an eighth field: when the
 * lock ends, -1 without one.
 */
final class EffectiveState {
    private final boolean deadlines;

    EffectiveState(boolean deadlines) {
        this.deadlines = deadlines;
    }

    ObjectNode of(SharePartition partition) {
        ObjectNode state = JsonNodeFactory.instance.objectNode();
        state.put("status", partition.partitionState().name());
        state.put("start_offset", partition.startOffset());
        state.put("end_offset", partition.endOffset());
        state.put("state_epoch", partition.stateEpoch());
        state.put("delivery_complete_count", partition.deliveryCompleteCount());
        state.put("find_next_fetch_offset", partition.findNextFetchOffset());
        SharePartition.GapWindow gap = partition.persisterReadResultGapWindow();
        if (gap != null) {
            state.putArray("read_gap_window").add(gap.gapStartOffset()).add(gap.endOffset());
        }
        ArrayNode batches = state.putArray("batches");
        for (InFlightBatch batch : partition.cachedState().values()) {
            add(batches, batch);
        }
        return state;
    }

    private void add(ArrayNode batches, InFlightBatch batch) {
        if (batch.offsetState() == null) {
            entry(batches, batch.firstOffset(), batch.lastOffset(), batch.batchState(), batch.batchDeliveryCount(),
                batch.batchMemberId(), batch.batchAcquisitionLockTimeoutTask(), batch.batchHasOngoingStateTransition());
            return;
        }
        ObjectNode tracked = batches.addObject();
        tracked.put("first", batch.firstOffset()).put("last", batch.lastOffset());
        ArrayNode offsets = tracked.putArray("offsets");
        long first = -1;
        long last = -1;
        InFlightState run = null;
        for (Map.Entry<Long, InFlightState> each : batch.offsetState().entrySet()) {
            if (run != null && each.getKey() == last + 1 && same(run, each.getValue())) {
                last++;
                continue;
            }
            if (run != null) {
                entry(offsets, first, last, run);
            }
            first = last = each.getKey();
            run = each.getValue();
        }
        if (run != null) {
            entry(offsets, first, last, run);
        }
    }

    private boolean same(InFlightState a, InFlightState b) {
        return a.state() == b.state() && a.deliveryCount() == b.deliveryCount() && a.memberId().equals(b.memberId())
            && (a.acquisitionLockTimeoutTask() == null) == (b.acquisitionLockTimeoutTask() == null)
            && a.hasOngoingStateTransition() == b.hasOngoingStateTransition()
            && (!deadlines || deadline(a.acquisitionLockTimeoutTask()) == deadline(b.acquisitionLockTimeoutTask()));
    }

    private void entry(ArrayNode into, long first, long last, InFlightState state) {
        entry(into, first, last, state.state(), state.deliveryCount(), state.memberId(), state.acquisitionLockTimeoutTask(),
            state.hasOngoingStateTransition());
    }

    private void entry(ArrayNode into, long first, long last, RecordState state, int deliveryCount, String member,
                       AcquisitionLockTimerTask timer, boolean pending) {
        ArrayNode entry = into.addArray().add(first).add(last).add(state.name()).add(deliveryCount).add(member)
            .add(timer != null).add(pending);
        if (deadlines) {
            entry.add(deadline(timer));
        }
    }

    private static long deadline(AcquisitionLockTimerTask timer) {
        return timer == null ? -1 : timer.expirationMs();
    }
}
