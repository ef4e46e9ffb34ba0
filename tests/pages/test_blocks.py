"""The runner itself, on pages of its own: a runner that runs nothing would pass any README."""

from pathlib import Path

import pytest

from tests.pages.blocks import Command, ConsoleBlock, PageError, PythonBlock, blocks, matches
from tests.pages.runner import make_copy, run_blocks

PAGE = """\
# A page

```python
print("one")
print("two")
```

<!-- output -->
```text
one
...
```

Shown, not run:

```console
$ false
```

<!-- test -->
```console
$ echo a > file
$ cat \\
  file
a
```

- in a list

  ```python
  assert open("file").read() == "a\\n"
  ```
"""


def test_a_page_is_taken_apart() -> None:
    assert blocks(PAGE) == [
        PythonBlock(3, 'print("one")\nprint("two")\n', "one\n...\n"),
        ConsoleBlock(21, [Command("echo a > file", ""), Command("cat \\\n  file", "a\n")]),
        PythonBlock(30, 'assert open("file").read() == "a\\n"\n', None),
    ]


def test_blocks_run_in_order_in_one_directory(tmp_path: Path) -> None:
    page = PAGE.replace('open("file").read()', '__import__("pathlib").Path("file").read_text()')
    assert run_blocks(blocks(page), tmp_path) == {"python": 2, "console": 1}
    assert (tmp_path / "file").read_text() == "a\n"


def test_a_page_without_blocks_runs_none(tmp_path: Path) -> None:
    assert run_blocks(blocks("# A page\n\n```text\nx\n```\n"), tmp_path) == {}


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("```python\nraise SystemExit(1)\n```\n", "the Python block in line 1 failed"),
        ("```python\nopen('x', 'w')\n```\n<!-- output -->\n```text\nmore\n```\n", "instead of"),
        ("<!-- test -->\n```console\n$ exit 3\n```\n", "ended with 3"),
        ("<!-- test -->\n```console\n$ false | true\n```\n", "ended with 1"),
        ("<!-- test -->\n```console\n$ echo a\nb\n```\n", "instead of"),
        ("<!-- test -->\n```console\n$ echo a\n```\n", "instead of"),
    ],
)
def test_a_block_that_does_not_do_what_the_page_says_fails(page: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=reason):
        run_blocks(blocks(page), tmp_path)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("```python\n", "line 1: the block is never closed"),
        ("<!-- output -->\n```text\nx\n```\n", "stands after a Python block"),
        ("<!-- test -->\n```bash\nls\n```\n", "only console blocks"),
        ("<!-- test -->\n```console\nls\n```\n", "begins with output"),
        ("<!-- test -->\n```console\n```\n", "holds no command"),
    ],
)
def test_a_page_that_is_not_clear_is_refused(page: str, reason: str) -> None:
    with pytest.raises(PageError, match=reason):
        blocks(page)


@pytest.mark.parametrize(
    ("printed", "expected", "agree"),
    [
        ("a\n", "a\n", True),
        ("a  \n\n", "a\n", True),
        ("", "", True),
        ("a\n", "", False),
        ("a\nb\nc\n", "a\n...\nc\n", True),
        ("a\nc\n", "a\n...\nc\n", True),
        ("a\nb\n", "a\n...\nc\n", False),
        ("took 12 ms in all\n", "took ... in all\n", True),
        ("took 12 ms in part\n", "took ... in all\n", False),
        ("a+b\n", "a.b\n", False),
    ],
)
def test_expected_output(printed: str, expected: str, agree: bool) -> None:
    assert matches(printed, expected) is agree


def test_the_copy_holds_the_example_state(tmp_path: Path) -> None:
    make_copy(tmp_path)
    assert (tmp_path / "examples" / "orders-4.4.0" / "reads.json").is_file()
