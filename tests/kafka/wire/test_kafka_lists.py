"""Kafka's error codes and API versions in Python are those of the extension, and kio's beside it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from kio.schema.errors import ErrorCode

import share_state as ss
from share_state._core import ERROR_CODES
from share_state.kafka import cluster, codes
from share_state.kafka import coordinator_server as server
from share_state.kafka.client.apis import API_NAMES, API_VERSIONS, spoken
from share_state.operate.live import asked

CODES = [name for name in codes.__all__ if name.isupper() and name != "RETRIABLE"]


def test_kio_knows_every_error_code_by_its_number_and_name() -> None:
    assert len(ERROR_CODES) == 61
    assert {code: name.lower() for name, code in ERROR_CODES.items()} == {
        code: ErrorCode(code).name for code in ERROR_CODES.values()
    }


def test_a_code_has_the_number_of_its_name() -> None:
    assert len(CODES) == 48
    assert {name: getattr(codes, name) for name in CODES} == {name: ERROR_CODES[name] for name in CODES}
    assert [codes.name_of(getattr(codes, name)) for name in CODES] == CODES
    assert codes.name_of(12345) == "code"


@pytest.mark.parametrize("ours", [API_VERSIONS, cluster.NEEDED, asked._NEEDED, server._VERSIONS, server._LOGIN_VERSIONS])
def test_every_version_that_is_spoken_is_one_that_the_codec_has(ours: dict[int, tuple[int, int]]) -> None:
    table = ss.api_table()
    for api_key, (oldest, newest) in ours.items():
        _, first, last, _ = table[api_key]
        assert first <= oldest <= newest <= last, API_NAMES[api_key]


def narrowed(ours: Mapping[int, tuple[int, int]], by: Mapping[int, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Versions by names that are not those of another list."""
    assert ours.keys() == by.keys()
    return {API_NAMES[api_key]: versions for api_key, versions in ours.items() if versions != by[api_key]}


def test_the_client_speaks_what_the_codec_has_but_for_these() -> None:
    codec = {api_key: (oldest, newest) for api_key, (_, oldest, newest, _) in ss.api_table().items()}
    assert narrowed(API_VERSIONS, codec) == {
        "Produce": (3, 12),
        "Fetch": (4, 17),
        "Metadata": (1, 13),
        "FindCoordinator": (1, 6),
        "JoinGroup": (2, 9),
        "Heartbeat": (1, 4),
        "LeaveGroup": (1, 5),
        "SyncGroup": (1, 4),
        "SaslHandshake": (1, 1),
        "ApiVersions": (0, 3),
        "SaslAuthenticate": (2, 2),
    }
    persister = {"Metadata": (12, 13), "FindCoordinator": (6, 6), "ApiVersions": (3, 3)}
    assert narrowed(cluster.NEEDED, API_VERSIONS) == persister
    live = {"Fetch": (13, 17), "Metadata": (12, 13), "FindCoordinator": (4, 6), "ListGroups": (5, 5), "ApiVersions": (3, 3)}
    assert narrowed(asked._NEEDED, API_VERSIONS) == live
    assert (spoken(3), spoken(3, since=12), spoken(3, since=-1, until=99)) == ((0, 13), (12, 13), (0, 13))
