"""Checks the message of a commit: `component: verb …` in the imperative, at most 72 characters, and a body with the reason.

* `check_subject.py FILE` checks a message before it is committed, as a hook of Git.
* `check_subject.py -` checks a message from stdin: `git log -1 --format=%B | python scripts/check_subject.py -`.
* `check_subject.py --history` checks every commit after the one that `subjects.toml` names.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
#: The verbs, and the last commit that is older than the check.
SETTINGS: Final = "scripts/subjects.toml"
MAX_SUBJECT: Final = 72


def _settings(repository: Path) -> dict[str, str]:
    return tomllib.loads((repository / SETTINGS).read_text(encoding="utf-8"))


_SUBJECT: Final = re.compile(r"[a-z0-9._/,+ -]+: (?P<verb>\S+)(?P<rest> \S)?")
_VERBS: Final = frozenset(_settings(REPOSITORY)["verbs"].split())
#: Beginnings that Git writes by itself.
_BY_GIT: Final = re.compile(r'Merge |Revert "|(?:fixup|squash)! ')


def breaches(message: str) -> list[str]:
    """All that is wrong with a message."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if _BY_GIT.match(subject):
        return []
    wrong = [*_of_subject(subject)]
    if len(lines) > 1 and lines[1].strip():
        wrong.append(f"the line after the subject is not empty: {lines[1]!r}")
    if not any(line.strip() for line in lines[2:]):
        wrong.append("there is no body with the reason")
    return wrong


def _of_subject(subject: str) -> Iterator[str]:
    if len(subject) > MAX_SUBJECT:
        yield f"the subject has {len(subject)} characters, at most {MAX_SUBJECT} are expected: {subject!r}"
    form = _SUBJECT.match(subject)
    if form is None or form["rest"] is None:
        yield f"the subject is not `component: verb …`: {subject!r}"
    elif form["verb"] not in _VERBS:
        yield f"{form['verb']!r} is not a verb of {SETTINGS} (an imperative such as add, fix, refuse): {subject!r}"
    if ";" in subject:
        yield f"the subject has a `;`, so the commit is two: {subject!r}"


def of_history(repository: Path = REPOSITORY) -> list[str]:
    """All that is wrong with the commits after the one that the file names; a shallow clone has only the last of them."""
    first = _settings(repository)["after"]
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{first}^{{commit}}"], cwd=repository, stderr=subprocess.DEVNULL, check=False
    )
    if known.returncode and _git(repository, "rev-parse", "--is-shallow-repository").strip() != "true":
        return [f"{SETTINGS} names {first}, which is not a commit of this repository"]
    after = "HEAD" if known.returncode else f"{first}..HEAD"
    commits = _git(repository, "log", "-z", "--format=%h %B", after).split("\0")
    return [
        f"{name}: {wrong}" for name, _, message in (one.partition(" ") for one in commits) for wrong in breaches(message) if name
    ]


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=True, encoding="utf-8").stdout


def main(arguments: list[str]) -> int:
    """Print every breach; the exit status is 1 when there is one, 2 when no message is named."""
    if len(arguments) != 1:
        print("usage: check_subject.py FILE|-|--history", file=sys.stderr)
        return 2
    if arguments[0] == "--history":
        wrong = of_history()
    else:
        wrong = breaches(sys.stdin.read() if arguments[0] == "-" else Path(arguments[0]).read_text(encoding="utf-8"))
    for breach in wrong:
        print(breach, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
