"""Kafka's command-line tools in one JVM that is started once: a command then costs a tenth of a second, not seconds."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.kafka.broker import die_with_parent
from tests.kafka.home import TOOLS, compiled, java, libraries

#: The tools by the names of their scripts.
MAINS = {
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-verifiable-share-consumer": "org.apache.kafka.tools.VerifiableShareConsumer",
    "kafka-share-consumer-perf-test": "org.apache.kafka.tools.ShareConsumerPerformance",
}
_SOURCES = Path(__file__).parents[1] / "java" / "tools"
#: The jars whose classes are loaded afresh for every command.
_TOOL_JARS = ("kafka-tools-", "kafka_2.13-")


class Ran(NamedTuple):
    """Result of a command."""

    code: int
    out: str
    err: str


class Running:
    """A command that has been started."""

    def __init__(self, driver: ToolDriver, number: int, answer: Future[Ran]) -> None:
        self._driver = driver
        self._number = number
        self._answer = answer

    def stop(self) -> None:
        """Ask it to end, as SIGTERM does."""
        self._driver.send({"id": self._number})

    def wait(self, seconds: float = 120.0) -> Ran:
        """Result, once it has ended."""
        return self._answer.result(seconds)

    def ended(self) -> bool:
        """Returns true if it has ended."""
        return self._answer.done()


class ToolDriver:
    """The JVM; a context manager. Commands run at the same time if they are started so."""

    def __init__(self) -> None:
        jars = libraries(TOOLS)
        tools = [jar for jar in sorted(jars.glob("*.jar")) if jar.name.startswith(_TOOL_JARS)]
        others = [str(jar) for jar in sorted(jars.glob("*.jar")) if jar not in tools]
        classes = compiled("gateway-tools", _SOURCES, TOOLS)
        self._process = subprocess.Popen(
            [java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m",
             "--add-opens=java.base/java.lang=ALL-UNNAMED",
             "-cp", os.pathsep.join([str(classes), *others]), "ToolDriver", *map(str, tools)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )  # fmt: skip
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Ran]] = {}
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, tool: str, *arguments: str) -> Running:
        """Start a command and let it run."""
        answer: Future[Ran] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = answer
        self.send({"id": number, "main": MAINS[tool], "arguments": list(arguments)})
        return Running(self, number, answer)

    def run(self, tool: str, *arguments: str, seconds: float = 120.0) -> Ran:
        """Run a command to its end."""
        return self.start(tool, *arguments).wait(seconds)

    def send(self, line: dict[str, object]) -> None:
        """Write a line to the JVM."""
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()

    def close(self) -> None:
        """End the JVM and every command in it."""
        self._process.kill()
        self._reader.join()
        with suppress(OSError):
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            with self._lock:
                waiting = self._waiting.pop(answer.pop("id"))
            waiting.set_result(Ran(**answer))
        with self._lock:
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.set_exception(RuntimeError("the JVM of the tools has ended"))
