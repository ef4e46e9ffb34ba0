"""Records to a target by the client's own producer, over a fake broker: what arrives, and every way in which it may not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state._core import ERROR_CODES, decode_batch
from share_state.kafka.client.log_reader import Record
from share_state.kafka.client.producer import partition_of
from share_state.operate.dead_letters import ClusterRefusedError, Place, SendError, TargetProducer, sending
from share_state.operate.dead_letters.sending import Answers, Outgoing
from share_state.operate.payloads import Payload, PayloadReader
from share_state.operate.reading.failures import ClusterReadError, NoAnswerError
from tests.gateway.records import create_topic
from tests.kafka.broker import running
from tests.kafka.home import JUDGE, UPSTREAMS
from tests.kafka.roundtrip.workload import admin_of
from tests.operate.dead_letters.producing_cluster import INIT, PRODUCE, ProducingCluster
from tests.operate.live.fake_cluster import served

BORN = 1_700_000_000_000
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProducingCluster]:
    with ss.open(tmp_path / "log", partitions=1):
        pass
    made = ProducingCluster(tmp_path / "log", ends={("retry", UUID(int=5)): [0, 0, 0]})
    with served(made):
        yield made


def outgoing(count: int, partition: int | None = 0, topic: str = "retry", value: bytes | None = b"v") -> list[Outgoing]:
    return [
        Outgoing(
            Place("orders", 0, number),
            Payload("orders", 0, number, BORN + number, b"key %d" % number, value, ()),
            topic,
            partition,
            (("n", b"%d" % number), ("é", None)),
        )
        for number in range(count)
    ]


def sent(cluster: ProducingCluster, batch: Sequence[Outgoing], answers: Answers | None = None, **settings: object) -> Answers:
    found = Answers() if answers is None else answers
    with TargetProducer(
        f"kafka://{cluster.bootstrap}", {name.replace("_", "."): value for name, value in settings.items()}
    ) as made:
        made.send(batch, found)
    return found


def written(cluster: ProducingCluster, partition: int) -> list[Record]:
    found = [decode_batch(data, 0, len(data)) for data in cluster.logs.get(("retry", partition), [])]
    return [record for batch in found if batch is not None for record in batch[-1]]


@pytest.mark.parametrize("codec", CODECS)
def test_records_arrive_as_they_are(cluster: ProducingCluster, codec: str) -> None:
    batch = outgoing(3, value=b"v" * 500)
    batch[1] = batch[1]._replace(payload=batch[1].payload._replace(key=None, value=None))
    answers = sent(cluster, batch, compression_type=codec)
    assert written(cluster, 0) == [
        (number, BORN + number, one.payload.key, one.payload.value, [(b"n", b"%d" % number), ("é".encode(), None)])
        for number, one in enumerate(batch)
    ]
    assert [tuple(one) for one in answers.sent.values()] == [(one.place, "retry", 0, number) for number, one in enumerate(batch)]
    assert not answers.in_doubt
    assert not answers.refused
    ((_, _, header),) = cluster.batches_seen
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.attributes) == (
        7, 1, 0, CODECS.index(codec),
    )  # fmt: skip
    assert cluster.acks == {-1}


def test_a_record_without_a_time_gets_the_present(cluster: ProducingCluster) -> None:
    (one,) = outgoing(1)
    sent(cluster, [one._replace(payload=one.payload._replace(timestamp_ms=None))])
    assert written(cluster, 0)[0][1] > BORN


def test_keys_go_where_kafkas_producer_puts_them(cluster: ProducingCluster) -> None:
    # Hashes of Kafka's own test (`UtilsTest.testMurmur2`), without their sign.
    for key, hashed in (
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"abc", 479470107),
    ):
        assert partition_of(key, 1_000_003) == (hashed & 0x7FFF_FFFF) % 1_000_003
    answers = sent(cluster, outgoing(30, None))
    for one in outgoing(30):
        assert answers.sent[one.place].partition == partition_of(one.payload.key, 3)
    assert {partition_of(None, 3) for _ in range(200)} == {0, 1, 2}


def test_batches_are_small_and_their_sequences_go_on(cluster: ProducingCluster) -> None:
    sent(cluster, outgoing(40, value=bytes(1000)) + [one._replace(place=Place("o", 1, 0)) for one in outgoing(1, 1)])
    seen = [(partition, header.base_sequence, header.records) for _, partition, header in cluster.batches_seen]
    assert seen == [(0, 0, 16), (0, 16, 16), (0, 32, 8), (1, 0, 1)]
    assert max(len(data) for data in cluster.logs["retry", 0]) < 20_000


@pytest.mark.parametrize(
    "code",
    [
        "NOT_LEADER_OR_FOLLOWER",
        "LEADER_NOT_AVAILABLE",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "REQUEST_TIMED_OUT",
    ],
)
def test_what_passes_is_tried_again(cluster: ProducingCluster, code: str) -> None:
    cluster.codes[PRODUCE] = [ERROR_CODES[code]] * 2
    answers = sent(cluster, outgoing(5))
    assert (len(answers.sent), len(cluster.batches_seen), len(written(cluster, 0))) == (5, 3, 5)


def test_a_batch_whose_answer_was_lost_is_written_once(cluster: ProducingCluster) -> None:
    cluster.cut = [PRODUCE, PRODUCE]
    answers = sent(cluster, outgoing(5))
    assert [one.offset for one in answers.sent.values()] == list(range(5))
    assert (len(written(cluster, 0)), {header.base_sequence for _, _, header in cluster.batches_seen}) == (5, {0})


def test_what_is_refused_with_others_is_tried_by_itself(cluster: ProducingCluster) -> None:
    cluster.max_bytes = 600
    batch = outgoing(6, value=bytes(200))
    batch[2] = batch[2]._replace(payload=batch[2].payload._replace(value=bytes(1000)))
    answers = sent(cluster, batch)
    assert answers.refused == {batch[2].place: "retry-0: code 10 (MESSAGE_TOO_LARGE)"}
    assert [one.place.offset for one in answers.sent.values()] == [0, 1, 3, 4, 5]
    assert [record[2] for record in written(cluster, 0)] == [b"key %d" % number for number in (0, 1, 3, 4, 5)]
    # What was refused has used up no number.
    assert [header.base_sequence for _, _, header in cluster.batches_seen] == [0, 0, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("code", ["TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION", "UNSUPPORTED_COMPRESSION_TYPE"])
def test_a_target_that_refuses_everything_ends_the_sending(cluster: ProducingCluster, code: str) -> None:
    cluster.codes[PRODUCE] = [0, ERROR_CODES[code]]
    answers = Answers()
    batch = outgoing(20, value=bytes(1000))
    with pytest.raises(SendError, match=f"nothing more is sent: retry-0: code .* \\({code}\\)") as ended:
        sent(cluster, batch, answers)
    assert (ended.value.kafka_code, ended.value.field, ended.value.value) == (ERROR_CODES[code], "to", "retry")
    # None of the others was written, and nobody needs to look for them.
    assert (len(answers.sent), answers.in_doubt, len(cluster.batches_seen)) == (16, {}, 2)


def test_a_sequence_that_the_broker_does_not_take_leaves_a_doubt(cluster: ProducingCluster) -> None:
    cluster.codes[PRODUCE] = [-1]
    answers = sent(cluster, outgoing(20, value=bytes(1000)))
    assert (len(answers.in_doubt), len(answers.sent)) == (16, 0)
    assert set(answers.in_doubt.values()) == {"retry-0: code -1 (UNKNOWN_SERVER_ERROR)"}
    assert len(cluster.batches_seen) == 1


def test_a_leader_that_may_have_appended_leaves_a_doubt(cluster: ProducingCluster) -> None:
    # A leader that is one no more may have appended the batch and waited for replicas.
    cluster.codes[PRODUCE] = [ERROR_CODES["NOT_LEADER_OR_FOLLOWER"], *[ERROR_CODES["NOT_ENOUGH_REPLICAS"]] * 100]
    answers = sent(cluster, outgoing(2), message_timeout_ms=300)
    assert (len(answers.in_doubt), answers.sent, answers.refused) == (2, {}, {})
    # One that always had too few replicas has not.
    cluster.codes[PRODUCE] = [ERROR_CODES["NOT_ENOUGH_REPLICAS"]] * 100
    nothing = Answers()
    with pytest.raises(SendError, match="NOT_ENOUGH_REPLICAS"):
        sent(cluster, outgoing(2), nothing, message_timeout_ms=300)
    assert (nothing.in_doubt, nothing.sent) == ({}, {})


def test_a_refusal_does_not_end_an_earlier_doubt(cluster: ProducingCluster) -> None:
    cluster.cut = [PRODUCE]
    cluster.codes[PRODUCE] = [0, ERROR_CODES["INVALID_TIMESTAMP"]]
    with TargetProducer(f"kafka://{cluster.bootstrap}", None) as made:
        answers = Answers()
        made.send(outgoing(2), answers)
        assert (len(answers.in_doubt), answers.refused, len(written(cluster, 0))) == (2, {}, 2)
        # Its next sequence number is not known, so another batch could be taken for this one.
        with pytest.raises(SendError, match="the sending has ended before"):
            made.send(outgoing(2), Answers())


def test_a_confirmation_without_an_offset_is_none(cluster: ProducingCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    appended = ProducingCluster._appended
    monkeypatch.setattr(ProducingCluster, "_appended", lambda *row: {**appended(*row), "baseOffset": -1})
    answers = sent(cluster, outgoing(1))
    assert (list(answers.in_doubt.values()), answers.sent) == (["retry-0: code -1 (UNKNOWN_SERVER_ERROR)"], {})


def test_times_that_are_too_far_apart_go_each_in_its_batch(cluster: ProducingCluster) -> None:
    batch = [
        one._replace(payload=one.payload._replace(timestamp_ms=at))
        for one, at in zip(outgoing(3), (BORN, -(2**63), 2**63 - 1), strict=True)
    ]
    answers = sent(cluster, batch)
    assert (len(answers.sent), answers.refused, answers.in_doubt) == (3, {}, {})
    assert [record[1] for record in written(cluster, 0)] == [BORN, -(2**63), 2**63 - 1]


def test_a_topic_without_partitions_ends_the_sending(cluster: ProducingCluster) -> None:
    cluster.ends = {("retry", UUID(int=5)): []}
    with pytest.raises(SendError, match="retry: code 5"):
        sent(cluster, outgoing(2, None), message_timeout_ms=300)


def test_a_broker_that_hangs_leaves_a_doubt_in_time(cluster: ProducingCluster) -> None:
    cluster.silent = {PRODUCE}
    answers = sent(cluster, outgoing(2), message_timeout_ms=300)
    assert len(answers.in_doubt) == 2
    assert "Produce was not answered in 0.3 s" in answers.in_doubt[Place("orders", 0, 0)]
    assert written(cluster, 0) == []


def test_a_topic_that_is_gone_is_not_created(cluster: ProducingCluster) -> None:
    for partition in (None, 0):
        answers = Answers()
        with pytest.raises(SendError, match="UNKNOWN_TOPIC_OR_PARTITION") as ended:
            sent(cluster, outgoing(2, partition, "retyr"), answers, message_timeout_ms=300)
        assert (ended.value.value, answers.in_doubt, answers.sent) == ("retyr", {}, {})
    assert (cluster.created, cluster.batches_seen) == (set(), [])


@pytest.mark.parametrize("answered", [True, False])
def test_an_interrupted_sending_waits_for_what_is_under_way(
    cluster: ProducingCluster, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    monkeypatch.setattr(sending, "_LAST_WAIT_S", 10.0 if answered else 0.1)
    main = threading.main_thread().ident
    assert main is not None

    answers = Answers()
    with TargetProducer(f"kafka://{cluster.bootstrap}", None) as made:

        def interrupted() -> None:
            signal.pthread_kill(main, signal.SIGINT)
            # Until the sender knows, so that it decides before the answer comes.
            while not made._is_over:
                time.sleep(0.001)
            if not answered:
                cluster.cut = [PRODUCE] * 1_000

        cluster.before_produce = interrupted
        with pytest.raises(KeyboardInterrupt):
            made.send(outgoing(20, value=bytes(1000)), answers)
    # The first batch is known or in doubt, and the second one was not sent.
    assert (len(answers.sent), len(answers.in_doubt)) == ((16, 0) if answered else (0, 16))
    assert len(written(cluster, 0)) == 16


@pytest.mark.parametrize(
    ("settings", "field", "text"),
    [
        (
            {"compression_type": "brotli"},
            "compression.type",
            "compression.type is 'brotli'; expected one of none, gzip, snappy, lz4, zstd",
        ),
        ({"message_timeout_ms": "soon"}, "message.timeout.ms", "message.timeout.ms is 'soon'; expected 1 or more milliseconds"),
        ({"delivery_timeout_ms": 0}, "message.timeout.ms", "message.timeout.ms is '0'; expected 1 or more milliseconds"),
    ],
)
def test_a_setting_that_cannot_be_is_told(cluster: ProducingCluster, settings: dict[str, object], field: str, text: str) -> None:
    with pytest.raises(SendError, match=text) as wrong:
        sent(cluster, [], None, **settings)
    assert wrong.value.field == field


def test_no_producer_without_an_id(cluster: ProducingCluster) -> None:
    cluster.codes[INIT] = [ERROR_CODES["COORDINATOR_LOAD_IN_PROGRESS"]]
    assert len(sent(cluster, outgoing(1)).sent) == 1
    cluster.codes[INIT] = [ERROR_CODES["CLUSTER_AUTHORIZATION_FAILED"]]
    with pytest.raises(ClusterRefusedError, match="needs WRITE on a topic, or IDEMPOTENT_WRITE on the cluster") as refused:
        sent(cluster, [])
    assert refused.value.field == "principal"
    cluster.codes[INIT] = [-1]
    with pytest.raises(ClusterReadError, match="InitProducerId: code -1"):
        sent(cluster, [])
    cluster.silent = {INIT}
    with pytest.raises(NoAnswerError):
        sent(cluster, [], message_timeout_ms=200)


@pytest.mark.kafka
@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [JUDGE, UPSTREAMS[0]])
def test_real_brokers_take_them(tmp_path: Path, version: str) -> None:
    with running(version, tmp_path) as broker:
        source = f"kafka://{broker.bootstrap}"
        create_topic(broker.bootstrap, "retry", 3, configs={"max.message.bytes": "2000"})
        for codec in CODECS:
            batch = outgoing(60, None, value=b"v" * 200)
            batch[7] = batch[7]._replace(payload=batch[7].payload._replace(value=os.urandom(3_000)))
            answers = Answers()
            with TargetProducer(source, {"compression.type": codec}) as made:
                made.send(batch, answers)
            assert answers.in_doubt == {}
            assert list(answers.refused) == [batch[7].place]
            assert "MESSAGE_TOO_LARGE" in answers.refused[batch[7].place]
            with PayloadReader(source) as reader:
                for one in batch[:7] + batch[8:]:
                    place = answers.sent[one.place]
                    (found,) = reader.read("retry", place.partition, [place.offset])
                    assert isinstance(found, Payload)
                    assert found[3:] == (*one.payload[3:6], one.headers)
        with TargetProducer(source, {"message.timeout.ms": 500}) as made, pytest.raises(SendError, match="retyr-0: code 3"):
            made.send(outgoing(1, 0, "retyr"), Answers())
        assert "retyr" not in admin_of(broker).list_topics(timeout=30).topics
