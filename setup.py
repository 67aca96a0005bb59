"""Reads settings.ini, the one place where names, versions and requirements are kept."""

import re
import shutil
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="], interpolation=None)
parser.read(here / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]

EXTRAS = ("models", "careful", "llm", "stanza", "splitters", "hub", "parquet", "ray", "chrf", "fast", "languages")
EXTRAS += ("lab", "docs", "dev")
extras = {name: settings[f"{name}_requirements"].split() for name in EXTRAS}
extras["all"] = sorted({one for name in EXTRAS if name not in ("docs", "dev") for one in extras[name]})

# A package index shows the README alone, so what it links to is named by where it lies in the repository.
repository, branch = settings["git_url"], settings["branch"]
page = (here / "README.md").read_text(encoding="utf-8")
page = re.sub(r"\]\((?=[\w./-]+\.png\))", f"]({repository}/raw/{branch}/", page)
page = re.sub(r"\]\((?=[\w./-]+(?:#[\w-]+)?\))", f"]({repository}/blob/{branch}/", page)


class BuildWithBook(build_py):
    """A wheel carries the pages of nbs/ as summeval_nb/book; an editable installation reads them where they lie."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        notebooks, book = here / "nbs", Path(self.build_lib, "summeval_nb", "book")
        shutil.rmtree(book, ignore_errors=True)  # what an earlier build left
        for page in [*notebooks.rglob("*.ipynb"), *notebooks.rglob("*.md")]:
            place = page.relative_to(notebooks)
            if not any(part.startswith((".", "_")) for part in place.parts):
                (book / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, book / place)


setup(
    cmdclass={"build_py": BuildWithBook},
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=page,
    long_description_content_type="text/markdown",
    author=settings["author"],
    author_email=settings["author_email"],
    url=settings["git_url"],
    license_expression="Apache-2.0",
    keywords=settings["keywords"],
    package_dir={"": "."},  # makes an editable installation a plain path, which editors and type checkers follow
    packages=find_namespace_packages(include=["summeval_nb", "summeval_nb.*"]),
    package_data={"summeval_nb": ["*.pyi", "*/*.pyi", "py.typed", "assets/*", "assets/*/*"]},
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    entry_points={"console_scripts": settings["console_scripts"].split("\n")},
    zip_safe=False,
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Natural Language :: English",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
    ],
)
