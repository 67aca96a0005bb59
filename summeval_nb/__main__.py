"""The way in for `summeval` and `python -m summeval_nb`: Ctrl-C is heeded from the first moment on.

A KeyboardInterrupt in the middle of an import ends in a traceback, or, inside a library that catches everything, in
some other error. So until the command itself runs, and after it, Ctrl-C leaves at once: there is nothing to be saved.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"summeval: interrupted\n")
    os._exit(130)


def main() -> NoReturn:
    """Run the command line, as `summeval_nb.cli.main` does, and leave with its exit code."""
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a background job is started deaf to it
    if heeds:
        signal.signal(signal.SIGINT, _leave)
    from summeval_nb import cli, shell

    try:
        if heeds:
            signal.signal(signal.SIGINT, shell.interrupt)
        cli.main()
    except KeyboardInterrupt:  # in the instant before the command's own handling, or after it
        _leave(signal.SIGINT, None)
    finally:
        if heeds:
            signal.signal(signal.SIGINT, _leave)


if __name__ == "__main__":
    main()
