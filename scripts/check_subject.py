"""Checks the message of a commit: `component: what changed`, at most 72 characters, and a body with the reason.

As a hook of Git it takes the file of the message; `git log -1 --format=%B | python scripts/check_subject.py -` checks the last.
"""

import re
import sys
from pathlib import Path

MAX_SUBJECT = 72
_SUBJECT = re.compile(r"[a-z0-9._/,+ -]+: \S")
#: What Git writes by itself.
_BY_GIT = re.compile(r'Merge |Revert "|(?:fixup|squash)! ')


def breaches(message: str) -> list[str]:
    """All that is wrong with a message."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if _BY_GIT.match(subject):
        return []
    wrong = []
    if len(subject) > MAX_SUBJECT:
        wrong.append(f"the subject has {len(subject)} characters, at most {MAX_SUBJECT} are expected: {subject!r}")
    if not _SUBJECT.match(subject):
        wrong.append(f"the subject is not `component: what changed`: {subject!r}")
    if len(lines) > 1 and lines[1].strip():
        wrong.append(f"the line after the subject is not empty: {lines[1]!r}")
    if not any(line.strip() for line in lines[2:]):
        wrong.append("there is no body with the reason")
    return wrong


def main(arguments: list[str]) -> int:
    """Print every breach; the exit status is 1 when there is one, 2 when no message is named."""
    if len(arguments) != 1:
        print("usage: check_subject.py FILE|-", file=sys.stderr)
        return 2
    message = sys.stdin.read() if arguments[0] == "-" else Path(arguments[0]).read_text(encoding="utf-8")
    wrong = breaches(message)
    for breach in wrong:
        print(breach, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
