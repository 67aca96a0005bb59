"""Fail if the exported package differs from the notebooks, or a notebook holds outputs."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def digest() -> dict[str, str]:
    """Hash of every file that an export or a clean may rewrite."""
    files = [*ROOT.glob("nbs/**/*.ipynb"), *ROOT.glob("summeval_nb/**/*.py")]
    kept = (path for path in files if ".ipynb_checkpoints" not in path.parts and path.name != "_modidx.py")
    return {str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def main() -> int:
    before = digest()
    env = {name: value for name, value in os.environ.items() if name != "IN_TEST"}
    for command in ("nbdev_clean", "nbdev_export"):
        subprocess.run([str(Path(sys.executable).with_name(command))], cwd=ROOT, env=env, check=True)
    after = digest()
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        print("not in sync, rewritten just now; look at the change and commit it:", *changed, sep="\n  ")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
