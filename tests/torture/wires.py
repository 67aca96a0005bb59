"""What lies between a client and its server: encodings that nobody asked for, and proxies of the environment."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import resource
import socketserver
import threading
import time
import zlib
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from summeval_nb.models.base import BackendError
from summeval_nb.models.server import ServerBackend

from ..servers.misbehaving import Handler, MisbehavingServer, true_probability
from . import corpus
from .harness import Wrong
from .servers import OPTIONS, judge_answer

SECONDS = 20  # for one question, which may take four: the machine may be busy
MORE_MEMORY = 300 << 20  # bytes that a reply of some kB may take
MEGABYTES = 500  # that the largest reply unfolds to
NAMED = ["gzip", "deflate", "br", "zstd", "gzip, gzip", "gzip, deflate", "identity", "compress", "x-gzip", "zzq"]


@cache
def bomb(layers: int, megabytes: int) -> bytes:
    """Zeros, packed by gzip once or several times: some kB that unfold to hundreds of MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()
    for _ in range(layers - 1):
        data = gzip.compress(data, 9)
    return data


class Encoding(Handler):
    """Answers in an encoding, or says so and does not; the answer within is a good one, or a bomb."""

    encoding, content = "identity", "good"

    def send_answer(self, behaviour: str, content: bytes) -> None:
        data = {"good": content, "gzip": gzip.compress(content), "bomb": bomb(1, MEGABYTES)}
        data["bomb of bombs"] = bomb(2, MEGABYTES)
        self.send_whole(200, data[self.content], "application/json", Content_Encoding=self.encoding)


def encodings(rng: random.Random, folder: Path) -> None:
    """A reply in an encoding that was not asked for: its answer or a typed error, soon, and in little memory."""
    content = rng.choice(["good", "gzip", "bomb", "bomb of bombs"])
    encoding = rng.choice(["gzip", "gzip, gzip", "x-gzip"] * content.startswith("bomb") + NAMED)
    handler = type("Chosen", (Encoding,), {"encoding": encoding, "content": content})
    what, prompt = f"{content} called {encoding!r}", f"Well? {rng.random()}"
    bomb(1, MEGABYTES), bomb(2, MEGABYTES)  # made before anything is measured
    with MisbehavingServer(dialect=rng.choice(["llamacpp", "vllm", "openai"]), also_probe=True) as server:
        server.RequestHandlerClass = handler
        before, start = _peak(reset=True), time.monotonic()
        answer = ask(server, prompt)
        took, more = time.monotonic() - start, _peak() - before
    judge_answer({true_probability(prompt)}, answer, what)
    if took > SECONDS:
        raise Wrong(f"{what}: {took:.0f} s", "an encoding holds its client")
    if more > MORE_MEMORY:
        raise Wrong(f"{what}: {more >> 20} MB more than before", "an encoding fills the memory")


def _peak(*, reset: bool = False) -> int:
    """The most bytes of memory that this process held, since it began or since the last reset."""
    with contextlib.suppress(OSError):  # a system that has no such files counts from the beginning
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10  # which Linux counts in kB


def ask(server: MisbehavingServer, prompt: str) -> object:
    """What comes of one question: an answer, or whatever error."""
    try:
        limits: dict[str, Any] = {"timeout": 1.5, "total_timeout": 4.0, "max_retries": 0}
        backend = ServerBackend("scripted", base_url=server.url, api_key="sk-zzq-secret", **limits)
        return backend.choose_many([prompt], OPTIONS)[0]
    except BackendError as error:
        return error


class Proxy(socketserver.ThreadingTCPServer):
    """A proxy that somebody set for the whole machine: it counts who connects, and hangs up."""

    daemon_threads, met = True, 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.met += 1
        self.shutdown_request(request)


def proxies(rng: random.Random, folder: Path) -> None:
    """A proxy in the environment: a server on this machine is asked without it, and answers."""
    names = rng.sample([f"{kind}_proxy" for kind in ("http", "all", "https")], rng.randint(1, 3))
    names = [rng.choice([name, name.upper()]) for name in names]
    scheme = rng.choice(["http", "http", "https", "socks5", "socks5h", "socks4", "ftp", ""])
    found = Proxy(("127.0.0.1", 0), socketserver.BaseRequestHandler)
    with found, MisbehavingServer(dialect=rng.choice(["llamacpp", "vllm", "openai"])) as server:
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        address = f"{scheme}://zzq:sk-zzq-secret@127.0.0.1:{found.server_address[1]}"
        address = address.removeprefix("://") if rng.random() < 0.9 else corpus.text(rng)[:40].replace("\x00", "_")
        settings = dict.fromkeys(names, address.encode("utf-8", "replace").decode())
        if rng.random() < 0.5:
            names = rng.choice(["no_proxy", "NO_PROXY"])
            settings[names] = rng.choice(["", "localhost", "example.org", "[::1]", "*"])
        if rng.random() < 0.3:
            settings[rng.choice(["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"])] = "/nonexistent.pem"
        prompt = f"Well? {rng.random()}"
        with mock.patch.dict(os.environ, settings):
            answer = ask(server, prompt)
        found.shutdown()
    if found.met:
        what = f"{settings}: {found.met} requests to 127.0.0.1 reached the proxy"
        raise Wrong(what, "a proxy gets what is for this machine")
    judge_answer({true_probability(prompt)}, answer, f"{settings}")
    if isinstance(answer, BackendError) and scheme == "http" and not any("SSL" in setting for setting in settings):
        raise Wrong(f"{settings}: {answer!r}", "a proxy keeps a server of this machine from answering")
