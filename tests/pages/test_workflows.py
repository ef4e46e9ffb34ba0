"""The workflow files and hooks say what there is: targets, paths, jobs. No forge runs here, so this is what can be held to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pages.runner import REPOSITORY

FORGE = REPOSITORY / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
HOOKS = REPOSITORY / ".pre-commit-config.yaml"
_TARGETS = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_MAKE = re.compile(r"\bmake ((?:[a-z][a-z-]*(?: |$))+)", re.MULTILINE)
_PATH = re.compile(r"(?<![\w./-])(?:\./)?(?:(?:scripts|examples|docs|tests|rust|python|\.github)/[\w./-]*\w)")
_ACTION = re.compile(r"[\w-]+/[\w.-]+@(?:v\d+|release/v\d+|[0-9a-f]{40})")


def read(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def breaches(workflow: dict[Any, Any]) -> Iterator[str]:
    """Names in a workflow that the repository does not have."""
    targets = set(_TARGETS.findall((REPOSITORY / "Makefile").read_text(encoding="utf-8")))
    jobs = workflow["jobs"]
    for name, job in jobs.items():
        needs = job.get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            if needed not in jobs:
                yield f"{name}: no job {needed}"
        uses = [step["uses"] for step in job.get("steps", []) if "uses" in step] + ([job["uses"]] if "uses" in job else [])
        for action in uses:
            if action.startswith("./"):
                if not (REPOSITORY / action).is_file():
                    yield f"{name}: no file {action}"
            elif not _ACTION.fullmatch(action):
                yield f"{name}: {action} names no version"
        for step in job.get("steps", []):
            run = step.get("run", "")
            made = [target for words in _MAKE.findall(run) for target in words.split()]
            yield from (f"{name}: no target {target}" for target in made if target not in targets)
            yield from (f"{name}: no path {path}" for path in _PATH.findall(run) if not (REPOSITORY / path).exists())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_what_there_is(path: Path) -> None:
    workflow = read(path)
    # YAML reads the key `on` as true.
    assert workflow[True]
    assert workflow["permissions"] == {"contents": "read"}, "a job asks for more by itself"
    assert list(breaches(workflow)) == []


def test_a_workflow_is_there_for_each_purpose() -> None:
    assert {path.stem for path in WORKFLOWS} == {"docs", "release", "test", "wheels"}
    runs = [step.get("run", "") for path in WORKFLOWS for job in read(path)["jobs"].values() for step in job.get("steps", [])]
    assert sum(len(_MAKE.findall(run)) for run in runs) >= 8
    assert sum(len(_PATH.findall(run)) for run in runs) >= 4


def test_the_site_is_published_from_where_it_is_built() -> None:
    steps = read(FORGE / "workflows" / "docs.yml")["jobs"]["build"]["steps"]
    (published,) = [step["with"]["path"] for step in steps if "upload-pages-artifact" in step.get("uses", "")]
    assert f"DOCS_SITE := {published}\n" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def test_what_is_not_there_is_told() -> None:
    steps = [
        {"run": "make test nowhere"},
        {"run": "python scripts/nowhere.py --tag examples/orders-4.4.0"},
        {"uses": "actions/checkout@main"},
        {"uses": "actions/checkout@v6"},
    ]
    assert list(breaches({"jobs": {"a": {"needs": ["b"], "steps": steps}, "c": {"uses": "./.github/workflows/no.yml"}}})) == [
        "a: no job b",
        "a: actions/checkout@main names no version",
        "a: no target nowhere",
        "a: no path scripts/nowhere.py",
        "c: no file ./.github/workflows/no.yml",
    ]


def test_the_hooks_run_what_there_is() -> None:
    entries = [hook["entry"] for repo in read(HOOKS)["repos"] for hook in repo["hooks"]]
    assert len(entries) == 5
    for entry in entries:
        for path in _PATH.findall(entry):
            assert (REPOSITORY / path).is_file(), entry
    assert all(repo["repo"] == "local" for repo in read(HOOKS)["repos"]), "a hook fetches nothing"


def test_the_forms_for_issues_can_be_read() -> None:
    forms = [read(path) for path in sorted((FORGE / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
    assert len(forms) == 2
    for form in forms:
        assert {"name", "description", "body"} <= set(form)
        names = [field["id"] for field in form["body"]]
        assert len(names) == len(set(names)) >= 2
        assert all(field["type"] in {"input", "textarea"} and field["attributes"]["label"] for field in form["body"])
