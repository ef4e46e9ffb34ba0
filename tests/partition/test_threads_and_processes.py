"""Threads, forks, signals and the end of the interpreter (bad input D7.66 and 67)."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.arguments import InFlightStore
from share_state.errors import InvalidRecordStateError
from share_state.operate import analysis
from share_state.persister import MemoryPersister, Persister

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("g", TOPIC, 0)
RECORDS = 4_000
THREADS = 4


def active(store: InFlightStore = "leaves") -> ss.SharePartition:
    share_partition = ss.SharePartition(*KEY, store=store, config=ss.GroupConfig(partition_max_record_locks=RECORDS))
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    return share_partition


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Runs `work` in several threads that start together; an exception of any is raised here."""
    barrier = threading.Barrier(THREADS)

    def start(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


@pytest.mark.parametrize("store", ["leaves", "twin"])
def test_no_record_is_given_to_two_threads(store: InFlightStore) -> None:
    share_partition = active(store)

    def consume(number: int) -> list[int]:
        """Takes and accepts until nothing is left; looks at everything in between."""
        mine: list[int] = []
        while True:
            taken = share_partition.acquire(f"member {number}", [(0, RECORDS - 1)], now_ms=0, max_records=7, mode=1)
            if not taken:
                return mine
            for first, last, count in taken:
                assert count == 1
                share_partition.acknowledge(f"member {number}", first, last, now_ms=0)
                mine += range(first, last + 1)
            share_partition.next_fetch_offset()
            share_partition.in_flight_columns()

    taken = [offset for mine in at_once(consume) for offset in mine]
    assert sorted(taken) == list(range(RECORDS))
    share_partition.check()
    assert share_partition.counters()["acquired"] == RECORDS

    tokens = at_once(lambda _: answer_all(share_partition))
    assert sum(map(len, tokens)) == len({token for some in tokens for token in some}) == share_partition.counters()["writes"]
    assert share_partition.start_offset == RECORDS


def answer_all(share_partition: ss.SharePartition) -> list[int]:
    tokens = []
    while (write := share_partition.poll_write()) is not None:
        share_partition.handle_write_result(write.token, now_ms=0)
        tokens.append(write.token)
    return tokens


def test_one_of_many_acknowledgements_of_a_record_wins() -> None:
    share_partition = active()
    share_partition.acquire("alice", [(0, RECORDS - 1)], now_ms=0, max_records=RECORDS)

    def accept(_: int) -> int:
        won = 0
        for offset in range(RECORDS):
            try:
                share_partition.acknowledge("alice", offset, offset, now_ms=0)
            except InvalidRecordStateError:
                continue
            won += 1
        return won

    assert sum(at_once(accept)) == RECORDS
    assert share_partition.state_counts()["ACKNOWLEDGED"] == RECORDS
    share_partition.check()


@pytest.mark.parametrize("home", ["memory", "log"])
def test_writes_of_many_threads_are_all_kept(home: str, tmp_path: Path) -> None:
    persister: Persister = MemoryPersister() if home == "memory" else ss.open(tmp_path, partitions=3, sync="never")

    def write(number: int) -> None:
        key = KEY._replace(partition=number)
        persister.reset_state(key, 0, 0)
        for offset in range(200):
            persister.write_state(key, ss.WriteState(0, 0, -1, -1, [(2 * offset, 2 * offset, 2, 1)]))
            assert len(persister.read_state(key, 0).state_batches) == offset + 1

    at_once(write)
    assert [len(persister.read_state(KEY._replace(partition=n), 0).state_batches) for n in range(THREADS)] == [200] * THREADS


def python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


FORK = """
import os, sys
import share_state as ss
from share_state.errors import StoreError
key = ("g", sys.argv[2], 0)
store = ss.open(sys.argv[1])
store.reset_state(key, 0, 0)
engine = ss.SharePartition(*key)
engine.initialize(ss.ReadStateResult(0, 0, []))
child = os.fork()
if child == 0:
    refused = 0
    for call in (lambda: store.reset_state(key, 1, 0), lambda: store.read_state(key, 0), store.states, store.flush,
                 lambda: ss.open(sys.argv[1])):
        try:
            call()
        except StoreError:
            refused += 1
    # The copy of an engine is a copy: it may be looked at, and the parent does not notice.
    engine.acquire("child", [(0, 9)], max_records=10, now_ms=0)
    os._exit(refused)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
store.reset_state(key, 1, 7)
assert engine.in_flight() == []
store.close()
with ss.open(sys.argv[1]) as again:
    assert again.read_state(key, 0) == ss.ReadStateResult(1, 7, [])
print("fine")
"""


def test_a_forked_child_is_refused_the_store_of_its_parent(tmp_path: Path) -> None:
    ran = python(FORK, tmp_path, TOPIC)
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "fine", "")


