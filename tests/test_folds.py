"""What stands behind a fold is closed until it is opened, and whole."""

from summeval_nb.ground._folds import folded
from summeval_nb.ground.viz import html_table


def test_a_fold_is_closed_and_its_title_is_escaped():
    table = html_table([{"text": "<i>"}])
    page = folded("<b> 30 rows", table)
    assert page.startswith('<details class="se-fold" style=') and page.endswith(f"{table}</details>")
    assert "&lt;b&gt; 30 rows</summary>" in page and "<b>" not in page
    assert '<details class="se-fold" open' in folded("t", table, opened=True)
