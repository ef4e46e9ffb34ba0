"""Checks a built site: every link inside it leads somewhere, and nothing is fetched from elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser fetches by itself, unlike a link that is followed.
_FETCHED = frozenset({("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")})
#: `<link>` that names a place and fetches nothing.
_NAMED = frozenset({"canonical", "next", "prev", "index", "search", "author", "license"})


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[tuple[str, bool]] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        for key in ("id", "name"):
            if told.get(key):
                self.anchors.add(str(told[key]))
        for key in ("href", "src"):
            if (value := told.get(key)) is not None:
                fetched = (tag, key) in _FETCHED and not (tag == "link" and str(told.get("rel")) in _NAMED)
                self.targets.append((value, fetched))


def breaches(site: Path, *, left_out: str) -> Iterator[str]:
    """All that is wrong; pages below the folder `left_out` are linked to, and not looked at."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] != left_out}
    for path, page in pages.items():
        for target, fetched in page.targets:
            where = f"{path.relative_to(site)}: {target}"
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if fetched and parts.scheme != "data":
                    yield f"{where} is fetched from elsewhere"
                continue
            found = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            found = found / "index.html" if found.is_dir() else found
            if not found.is_file():
                yield f"{where} is not there"
            elif parts.fragment and found in pages and unquote(parts.fragment) not in pages[found].anchors:
                yield f"{where} is no place there"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
