"""The way in for `summeval` and `python -m summeval_nb`: Ctrl-C is heeded from the first moment on.

In the middle of an import it would end in a traceback. So before the command runs, and after it, it leaves at once.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def _leave(*_: object) -> NoReturn:
    os.write(2, b"summeval: interrupted\n")
    os._exit(130)


def main() -> None:
    """Run the command line, as `summeval_nb.cli.main` does, and leave with its exit code."""
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a background job is started deaf to it
    heed = signal.signal if heeds else lambda *_: None
    heed(signal.SIGINT, _leave)
    try:
        from summeval_nb import cli, shell

        heed(signal.SIGINT, shell.interrupt)
        cli.main()
    except KeyboardInterrupt:  # in the instant before the command's own handling, or after it
        _leave()
    except SystemExit as left:
        if left.code == 130:  # all is said and closed, and Python's own way out takes a second where torch is loaded
            sys.stdout.flush()
            os._exit(130)
        raise
    finally:
        heed(signal.SIGINT, _leave)


if __name__ == "__main__":
    main()
