"""Installation of an extra in pages, docstrings and errors: one spelling, which works without a package index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from share_state.util import extras
from share_state.util.extras import MissingPackageError
from tests.pages.pages import pages
from tests.pages.runner import REPOSITORY

_PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: The name of the project with an extra after it is what an index would be asked for.
_FROM_INDEX = re.compile(r"share[-_]state\[")
_WITH_EXTRAS = re.compile(r"pip install [^\n`]*\[[^\n`]*")
_SPELLING = re.compile(r"pip install (?:--target env )?'\.\[(?P<extras>[a-z,-]+)\]'")
#: In what is printed the extra is a name of the program.
_FORMED = "pip install '.[{extra}]'"


def texts() -> list[Path]:
    """Every page, and every module that is installed."""
    return [*pages(), *sorted((REPOSITORY / "python").rglob("*.py"))]


def test_extras_are_installed_from_the_checkout_in_one_spelling() -> None:
    found: list[tuple[str, str]] = []
    for path in texts():
        text = path.read_text(encoding="utf-8")
        where = str(path.relative_to(REPOSITORY))
        assert _FROM_INDEX.search(text) is None, f"{where}: the package is on no index"
        for command in _WITH_EXTRAS.findall(text):
            if _FORMED in command:
                continue
            spelt = _SPELLING.match(command)
            assert spelt is not None, f"{where}: {command}"
            names = spelt["extras"].split(",")
            assert set(names) <= set(_PROJECT["optional-dependencies"]), f"{where}: {command}"
            assert "checkout" in text, f"{where}: it does not say where"
            found += [(where, name) for name in names]
    assert {"README.md", "docs/spark.md", "docs/gateway.md", "python/share_state/spark/__init__.py"} <= {
        where for where, _ in found
    }
    assert {name for _, name in found} == set(_PROJECT["optional-dependencies"])


@pytest.mark.parametrize("extra", sorted(_PROJECT["optional-dependencies"]))
def test_a_missing_package_says_how_to_install_it(extra: str) -> None:
    with pytest.raises(MissingPackageError) as told:
        extras.require(extra, "no_such_module")
    assert told.value.field == "no_such_module"
    assert str(told.value).endswith(f": run pip install '.[{extra}]' in the checkout of share_state")


def test_every_error_text_takes_the_one_hint() -> None:
    homes = [path for path in (REPOSITORY / "python").rglob("*.py") if _FORMED in path.read_text(encoding="utf-8")]
    assert homes == [REPOSITORY / "python" / "share_state" / "util" / "extras.py"]
    asked = 0
    for path in (REPOSITORY / "python").rglob("*.py"):
        for extra in re.findall(r"""(?:how_to_install|require)\(["']([a-z-]+)["']""", path.read_text(encoding="utf-8")):
            assert extra in _PROJECT["optional-dependencies"], f"{path}: {extra}"
            asked += 1
    assert asked >= 8
