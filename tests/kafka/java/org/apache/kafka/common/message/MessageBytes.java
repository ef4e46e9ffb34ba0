package org.apache.kafka.common.message;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Kafka's own message classes as a codec: a line of JSON in for each message, a line of JSON out with its bytes.
 *
 * In: {@code {"name": "ShareFetchRequest", "version": 2, "message": {...}, "bytes": hex}}, the message in Kafka's JSON and somebody's
 * bytes of it. Out: {@code {"bytes": hex, "again": hex}}, Kafka's bytes of the message, and of what it reads from the bytes given; or
 * {@code {"failure": ...}}.
 */
public final class MessageBytes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private MessageBytes() { }

    /** Reads standard input to its end. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(JSON.writeValueAsString(answer(JSON.readTree(line))));
            out.newLine();
        }
        out.flush();
    }

    private static ObjectNode answer(JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        String name = asked.get("name").asText();
        short version = (short) asked.get("version").asInt();
        try {
            Class<?> data = Class.forName("org.apache.kafka.common.message." + name + "Data");
            Class<?> converter = Class.forName(data.getName() + "JsonConverter");
            ApiMessage message = (ApiMessage) converter.getMethod("read", JsonNode.class, short.class)
                .invoke(null, asked.get("message"), version);
            answer.put("bytes", written(message, version));
            ByteBuffer given = ByteBuffer.wrap(HexFormat.of().parseHex(asked.get("bytes").asText()));
            Object read = data.getConstructor(Readable.class, short.class).newInstance(new ByteBufferAccessor(given), version);
            answer.put("again", written((ApiMessage) read, version));
            if (given.hasRemaining()) {
                answer.put("failure", given.remaining() + " bytes left over");
            }
        } catch (ReflectiveOperationException | RuntimeException thrown) {
            answer.put("failure", String.valueOf(thrown.getCause() == null ? thrown : thrown.getCause()));
        }
        return answer;
    }

    private static String written(ApiMessage message, short version) {
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
        return HexFormat.of().formatHex(bytes.array(), 0, bytes.limit());
    }
}
