"""The small files of a gateway when they are not what it wrote: a changed bit, an earlier release, a value of nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import StoreError
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.identity import Identity
from share_state.gateway.upstream.topics import TopicRegistry
from share_state.kafka.client.metadata import ZERO_ID


def changed(path: Path) -> Iterator[bytes]:
    """The bytes of a file with each bit of it flipped in turn, cut at each byte, and with a byte more."""
    whole = path.read_bytes()
    for at, byte in enumerate(whole):
        for bit in range(8):
            yield whole[:at] + bytes([byte ^ (1 << bit)]) + whole[at + 1 :]
        yield whole[:at]
    yield whole + b"\n"


def kept(directory: Path, name: str) -> Callable[[], object]:
    """Make a file of each kind, and return what reads it."""
    if name == "identity.json":
        Identity.next(directory)
        return lambda: Identity.next(directory)
    if name == "topics.json":
        registry = TopicRegistry(directory)
        registry.see("plums", ZERO_ID, 3)
        registry.see("pears", "AAAAAAAAQACAAAAAAAAAAQ", 1)
        asyncio.run(registry.save())
        return lambda: TopicRegistry(directory)
    GroupConfigs(directory, {}, {}).replace({"g": {"share.delivery.count.limit": "4"}})
    return lambda: GroupConfigs(directory, {}, {})


@pytest.mark.parametrize("name", ["identity.json", "topics.json", "group-configs.json"])
def test_a_file_of_which_any_bit_is_another_is_refused_by_name(tmp_path: Path, name: str) -> None:
    read = kept(tmp_path, name)
    path = tmp_path / name
    walked = 0
    for content in changed(path):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=rf"^\S*/{name} "):
            read()
        assert path.read_bytes() == content
        walked += 1
    assert walked > 500


@pytest.mark.parametrize("name", ["identity.json", "topics.json", "group-configs.json"])
def test_a_file_of_an_earlier_release_is_accepted_and_has_a_checksum_then(tmp_path: Path, name: str) -> None:
    read = kept(tmp_path, name)
    path = tmp_path / name
    content = json.loads(path.read_text(encoding="utf-8"))
    for added in ("checksum", "inode"):
        content.pop(added, None)
    path.write_text(json.dumps(content), encoding="utf-8")
    read()
    found = json.loads(path.read_text(encoding="utf-8"))
    assert len(found.pop("checksum")) == 8
    found.pop("inode", None)
    assert found == {**content, **({"generation": content["generation"] + 1} if name == "identity.json" else {})}
    read()


_TOPIC = {"id": "AAAAAAAAQACAAAAAAAAAAQ", "real": True, "partitions": 2, "epochs": [1, -1]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(
            ("identity.json", {"clusterId": "c", "generation": 3, **wrong})
            for wrong in (
                {"generation": 0},
                {"generation": -5},
                {"generation": 2**31 - 1},
                {"generation": True},
                {"generation": 3.0},
                {"generation": "3"},
                {"generation": None},
                {"clusterId": ""},
                {"clusterId": "a\nb"},
                {"clusterId": 5},
                {"clusterId": None},
                {"clusterId": "\u0663"},
                {"clusterid": "c"},
            )
        ),
        *(
            ("topics.json", {"topics": {"t": {**_TOPIC, **wrong}}})
            for wrong in (
                {"id": "x"},
                {"id": "AAAAAAAAAAAAAAAAAAAAAA"},
                {"id": "AAAAAAAAQACAAAAAAAAAAR"},
                {"id": "00000000-0000-4000-8000-000000000001"},
                {"id": None},
                {"real": 1},
                {"partitions": -1},
                {"partitions": 2**31},
                {"partitions": True},
                {"epochs": [1, 2, 3]},
                {"epochs": [-2]},
                {"epochs": ["1"]},
                {"epochs": None},
                {"more": 1},
            )
        ),
        ("topics.json", {"topics": {"": _TOPIC}}),
        ("topics.json", {"topics": {"\ud800": _TOPIC}}),
        ("topics.json", {"topics": {"t": {"id": "AAAAAAAAQACAAAAAAAAAAQ"}}}),
        ("topics.json", {"topics": {"t": []}}),
        ("topics.json", {"topics": []}),
        ("topics.json", {"topics": {}, "more": {}}),
        ("group-configs.json", {"groups": []}),
        ("group-configs.json", {"groups": {}, "more": {}}),
        ("group-configs.json", {"groups": {"": {}}}),
        ("group-configs.json", {"groups": {"\ud800": {}}}),
        ("group-configs.json", {"groups": {"g" * 2**15: {}}}),
        ("group-configs.json", {"groups": {"g": []}}),
        *(
            ("group-configs.json", {"groups": {"g": wrong}})
            for wrong in (
                {"share.delivery.count.limit": 4},
                {"share.delivery.count.limit": None},
                {"share.delivery.count.limit": "1"},
                {"share.delivery.count.limit": "-5"},
                {"share.delivery.count.limiu": "4"},
                {"group.share.delivery.count.limit": "4"},
                {"consumer.session.timeout.ms": "45000"},
                {"errors.deadletterqueue.topic.name": "\udfff"},
            )
        ),
    ],
)
def test_what_nothing_ever_wrote_is_refused_by_the_name_of_the_file(tmp_path: Path, name: str, content: dict[str, Any]) -> None:
    read = kept(tmp_path, name)
    path = tmp_path / name
    path.write_text(json.dumps({"format": 1, **content}), encoding="utf-8")
    with pytest.raises(StoreError, match=rf"^\S*/{name} holds what was never written there: "):
        read()
    assert json.loads(path.read_text(encoding="utf-8")) == {"format": 1, **content}


def test_json_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "identity.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(StoreError, match=r"identity\.json cannot be read"):
        Identity.next(tmp_path)
