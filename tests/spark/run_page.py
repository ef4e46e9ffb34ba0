"""Runs blocks of a page one after the other as one program, in whichever Python starts it: it needs nothing of ours.

Arguments: a JSON list of `[where, code]`, and where to write what each of them printed, as a JSON list.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    blocks, told = map(Path, sys.argv[1:])
    names: dict[str, Any] = {}
    printed = []
    for where, code in json.loads(blocks.read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, where, "exec"), names)  # noqa: S102  our own page
        printed.append(out.getvalue())
    told.write_text(json.dumps(printed), encoding="utf-8")


if __name__ == "__main__":
    main()
