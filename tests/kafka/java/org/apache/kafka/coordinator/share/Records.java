package org.apache.kafka.coordinator.share;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotKey;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotKeyJsonConverter;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValueJsonConverter;
import org.apache.kafka.coordinator.share.generated.ShareUpdateKey;
import org.apache.kafka.coordinator.share.generated.ShareUpdateKeyJsonConverter;
import org.apache.kafka.coordinator.share.generated.ShareUpdateValue;
import org.apache.kafka.coordinator.share.generated.ShareUpdateValueJsonConverter;

import java.util.HexFormat;

/** Records of the state topic in the form of the conformance files: field by field, and as bytes. */
final class Records {
    private static final ShareCoordinatorRecordSerde SERDE = new ShareCoordinatorRecordSerde();

    private Records() { }

    static int partition(CoordinatorRecord record) {
        return record.key() instanceof ShareSnapshotKey key ? key.partition() : ((ShareUpdateKey) record.key()).partition();
    }

    static ObjectNode show(CoordinatorRecord record) {
        ObjectNode shown = JsonNodeFactory.instance.objectNode();
        shown.put("key_type", record.key().getClass().getSimpleName());
        shown.set("key", record.key() instanceof ShareSnapshotKey key
            ? ShareSnapshotKeyJsonConverter.write(key, (short) 0)
            : ShareUpdateKeyJsonConverter.write((ShareUpdateKey) record.key(), (short) 0));
        shown.put("key_hex", HexFormat.of().formatHex(SERDE.serializeKey(record)));
        if (record.value() == null) {
            shown.putNull("value").putNull("value_hex");
            return shown;
        }
        short version = record.value().version();
        shown.putObject("value").put("version", version).set("message", record.value().message() instanceof ShareSnapshotValue value
            ? ShareSnapshotValueJsonConverter.write(value, version)
            : ShareUpdateValueJsonConverter.write((ShareUpdateValue) record.value().message(), version));
        shown.put("value_hex", HexFormat.of().formatHex(SERDE.serializeValue(record)));
        return shown;
    }
}
