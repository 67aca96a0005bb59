"""The Ray engine on real clusters of this machine: the same bytes, a killed actor, a stopped node.

Nodes are started as this test's own processes and ended by their ids; `ray stop` would end every Ray of the machine.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest
from helpers.late import Late, needs
from helpers.patience import comes_back

from summeval_nb.runs import workers
from summeval_nb.runs.running import run
from summeval_nb.runs.workers import RunStopped

needs("ray", "psutil")
psutil = Late("psutil")
pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.xdist_group("ray")]
ROOT = Path(__file__).parents[1]

SCRIPT = """
import json, os, sys, time
from summeval_nb.runs.running import run
pids, count, pause = sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
def metric(row):
    import os, time
    open(os.path.join(pids, str(os.getppid())), "a").close()  # the actor: the parent of the worker process
    time.sleep(pause)
    if row["text"] == "crash":
        os.kill(os.getpid(), 11)
    time.sleep(200 if row["text"] == "hang" else 0)
    return len(row["text"]) / 7
metric.fingerprint = "length"
odd = {13: "crash"} if pause == 0 else {3: "hang"} if sys.argv[2] == "auto" else {}
rows = ({"id": i, "text": odd.get(i, "x" * (i % 17))} for i in range(count))
engine = {"engine": "ray", "address": sys.argv[2]} if sys.argv[2] != "local" else {}
engine |= {"timeout": 2} if sys.argv[2] == "auto" else {}
report = run(rows, metric, out=sys.argv[1], batch_size=5, workers=2, progress=False, **engine)
print(json.dumps(report.counts))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """Ray nodes of one core each, as our own processes."""

    def __init__(self, folder):
        self.folder, self.port, self.nodes = folder, free_port(), []
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}
        self.env = {**os.environ, **token, **quiet, "PYTHONPATH": str(ROOT)}
        self.address = f"127.0.0.1:{self.port}"

    def have(self, count):
        """Have so many nodes that run, those of earlier tests included."""
        self.nodes = [node for node in self.nodes if node.poll() is None]
        while len(self.nodes) < count:
            self.add_node()
        return self.nodes

    def add_node(self):
        """Start a node and wait until it has joined; Ray gives up after 30 s, too early on a busy machine."""
        for _ in range(4):
            node = self._start_node()
            while node.poll() is None:
                if "will now block forever" in (Path(self.folder) / "node.log").read_text():
                    self.nodes.append(node)
                    return node
                time.sleep(0.5)
            self._end([node])
        raise AssertionError(f"a Ray node did not start: {(Path(self.folder) / 'node.log').read_text()[-800:]}")

    def _start_node(self):
        where = ["--head", f"--port={self.port}", f"--temp-dir={self.folder}", "--include-dashboard=false"]
        where = [f"--address={self.address}"] if self.nodes else where
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats", *where]
        command += ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--object-store-memory=100000000"]
        with (Path(self.folder) / "node.log").open("w") as log:
            return subprocess.Popen(command, env=self.env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def close(self):
        self._end(self.nodes)

    def _end(self, nodes):
        tree = []
        for node in nodes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(node.pid)
                tree += [process, *process.children(recursive=True)]
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)  # its own session: what it left behind as well
        for process in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(tree, 10)
        for node in nodes:
            node.wait()

    def start(self, out, pids, count, pause, address=""):
        pids.mkdir(exist_ok=True)
        script = pids.parent / "script.py"
        script.write_text(SCRIPT)
        command = [sys.executable, script, out, address or self.address, pids, count, pause]
        env = {**self.env, "RAY_ADDRESS": self.address}  # other clusters may run on this machine
        return subprocess.Popen(
            [*map(str, command)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture(scope="module")
def cluster():
    """One cluster for all tests, for a start takes half a minute; the test that stops a node comes last."""
    folder = tempfile.mkdtemp(prefix="ray")  # short: Ray's sockets live below it
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


def local_results(cluster, tmp_path, count, pause=0.0):
    finish(cluster.start(tmp_path / "local", tmp_path / "local_pids", count, pause, "local"))
    return (tmp_path / "local" / "results.jsonl").read_bytes()


def finish(process, seconds=300):
    out, errors = process.communicate(timeout=seconds)
    assert process.returncode == 0, errors[-3000:]
    return json.loads(out.splitlines()[-1])  # Ray itself writes warnings about lost workers to standard output


def wait_for_actors(pids, count, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        alive = [int(path.name) for path in pids.iterdir() if psutil.pid_exists(int(path.name))]
        if len(alive) >= count:
            return alive
        time.sleep(0.2)
    raise AssertionError(f"{count} actors did not begin within {seconds} s")


def test_both_workers_write_the_same_bytes_and_isolate_poison(cluster, tmp_path):
    cluster.have(1)
    counts = finish(cluster.start(tmp_path / "ray", tmp_path / "pids", 60, 0.0))
    assert counts == {"ok": 59, "undefined": 0, "failed": 1}
    assert (tmp_path / "ray" / "results.jsonl").read_bytes() == local_results(cluster, tmp_path, 60)


def test_auto_finds_the_cluster_and_gives_up_a_hanging_item(cluster, tmp_path):
    """The address of a cluster on this machine is found; the time-out reaches the actors' workers."""
    head = cluster.have(1)[0]
    counts = finish(cluster.start(tmp_path / "out", tmp_path / "pids", 10, 0.001, "auto"))
    assert counts == {"ok": 9, "undefined": 0, "failed": 1}
    assert "at 4: no answer within 2 s" in (tmp_path / "out" / "results.jsonl").read_text()
    assert head.poll() is None, "a cluster that was there before stays"


def test_a_killed_actor_costs_nothing(cluster, tmp_path):
    cluster.have(2)
    process = cluster.start(tmp_path / "ray", tmp_path / "pids", 200, 0.05)
    os.kill(wait_for_actors(tmp_path / "pids", 1)[0], signal.SIGKILL)
    assert finish(process) == {"ok": 200, "undefined": 0, "failed": 0}
    assert len(list((tmp_path / "pids").iterdir())) >= 2  # another actor took over
    assert (tmp_path / "ray" / "results.jsonl").read_bytes() == local_results(cluster, tmp_path, 200, 0.001)


def test_a_stopped_node_costs_nothing(cluster, tmp_path):
    second = cluster.have(2)[1]
    process = cluster.start(tmp_path / "ray", tmp_path / "pids", 200, 0.08)
    wait_for_actors(tmp_path / "pids", 2)
    second.terminate()
    assert finish(process) == {"ok": 200, "undefined": 0, "failed": 0}
    assert (tmp_path / "ray" / "results.jsonl").read_bytes() == local_results(cluster, tmp_path, 200, 0.001)


def test_no_cluster_at_the_address(tmp_path):
    stopped = pytest.raises(RunStopped, match=r"no Ray cluster can be joined .*ray start --head")
    with comes_back(), stopped:
        run([{"text": "a"}], len, out=tmp_path, engine="ray", address=f"127.0.0.1:{free_port()}", progress=False)


def test_something_else_listens_at_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "join", partial(workers.join, seconds=5))
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(RunStopped, match=r"Ray cluster .*\(no answer within 5 s\)"):
            run([{"text": "a"}], len, out=tmp_path, engine="ray", address=address, progress=False)


def test_no_ray_is_started(tmp_path):
    with pytest.raises(ValueError, match=r"needs address='auto' or 'host:port' of a Ray cluster, not None: start one"):
        run([{"text": "a"}], len, out=tmp_path, engine="ray", progress=False)
