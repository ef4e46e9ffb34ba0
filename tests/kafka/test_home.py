"""Kafka is fetched once, and what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import home


def test_a_missing_tool_is_a_clear_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(home.KafkaMissingError, match="mvn was not found"):
        home.libraries(home.JUDGE)
    # Nothing half done is left that a later run would take for Kafka.
    assert [path for path in home.cache().rglob("*") if not path.name.startswith(".")] == []


def test_a_failing_maven_is_a_clear_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho the registry is closed\nexit 3\n", encoding="utf-8")
    maven.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(home.KafkaMissingError, match=r"exit status 3[^$]*the registry is closed"):
        home.libraries(home.JUDGE)
    assert not (home.cache() / home.JUDGE).exists()


@pytest.mark.kafka
def test_a_second_run_starts_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = [*map(home.libraries, home.VERSIONS), home.judge_classes()]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [*map(home.libraries, home.VERSIONS), home.judge_classes()] == found
    assert list(found[0].glob("kafka_2.13-4.4.0.jar"))
    assert list(found[1].glob("kafka-tools-4.3.1.jar"))
