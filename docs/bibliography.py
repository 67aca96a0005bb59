"""Write nbs/bibliography.md, the readable form of nbs/references.bib: one entry for each work, headed by its key.

    python docs/bibliography.py

A chapter links to an entry: `[Lin (2004)](../bibliography.md#lin2004)`. JupyterLab shows a Markdown file that is linked
rendered, at the heading. The site makes citations of these links, and a bibliography that says who cites what.
"""

from __future__ import annotations

import sys

from execute import NOTEBOOKS
from pybtex.database import parse_file
from pybtex.plugin import find_plugin

SOURCE, TARGET = NOTEBOOKS / "references.bib", NOTEBOOKS / "bibliography.md"
HEAD = """# Bibliography

The works that the book cites, in the order of the first author's name and the year.
"""


def bibliography() -> str:
    """Return the page: a heading and a formatted entry for each work, in the order of the keys."""
    works, backend = parse_file(SOURCE), find_plugin("pybtex.backends", "markdown")()
    entries = find_plugin("pybtex.style.formatting", "unsrt")().format_entries(works.entries.values(), works)
    return HEAD + "".join(f"\n## {entry.key}\n\n{entry.text.render(backend)}\n" for entry in entries)


if __name__ == "__main__":
    TARGET.write_text(bibliography(), encoding="utf-8")
    sys.exit(0)
