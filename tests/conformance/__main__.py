"""``python -m tests.conformance PATH... [--store twin|tree|both]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .runner import run_paths


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every recording below the paths; 0 when all of them agree."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="Replay recorded Kafka share-group cases and compare.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--store", choices=("twin", "tree", "both"), default="both")
    parser.add_argument("--show", type=int, default=2, metavar="N", help="differences shown a scenario")
    options = parser.parse_args(arguments)
    missing = [str(path) for path in options.paths if not path.exists()]
    if missing:
        parser.error(f"no such file or directory: {', '.join(missing)}")
    stores = ("twin", "tree") if options.store == "both" else (options.store,)
    result = run_paths(options.paths, stores)
    for report in result.files:
        print("\n".join(report.lines(options.show)))
    for complaint in result.complaints():
        print(complaint, file=sys.stderr)
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())
