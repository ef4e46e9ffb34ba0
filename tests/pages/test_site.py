"""The site of `make docs`, as far as it can be held to without Sphinx: navigation, links, reference, signatures."""

from __future__ import annotations

from pathlib import Path

import pytest

import share_state
from scripts.docs_site import links, nav, reference, stage
from scripts.docs_site.signatures import Signatures, returns_as_field
from tests.pages.pages import pages
from tests.pages.runner import REPOSITORY

STUB = """\
_Word: TypeAlias = int | str
_Words: TypeAlias = list[_Word]
class Store:
    def __new__(cls, path: str, *, sync: str = "always") -> Self: ...
    @property
    def path(self) -> Path: ...
    def read(self, key: Key, /, at: int | None = None) -> list[int]: ...
    @staticmethod
    def repair(path: str) -> None: ...
def scan(path: str, words: _Words | None) -> Scan: ...
"""


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    stage.stage(folder)
    return folder


def test_every_page_is_in_the_navigation_once() -> None:
    named = [page for part in nav.PARTS for page in part.pages]
    assert len(named) == len(set(named)) >= 40
    below = {path for pattern in nav.BELOW.values() for path in REPOSITORY.glob(pattern)}
    assert len(below) >= 16
    for page in pages():
        if page.is_relative_to(REPOSITORY / "docs") or page.parent == REPOSITORY:
            name = str(page.relative_to(REPOSITORY))
            assert name == nav.INDEX or name in named or page in below, name
    assert {page for page in named if page.startswith("reference/")} == {path for path, _ in reference.pages()}


def test_what_the_navigation_names_is_staged(staged: Path) -> None:
    for part in nav.PARTS:
        for page in part.pages:
            assert (staged / page).is_file(), page
    index = (staged / "index.md").read_text(encoding="utf-8")
    assert all(f":caption: {part.caption}\n" in index for part in nav.PARTS)
    assert "../docs/commands.md" in (staged / "reference" / "command-line.md").read_text(encoding="utf-8")


def test_links_lead_to_pages_and_to_sources(staged: Path) -> None:
    index = (staged / "index.md").read_text(encoding="utf-8")
    assert "(docs/wire-and-log-format.md#recovery)" in index
    assert "(docs/decisions/README.md)" in index
    assert "(source/examples/orders-4.4.0.md)" in index
    assert "00000000000000000000.log" not in index
    assert (staged / "source" / "examples" / "orders-4.4.0.md").read_text(encoding="utf-8").startswith("---\norphan: true")
    assert (staged / "docs" / "benchmarks" / "spark.svg").is_file()
    assert "(../source/rust/proof/judge/src/main.rs.md)" in (staged / "docs" / "judge.md").read_text(encoding="utf-8")


def test_code_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "REPOSITORY", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.rs").write_text("fn a() {}\n", encoding="utf-8")
    page = "[`a`](../a.rs) `[b](b.md)` [c](#c) [d](https://example.org/e)\n```text\n[f](f.md)\n```\n[g](page.md#g)\n"
    (tmp_path / "docs" / "page.md").write_text(page, encoding="utf-8")
    linked: set[Path] = set()
    expected = page.replace("../a.rs", "../source/a.rs.md")
    assert stage.relinked("docs/page.md", {"docs/page.md"}, linked) == expected
    assert linked == {tmp_path / "a.rs"}


@pytest.mark.parametrize("target", ["nowhere.md", "../../outside.md", "docs/nowhere.md#place"])
def test_a_link_that_leads_nowhere_stops_the_build(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside.md").write_text("", encoding="utf-8")
    root = tmp_path / "a" / "b"
    root.mkdir(parents=True)
    monkeypatch.setattr(stage, "REPOSITORY", root)
    (root / "page.md").write_text(f"# A page\n\n[a]({target})\n", encoding="utf-8")
    with pytest.raises(stage.BrokenLinkError, match=r"^page\.md:3: .* leads nowhere$"):
        stage.relinked("page.md", {"page.md"}, set())


def test_a_built_site_is_followed(tmp_path: Path) -> None:
    (tmp_path / "crates").mkdir()
    (tmp_path / "crates" / "index.html").write_text('<a href="not looked at">', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here"></a><a href="crates/"></a><a href="a.html#there"></a><a href="b.html"></a>'
        '<a href="https://example.org"></a><link rel="canonical" href="https://example.org">'
        '<link rel="stylesheet" href="https://example.org/a.css"><script src="//example.org/a.js"></script>'
        '<img src="data:,"><img src="none.svg">',
        encoding="utf-8",
    )
    assert list(links.breaches(tmp_path, left_out="crates")) == [
        "a.html: a.html#there is no place there",
        "a.html: b.html is not there",
        "a.html: https://example.org/a.css is fetched from elsewhere",
        "a.html: //example.org/a.js is fetched from elsewhere",
        "a.html: none.svg is not there",
    ]


def test_a_name_that_no_page_tells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    reference.check()
    offered = list(share_state.__all__)
    monkeypatch.setattr(share_state, "__all__", [*offered, "more"])
    with pytest.raises(reference.UntoldNameError, match=r"share_state\.more is told on 0 pages"):
        reference.check()
    monkeypatch.setattr(share_state, "__all__", [name for name in offered if name != "PendingWrites"])
    with pytest.raises(reference.UntoldNameError, match="share_state has no PendingWrites"):
        reference.check()


def test_the_stub_gives_the_types() -> None:
    signatures = Signatures(STUB)
    assert signatures.of_call("Store") == ("(path: str, *, sync: str='always')", None)
    assert signatures.of_call("Store.read") == ("(key: Key, /, at: int | None=None)", "list[int]")
    assert signatures.of_call("Store.repair") == ("(path: str)", "None")
    assert signatures.of_call("scan") == ("(path: str, words: list[int | str] | None)", "Scan")
    assert signatures.of_call("Store.write") is None
    assert signatures.of_property("Store.path") == "Path"
    assert signatures.of_property("Store.read") is None


def test_words_before_a_colon_are_no_type() -> None:
    lines = ["Reads.", "", "Returns:", "    The states: one", "    each.", "", "Raises:", "    OSError: no."]
    returns_as_field(lines)
    assert lines == ["Reads.", "", ":returns: The states: one", "    each.", "", "Raises:", "    OSError: no."]
    lines = ["Reads."]
    returns_as_field(lines)
    assert lines == ["Reads."]
