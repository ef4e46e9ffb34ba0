"""Checks that a tag may be released, and prints what the release says; docs/releasing.md and the workflow `release` use it.

`--tag v0.1.0` must be the version of the crates (and so of the package), and CHANGELOG.md must have a section of that name.
`--home URL` is where the tag was pushed: the metadata of the package and of the crates must lead there.
`--notes` prints the section of CHANGELOG.md.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
_LINK = "Source"


def section(changelog: str, version: str) -> str | None:
    """Return the text below the heading of a version, or None where there is no such heading."""
    match = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(?P<text>.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return match["text"].strip() if match else None


def breaches(root: Path, tag: str, home: str | None) -> Iterator[str]:
    """All that stands in the way of the release."""
    workspace = _read(root / "Cargo.toml")["workspace"]["package"]
    version = workspace["version"]
    if tag != f"v{version}":
        yield f"Cargo.toml: workspace.package.version is {version!r}, so the tag is v{version}, not {tag!r}"
    if not section((root / "CHANGELOG.md").read_text(encoding="utf-8"), tag.removeprefix("v")):
        yield f"CHANGELOG.md: there is no section `## {tag.removeprefix('v')}`, or it is empty"
    if home is not None:
        found = _read(root / "pyproject.toml")["project"].get("urls", {}).get(_LINK)
        if found != home:
            yield f"pyproject.toml: project.urls.{_LINK} is {found!r}, expected {home!r}"
        if workspace.get("repository") != home:
            yield f"Cargo.toml: workspace.package.repository is {workspace.get('repository')!r}, expected {home!r}"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main(arguments: list[str], root: Path = REPOSITORY) -> int:
    """Print what stands in the way, or the notes; the exit status is 1 when something stands in the way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--home")
    parser.add_argument("--notes", action="store_true")
    options = parser.parse_args(arguments)
    wrong = list(breaches(root, options.tag, options.home))
    for breach in wrong:
        print(breach, file=sys.stderr)
    if options.notes and not wrong:
        print(section((root / "CHANGELOG.md").read_text(encoding="utf-8"), options.tag.removeprefix("v")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
