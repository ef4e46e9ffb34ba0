"""The list of mutants that live: it is of the code as it is, and the judge of `make mutants-python` can say no."""

import ast
import json
from pathlib import Path

import pytest

from scripts.mutants_python.known import LIST, Change, complaints, listed
from scripts.mutants_python.results import (
    CAUGHT,
    LIVES,
    NO_TYPES,
    TIMED_OUT,
    UNTESTED,
    UNTRIED,
    WORDS,
    Mutant,
    is_about_words,
    means_the_same,
    mutants,
)

SOURCES = Path(__file__).parents[2] / "python"


def function_of(name: str) -> str:
    """The source of `share_state.kafka.module.Class.method`."""
    parts = name.split(".")
    path = next(
        path for size in range(len(parts), 0, -1) if (path := SOURCES.joinpath(*parts[:size]).with_suffix(".py")).is_file()
    )
    text = path.read_text()
    node: ast.AST = ast.parse(text)
    for part in parts[len(path.relative_to(SOURCES).parts) :]:
        node = next(child for child in ast.iter_child_nodes(node) if getattr(child, "name", None) == part)
    return ast.get_source_segment(text, node) or ""


def test_what_is_listed_is_in_the_code() -> None:
    known = listed()
    for change in known:
        lines = {line.strip() for line in function_of(change.function).splitlines()}
        head = [line for line in change.was.splitlines() if line.startswith("(")]
        missing = [line for line in change.was.splitlines() if line not in lines and line not in head]
        assert not missing, (change, missing)


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ('raise ValueError("a frame is short")', 'raise ValueError("XXa frame is shortXX")', True),
        ('raise ValueError("a frame is short")', 'raise ValueError("A FRAME IS SHORT")', True),
        ('raise ValueError("a frame is short")', "raise ValueError(None)", False),
        ('x = one["field"]', 'x = one["FIELD"]', False),
        ('_LOG.info("%r left", peer)', '_LOG.info("%r left", None)', True),
        ('_LOG.info("%r left", peer)', '_LOG.info("%r left", )', True),
        ("x = 1 + 2", "x = 1 - 2", False),
        ('x = f("one two", 1)', 'x = f("one two", 2)', False),
        ('x = f("one two", 1)', 'x = f("one two", )', False),
        ('x = " "', 'x = "XX XX"', False),
        ("x = 1", "x = 1\n    y = 2", False),
    ],
)
def test_words_are_prose_and_the_log_and_nothing_else(was: str, now: str, words: bool) -> None:
    assert is_about_words(f"def f(one, peer):\n    {was}\n", f"def f__mutmut_1(one, peer):\n    {now}\n") is words


@pytest.mark.parametrize(
    ("was", "now", "same"),
    [
        ("x = zip(a, b, strict=True)", "x = zip(a, b, strict=False)", True),
        ("for x in zip(a, b, strict=True):\n        f(x)", "for x in zip(a, b, ):\n        f(x)", True),
        ("x = zip(a, b, strict=True)", "x = zip(a, None, strict=True)", False),
        ("x = sorted(a, reverse=True)", "x = sorted(a, reverse=False)", False),
        ('x = a.to_bytes(4, "big")', "x = a.to_bytes(4, )", True),
        ('x = a.to_bytes(4, "big")', 'x = a.to_bytes(5, "big")', False),
        ('x = a.to_bytes(4, "little")', "x = a.to_bytes(4, )", False),
        ('x = a.decode("ascii")', 'x = a.decode("ASCII")', True),
        ('x = a.decode("ascii")', 'x = a.decode("XXasciiXX")', False),
        ('x = a.lookup("ascii")', 'x = a.lookup("ASCII")', False),
    ],
)
def test_another_way_to_write_a_call_is_no_mutant(was: str, now: str, same: bool) -> None:
    assert means_the_same(f"def f(a, b):\n    {was}\n", f"def f__mutmut_1(a, b):\n    {now}\n") is same


