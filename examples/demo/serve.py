"""The serving process: loads the share partition from the log and serves it to its workers until it is settled."""

import multiprocessing
import os
import threading
import traceback
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import share_state
from examples.demo.journal import Journal
from examples.demo.leader import Leader
from examples.demo.plan import Plan, group_config
from examples.demo.worker import Worker
from share_state.persister import lead

WORKERS = 4


def serve(plan: Plan, serving: int) -> None:
    """Serve to the end. Whatever happened to the process before is told by the log alone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    journal = Journal(plan.journal(serving))
    with share_state.open(plan.state, create=False) as store:
        share_partition = lead(store, plan.key, leader_epoch=plan.leader_epoch(serving), config=group_config())
        leader = Leader(share_partition, store, log_end=plan.log_end)
        workers = [
            Worker(f"worker-{serving}.{number}", plan, leader, journal, stalls=number == WORKERS)
            for number in range(1, WORKERS + 1)
        ]
        with ThreadPoolExecutor(WORKERS + 1) as pool:
            tasks = [pool.submit(leader.write), *(pool.submit(worker.run) for worker in workers)]
            done, _ = wait(tasks, return_when=FIRST_EXCEPTION)
            for task in done:
                if error := task.exception():
                    _crash(error)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _crash(error: BaseException) -> None:
    """End at once, without waiting for the other threads: the log is made for that."""
    traceback.print_exception(error)
    os._exit(1)
