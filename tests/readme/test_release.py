"""What stands before a release and before a commit: the two scripts that say so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.check_release import main, section
from scripts.check_subject import breaches
from tests.readme.runner import REPOSITORY

HOME = "https://example.org/share_state"
CARGO = '[workspace.package]\nversion = "0.1.0"\n'
NOTES = "The first version.\n\n### Engine\n\n- It decides.\n"
CHANGELOG = f"# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-11-23)\n\n{NOTES}\n## 0.0.1\n\nNothing.\n"


def tree(root: Path, *, repository: str = "", urls: str = "", changelog: str = CHANGELOG) -> Path:
    (root / "Cargo.toml").write_text(CARGO + repository, encoding="utf-8")
    (root / "pyproject.toml").write_text(f'[project]\nname = "share-state"\n{urls}', encoding="utf-8")
    (root / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    return root


def test_a_release_that_is_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tree(tmp_path, repository=f'repository = "{HOME}"\n', urls=f'[project.urls]\nSource = "{HOME}"\n')
    assert main(["--tag", "v0.1.0", "--home", HOME], root) == 0
    assert main(["--tag", "v0.1.0", "--notes"], root) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (NOTES, "")


@pytest.mark.parametrize(
    ("tag", "made", "told"),
    [
        ("v0.2.0", {"changelog": "## 0.2.0\n\nMore.\n"}, "Cargo.toml: workspace.package.version is '0.1.0', so"),
        ("v0.1.0", {"changelog": "## Unreleased: 0.1.0\n\nThe first version.\n"}, "CHANGELOG.md: there is no section `## 0.1.0`"),
        ("v0.1.0", {"changelog": "## 0.1.0\n\n## 0.0.1\n\nNothing.\n"}, "or it is empty"),
        ("v0.1.0", {"repository": f'repository = "{HOME}"\n'}, f"pyproject.toml: project.urls.Source is None, expected '{HOME}'"),
        ("v0.1.0", {"urls": f'[project.urls]\nSource = "{HOME}"\n'}, "Cargo.toml: workspace.package.repository is None"),
    ],
)
def test_a_release_that_is_not_ready(
    tag: str, made: dict[str, str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = [] if "changelog" in made else ["--home", HOME]
    assert main(["--tag", tag, "--notes", *home], tree(tmp_path, **made)) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told in shown.err


def test_the_version_is_that_of_the_crates_and_of_the_package() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/check_release.py", "--tag", "v9.9.9"],
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert "workspace.package.version is '0.1.0'" in done.stderr


def test_the_changelog_has_sections() -> None:
    assert section(CHANGELOG, "0.0.1") == "Nothing."
    assert section(CHANGELOG, "0.0") is None


@pytest.mark.parametrize(
    "message",
    [
        "core: a release reads each record once\n\nThe second pass was 12% of W9.\n",
        "gateway, docs: quotas are told\n\nA client that is throttled shall know.\n# Please enter the commit message\n",
        "Merge branch 'help'\n",
        'Revert "core: a release reads each record once"\n',
    ],
)
def test_a_message_that_may_stand(message: str) -> None:
    assert breaches(message) == []


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("", "is not `component: what changed`: ''"),
        ("Fixed things\n\nBecause.\n", "is not `component: what changed`: 'Fixed things'"),
        ("core: " + "x" * 67 + "\n\nBecause.\n", "the subject has 73 characters, at most 72 are expected"),
        ("core: a change\nBecause.\n", "the line after the subject is not empty: 'Because.'"),
        ("core: a change\n", "there is no body with the reason"),
        ("core: a change\n\n# A comment.\n", "there is no body with the reason"),
    ],
)
def test_a_message_that_may_not(message: str, told: str) -> None:
    assert any(told in breach for breach in breaches(message))
