"""Builds the site: `python -m scripts.docs_site FOLDER --crates FOLDER`, the second made by `cargo doc`.

The pages are staged beside FOLDER, built by Sphinx with warnings as errors, and then each link of the result is followed.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

import share_state
from scripts.docs_site import links, reference, stage

#: Folder of the pages of `cargo doc` in the site.
CRATES = "crates"

CONFIGURATION = {
    "project": "share_state",
    "author": "the authors of share_state",
    "version": share_state.__version__,
    "release": share_state.__version__,
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "scripts.docs_site.signatures"],
    "html_theme": "furo",
    "html_title": f"share_state {share_state.__version__}",
    "html_copy_source": False,
    "html_show_sphinx": False,
    "myst_heading_anchors": 6,
    "default_role": "code",
    "add_module_names": False,
    "autodoc_typehints": "signature",
    "autodoc_member_order": "bysource",
    "autodoc_mock_imports": ["matplotlib"],
    "maximum_signature_line_length": 100,
    "napoleon_numpy_docstring": False,
    # Attributes are told with their class, and once.
    "napoleon_use_ivar": True,
    # A block may show a part of a text. Sphinx takes the name of an attribute for a reference to any attribute of that name; the
    # links of the site are followed afterwards.
    "suppress_warnings": ["misc.highlighting_failure", "ref.python"],
}


def build(site: Path) -> int:
    """Stage and build, and return the exit status of Sphinx."""
    work = site.parent
    source = work / "source"
    stage.stage(source)
    shutil.rmtree(site, ignore_errors=True)
    app = Sphinx(
        srcdir=source,
        confdir=None,
        outdir=site,
        doctreedir=work / "doctrees",
        buildername="html",
        confoverrides=CONFIGURATION,
        status=None,
        warningiserror=True,
    )
    app.build(force_all=True)
    return int(app.statuscode)


def main(arguments: list[str]) -> int:
    """Build the site; the exit status is 1 when anything is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--crates", type=Path, required=True, help="what cargo doc has made")
    options = parser.parse_args(arguments)
    site = options.site.resolve()
    try:
        status = build(site)
    except (SphinxError, stage.BrokenLinkError, reference.UntoldNameError) as error:
        print(error, file=sys.stderr)
        return 1
    shutil.copytree(options.crates, site / CRATES)
    wrong = list(links.breaches(site, left_out=CRATES))
    for breach in wrong:
        print(breach, file=sys.stderr)
    if status or wrong:
        return 1
    pages = sum(1 for _ in site.rglob("*.html"))
    print(f"{pages} pages in {os.path.relpath(site)}, open index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
