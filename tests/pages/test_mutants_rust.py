"""The list of mutants that live: it is of the code as it is, and `make mutants` can say no."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest

from scripts.mutants_rust.__main__ import judge
from scripts.mutants_rust.mutant import (
    CAUGHT,
    LIST,
    REPOSITORY,
    SURVIVED,
    TIMED_OUT,
    UNVIABLE,
    Change,
    Mutant,
    complaints,
    crates,
    listed,
    read,
)
from scripts.mutants_rust.trial import Cost, run_tests


def test_what_is_listed_is_in_the_code() -> None:
    known = listed()
    assert len(known) > 40
    for change in known:
        name = re.search(r"(?:in |replace )(?:.*::)?(\w+)(?: -> .*| with \(\)|)$", change.change)
        assert name, change
        assert re.search(rf"\bfn {name[1]}\b", (REPOSITORY / change.file).read_text(encoding="utf-8")), change


def test_the_tests_that_are_told_apart_are_there() -> None:
    of = crates()
    names = ["histories", "log", "wire", "core"]
    assert [crate.name for crate in of] == [f"share-state-{name}" for name in names]
    for crate in of:
        folder = REPOSITORY / "rust" / crate.name.removeprefix("share-state-")
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.rs"))
        for name in (*crate.never, *crate.late):
            *modules, function = name.split("::")
            assert all(f"mod {module}" in text for module in modules), name
            assert f"fn {function}" in text, name


CODE = "fn f(a: u8) -> bool {\n    !a.is_two() && a < 1 // ä\n}\n"


@pytest.mark.parametrize(
    ("begins", "ends", "replacement", "line"),
    [
        ((2, 22), (2, 23), "<=", "    !a.is_two() && a  <=  1 // ä"),
        ((2, 5), (2, 6), "", "      a.is_two() && a < 1 // ä"),
        ((2, 5), (2, 25), "true", "     true  // ä"),
    ],
)
def test_a_mutant_changes_its_own_stretch(begins: tuple[int, int], ends: tuple[int, int], replacement: str, line: str) -> None:
    place = {"start": dict(zip(("line", "column"), begins, strict=True)), "end": dict(zip(("line", "column"), ends, strict=True))}
    entry = {"file": "f.rs", "name": "f.rs:2:5: a change in f", "package": "p", "span": place, "replacement": replacement}
    mutant = read(entry)
    assert mutant.change == Change("f.rs", "a change in f")
    assert mutant.applied(CODE) == CODE.replace(CODE.split("\n")[1], line)


CHANGE = Change("f.rs", "replace < with <= in f")


def mutant(column: int = 5, change: str = CHANGE.change) -> Mutant:
    return Mutant("p", f"f.rs:2:{column}: {change}", Change("f.rs", change), (2, column), (2, column + 1), "<=")


@pytest.mark.parametrize(
    ("tried", "made", "known", "expected"),
    [
        ([(mutant(), CAUGHT)], [mutant()], {}, []),
        ([(mutant(), TIMED_OUT)], [mutant()], {}, []),
        ([(mutant(), UNVIABLE)], [mutant()], {}, []),
        ([(mutant(), SURVIVED)], [mutant()], {}, ["survives: "]),
        ([(mutant(), SURVIVED)], [mutant()], {CHANGE: "why"}, []),
        ([(mutant(), CAUGHT)], [mutant()], {CHANGE: "why"}, ["listed, and it is caught: "]),
        ([(mutant(), UNVIABLE)], [mutant()], {CHANGE: "why"}, ["listed, and it is unviable: "]),
        ([], [], {CHANGE: "why"}, ["listed, and there is no such mutant: "]),
        # Two of one name in one function: an entry stands for both, and a part of them says nothing of the rest.
        ([(mutant(), CAUGHT), (mutant(9), SURVIVED)], [mutant(), mutant(9)], {CHANGE: "why"}, []),
        ([(mutant(), CAUGHT)], [mutant(), mutant(9)], {CHANGE: "why"}, []),
        ([(mutant(), CAUGHT), (mutant(9), CAUGHT)], [mutant(), mutant(9)], {CHANGE: "why"}, ["listed, and it is caught: "]),
    ],
)
def test_the_judge_names_what_lives_unlisted_and_what_is_listed_in_vain(
    tried: list[tuple[Mutant, str]], made: list[Mutant], known: dict[Change, str], expected: list[str]
) -> None:
    told = complaints(tried, made, known)
    assert len(told) == len(expected)
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True))
    assert judge([*tried, (mutant(change="another"), CAUGHT)], made, known) == (1 if expected else 0)


def test_no_mutant_is_no_success() -> None:
    assert judge([], [], {}) == 1


ENTRY = '[[lives]]\nfile = "f"\nchange = "a"\n'


@pytest.mark.parametrize("text", [ENTRY, ENTRY + 'reason = " "\n', ENTRY + "reason = 1\n", (ENTRY + 'reason = "x"\n') * 2])
def test_an_entry_has_its_reason_and_is_there_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / LIST.name
    path.write_text(text)
    with pytest.raises(ValueError, match=r"^mutants\.toml: entry"):
        listed(path)


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("print('test a ... ok')", SURVIVED),
        ("print('test a ... ok'); raise SystemExit(101)", CAUGHT),
        # It is not waited for.
        ("import time; print('test a ... FAILED', flush=True); time.sleep(1000)", CAUGHT),
        ("import time; time.sleep(1000)", TIMED_OUT),
        # What cargo says of a test binary that has used up its time.
        ("print('(signal: 24, SIGXCPU: CPU time limit exceeded)'); raise SystemExit(101)", TIMED_OUT),
        ("import signal; signal.signal(signal.SIGXCPU, lambda *_: print('SIGXCPU', flush=True))\nwhile True: pass", TIMED_OUT),
    ],
)
def test_the_first_test_that_fails_catches_it_and_so_does_time(tmp_path: Path, program: str, outcome: str) -> None:
    limits = Cost(cpu=1, clock=1 if "sleep" in program and outcome == TIMED_OUT else 600)
    assert run_tests([sys.executable, "-c", textwrap.dedent(program)], tmp_path, limits) == outcome


@pytest.mark.parametrize(
    "program",
    [
        # What cargo says of a test binary.
        "print('(signal: 15, SIGTERM: termination signal)'); raise SystemExit(101)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_what_somebody_else_ends_is_no_verdict(tmp_path: Path, program: str) -> None:
    with pytest.raises(SystemExit, match="somebody else"):
        run_tests([sys.executable, "-c", program], tmp_path)
