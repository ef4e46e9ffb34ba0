"""ApiVersions: what the gateway offers, alone, with a relay and with logins, and what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import ShareGateway
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.serving import serving
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection, Disconnected

#: The requests that are answered by the gateway itself.
OWN = {
    2: (1, 7), 3: (0, 13), 10: (0, 6), 15: (0, 6), 16: (0, 5), 18: (0, 4), 32: (1, 4), 33: (0, 2), 42: (0, 2), 44: (0, 1),
    60: (0, 1), 74: (0, 1), 76: (1, 1), 77: (1, 1), 78: (1, 2), 79: (1, 2), 90: (0, 1), 91: (0, 0), 92: (0, 0),
}  # fmt: skip
#: Produce and Fetch are listed for librdkafka, which does not start without them.
ALONE = {0: (3, 9), 1: (4, 12), **OWN}
UNKNOWN_TO_OTHERS: Mapping[str, tuple[int, int]] = {"SaslHandshake": (0, 1), "SaslAuthenticate": (0, 2), "InitProducerId": (0, 5)}
SOFTWARE = {"clientSoftwareName": "some-client", "clientSoftwareVersion": "1.2.3"}


def table(versions: Mapping[int, tuple[int, int]]) -> list[Message]:
    """Rows of an answer, in the order of the keys."""
    return [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in sorted(versions.items())]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShareGateway]:
    with HostileUpstream() as upstream, serving(upstream.bootstrap, tmp_path_factory.mktemp("gateway")) as made:
        yield made


@pytest.fixture
def connection(gateway: ShareGateway) -> Iterator[Connection]:
    with Connection(gateway.bootstrap_servers) as made:
        yield made


FINALIZED = [{"name": "share.version", "maxVersionLevel": 1, "minVersionLevel": 1}]


@pytest.mark.parametrize(
    ("version", "more"),
    [
        (0, {}),
        (1, {"throttleTimeMs": 0}),
        (2, {"throttleTimeMs": 0}),
        (3, {"throttleTimeMs": 0, "finalizedFeaturesEpoch": 0, "finalizedFeatures": FINALIZED}),
        (
            4,
            {
                "throttleTimeMs": 0,
                "finalizedFeaturesEpoch": 0,
                "finalizedFeatures": FINALIZED,
                "supportedFeatures": [{"name": "share.version", "minVersion": 0, "maxVersion": 1}],
            },
        ),
    ],
)
def test_every_version_tells_the_table(connection: Connection, version: int, more: dict[str, Any]) -> None:
    told = connection.ask("ApiVersions", version, SOFTWARE if version >= 3 else {})
    assert told == {"errorCode": 0, "apiKeys": table(ALONE), **more}


def test_a_version_that_is_not_known_is_answered_in_the_first(connection: Connection) -> None:
    connection.send(18, 5, b"\x05none\x021", header_tags=True)
    answer = connection.receive(18, 0)
    # The first form: a code, and one row of six bytes after their number.
    assert answer.hex(" ", 2) == "0023 0000 0001 0012 0000 0004"
    # The connection is as good as before.
    assert connection.ask("ApiVersions", 0)["errorCode"] == 0


@pytest.mark.parametrize("name", ["a", "9", "some.client-1", "A--.b"])
def test_names_of_software(connection: Connection, name: str) -> None:
    for software in ((name, "1"), ("x", name)):
        asked = dict(zip(SOFTWARE, software, strict=True))
        assert connection.ask("ApiVersions", 3, asked)["errorCode"] == 0


@pytest.mark.parametrize("name", ["", "-a", "a-", ".a", "a.", "a b", "a/b", "ä", "-", "name_"])
@pytest.mark.parametrize("version", [3, 4])
def test_names_that_software_has_not(connection: Connection, name: str, version: int) -> None:
    for software in ((name, "1"), ("x", name)):
        asked = dict(zip(SOFTWARE, software, strict=True))
        told = connection.ask("ApiVersions", version, asked)
        assert told == {"errorCode": 42, "apiKeys": [], "throttleTimeMs": 0}


def with_relay(offered: Mapping[str, tuple[int, int]], path: Path, *, ids: bool = True, **options: Any) -> list[Message]:
    """Versions that are offered where upstream takes these."""
    with HostileUpstream(offered=offered, ids=ids) as upstream:
        upstream.create("plums")
        with serving(upstream.bootstrap, path, relay=True, **options) as gateway, Connection(gateway.bootstrap_servers) as asks:
            # So that the topic is known, with an id.
            assert asks.ask("Metadata", 12, {"topics": [{"name": "plums"}]})["topics"][0]["errorCode"] == 0
        # Started again, it knows the topic at once.
        with serving(upstream.bootstrap, path, relay=True, **options) as gateway, Connection(gateway.bootstrap_servers) as asks:
            rows: list[Message] = asks.ask("ApiVersions", 2)["apiKeys"]
            return rows


def test_a_relay_offers_what_upstream_takes(tmp_path: Path) -> None:
    offered = {**OFFERED, **UNKNOWN_TO_OTHERS, "Fetch": (4, 17), "Produce": (0, 13)}
    # Logins are the gateway's affair, and of what it answers itself it has its own versions.
    assert with_relay(offered, tmp_path) == table({**OWN, 0: (0, 13), 1: (4, 17), 22: (0, 5), 23: (2, 4)})


@pytest.mark.parametrize(("newest", "told"), [(12, 12), (13, 12), (17, 12), (11, 11)])
def test_a_relay_offers_no_ids_that_upstream_does_not_know(tmp_path: Path, newest: int, told: int) -> None:
    offered = {**WITHOUT_IDS, "Fetch": (4, newest), "Produce": (3, newest)}
    assert with_relay(offered, tmp_path, ids=False) == table({**OWN, 0: (3, told), 1: (4, told), 23: (2, 4)})


def test_logins_are_offered_where_they_are_needed(tmp_path: Path) -> None:
    with (
        HostileUpstream() as upstream,
        serving(upstream.bootstrap, tmp_path, users={"user": "secret"}) as gateway,
        Connection(gateway.bootstrap_servers) as asks,
    ):
        assert asks.ask("ApiVersions", 1) == {
            "errorCode": 0,
            "apiKeys": table({**ALONE, 17: (1, 1), 36: (0, 2)}),
            "throttleTimeMs": 0,
        }


@pytest.mark.parametrize(("key", "version"), [(17, 0), (17, 1), (36, 2), (0, 9), (1, 12), (19, 0), (78, 0), (78, 3), (2, 0)])
def test_what_is_not_served_ends_the_connection(connection: Connection, key: int, version: int) -> None:
    with pytest.raises(Disconnected):
        connection.exchange(key, version, bytes(64))
