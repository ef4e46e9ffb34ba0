"""Payloads as serializers of a schema registry write them, and a registry over HTTP that knows their schemas."""

from __future__ import annotations

import base64
import importlib
import io
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import fastavro
from google.protobuf import descriptor_pb2

AVRO, PROTOBUF, JSON = 1, 2, 3
AVRO_SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "pan", "type": "string"},
        {"name": "paid", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "raw", "type": "bytes"},
    ],
}


def file_of_messages() -> descriptor_pb2.FileDescriptorProto:
    """Two messages, of which records hold the second."""
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    file.message_type.add(name="Unused")
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=descriptor_pb2.FieldDescriptorProto.TYPE_INT32, label=1)
    order.field.add(name="pan_code", number=2, type=descriptor_pb2.FieldDescriptorProto.TYPE_STRING, label=1)
    return file


def schemas() -> dict[int, dict[str, str]]:
    """As the registry answers, by their ids."""
    serialized = base64.standard_b64encode(file_of_messages().SerializeToString()).decode()
    return {
        AVRO: {"schema": json.dumps(AVRO_SCHEMA)},
        PROTOBUF: {"schemaType": "PROTOBUF", "schema": serialized},
        JSON: {"schemaType": "JSON", "schema": '{"type":"object","required":["there"]}'},
    }


def avro_value(pan: str) -> bytes:
    """A record with a decimal and bytes."""
    out = io.BytesIO()
    order = {"id": 7, "pan": pan, "paid": Decimal("12.50"), "raw": b"\x00\x01"}
    fastavro.schemaless_writer(out, fastavro.parse_schema(AVRO_SCHEMA), order)
    return framed(AVRO, out.getvalue())


def protobuf_value(pan: str) -> bytes:
    """The second message of its file: one index, which is 1, in zigzag."""
    return framed(PROTOBUF, b"\x02\x02" + b"\x08\x07\x12" + bytes([len(pan)]) + pan.encode())


def framed(schema_id: int, payload: bytes) -> bytes:
    return b"\x00" + schema_id.to_bytes(4, "big") + payload


class Asked(list[str]):
    """Paths that were asked for."""


@contextmanager
def registry_over_http() -> Iterator[tuple[str, Asked]]:
    """Answers with the schemas by their ids, and with Kafka's usual error for others."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            number = self.path.partition("?")[0].rpartition("/")[2]
            found = schemas().get(int(number)) if number.isdecimal() else None
            answer: dict[str, Any] = found or {"error_code": 40403, "message": "Schema not found"}
            body = json.dumps(answer).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def quiet() -> Any:
    """The client module of registries, whose import warns of another package."""
    with warnings.catch_warnings(record=True):
        return importlib.import_module("confluent_kafka.schema_registry")