LOAD = """
import sys
import share_state as ss
from share_state.operate import analysis
loads = 0
def progress(done, total):
    global loads
    if loads == 0:
        print("loading", flush=True)
        sys.stdin.readline()  # the signal is under way when this returns
    loads += 1
try:
    if sys.argv[1] == "open":
        ss.open(sys.argv[2], progress=progress)
    else:
        analysis.fold_path(sys.argv[2], progress)
except KeyboardInterrupt:
    print("interrupted", loads, flush=True)
"""


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    """Some MiB of log, so that the end of a load is further away than the next look at signals."""
    batches = [(2 * offset, 2 * offset, 2, 1) for offset in range(4_000)]
    with ss.open(tmp_path, sync="never", snapshot_update_records_per_snapshot=0) as store:
        store.reset_state(KEY, 0, 0)
        for _ in range(150):
            store.write_state(KEY, ss.WriteState(0, 0, -1, -1, batches))
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.log")) > 10 << 20
    return tmp_path


@pytest.mark.parametrize("how", ["open", "fold"])
def test_ctrl_c_ends_a_load_at_once_and_changes_nothing(how: str, long_log: Path) -> None:
    before = {path: path.read_bytes() for path in long_log.rglob("*") if path.is_file() and path.name != ".lock"}
    command = [sys.executable, "-c", LOAD, how, str(long_log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as loading:
        assert loading.stdin is not None
        assert loading.stdout is not None
        assert loading.stdout.readline() == "loading\n"
        loading.send_signal(signal.SIGINT)
        said, _ = loading.communicate("\n", timeout=60)
    word, loads = said.split()
    assert (word, loading.returncode) == ("interrupted", 0)
    assert int(loads) <= 2
    assert {path: path.read_bytes() for path in before} == before
    with ss.open(long_log) as store:
        assert len(store.read_state(KEY, 0).state_batches) == 4_000


#: A signal while no Python code runs: the progress function is of C throughout, so that only the extension can look for it.
DEAF = """
import signal, sys
from collections import defaultdict
from functools import partial
import share_state as ss
from share_state.operate import analysis
signal.signal(signal.SIGALRM, signal.default_int_handler)
times = defaultdict(partial(signal.setitimer, signal.ITIMER_REAL, 1e-6))
load = partial(ss.open, sys.argv[2]) if sys.argv[1] == "open" else partial(analysis.fold_path, sys.argv[2])
try:
    load(progress=partial(max, key=times.__getitem__))
except KeyboardInterrupt:
    print("interrupted", len(times))
"""


@pytest.mark.parametrize("how", ["open", "fold"])
def test_a_signal_is_heard_while_the_extension_is_at_work(how: str, long_log: Path) -> None:
    word, heard_of = python(DEAF, how, long_log).stdout.split()
    assert word == "interrupted"
    # Each look at signals is a MiB of log; to the end there are more than ten.
    assert int(heard_of) <= 6


def test_a_progress_function_that_raises_ends_the_load(tmp_path: Path) -> None:
    ss.open(tmp_path).close()

    def stop(_done: int, _total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ss.open(tmp_path, progress=stop)
    with pytest.raises(LookupError, match="enough"):
        analysis.fold_path(tmp_path, stop)
    ss.open(tmp_path).close()


#: The thread is inside the extension when the interpreter ends, and comes to while it is torn down. It asks for the
#: interpreter at no other time: CPython 3.11 may read a freed thread state where a thread asks just as the end begins,
#: extension or not.
SHUTDOWN = """
import sys, threading, time
import share_state as ss
from share_state.operate import analysis
store = ss.open(sys.argv[1], sync="interval", sync_interval_ms=1)
key = ("g", sys.argv[2], 0)
store.reset_state(key, 0, 3)
engines = [ss.SharePartition(*key) for _ in range(10)]
inside, torn_down = threading.Event(), threading.Lock()
torn_down.acquire()
class Holder:
    # Objects that refer to each other, with a finaliser that uses them, die in no particular order.
    def __init__(self):
        self.itself, self.engine, self.store = self, engines[0], store
        self.wake, self.sleep = torn_down.release, time.sleep
    def __del__(self):
        self.engine.next_fetch_offset()
        self.store.states()
        self.wake()
        self.sleep(0.05)
holder = Holder()
def wait(done, total):
    inside.set()
    with torn_down:
        print("the thread goes on")
def work():
    engines[1].in_flight()
    store.read_state(key, 0)
    analysis.fold_path(sys.argv[1], wait)
threading.Thread(target=work, daemon=True).start()
assert inside.wait(60)
print("bye", flush=True)
"""


def test_the_interpreter_ends_with_everything_alive(tmp_path: Path) -> None:
    for _ in range(3):
        ran = python(SHUTDOWN, tmp_path, TOPIC)
        assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "bye", "")
    with ss.open(tmp_path) as store:
        assert store.read_state(KEY, 0).start_offset == 3


def test_a_killed_writer_leaves_its_answers_behind(tmp_path: Path) -> None:
    script = SHUTDOWN.replace('print("bye", flush=True)', f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})")
    assert python(script, tmp_path, TOPIC).returncode == -signal.SIGKILL
    with ss.open(tmp_path) as store:
        assert store.read_state(KEY, 0).start_offset == 3
