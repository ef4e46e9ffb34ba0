"""Prometheus' own programs, and a Prometheus that scrapes an exporter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: Name of the job in `deploy/`.
JOB = "share-state"
SCRAPE_SECONDS = 0.5


def program(name: str) -> str:
    """Path of a program; CI has it."""
    path = shutil.which(name)
    if path is None:
        assert not os.environ.get("CI"), f"CI has {name}: a run without it has not tried what is for Prometheus"
        pytest.skip(f"{name} is not installed (Debian: prometheus)")
    return path


class Prometheus:
    """Answers queries about what it has scraped."""

    def __init__(self, address: str) -> None:
        self._address = address

    def query(self, query: str) -> list[dict[str, Any]]:
        """The series of a query, now.

        Raises:
            AssertionError: it refuses the query.
        """
        found = self._asked("query", query=query)
        assert found["resultType"] == "vector", query
        series: list[dict[str, Any]] = found["result"]
        return series

    def label_values(self, label: str, selector: str) -> list[str]:
        """The values of a label, as a dashboard's variable asks for them."""
        found: list[str] = self._asked(f"label/{label}/values", **{"match[]": selector})
        return found

    def wait(self, query: str) -> list[dict[str, Any]]:
        """The series of a query, as soon as there are some: a scrape may have taken too long on a busy machine."""
        until = time.monotonic() + 30
        while not (series := self.query(query)):
            assert time.monotonic() < until, f"nothing for {query}"
            time.sleep(0.05)
        return series

    def _asked(self, page: str, **parameters: str) -> Any:
        url = f"http://{self._address}/api/v1/{page}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            with refused:
                raise AssertionError(f"{parameters}: {refused.read().decode()}") from None


@contextmanager
def scraping(exporter: str, directory: Path) -> Iterator[Prometheus]:
    """A Prometheus on a free port, with its data in a directory of its own, that scrapes an address like http://127.0.0.1:9404."""
    executable = program("prometheus")
    directory.mkdir()
    job = {"job_name": JOB, "static_configs": [{"targets": [exporter.removeprefix("http://")]}]}
    often = f"{SCRAPE_SECONDS * 1000:.0f}ms"
    config = {"global": {"scrape_interval": often, "scrape_timeout": often}, "scrape_configs": [job]}
    # YAML takes JSON.
    (directory / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
    command = [
        executable,
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        "--web.listen-address=127.0.0.1:0",
    ]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", cwd=directory) as process:
        try:
            assert process.stderr is not None
            log: list[str] = []
            address = ""
            is_ready = False
            for line in process.stderr:
                log.append(line)
                if match := re.search(r'msg="Listening on" address=(\S+)', line):
                    address = match[1]
                is_ready = is_ready or "Server is ready" in line
                # The two lines come in either order.
                if address and is_ready:
                    break
            assert address, "".join(log)
            yield Prometheus(address)
        finally:
            process.kill()
