"""The main job on real input, step by step.

1. Show the share partitions in the state topic that a real Kafka 4.4.0 broker left on its disk.
2. Take them over into a log of our own, and plan to serve the rest of one of them.
3. Serve it to four workers, kill the serving process with SIGKILL half-way, start it again from the log, and check what
   came of it.
4. Say where the state lies and how to look at it.
"""

import argparse
import signal
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from examples.demo import figures, report, verdict
from examples.demo.directory import NotOurDirectoryError, make_anew, named
from examples.demo.history import log_bytes, read_history
from examples.demo.journal import read_journal
from examples.demo.recorded import RECORDED, make_plan, recorded_states, state_partitions
from examples.demo.supervise import ServingError, serve_with_a_kill
from examples.demo.take_over import take_over
from share_state.operate import analysis

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the demo; 0 when every check passed."""
    parser = argparse.ArgumentParser(description="Take over a real broker's share state, serve it, kill, restart, check.")
    parser.add_argument("--directory", type=Path, default=REPOSITORY / ".demo", help="made again (default: .demo)")
    directory: Path = parser.parse_args().directory.resolve()
    try:
        return 0 if run(directory, Console(highlight=False, soft_wrap=True)) else 1
    except (NotOurDirectoryError, ServingError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The serving process was ended; everything it confirmed is in the log.", file=sys.stderr)
        return 128 + signal.SIGINT


def run(directory: Path, console: Console) -> bool:
    """Do the four steps; whether every check passed."""
    make_anew(directory)

    console.print(f"1. What a Kafka 4.4.0 broker left in {named(RECORDED)}\n", style="bold")
    show_state(RECORDED)
    recorded = recorded_states()

    plan = make_plan(directory, recorded)
    console.print(f"\n2. Take it over into {named(plan.state)}\n", style="bold")
    take_over(recorded, plan.state, partitions=state_partitions())
    taken_over, _ = analysis.fold_path(plan.state)
    writes_before, bytes_before = read_history(plan.state, plan.key).writes, log_bytes(plan.state)
    console.print(f"{len(taken_over)} share partitions. To be served: {plan.unsettled} records of {plan.name}.")

    console.print("\n3. Serve, kill half-way, serve the rest from the log, check\n", style="bold")
    killed, finished = serve_with_a_kill(plan, console)
    final, _ = analysis.fold_path(plan.state)
    evidence = verdict.Evidence(
        plan=plan,
        recorded=recorded,
        taken_over=taken_over,
        final=final,
        history=read_history(plan.state, plan.key),
        before=read_journal(plan.journal(1)),
        after=read_journal(plan.journal(2)),
        exit_codes=(killed.exit_code, finished.exit_code),
    )
    checks = verdict.judge(evidence)
    counted = figures.count(
        evidence,
        writes=evidence.history.writes - writes_before,
        log_bytes=log_bytes(plan.state) - bytes_before,
        seconds=killed.seconds + finished.seconds,
    )
    report.print_report(console, report.rows(counted), checks)
    report.save_report(plan, counted, checks)

    console.print(f"4. The state lies in {named(plan.state)}, these results in {named(plan.result)}\n", style="bold")
    console.print(f"$ {named(Path(sys.executable).with_name('share-state'))} state {named(plan.state)}")
    show_state(plan.state)
    return all(check.passed for check in checks)


def show_state(path: Path) -> None:
    """Show the table of share partitions, with the command line's own command."""
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "share_state", "state", str(path)], check=True)
