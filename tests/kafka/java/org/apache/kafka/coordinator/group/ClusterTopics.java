package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The topics of the cluster at one moment, as an operation lists them: name, id and number of partitions. */
final class ClusterTopics implements CoordinatorMetadataImage {
    private final Map<Uuid, TopicMetadata> topics = new LinkedHashMap<>();
    private final long version;

    private record Topic(String name, Uuid id, int partitionCount) implements TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            // Kafka sorts it in place.
            return new ArrayList<>();
        }
    }

    /** Changes since an earlier moment, of which {@code image} is. */
    record Delta(Collection<Uuid> createdTopicIds, Collection<Uuid> changedTopicIds, Set<Uuid> deletedTopicIds,
                 CoordinatorMetadataImage image) implements CoordinatorMetadataDelta { }

    ClusterTopics(JsonNode listed, long version) {
        this.version = version;
        for (JsonNode topic : listed) {
            Uuid id = Uuid.fromString(topic.get(1).asText());
            topics.put(id, new Topic(topic.get(0).asText(), id, topic.get(2).asInt()));
        }
    }

    Delta since(ClusterTopics earlier) {
        Set<Uuid> created = new HashSet<>(topics.keySet());
        created.removeAll(earlier.topics.keySet());
        Set<Uuid> deleted = new HashSet<>(earlier.topics.keySet());
        deleted.removeAll(topics.keySet());
        Set<Uuid> changed = topics.keySet().stream().filter(id -> !topics.get(id).equals(earlier.topics.get(id)))
            .collect(Collectors.toSet());
        return new Delta(created, changed, deleted, earlier);
    }

    @Override
    public Set<Uuid> topicIds() {
        return topics.keySet();
    }

    @Override
    public Set<String> topicNames() {
        return topics.values().stream().map(TopicMetadata::name).collect(Collectors.toSet());
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(String name) {
        return topics.values().stream().filter(topic -> topic.name().equals(name)).findFirst();
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(Uuid id) {
        return Optional.ofNullable(topics.get(id));
    }

    @Override
    public CoordinatorMetadataDelta emptyDelta() {
        return new Delta(List.of(), List.of(), Set.of(), this);
    }

    @Override
    public long version() {
        return version;
    }

    @Override
    public boolean isEmpty() {
        return topics.isEmpty();
    }
}
