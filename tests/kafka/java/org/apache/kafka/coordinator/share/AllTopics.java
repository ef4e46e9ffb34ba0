package org.apache.kafka.coordinator.share;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A cluster in which every topic exists, or none, as the operation under way says. */
final class AllTopics implements CoordinatorMetadataImage {
    boolean exist = true;

    private record Topic(String name, Uuid id) implements TopicMetadata {
        @Override
        public int partitionCount() {
            return Integer.MAX_VALUE;
        }

        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(Uuid id) {
        return exist ? Optional.of(new Topic("topic", id)) : Optional.empty();
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(String name) {
        return Optional.empty();
    }

    @Override
    public Set<Uuid> topicIds() {
        return Set.of();
    }

    @Override
    public Set<String> topicNames() {
        return Set.of();
    }

    @Override
    public CoordinatorMetadataDelta emptyDelta() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long version() {
        return 0;
    }

    @Override
    public boolean isEmpty() {
        return false;
    }
}
