"""Two workers as processes of their own, with the wheel shipped to them as docs/spark.md says."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from share_state.operate import analysis
from tests.kafka.home import REPOSITORY
from tests.recordings import JOBS

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree and unpacked."""
    directory = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(directory), str(REPOSITORY)]
    subprocess.run(build, check=True, env={**os.environ, "PATH": path, "PYO3_PYTHON": sys.executable})
    [wheel] = directory.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(directory / "env"), str(wheel)], check=True)
    assert (directory / "env" / "pyspark_share_state" / "__init__.py").is_file()
    with tarfile.open(directory / "env.tar.gz", "w:gz") as archive:
        for entry in (directory / "env").iterdir():
            archive.add(entry, entry.name)
    return directory


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with everything that this one has, but for share_state."""
    directory = tmp_path_factory.mktemp("bare")
    venv.create(directory, symlinks=True)
    [packages] = (directory / "lib").glob("python3.*/site-packages")
    # What lies there can be imported; the `.pth` of an editable install there is not looked at.
    [ours] = [place for place in site.getsitepackages() if place.endswith("site-packages")]
    (packages / "theirs.pth").write_text(ours + "\n", encoding="utf-8")
    python = directory / "bin" / "python"
    lacks = subprocess.run(
        [python, "-c", "import pyarrow, share_state"], capture_output=True, encoding="utf-8", check=False, cwd=directory
    )
    assert "No module named 'share_state'" in lacks.stderr
    return python


@pytest.mark.parametrize("how", ["archives", "artifact"])
def test_workers_use_the_wheel_that_was_shipped(package: Path, bare_python: Path, how: str, tmp_path: Path) -> None:
    archive = tmp_path / "env.tar.gz"
    archive.hardlink_to(package / "env.tar.gz")
    path = os.pathsep.join([str(package / "env"), str(REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(tmp_path / "work")}
    ran = subprocess.run(
        [bare_python, "-m", "tests.spark.shipped", archive, how, JOBS],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    # Spark keeps the workers' directories beside its own files, with a copy of the package in each.
    for application in {Path(place).parent for place in told["places"]}:
        shutil.rmtree(application)
    assert told["agree"]
    assert told["keys"] == sorted([row.group, row.topic_id, row.partition, row.start_offset] for row in analysis.states(JOBS))
    # Two executors, each with a copy of its own.
    assert len(told["places"]) == 2, told
    assert len(told["files"]) == 2, told
    assert not any(file.startswith((str(REPOSITORY / "python"), str(package))) for file in told["files"]), told
