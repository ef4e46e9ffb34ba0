"""Kafka from the Maven registry, at pinned versions, in a cache outside the tree; and our own driver compiled against it.

Each directory of the cache is named after the hash of what it was made from, and appears whole or not at all. A second run
finds everything in place and starts no Maven.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

_HERE = Path(__file__).resolve().parent
REPOSITORY = _HERE.parents[1]
_SOURCES = _HERE / "java"

#: The release that is the judge.
JUDGE = "4.4.0"
#: The releases whose share groups are tested against; the tools (kafka-share-groups, DumpLogSegments) come with 4.3.1.
VERSIONS = (JUDGE, "4.3.1")
TOOLS = "4.3.1"
#: Releases that have no share groups, or none that are used: what a gateway reads from, with brokers of the judge's.
UPSTREAMS = ("3.9.2", "2.8.2")
#: The oldest share consumer that is tried; those of the other releases come with their brokers.
CLIENTS = "clients-4.2.2"

#: Pinned as well: what the plugin's default version is depends on the Maven installed.
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


class KafkaMissingError(Exception):
    """Kafka cannot be fetched or built here; the text says what is needed."""


def cache() -> Path:
    """Directory in which Kafka is kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "share-state" / "kafka"


def libraries(version: str) -> Path:
    """The directory with the jars of a release, fetched when it is not there."""
    return fetched(_HERE / "maven" / version / "pom.xml", version)


def fetched(pom: Path, name: str) -> Path:
    """The directory with the jars that a project file names, fetched when it is not there."""
    place = cache() / f"{name}-{_hash([pom])}"

    def fetch(directory: Path) -> None:
        _run(
            [_tool("mvn"), "--batch-mode", "--quiet", "--file", str(pom), _COPY, f"-DoutputDirectory={directory}"],
            f"Maven could not fetch {name}",
        )

    return _once(place, fetch)


def judge_classes() -> Path:
    """The directory with our compiled driver."""
    return compiled("judge", _SOURCES)


def compiled(name: str, folder: Path, version: str = JUDGE) -> Path:
    """The directory with the classes of a folder of Java sources, compiled against a release."""
    jars = libraries(version)
    sources = sorted(folder.rglob("*.java"))
    place = cache() / f"{name}-{_hash([_HERE / 'maven' / version / 'pom.xml', *sources])}"

    def compile_sources(directory: Path) -> None:
        _run(
            [_tool("javac"), "-nowarn", "-encoding", "UTF-8", "-cp", f"{jars}/*", "-d", str(directory), *map(str, sources)],
            f"{folder.name} does not compile",
        )

    return _once(place, compile_sources)


def judge_command(main: str = "kafka.server.share.Judge") -> list[str]:
    """The command that runs Kafka's side, one of the classes of our driver: JSON lines in, JSON lines out.

    Only the quick compiler: a run is over before the code of the other one has earned its time.
    """
    classpath = f"{judge_classes()}{os.pathsep}{libraries(JUDGE)}/*"
    return [_tool("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g", "-cp", classpath, main]


def our_side(tree: Path = REPOSITORY, target: Path | None = None) -> Path:
    """Program of our side (``rust/proof/judge``), built when a source has changed; ``tree`` may be a copy of the repository."""
    if target is None:
        target = Path(os.environ.get("CARGO_TARGET_DIR") or tree / "build" / "judge")
    manifest = tree / "rust" / "proof" / "judge" / "Cargo.toml"
    _run(
        [
            _tool("cargo"), "build", "--release", "--locked", "--quiet",
            "--manifest-path", str(manifest), "--target-dir", str(target),
        ],
        "rust/proof/judge does not build",
    )  # fmt: skip
    return target / "release" / "share-state-judge"


def java() -> str:
    """The Java runtime."""
    return _tool("java")


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaMissingError(
            f"{name} was not found. The Kafka tests need a JDK (17 or newer), Maven and cargo; `make kafka` fetches the rest."
        )
    return found


def _once(place: Path, make: Callable[[Path], None]) -> Path:
    """``place``, made by ``make`` in a directory beside it first, so that an interrupted run leaves nothing half done."""
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".unfinished-") as name:
        unfinished = Path(name) / "made"
        unfinished.mkdir()
        make(unfinished)
        try:
            unfinished.rename(place)
        except OSError:
            # Another run was faster.
            if not place.is_dir():
                raise
    return place


def _run(command: list[str], failure: str) -> None:
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if ran.returncode != 0:
        text = ran.stdout.decode("utf-8", "replace").strip()
        raise KafkaMissingError(f"{failure} (exit status {ran.returncode}):\n{text}")


def _hash(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def main() -> int:
    """Fetch and compile everything; what is in place already is left alone."""
    try:
        for version in (*VERSIONS, *UPSTREAMS, CLIENTS):
            print(f"Kafka {version}: {libraries(version)}")
        print(f"driver: {judge_classes()}")
        print(f"our side: {our_side()}")
    except KafkaMissingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
