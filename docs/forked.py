"""One process that has imported the large libraries and calculated nothing; kernels for notebooks are forked from it.

`execute.py` starts it. Each line that it reads is an order: a folder, an environment and a kernel's arguments, in JSON.
It answers with the process id of the kernel. Nothing of the package is imported here: a kernel imports that by itself.
"""

import builtins
import contextlib
import gc
import importlib
import json
import os
import signal
import sys

from ipykernel.kernelapp import IPKernelApp
from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

# pyplot is left out: it chooses how to draw when it is imported, and asks the kernel for that.
LIBRARIES = (
    *("torch", "scipy.stats", "pandas", "matplotlib.figure", "transformers", "sentence_transformers"),
    *("sklearn.metrics", "nltk", "sacrebleu", "pydantic", "openai", "jinja2"),
)


def run_kernel(order: dict) -> None:
    """Be the kernel that an order asks for, as if this process had been started for it."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    os.chdir(order["folder"])
    IPKernelApp.launch_instance(argv=[*order["arguments"], f"--IPKernelApp.parent_handle={os.getppid()}"])


def import_libraries() -> None:
    """Import as a notebook would: pandas and tqdm ask at their import whether they stand in one, and keep that."""
    shell = InteractiveShell.__new__(InteractiveShell)
    shell.config, shell.kernel = Config({"IPKernelApp": {}}), None
    InteractiveShell._instance = shell
    builtins.get_ipython = get_ipython
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):  # the plain installation has fewer
            importlib.import_module(name)
    InteractiveShell._instance = None
    del builtins.get_ipython


def main() -> None:
    """Import, then fork a kernel for every line, until there are no more."""
    del sys.path[0]  # this folder
    import_libraries()
    gc.freeze()  # what is shared stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels that end are nobody's to wait for
    while line := sys.stdin.readline():
        if not (child := os.fork()):
            run_kernel(json.loads(line))
            return
        print(child, flush=True)


if __name__ == "__main__":
    main()
