"""The stub shows the docstrings of the extension, and `scripts/stub_docs.py` would tell if it did not."""

from __future__ import annotations

import ast
import subprocess
import sys
from types import SimpleNamespace

import pytest

from scripts.stub_docs import STUB, StubError, places, renewed
from share_state import _core
from tests.recordings import REPOSITORY

MODULE = SimpleNamespace(
    Store=type("Store", (), {"__doc__": "A store.\n\nIt keeps.", "read": staticmethod(len), "path": property(doc='Its "path"')}),
    scan=len,
)
PLAIN = '''\
class Store:
    @property
    def path(self) -> str: ...
    @path.setter
    def path(self, path: str, /) -> None: ...
    @staticmethod
    def read(  # in two lines
        value: object, /
    ) -> int: ...
    def _hidden(self) -> None: ...

def scan(value: object, /) -> int:
    """Another text.

    In three lines.
    """
'''
WITH_DOCS = '''\
class Store:
    """A store.

    It keeps.
    """
    @property
    def path(self) -> str:
        """Its "path"
        """
    @path.setter
    def path(self, path: str, /) -> None: ...
    @staticmethod
    def read(  # in two lines
        value: object, /
    ) -> int:
        """Return the number of items in a container."""
    def _hidden(self) -> None: ...

def scan(value: object, /) -> int:
    """Return the number of items in a container."""
'''


def test_every_docstring_of_the_stub_is_that_of_the_extension() -> None:
    found = list(places(ast.parse(STUB.read_text(encoding="utf-8")), _core))
    assert len(found) > 200
    assert [place.name for place in found if ast.get_docstring(place.node) != place.doc] == []


def test_the_script_finds_nothing_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/stub_docs.py", "--check"], cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_docstrings_are_written_and_replaced() -> None:
    assert renewed(PLAIN, MODULE) == WITH_DOCS
    assert renewed(WITH_DOCS, MODULE) == WITH_DOCS


@pytest.mark.parametrize(
    ("stub", "told"),
    [
        ("class Other: ...\n", "Other: the extension has no such member"),
        ("class Store:\n    def write(self) -> None: ...\n", "Store.write: the extension has no such member"),
        ("def scan() -> int:\n    return 1\n", "scan: its body is neither a docstring nor `...`"),
    ],
)
def test_a_stub_that_does_not_fit_is_refused(stub: str, told: str) -> None:
    with pytest.raises(StubError, match=told):
        renewed(stub, MODULE)


def test_a_member_without_a_docstring_is_refused() -> None:
    with pytest.raises(StubError, match="bare: it has no docstring"):
        renewed("def bare() -> None: ...\n", SimpleNamespace(bare=SimpleNamespace(__doc__=None)))


def test_a_static_method_of_an_extension_has_its_own_docstring() -> None:
    stub = "class Store:\n    @staticmethod\n    def table() -> None: ...\n"
    module = SimpleNamespace(Store=type("Store", (), {"__doc__": "A store.", "table": vars(str)["maketrans"]}))
    assert "Return a translation table" in renewed(stub, module)
