"""Every request and answer that we know against kio, an independent implementation, in every version that it has."""

from __future__ import annotations

import pytest

import share_state as ss
from tests.kafka.wire.kio_oracle import Shape, drawn, kio_bytes, kio_read, plain, seeded, shape_id

MESSAGES = 25
#: Versions that Kafka 4.4 has and kio does not: ApiVersions with a cluster id, and DeleteGroups with a message for each group.
#: The group `kafka` holds them against Kafka's own classes.
UNKNOWN_TO_KIO = {(18, 5), (42, 3)}

SHAPES = [
    Shape(api_key, name, version, response)
    for api_key, (name, oldest, newest, _) in ss.api_table().items()
    for version in range(oldest, newest + 1)
    for response in (False, True)
    if (api_key, version) not in UNKNOWN_TO_KIO
]


def test_kio_knows_every_version_that_we_know() -> None:
    assert len(ss.api_table()) == 37
    assert len(SHAPES) == 336
    for shape in SHAPES:
        assert (shape.entity.__api_key__, shape.entity.__version__) == (shape.api_key, shape.version)
        assert shape.entity.__flexible__ == (shape.version >= ss.api_table()[shape.api_key][3])


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_both_codecs_write_the_same_bytes_and_read_the_same_values(shape: Shape) -> None:
    chance = seeded(shape_id(shape))
    for _ in range(MESSAGES):
        message = drawn(shape.entity, chance)
        data, values = kio_bytes(message), plain(message)
        assert ss.decode_message(shape.api_key, shape.version, data, response=shape.response) == values
        ours = ss.encode_message(shape.api_key, shape.version, values, response=shape.response)
        assert ours == data
        assert kio_read(shape.entity, ours) == message
