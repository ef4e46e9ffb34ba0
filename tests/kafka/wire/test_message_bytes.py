"""Every request and answer that we know, in every version, against Kafka's own definitions and classes."""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import Any, NamedTuple

import pytest

import share_state as ss
from tests.kafka.home import REPOSITORY, judge_command

from .messages import Definition, Field, default, definition, drawn, in_json

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

MESSAGES = 20
SHAPES = 340
FIXTURE = REPOSITORY / "rust" / "wire" / "tests" / "fixtures" / "messages.txt"
#: Hexadecimal digits of a message there.
SHORT = 300


class Shape(NamedTuple):
    """Message of one version."""

    api_key: int
    definition: Definition
    version: int
    response: bool

    def __str__(self) -> str:
        return f"{self.definition.name} v{self.version}"

    def decode(self, data: bytes) -> dict[str, Any]:
        return ss.decode_message(self.api_key, self.version, data, response=self.response)

    def encode(self, message: dict[str, Any]) -> bytes:
        return ss.encode_message(self.api_key, self.version, message, response=self.response)


def shapes() -> list[Shape]:
    return [
        Shape(api_key, definition(name + ("Response" if response else "Request")), version, response)
        for api_key, (name, oldest, newest, _) in ss.api_table().items()
        for response in (False, True)
        for version in range(oldest, newest + 1)
    ]


def test_we_know_the_versions_that_kafka_knows() -> None:
    for name, oldest, newest, flexible in ss.api_table().values():
        for kind in ("Request", "Response"):
            theirs = definition(name + kind)
            assert (theirs.versions, min(theirs.flexible.oldest, 32_767)) == ((oldest, newest), flexible), name


class Written(NamedTuple):
    """A message, our bytes of it, and what Kafka said to both."""

    shape: Shape
    message: dict[str, Any]
    ours: bytes
    answer: dict[str, str]


@pytest.fixture(scope="module")
def written() -> list[Written]:
    asked = []
    for shape in shapes():
        chance = random.Random(str(shape))  # noqa: S311  the same messages in every run
        for _ in range(MESSAGES):
            message = drawn(shape.definition.fields, shape.version, chance)
            asked.append((shape, message, shape.encode(message)))
    lines = [
        json.dumps({"name": shape.definition.name, "version": shape.version, "message": in_json(message), "bytes": data.hex()})
        for shape, message, data in asked
    ]
    command = judge_command("org.apache.kafka.common.message.MessageBytes")
    ran = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, check=True)
    answers = ran.stdout.splitlines()
    return [Written(*one, json.loads(answer)) for one, answer in zip(asked, answers, strict=True)]


def test_kafka_writes_the_same_bytes_and_reads_ours(written: list[Written]) -> None:
    compared = set()
    for shape, message, ours, answer in written:
        assert "failure" not in answer, (str(shape), message, answer["failure"])
        theirs = bytes.fromhex(answer["bytes"])
        assert ours == theirs, (str(shape), message)
        assert shape.decode(theirs) == message, str(shape)
        assert bytes.fromhex(answer["again"]) == ours, str(shape)
        compared.add(str(shape))
    assert len(compared) == SHAPES
    assert len(written) == SHAPES * MESSAGES


def test_the_bytes_that_the_codec_is_tested_with_are_kafkas(written: list[Written]) -> None:
    drawn_of: dict[tuple[int, int, bool], list[str]] = {}
    for shape, _, _, answer in written:
        drawn_of.setdefault((shape.api_key, shape.version, shape.response), []).append(answer["bytes"])
    # The longest that is still short: much is in it, and the file stays small.
    chosen = {key: max(all_of, key=lambda data: (len(data) <= SHORT, len(data))) for key, all_of in drawn_of.items()}
    kinds = {False: "request", True: "response"}
    lines = [f"{key} {version} {kinds[response]} {data}" for (key, version, response), data in sorted(chosen.items())]
    header = "# Bytes written by Kafka's own classes: API key, version, kind, hex. UPDATE_FIXTURES=1 writes it again."
    text = "\n".join([header, *(line.rstrip() for line in lines), ""])
    if os.environ.get("UPDATE_FIXTURES"):
        FIXTURE.write_text(text, encoding="utf-8")
    assert FIXTURE.read_text(encoding="utf-8") == text


#: Deliberate differences of our defaults: message, field, ours, Kafka's. Kafka's value for a leader that nobody sets reads as
#: "moved to node 0". The asker of offsets is always a consumer here, neither a replica nor a tool that looks for faults. No text
#: is null.
OUR_DEFAULTS = {
    ("ShareFetchResponse", "leaderId", -1, 0),
    ("ShareFetchResponse", "leaderEpoch", -1, 0),
    ("ShareAcknowledgeResponse", "leaderId", -1, 0),
    ("ShareAcknowledgeResponse", "leaderEpoch", -1, 0),
    ("ListOffsetsRequest", "replicaId", -1, 0),
    ("OffsetForLeaderEpochRequest", "replicaId", -1, -2),
    ("AlterConfigsResponse", "errorMessage", None, ""),
    ("CreateTopicsResponse", "errorMessage", None, ""),
    ("DescribeConfigsResponse", "documentation", None, ""),
    ("DescribeConfigsResponse", "errorMessage", None, ""),
    ("FindCoordinatorResponse", "errorMessage", None, ""),
    ("IncrementalAlterConfigsResponse", "errorMessage", None, ""),
    ("SaslAuthenticateResponse", "errorMessage", None, ""),
}


def test_what_may_be_left_out_reads_as_kafkas_default() -> None:
    found: set[tuple[str, str, Any, Any]] = set()
    left_out = 0
    for shape in shapes():
        full = filled(shape.definition.fields, shape.version)
        for path, field in paths(shape.definition.fields, shape.version):
            message = json_copy(full)
            *outer, name = path
            holder = message
            for step in outer:
                holder = holder[step]
            del holder[name]
            try:
                read = shape.decode(shape.encode(message))
            except ValueError as missing:
                if not str(missing).endswith(f"{name} is missing"):
                    raise
                continue
            left_out += 1
            if field.tagged:
                continue
            for step in path:
                read = read[step]
            if read != default(field, shape.version) and not field.inner:
                found.add((shape.definition.name, name, read, default(field, shape.version)))
    assert found == OUR_DEFAULTS
    assert left_out == 947


def filled(fields: tuple[Field, ...], version: int) -> dict[str, Any]:
    """A message in which every array has an element and nothing is null."""
    return {field.name: _filled(field, version) for field in fields if field.versions.has(version)}


def _filled(field: Field, version: int) -> Any:
    if field.inner:
        inner = filled(field.inner, version)
        return [inner] if field.is_array else inner
    if field.is_array:
        return b"" if field.type == "[]int8" else []
    return default(field._replace(default=None), version) if field.type != "records" else b""


def paths(fields: tuple[Field, ...], version: int) -> list[tuple[tuple[Any, ...], Field]]:
    """Paths of all fields in a filled message."""
    found: list[tuple[tuple[Any, ...], Field]] = []
    for field in fields:
        if field.versions.has(version):
            found.append(((field.name,), field))
            within = (field.name, 0) if field.is_array else (field.name,)
            found += [((*within, *path), inner) for path, inner in paths(field.inner, version)]
    return found


def json_copy(value: Any) -> Any:
    """A copy of dicts and lists; other values cannot change."""
    if isinstance(value, dict):
        return {name: json_copy(item) for name, item in value.items()}
    return [json_copy(item) for item in value] if isinstance(value, list) else value
