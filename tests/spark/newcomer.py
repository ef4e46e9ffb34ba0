"""A newcomer to docs/spark.md: a fresh checkout, no environment, and what the page says to type."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.kafka.home import REPOSITORY
from tests.pages.blocks import Fence

_RUNNER = Path(__file__).with_name("run_page.py")
#: Under one name for every run, so that cargo finds what it built.
_HOME = REPOSITORY / "build" / "spark-page"
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*==[^\\]+?) *\\?$", re.MULTILINE)
_LOCKS = ("dev.txt", "spark.txt", "spark-build.txt")
#: Variables that this process's own environment would add.
_OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONWARNINGS", "PYO3_PYTHON")


class Newcomer:
    """Somebody in a checkout who has Java, Rust and a Python, and nothing else of ours."""

    def __init__(self) -> None:
        shutil.rmtree(_HOME, ignore_errors=True)
        self.checkout = _HOME / "checkout"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=REPOSITORY,
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        for name in listed.stdout.split("\0"):
            if name and (REPOSITORY / name).is_file():
                (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, self.checkout / name)
        self._pins = _HOME / "pins.txt"
        pins = {pin for lock in _LOCKS for pin in _PIN.findall((REPOSITORY / "requirements" / lock).read_text(encoding="utf-8"))}
        self._pins.write_text("\n".join(sorted(pins)) + "\n", encoding="utf-8")

    def leaves(self) -> None:
        """Take everything away again: an environment with Spark is the better part of a gigabyte."""
        shutil.rmtree(_HOME)

    def types(self, shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run lines of a shell in the checkout."""
        path = os.environ["PATH"].split(os.pathsep)
        kept = [str(Path(sys.base_prefix) / "bin"), *(part for part in path if Path(part) != Path(sys.executable).parent)]
        clean = {name: value for name, value in os.environ.items() if name not in _OURS and not name.startswith("PYSPARK_")}
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", shell],
            cwd=self.checkout,
            env={
                **clean,
                "PATH": os.pathsep.join(kept),
                "PIP_CONSTRAINT": str(self._pins),
                "CARGO_TARGET_DIR": str(REPOSITORY / "target"),
                "SPARK_LOCAL_IP": "127.0.0.1",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=1500,
        )

    def runs(self, blocks: list[Fence], page: str, python: str = "python") -> str:
        """Command line that runs blocks of a page; :meth:`printed` tells what came of it."""
        code = [(f"{page}:{block.line}", block.text) for block in blocks]
        (_HOME / "blocks.json").write_text(json.dumps(code), encoding="utf-8")
        return f"\n{python} -P {_RUNNER} {_HOME}/blocks.json {_HOME}/printed.json\n"

    @staticmethod
    def printed() -> list[str]:
        """Output of each of the blocks that ran last."""
        told: list[str] = json.loads((_HOME / "printed.json").read_text(encoding="utf-8"))
        return told
