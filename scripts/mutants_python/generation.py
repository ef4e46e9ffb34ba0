"""Makes mutmut's mutants and runs no test; a program of its own, in the copy. `mutmut run` does both, or neither.

The names of mutants are known before one is tried then, so that a sample can be drawn among those that are viable.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mutmut.__main__ import create_mutants
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, setup_source_paths


def main() -> int:
    """Do what `mutmut run` begins with."""
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    made = create_mutants(os.cpu_count() or 1)
    print(f"{made.mutated} files are mutated anew, {made.unmodified} were before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
