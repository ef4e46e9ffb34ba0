"""What is said of Kafka's error codes and API versions in Python is what the extension says, and kio beside it."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

import share_state as ss
from share_state._core import ERROR_CODES
from share_state.gateway.upstream import apis as upstream
from share_state.kafka import codes, peers
from share_state.kafka import coordinator_server as server

CODES = [name for name in codes.__all__ if name.isupper() and name != "RETRIABLE"]


def test_kio_knows_every_error_code_by_its_number_and_name() -> None:
    assert len(ERROR_CODES) == 45
    assert {code: name.lower() for name, code in ERROR_CODES.items()} == {
        code: ErrorCode(code).name for code in ERROR_CODES.values()
    }


def test_a_code_has_the_number_of_its_name() -> None:
    assert len(CODES) == 43
    assert {name: getattr(codes, name) for name in CODES} == {name: ERROR_CODES[name] for name in CODES}
    assert [codes.name_of(getattr(codes, name)) for name in CODES] == CODES
    assert codes.name_of(12345) == "code"


@pytest.mark.parametrize(
    "ours",
    [
        peers.API_VERSIONS,
        peers.PERSISTER_APIS,
        server._VERSIONS,
        server._LOGIN_VERSIONS,
        upstream.API_VERSIONS,
    ],
)
def test_every_version_that_is_spoken_is_one_that_the_codec_has(ours: dict[int, tuple[int, int]]) -> None:
    table = ss.api_table()
    for api_key, (oldest, newest) in ours.items():
        _, first, last, _ = table[api_key]
        assert first <= oldest <= newest <= last, peers.API_NAMES[api_key]


def test_the_client_speaks_these_versions() -> None:
    told = {peers.API_NAMES[api_key]: versions for api_key, versions in peers.API_VERSIONS.items()}
    assert told == {
        "Metadata": (12, 13),
        "FindCoordinator": (6, 6),
        "SaslHandshake": (1, 1),
        "ApiVersions": (3, 3),
        "DescribeConfigs": (1, 4),
        "SaslAuthenticate": (2, 2),
        "InitializeShareGroupState": (0, 0),
        "ReadShareGroupState": (0, 0),
        "WriteShareGroupState": (0, 1),
        "DeleteShareGroupState": (0, 0),
        "ReadShareGroupStateSummary": (0, 1),
    }
