"""How Sphinx turns the notebooks into the site. The pages themselves come from the local extension nbdev_pages."""

import sys
from configparser import ConfigParser
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent)]  # the local extension; this checkout's package
parser = ConfigParser(delimiters=["="], interpolation=None)
parser.read(here.parent / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]

project, release, author, copyright = (settings[key] for key in ("lib_name", "version", "author", "copyright"))
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "nbdev_pages",
]
exclude_patterns = ["_notebooks"]
nitpick_ignore_regex = [("py:.*", r"(?!summeval_nb\b).*")]  # others' names: no site is asked offline

bibtex_bibfiles = ["../nbs/references.bib"]
bibtex_cite_id = "cite-{key}"

nb_execution_mode = "off"  # nbdev_pages brings executed copies
nb_merge_streams = True
nb_ipywidgets_js = {}  # the default is a download
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_inline", "attrs_block", "deflist"]
myst_heading_anchors = 3
mathjax_path = "mathjax/tex-mml-chtml.js"

add_module_names = False
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
_ALIASES = "AnyMetric ArrayLike Corpus EmbedderOrName Grid Judged LabelledRows Labels Ratings Scorers StoreOrPath Table"
autodoc_type_aliases = {name: name for name in _ALIASES.split()}  # which a signature would spell out
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"  # `name` in a docstring: code, and a link where nbdev_pages knows the name

html_theme = "sphinx_book_theme"
html_title = project
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False  # each page offers its own notebook
html_theme_options = {
    "navbar_persistent": [],
    "navbar_end": [],
    "use_download_button": False,
    "repository_url": settings["git_url"],
    "use_repository_button": True,
    "home_page_in_toc": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
