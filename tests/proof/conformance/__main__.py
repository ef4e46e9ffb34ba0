"""``tests.proof.conformance PATH... [--bootstrap HOST:PORT]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .runner import run_paths


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every recording below the paths; 0 when all of them agree."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.proof.conformance",
        description="Replay recorded Kafka share-group cases and compare.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--show", type=int, default=2, metavar="N", help="differences shown a scenario")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="a cluster with share groups, to play share_consumer_e2e on")
    parser.add_argument("--data-bootstrap", metavar="HOST:PORT", help="where that cluster's data is, if that is elsewhere")
    options = parser.parse_args(arguments)
    missing = [str(path) for path in options.paths if not path.exists()]
    if missing:
        parser.error(f"no such file or directory: {', '.join(missing)}")
    cluster = [at for at in (options.bootstrap, options.data_bootstrap) if at is not None]
    if options.data_bootstrap is not None and options.bootstrap is None:
        parser.error("--data-bootstrap needs --bootstrap")
    result = run_paths(options.paths, cluster)
    for report in result.files:
        print("\n".join(report.lines(options.show)))
    for complaint in result.complaints():
        print(complaint, file=sys.stderr)
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())
