"""Checks before a release and before a commit: the two scripts that make them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.check_release import main, section
from scripts.check_subject import SETTINGS, breaches, of_history
from tests.pages.runner import REPOSITORY

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
        "core: read each record of a release once\n\nThe second pass was 12% of W9.\n",
        "gateway, docs: add quotas\n\nA client that is throttled must know.\n# Please enter the commit message\n",
        "Merge branch 'help'\n",
        'Revert "core: read each record of a release once"\n',
    ],
)
def test_a_message_that_may_stand(message: str) -> None:
    assert breaches(message) == []


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("", "is not `component: verb …`: ''"),
        ("Fixed things\n\nBecause.\n", "is not `component: verb …`: 'Fixed things'"),
        ("core: fix\n\nBecause.\n", "is not `component: verb …`: 'core: fix'"),
        ("core: add " + "x" * 63 + "\n\nBecause.\n", "the subject has 73 characters, at most 72 are expected"),
        ("core: a release reads once\n\nBecause.\n", "'a' is not a verb of scripts/subjects.toml"),
        ("core: fixes the release\n\nBecause.\n", "'fixes' is not a verb of scripts/subjects.toml"),
        ("core: Fix the release\n\nBecause.\n", "'Fix' is not a verb of scripts/subjects.toml"),
        ("core: fix the release; add a test\n\nBecause.\n", "the subject has a `;`, so the commit is two"),
        ("core: fix it\nBecause.\n", "the line after the subject is not empty: 'Because.'"),
        ("core: fix it\n", "there is no body with the reason"),
        ("core: fix it\n\n# A comment.\n", "there is no body with the reason"),
    ],
)
def test_a_message_that_may_not(message: str, told: str) -> None:
    assert [breach for breach in breaches(message) if told in breach] != []


def committed(repository: Path, *messages: str) -> str:
    """Commit nothing under each message, and return the last commit."""
    for message in messages:
        git(repository, "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message)
    return git(repository, "rev-parse", "HEAD").strip()


def git(repository: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *arguments], cwd=repository, capture_output=True, check=True, encoding="utf-8").stdout


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Two commits, the first of them older than the check."""
    root = tmp_path / "history"
    (root / "scripts").mkdir(parents=True)
    git(root, "init", "--quiet")
    old = committed(root, "the first of all")
    committed(root, "core: add a rule\n\nKafka has it.")
    (root / SETTINGS).write_text(f'after = "{old}"', encoding="utf-8")
    return root


def test_the_history_is_checked_from_a_commit_on(history: Path) -> None:
    assert of_history(history) == []
    committed(history, "core: the rule holds\n\nIt did not.", "core: drop a rule")
    found = of_history(history)
    assert [breach.partition(": ")[2] for breach in found] == [
        "there is no body with the reason",
        "'the' is not a verb of scripts/subjects.toml (an imperative such as add, fix, refuse): 'core: the rule holds'",
    ]


def test_a_shallow_clone_is_checked_as_far_as_it_goes(history: Path, tmp_path: Path) -> None:
    committed(history, "core: drop a rule")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", history.as_uri(), str(shallow))
    (shallow / "scripts").mkdir()
    (shallow / SETTINGS).write_text((history / SETTINGS).read_text(encoding="utf-8"), encoding="utf-8")
    assert [breach.partition(": ")[2] for breach in of_history(shallow)] == ["there is no body with the reason"]


def test_a_commit_that_the_history_lacks_is_reported(history: Path) -> None:
    (history / SETTINGS).write_text(f'after = "{"0" * 40}"', encoding="utf-8")
    assert of_history(history) == [f"{SETTINGS} names {'0' * 40}, which is not a commit of this repository"]
