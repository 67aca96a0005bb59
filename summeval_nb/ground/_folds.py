# A plain private module: edited directly, exported by no notebook, tested in tests/test_folds.py.
"""What a reader need not see at once, behind a line that opens: in JupyterLab, on the site and in a page of ours."""

from __future__ import annotations

from summeval_nb.ground.viz import Markup, render


def folded(title: str, body: Markup, *, opened: bool = False) -> Markup:
    """Return HTML of ours behind its title, which is escaped."""
    return render("fold.html", title=title, body=body, opened=opened)
