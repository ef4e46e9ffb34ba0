"""Lays the pages out for Sphinx: as they lie in the repository, and beside them the sources that they link to."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from scripts.docs_site import nav, reference

REPOSITORY = Path(__file__).resolve().parents[2]
#: A code span, which may be the text of a link, or the target of a link.
_TARGET = re.compile(r"`[^`\n]*`|(?<=\]\()(?P<target>[^)\s]+)(?=\))")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_OUT = re.compile(r"[a-z][a-z0-9+.-]*:")
_PICTURES = frozenset({".svg", ".png"})
_LANGUAGES = {".rs": "rust", ".py": "python", ".pyi": "python", ".toml": "toml", ".java": "java", ".sh": "bash", ".json": "json"}
_HIDDEN = "---\norphan: true\nnosearch: true\n---\n\n"


class BrokenLinkError(Exception):
    """A page links to what is not there."""


def stage(folder: Path) -> None:
    """Lay out everything anew."""
    shutil.rmtree(folder, ignore_errors=True)
    made = dict(reference.pages())
    pages = [nav.INDEX, *dict.fromkeys([*_in_nav(made), *_tracked("docs/*.md")])]
    linked: set[Path] = set()
    for page in pages:
        _write(folder / _place(page), relinked(page, set(pages), linked) + (_contents() if page == nav.INDEX else _below(page)))
    for path, text in made.items():
        _write(folder / path, text)
    for picture in _tracked("docs/*.svg", "docs/*.png"):
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / picture, folder / picture)
    for source in sorted(linked):
        _write(folder / _source_page(source), _source(source, folder))


def _in_nav(made: dict[str, str]) -> Iterator[str]:
    for part in nav.PARTS:
        for page in part.pages:
            if page not in made:
                yield page


def _tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True, encoding="utf-8").stdout
    return sorted(name for name in listed.split("\0") if name and (REPOSITORY / name).is_file())


def _place(page: str) -> str:
    return "index.md" if page == nav.INDEX else page


def _source_page(source: Path) -> str:
    return f"source/{source.relative_to(REPOSITORY)}.md"


def relinked(page: str, pages: set[str], linked: set[Path]) -> str:
    """Return the text of a page, its links turned to where things are in the site; `linked` takes the sources it links to."""
    lines: list[str] = []
    fence = ""
    for number, line in enumerate((REPOSITORY / page).read_text(encoding="utf-8").splitlines(), start=1):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        where = f"{page}:{number}"
        lines.append(line if fence or mark else _TARGET.sub(partial(_link, where=where, pages=pages, linked=linked), line))
    return "\n".join(lines) + "\n"


def _link(found: re.Match[str], where: str, pages: set[str], linked: set[Path]) -> str:
    target = found["target"]
    if target is None or _OUT.match(target) or target.startswith("#"):
        return found[0]
    path, _, anchor = target.partition("#")
    page = where.rpartition(":")[0]
    absolute = (REPOSITORY / page).parent.joinpath(path).resolve()
    if not absolute.exists() or REPOSITORY not in [absolute, *absolute.parents]:
        raise BrokenLinkError(f"{where}: {target} leads nowhere")
    name = str(absolute.relative_to(REPOSITORY))
    if absolute.suffix in _PICTURES:
        return target
    readme = f"{name}/README.md"
    if name not in pages and readme in pages:
        name = readme
    if name in pages:
        placed = _place(name)
    else:
        linked.add(absolute)
        placed, anchor = _source_page(absolute), ""
    relative = os.path.relpath(placed, Path(_place(page)).parent)
    return f"{relative}#{anchor}" if anchor else relative


def _source(source: Path, folder: Path) -> str:
    """Return a page that shows a file, or what is in a folder."""
    head = f"{_HIDDEN}# {source.relative_to(REPOSITORY)}\n\n"
    if source.is_dir():
        names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in source.iterdir() if path.name != "__pycache__")
        return f"{head}```text\n" + "\n".join(names) + "\n```\n"
    try:
        source.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"{head}{source.stat().st_size} bytes, no text.\n"
    language = _LANGUAGES.get(source.suffix, "text")
    path = "/" + os.path.relpath(source, folder)
    return f"{head}```{{literalinclude}} {path}\n:language: {language}\n:linenos:\n```\n"


def _contents() -> str:
    return "".join(_toctree(part.caption, list(part.pages)) for part in nav.PARTS)


def _below(page: str) -> str:
    if page not in nav.BELOW:
        return ""
    return _toctree("", [os.path.relpath(name, Path(page).parent) for name in _tracked(nav.BELOW[page])])


def _toctree(caption: str, pages: list[str]) -> str:
    told = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{told}\n" + "\n".join(map(_entry, pages)) + "\n```\n"


def _entry(page: str) -> str:
    return f"{nav.TITLES[page]} <{page}>" if page in nav.TITLES else page


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
