"""The image of deploy/, as far as it shows without a container engine: its steps, its user, its command lines."""

import json
import re
import shlex
import tomllib
from contextlib import AbstractContextManager
from pathlib import Path

from share_state.testing import MockCluster
from tests.cli_runner import Process, started
from tests.operate.live.exporting import a_cluster, get
from tests.recordings import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
PAGE = (DEPLOY / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VOLUME = "/var/lib/share-state"


def step(name: str) -> list[str]:
    """Text of the lines of the last stage that begin with a word."""
    stage = CONTAINER.rpartition("\nFROM ")[2]
    return re.findall(rf"^{name} (.+)$", stage, re.MULTILINE)


def command_lines(text: str) -> dict[str, list[str]]:
    """Words of each `podman run`, by its command. The image is the word before the command."""
    found: dict[str, list[str]] = {}
    for line in re.findall(r"podman run (.+)", re.sub(r"\\\n#?\s+", "", text)):
        words = shlex.split(line)
        at = words.index("share-state")
        assert words[at + 1] not in found
        found[words[at + 1]] = words
    return found


def test_it_installs_what_there_is() -> None:
    (wheel, extras) = re.findall(r"/wheels/(\w+)-\*\.whl\)\[([\w,-]+)\]", CONTAINER)[0]
    assert wheel == PROJECT["name"].replace("-", "_")
    chosen = extras.split(",")
    assert set(chosen) <= PROJECT["optional-dependencies"].keys()
    packages = {re.split(r"[^\w-]", entry)[0] for extra in chosen for entry in PROJECT["optional-dependencies"][extra]}
    # Metrics of both, tokens and SCRAM of the gateway, --otlp of the exporter.
    assert {"prometheus-client", "pyjwt", "scramp", "opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"} <= packages
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    (rust,) = re.findall(r"/rust:([\d.]+)-", CONTAINER)
    assert workspace["workspace"]["package"]["rust-version"].startswith(rust)
    (python,) = re.findall(r"/python:([\d.]+)-", CONTAINER)
    assert PROJECT["requires-python"] == f">={python}"


def test_it_is_not_root_and_gets_its_signals() -> None:
    (user,) = step("USER")
    (made,) = re.findall(r"useradd .*--uid (\d+)", CONTAINER)
    assert user == f"{made}:{made}"
    assert int(made) > 0
    # The last word on it, and before what runs.
    assert CONTAINER.index("\nRUN pip") < CONTAINER.index("\nUSER") < CONTAINER.index("\nENTRYPOINT")
    # Without a shell in between, SIGTERM reaches the command itself.
    (entry,) = step("ENTRYPOINT")
    (program,) = json.loads(entry)
    assert program in PROJECT["scripts"]
    assert [json.loads(words) for words in step("CMD")] == [["--help"]]
    assert step("STOPSIGNAL") == ["SIGTERM"]
    assert step("VOLUME") == [VOLUME]
    assert f"--home-dir {VOLUME} " in CONTAINER


def test_the_page_has_the_lines_of_the_file() -> None:
    lines = command_lines(CONTAINER)
    assert lines == command_lines(PAGE)
    assert list(lines) == ["gateway", "exporter"]
    exposed = step("EXPOSE")[0].split()
    for words, port in zip(lines.values(), exposed, strict=True):
        assert words[words.index("-p") + 1] == f"{port}:{port}"
        assert words[words.index("--listen") + 1] == f"0.0.0.0:{port}"
        assert words[words.index("-v") + 1].partition(":")[2] == VOLUME


def running(command: str, tmp_path: Path, instead: dict[str, str]) -> AbstractContextManager[Process]:
    """Run a line of the page with some of its values replaced."""
    words = command_lines(PAGE)[command]
    return started(*(instead.get(word, word).replace(VOLUME, str(tmp_path)) for word in words[words.index("share-state") + 1 :]))


def test_the_gateway_of_the_page_serves(tmp_path: Path) -> None:
    with MockCluster() as upstream:
        instead = {"0.0.0.0:9192": "127.0.0.1:0", "kafka:9092": upstream.bootstrap_servers}
        with running("gateway", tmp_path, instead) as process:
            assert process.begins.startswith("serving share groups on 127.0.0.1:")
    assert (tmp_path / "gateway").is_dir()


def test_the_exporter_of_the_page_serves(tmp_path: Path) -> None:
    with a_cluster(tmp_path / "log") as cluster:
        instead = {"0.0.0.0:9404": "127.0.0.1:0", "kafka://kafka:9092": f"kafka://{cluster.bootstrap}"}
        with running("exporter", tmp_path, instead) as process:
            status, _, text = get(process.begins.removeprefix("serving ").strip())
    assert status == 200
    assert 'share_group_lag_records{group="workers"' in text
    # The volume keeps what was read.
    assert list((tmp_path / "copy").glob("__share_group_state-0/*.log"))
