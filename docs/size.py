"""How much disk an installation takes: the plain one, and with each extra of the README's table.

    python docs/size.py [--time]

Counted from what is installed here: the files of every distribution that the requirements lead to, without bytecode.
With `--time` the plain installation is also made once, in an environment that is thrown away, and timed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME = "summeval_nb"
ROOT = Path(__file__).parents[1]
INSTALLS = {"plain": (), "models": ("models",), "llm": ("models", "llm"), "lab": ("models", "llm", "lab")}


def closure(name: str, extras: Iterable[str] = ()) -> dict[str, Distribution | None]:
    """Return what a package with extras needs, itself among it, by name; None for what is not installed here."""
    found: dict[str, Distribution | None] = {}
    seen: set[tuple[str, str]] = set()
    asked = [(canonicalize_name(name), extra) for extra in ("", *extras)]
    while asked:
        package, extra = asked.pop()
        if (package, extra) in seen:
            continue
        seen.add((package, extra))
        try:
            found[package] = held = distribution(package)
        except PackageNotFoundError:
            found[package] = None
            continue
        for line in held.requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                asked += [(canonicalize_name(needed.name), own) for own in ("", *needed.extras)]
    return found


def size_of(held: Distribution) -> int:
    """Return the bytes of a distribution's files; of an editable installation, those of the package."""
    if canonicalize_name(held.name) == canonicalize_name(NAME):
        files = [path for path in (ROOT / NAME).rglob("*") if path.is_file()]
    else:
        files = [path for file in held.files or () if (path := Path(str(held.locate_file(file)))).is_file()]
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc")


def seconds_to_install() -> float:
    """Return how long the plain installation takes from nothing, downloads included where nothing is kept."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = next(Path(folder).glob("[bS]*/python*"))
        words = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-compile", "-c"]
        started = time.monotonic()
        subprocess.run([*words, ROOT / "constraints.txt", ROOT], check=True)
        return time.monotonic() - started


def main() -> None:
    """Print a line for each installation, and the largest packages of the plain one."""
    for label, extras in INSTALLS.items():
        found = closure(NAME, extras)
        sizes = {name: size_of(held) / 1e6 for name, held in found.items() if held is not None}
        missing = sorted(found.keys() - sizes.keys())
        largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
        told = ", ".join(f"{name} {sizes[name]:.0f}" for name in largest)
        print(f"{label:7} {sum(sizes.values()):6,.0f} MB in {len(sizes)} packages ({told})")
        if missing:
            print(f"        not installed here, and not counted: {', '.join(missing)}")
    if "--time" in sys.argv[1:]:
        print(f"the plain installation takes {seconds_to_install():.0f} s from nothing, on this computer")


if __name__ == "__main__":
    main()
