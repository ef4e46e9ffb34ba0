"""Every Python block of the README runs, and every console block marked `<!-- test -->`."""

from pathlib import Path

from tests.readme.blocks import ConsoleBlock, PythonBlock, blocks
from tests.readme.runner import REPOSITORY, make_copy, run_blocks


def test_the_blocks_of_the_readme_run(tmp_path: Path) -> None:
    page = REPOSITORY / "README.md"
    assert page.is_file(), "there is no README.md"
    found = blocks(page.read_text(encoding="utf-8"))
    make_copy(tmp_path)
    ran = run_blocks(found, tmp_path)
    assert ran["python"] == sum(isinstance(block, PythonBlock) for block in found)
    assert ran["console"] == sum(isinstance(block, ConsoleBlock) for block in found)
    assert ran["python"] >= 1, "README.md has no Python block"
    assert ran["console"] >= 1, "README.md has no console block marked to be run"
