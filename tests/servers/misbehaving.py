"""A small server of OpenAI's protocol over real HTTP that misbehaves on request.

`behave` is asked for each question (not for the probe, unless `also_probe`) and names one of `BEHAVIOURS` (see
behaviours.py). Of constraints it obeys those of its dialect, and JSON schemas. When it behaves, the probability of an
option is a pure function of the prompt, so that any two runs can be compared.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .behaviours import BEHAVIOURS, CHANGED, WIRED

PROBE = "Write one short sentence about the weather."
FRAME = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}


def true_probability(prompt: str) -> float:
    """What the server believes about a prompt: the probability of its first option, in (0.05, 0.95)."""
    return 0.05 + 0.9 * int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big") / 2**32


def completion(pieces: list[str], tops: list[list[tuple[str, float]]] | None, **message: Any) -> dict[str, Any]:
    """An answer of these tokens, with the probabilities at the place of each."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    choice["message"] = {"role": "assistant", "content": "".join(pieces) if pieces else None, **message}
    if tops is not None:
        content = []
        for text, top in zip(pieces, tops, strict=True):
            entries = [{"token": t, "logprob": math.log(p), "bytes": list(t.encode())} for t, p in top]
            chosen = next(entry for entry in entries if entry["token"] == text)
            content.append({**chosen, "top_logprobs": entries})
        choice["logprobs"] = {"content": content}
    usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
    return {**FRAME, "choices": [choice], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    server: MisbehavingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.headers_seen.append(dict(self.headers))
            self.server.paths_seen.append(self.path)
            if prompt != PROBE or self.server.also_probe:
                number = len(self.server.questions)
                self.server.questions.append(body)
                behaviour = self.server.behave(number, prompt)
            else:
                behaviour = "ok"
        try:
            self.answer(behaviour, body, prompt)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send_whole(self, status: int, content: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def answer(self, behaviour: str, body: dict[str, Any], prompt: str) -> None:
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        refusals = {
            "400": (400, "grammar is not supported"),
            "401": (401, f"Incorrect API key provided: {key}"),
            "404": (404, f"The model {body['model']} does not exist"),
            "429": (429, "slow down"),
            "500": (500, "internal trouble"),
            "too_long": (400, "The maximum context length is 4096 tokens, yours has 5,120 tokens."),
            "error_in_200": (200, "worker died"),
        }
        wait, where = self.server.retry_after, self.server.elsewhere or self.server.url + "/x"
        if behaviour in refusals:
            status, message = refusals[behaviour]
            said = json.dumps({"error": {"message": message}}).encode()
            return self.send_whole(status, said, "application/json", **{"Retry_After": wait} if status == 429 else {})
        if behaviour == "html":
            return self.send_whole(200, b"<html><body>Welcome to the proxy</body></html>", "text/html")
        if behaviour == "empty":
            return self.send_whole(200, b"", "application/json")
        if behaviour.startswith("redirect"):
            return self.send_whole(int(behaviour.removeprefix("redirect_")), b"", "text/plain", Location=where)
        if behaviour in WIRED:
            self.close_connection = True
            return WIRED[behaviour][0](self)
        time.sleep(self.server.latency)
        if behaviour == "slow":
            time.sleep(self.server.slowness)
        reply = self.reply(behaviour, body, prompt)
        if behaviour in CHANGED and reply["choices"][0].get("logprobs"):
            reply = CHANGED[behaviour][0](reply) or reply  # in place, or another in its place
        return self.send_answer(behaviour, reply if isinstance(reply, bytes) else json.dumps(reply).encode())

    def send_answer(self, behaviour: str, content: bytes) -> None:
        """Send an answer; some behaviours take their time with it, or hang up in the middle."""
        if behaviour not in ("drip", "cut"):
            self.send_whole(200, content, "application/json")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(content), len(content) // 4):
            part = content[start : start + len(content) // 4]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()
            if behaviour == "cut":
                self.close_connection = True
                self.connection.shutdown(2)
                return
            time.sleep(self.server.slowness)
        self.wfile.write(b"0\r\n\r\n")

    def reply(self, behaviour: str, body: dict[str, Any], prompt: str) -> dict[str, Any]:
        """The answer: an option, within JSON where a schema asks for it."""
        if behaviour == "refusal":
            return completion([], None, refusal="I cannot help with that.")
        field = {"llamacpp": "grammar", "vllm": "structured_outputs"}.get(self.server.dialect, "")
        said = body if field in body else body.get("response_format")
        if behaviour == "ignored" or not said:
            return completion(["It is sunny, and yes."], [[("It is sunny, and yes.", 0.9)]])
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        if schema is not None and "enum" not in schema["properties"].get("answer", {}):
            text = self.server.json_reply
            return completion([text[: len(text) // 2] if behaviour == "truncated_json" else text], None)
        if schema is not None:
            options = [json.dumps(option)[1:-1] for option in schema["properties"]["answer"]["enum"]]
        elif field == "structured_outputs":
            options = body[field]["choice"]
        else:
            options = [json.loads(word) for word in re.findall(r'"(?:[^"\\]|\\.)*"', body[field])]
        p = true_probability(prompt)
        top = [(options[0], 0.98 * p), (options[1], 0.98 * (1 - p)), ("The", 0.02)]
        best = max(options[:2], key=dict(top).__getitem__)
        if behaviour == "wrong_enum":
            best, top = "maybe", [("maybe", 0.9), *top[2:]]
        pieces, tops = [best], [top]
        if schema is not None:
            before, after = '{"answer": "', '"}'
            pieces, tops = [before, best, after], [[(before, 1.0)], top, [(after, 1.0)]]
        if schema is not None and behaviour == "truncated_json":
            pieces, tops = pieces[:2], tops[:2]
        shown = body.get("logprobs") and behaviour != "no_logprobs"
        return completion(pieces, tops if shown else None)


class MisbehavingServer(ThreadingHTTPServer):
    """Use as a context manager; `url` is what a backend needs, `questions` what it was asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        behave: Callable[[int, str], str] | str = "ok",
        *,
        dialect: str = "llamacpp",
        also_probe: bool = False,
        latency: float = 0.0,
        slowness: float = 1.0,
        retry_after: str = "0.2",
        json_reply: str = '{"answer": "a text"}',
        elsewhere: str = "",
    ):
        super().__init__(("127.0.0.1", 0), Handler)
        named = behave if isinstance(behave, str) else "ok"
        if named not in BEHAVIOURS:
            raise ValueError(f"no such behaviour: {named!r}")
        self.behave = behave if callable(behave) else lambda number, prompt: behave
        self.dialect, self.elsewhere, self.closing = dialect, elsewhere, False
        self.also_probe, self.latency, self.slowness = also_probe, latency, slowness
        self.retry_after, self.json_reply = retry_after, json_reply
        self.questions: list[dict[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.paths_seen: list[str] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> MisbehavingServer:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    @property
    def asked(self) -> int:
        """How many requests came, probes included."""
        return len(self.headers_seen)

    def handle_error(self, *_: object) -> None:
        """Say nothing about clients that hang up."""

    def __exit__(self, *_: object) -> None:
        self.closing = True
        self.shutdown()
        self.server_close()


def main() -> None:
    """Run a well-behaved one by itself, for benchmarks; it ends with its standard input.

    In tests/: python -m servers.misbehaving LATENCY
    """
    import sys

    with MisbehavingServer(latency=float(sys.argv[1])) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
