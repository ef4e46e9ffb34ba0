"""Checks the English of pages, docstrings and doc comments; `make lint-docs` runs it.

* Pages: the checks of proselint, sentences of at most 35 words, and the rules below.
* Docstrings and doc comments: the rules of `WORDS`, and no opening of `REFUSED_OPENINGS`, in tests and scripts too.

The rules follow Google's developer documentation style guide: the present tense, the plain word, the subject first. Generated
pages are left out, and so are blocks that programs write into a page.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from proselint import checks
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

REPOSITORY: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from scripts import prose  # noqa: E402  found only now

#: Google's guide asks for fewer than 26; a definition that names fields needs more.
MAX_WORDS: Final = 35
_GENERATED: Final = re.compile(r"^docs/(?:benchmarks[\w-]*|state-machine|gateway-metrics)\.md$")
#: Figures that the benchmarks write, and the tables of fields that repeat the JSON schemas.
_GENERATED_BLOCK: Final = re.compile(
    r"<!-- benchmarks -->[\s\S]*?<!-- end of benchmarks -->|^\| field \| \|\n(?:\|.*\n)+", re.MULTILINE
)
#: Sources whose docstrings and doc comments are read.
_SOURCES: Final = re.compile(r"^(?:python/.*\.py|rust/[^/]*/src/.*\.rs|benches/.*\.(?:py|rs))$")
#: Sources whose doc comments and docstrings are read for how they open.
_OPENING: Final = (".rs", ".py", ".java")
#: Left as they are: the data plane in Rust replaces these files, and their words go with them.
_OPENING_LATER: Final = ("python/share_state/gateway/",)
#: First words that ask or point before they say what the item is or does.
REFUSED_OPENINGS: Final = ("What", "Whether", "How", "Where", "Who", "Whose", "So", "Of", "One", "Those", "Which")
_REFUSED: Final = re.compile(rf"[\s*_\"'“(]*({'|'.join(REFUSED_OPENINGS)})\b", re.IGNORECASE)
#: Checks of proselint that take names and code for prose, or ask for the signs of a typesetter.
_PROSELINT_OFF: Final = (
    "typography",
    "misc.phrasal_adjectives",
    "misc.scare_quotes",
    "misc.capitalization",
    "spelling.consistency",
)


class Rule(NamedTuple):
    """Words to avoid, and the advice."""

    pattern: re.Pattern[str]
    advice: str


class Finding(NamedTuple):
    """A breach of a rule, with its place."""

    line: int
    text: str


def _rule(pattern: str, advice: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), advice)


#: Everywhere.
WORDS: Final = (
    _rule(r"\b(?:(?:at|before|below) (?:or|and)|right|directly|shortly|lies?|comes?|offset|bytes?) behind\b", "write “after”"),
    _rule(r"\bshall\b", "write “must”, or use the present tense"),
    _rule(r"\bfor ever\b", "write “forever” or “without limit”"),
    _rule(r"\b(?:hangs?|hung) on\b", "write “depends on”"),
    _rule(r"\banew\b", "write “again” or “new”"),
    _rule(r"\b(?:therein|thereof|whereupon|herein|hitherto|wherefore|thereupon)\b", "use a plain word"),
)
#: On pages only: words that have their place elsewhere and make a riddle here.
PAGE_WORDS: Final = (
    _rule(
        r"(?<!nobody )\b(?:is|are|was|were) no (?!longer|more|less|different|such|need|one\b|room|way\b|order\b)[a-z]+",
        "write “is not a …”",
    ),
    _rule(
        r"^(?:Whoever|Who|What) (?!is |are |was |were |does |do |happens |happened |has |became |it |changes |differs |else )",
        "begin with the subject",
    ),
    _rule(r"\blets? (?:it|them|that) be\b", "write “leaves it unchanged”"),
    _rule(r"\b(?:is|are|was|were|be) told\b", "write “is reported”"),
    _rule(r"\bof (?:ours|yours|theirs)\b", "write “our” or “your”"),
)


def main() -> int:
    """Print every finding with its place; the exit status is 1 when there is one."""
    names = [name for name in _files() if is_page(name) or _SOURCES.match(name) or must_open_well(name)]
    found = [f"{name}:{finding.line}: {finding.text}" for name in names for finding in check(name)]
    print("".join(f"{line}\n" for line in found), end="", file=sys.stderr)
    if not names:
        print("no file was checked", file=sys.stderr)
    return 1 if found or not names else 0


def is_page(name: str) -> bool:
    """Return true if a file is a page that people write."""
    return name.endswith(".md") and not _GENERATED.match(name)


def must_open_well(name: str) -> bool:
    """Return true if the doc comments and docstrings of a file are read for how they open."""
    return name.endswith(_OPENING) and not name.startswith(_OPENING_LATER)


def check(name: str) -> list[Finding]:
    """Check one file, by its path in the repository."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    if is_page(name):
        return sorted(of_page(text))
    found = [*of_openings(name, text)] if must_open_well(name) else []
    if _SOURCES.match(name):
        paragraphs = prose.of_rust(text) if name.endswith(".rs") else prose.of_python(text)
        found += broken_rules(paragraphs, WORDS)
    return sorted(found)


def of_openings(name: str, text: str) -> Iterator[Finding]:
    """Check how the doc comments and docstrings of a source open."""
    for line, words in prose.openings(name, text):
        if refused := _REFUSED.match(words):
            yield Finding(line, f"“{refused[1]}”: open with a noun phrase or a verb")


def of_page(text: str) -> Iterator[Finding]:
    """Check a page."""
    paragraphs = prose.of_markdown(_GENERATED_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text))
    yield from broken_rules(paragraphs, (*WORDS, *PAGE_WORDS))
    yield from proselint(paragraphs)
    for paragraph in paragraphs:
        for sentence in paragraph.sentences():
            words = len(sentence.split())
            if words > MAX_WORDS:
                yield Finding(paragraph.line, f"a sentence of {words} words, at most {MAX_WORDS}: {sentence[:60]}…")


def broken_rules(paragraphs: list[prose.Paragraph], rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Look for words to avoid."""
    for paragraph in paragraphs:
        for sentence in paragraph.sentences():
            for rule in rules:
                if found := rule.pattern.search(sentence):
                    yield Finding(paragraph.line, f"“{found[0].strip()}”: {rule.advice}")


def proselint(paragraphs: list[prose.Paragraph]) -> Iterator[Finding]:
    """Ask proselint."""
    if not CheckRegistry().checks:
        CheckRegistry().register_many(checks.__register__)
    # The first prefix that fits decides.
    enabled = {
        **dict.fromkeys(_PROSELINT_OFF, False),
        **{name: on for name, on in DEFAULT["checks"].items() if name not in _PROSELINT_OFF},
    }
    # A line between two paragraphs keeps it from reading across, so a paragraph is in every second line.
    text = "\n--\n".join(paragraph.text for paragraph in paragraphs)
    for found in LintFile("page", text).lint({"max_errors": 1000, "checks": enabled}) if text else []:
        name, message = found.check_result.check_path, found.check_result.message
        # Two names in code one after another are no repetition.
        if f"{prose.CODE} {prose.CODE}" not in message:
            yield Finding(paragraphs[found.pos[0] // 2].line, f"{message} (proselint: {name})")


def _files() -> list[str]:
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=REPOSITORY, capture_output=True, check=True)
    return [name for name in listed.stdout.decode("utf-8").split("\0") if (REPOSITORY / name).is_file()]


if __name__ == "__main__":
    sys.exit(main())
