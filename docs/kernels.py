"""Kernels for notebooks, forked from one process (`forked.py`) that has imported the large libraries."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Dict

FORKED = Path(__file__).with_name("forked.py")


class Forked:
    """A process that was forked by another one, with what a kernel's manager asks of a `Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._handle = None

    def poll(self) -> int | None:
        """Return None while it runs, 0 when it has ended."""
        return None if self._handle is not None and not select.select([self._handle], [], [], 0)[0] else 0

    def wait(self) -> int:
        """Wait for its end."""
        if self._handle is not None:
            select.select([self._handle], [], [])
            os.close(self._handle)
            self._handle = None
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self._handle is not None:
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class ForkedKernel(LocalProvisioner):
    """A kernel that `forked.py` forks: the large libraries, which took longer than the cells, are imported once."""

    shared = Dict(help="the environment of the process from which kernels are forked")
    _lock = Lock()
    _parent: subprocess.Popen[str] | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        """Fork a kernel; its arguments are those behind `-m ipykernel_launcher`."""
        order = {"folder": str(kwargs["cwd"]), "environment": kwargs["env"], "arguments": cmd[3:]}
        self.process = Forked(self._fork(order, dict(self.shared)))
        self.pid = self.pgid = self.process.pid
        return self.connection_info

    @classmethod
    def _fork(cls, order: dict[str, Any], environment: dict[str, str]) -> int:
        with cls._lock:
            if cls._parent is None or cls._parent.poll() is not None:
                del environment["PYTHONPATH"]  # a kernel's own: nothing of the package is imported before
                command, pipe = [sys.executable, str(FORKED)], subprocess.PIPE
                cls._parent = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
            cls._parent.stdin.write(f"{json.dumps(order)}\n")
            cls._parent.stdin.flush()
            return int(cls._parent.stdout.readline())