def test_a_changed_default_is_no_word() -> None:
    assert not is_about_words("def f(a=1):\n    return a\n", "def f_1(a=2):\n    return a\n")
    assert is_about_words('def f(a="so it is"):\n    return a\n', 'def f_1(a="SO IT IS"):\n    return a\n')


CHANGE = Change("share_state.kafka.framing.f", "a < b", "a <= b")


def mutant(verdict: str, function: str = "f", was: str = "a < b") -> Mutant:
    return Mutant(
        f"share_state.kafka.framing.x_{function}__mutmut_1", f"share_state.kafka.framing.{function}", was, "a <= b", verdict
    )


OTHER = mutant(CAUGHT, "g")


@pytest.mark.parametrize(
    ("tried", "made", "known", "expected"),
    [
        ([mutant(CAUGHT), mutant(TIMED_OUT), mutant(NO_TYPES), mutant(WORDS)], [], {}, []),
        ([mutant(LIVES)], [], {}, ["lives: "]),
        ([mutant(UNTESTED)], [], {}, ["untested: "]),
        ([mutant("status 139")], [], {}, ["status 139: "]),
        ([mutant(LIVES)], [mutant(LIVES)], {CHANGE: "why"}, []),
        ([mutant(LIVES, was="a < c")], [], {CHANGE: "why"}, ["lives: "]),
        ([mutant(CAUGHT)], [mutant(CAUGHT)], {CHANGE: "why"}, ["listed as living, and it is caught: "]),
        # A sample does not try all that may live; what was made says whether there is such a mutant.
        ([OTHER], [OTHER, mutant(UNTRIED)], {CHANGE: "why"}, []),
        ([OTHER], [OTHER], {CHANGE: "why"}, ["listed, and there is no such mutant: "]),
        ([OTHER], [OTHER], {Change("share_state.kafka.calls.f", "a < b", "a <= b"): "why"}, []),
    ],
)
def test_the_judge_names_what_lives_unlisted_and_what_is_listed_in_vain(
    tried: list[Mutant], made: list[Mutant], known: dict[Change, str], expected: list[str]
) -> None:
    told = complaints(tried, made, known)
    assert len(told) == len(expected)
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True))


ENTRY = '[[mutant]]\nfunction = "f"\nwas = "a"\nnow = "b"\n'


@pytest.mark.parametrize("text", [ENTRY, ENTRY + 'why = " "\n', ENTRY + "why = 1\n", (ENTRY + 'why = "x"\n') * 2])
def test_an_entry_has_its_reason_and_is_there_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / LIST.name
    path.write_text(text)
    with pytest.raises(ValueError, match=r"^known\.toml: entry"):
        listed(path)


def test_what_mutmut_leaves_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "mutants" / "share_state" / "kafka"
    folder.mkdir(parents=True)
    method = "xǁClassǁgo__mutmut"
    source = [
        "class Class:",
        f"    def {method}_orig(self, a):",
        "        return a < 1",
        f"    def {method}_1(self, a):",
        "        return a <= 1",
        "def x_f__mutmut_orig(a=1):",
        "    return a",
        "def x_f__mutmut_1(a=2):",
        "    return a",
    ]
    (folder / "m.py").write_text("\n".join(source))
    spans = {f"{method}_orig": [2, 3], f"{method}_1": [4, 5], "x_f__mutmut_orig": [6, 7], "x_f__mutmut_1": [8, 9]}
    (folder / "m.py.spans").write_text(json.dumps({"version": 1, "spans": spans}))
    module = "share_state.kafka.m"
    codes = {f"{module}.{method}_1": 0, f"{module}.x_f__mutmut_1": -24}
    (folder / "m.py.meta").write_text(json.dumps({"exit_code_by_key": codes}))
    assert list(mutants(tmp_path)) == [
        Mutant(f"{module}.{method}_1", f"{module}.Class.go", "return a < 1", "return a <= 1", LIVES),
        Mutant(f"{module}.x_f__mutmut_1", f"{module}.f", "(a=1):", "(a=2):", TIMED_OUT),
    ]
