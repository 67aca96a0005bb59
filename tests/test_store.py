"""The store under everything that may happen to it: kills, forks, threads, damage, foreign files, a full disk."""

import json
import math
import os
import pickle
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers.lockless import AVAILABLE, without_locks
from helpers.stores import kept, sql
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb.models.store import LAYOUT_VERSION, Store, StoreError, content_key, fill_missing

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}
FIRST = "import sys, time\nfrom summeval_nb.models.store import Store, StoreError, content_key, fill_missing\n"
WRITER = """
store = Store(sys.argv[1])
for i in range(int(sys.argv[3]), 10**9):
    key = content_key(sys.argv[2], i)
    store.put_many("verdict", {key: {"writer": sys.argv[2], "i": i, "text": "x" * (i % 500)}})
    print(i, flush=True)
"""
TOGETHER = """
print("ready", flush=True); sys.stdin.readline()
store = Store(sys.argv[1])
for i in range(50):
    store.put_many("k", {f"{sys.argv[2]}-{i}": i, f"common-{i}": sys.argv[2]})
"""
FULL = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1])
store.put_many("k", {{"kept": 1}})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, {resource.RLIM_INFINITY}))
try:
    for i in range(10_000):
        store.put_many("k", {{f"{{i}}-{{n}}": "z" * 1000 for n in range(20)}})
except StoreError as error:
    print("StoreError", error)
"""


def start(code: str, *arguments: object) -> subprocess.Popen:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, "-c", FIRST + code, *map(str, arguments)], text=True, env=ENVIRONMENT, **pipes
    )


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "s.sqlite"


@pytest.fixture
def store(path) -> Store:
    return Store(path)


def test_nothing_acknowledged_is_lost_when_writers_are_killed(path):
    """Two writers, killed with -9 at random moments, three rounds over the same file."""
    moments, expected = random.Random(7), {}
    for first in (0, 10**6, 2 * 10**6):
        writers = [start(WRITER, path, f"w{n}", first) for n in range(2)]
        for writer in writers:
            assert writer.stdout.readline().strip() == str(first), writer.stderr.read()
        time.sleep(moments.uniform(0.05, 0.4))
        for n, writer in enumerate(writers):
            writer.send_signal(signal.SIGKILL)
            numbers = [first, *map(int, writer.stdout.read().split("\n")[:-1])]
            assert writer.wait() == -signal.SIGKILL
            expected |= {content_key(f"w{n}", i): {"writer": f"w{n}", "i": i, "text": "x" * (i % 500)} for i in numbers}
    found = kept(path)["verdict"]
    assert len(expected) > 20 and {key: found[key] for key in expected} == expected


def test_a_kill_during_creation_leaves_no_file_or_a_whole_one(tmp_path):
    for delay in (0, 0.001, 0.002, 0.01):
        path = tmp_path / str(delay) / "s.sqlite"
        process = start("print('ready', flush=True)\nStore(sys.argv[1])\n", path)
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.kill()
        process.communicate()
        assert Store(path).put_many("k", {"a": 1}) == 1
        assert kept(path) == {"k": {"a": 1}}


def test_processes_that_create_a_store_together_keep_answers(path):
    processes = [start(TOGETHER, path, n) for n in range(4)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert len(kept(path)["k"]) == 4 * 50 + 50
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(".")] == []


def test_a_forked_child_opens_its_own_connection(store):
    store.put_many("k", {"parent": 1})
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 2 * (store.get_many("k", ["parent"]) != {"parent": 1} or store.put_many("k", {"child": 2}) != 1)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.get_many("k", ["child", "parent"]) == {"parent": 1, "child": 2} == kept(store.path)["k"]


def test_threads_share_a_store(store):
    def work(key: str) -> None:
        assert store.put_many("k", {key: [key]}) == 1 and store.get_many("k", [key]) == {key: [key]}

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, map(str, range(320))))
    assert len(kept(store.path)["k"]) == 320


def test_more_keys_than_one_query_holds(store):
    store.put_many("k", {str(i): i for i in range(2500)})
    assert store.get_many("k", [*map(str, range(3000)), "1", "1"]) == {str(i): i for i in range(2500)}
    assert store.get_many("k", []) == {} and store.put_many("k", {}) == 0


def test_a_transaction_is_kept_whole_or_not_at_all(store):
    for wrong in (np.zeros(2), np.zeros((1, 1), np.float32), object()):
        with pytest.raises(TypeError):
            store.put_many("k", {"a": 1, "b": wrong})
    for wrong in (np.array([np.nan], np.float32), math.inf):
        with pytest.raises(ValueError):
            store.put_many("k", {"a": 1, "b": wrong})
    with pytest.raises(ValueError, match="kind must name"):
        store.put_many("", {"a": 1})
    with pytest.raises(KeyboardInterrupt), store._session(write=True) as connection:
        connection.execute("INSERT INTO items VALUES ('k', 'half', '1', 0)")
        raise KeyboardInterrupt
    assert store.get_many("k", ["a", "b", "half"]) == {}
    assert store.put_many("k", {"a": 1}) == 1  # usable afterwards


# Files of others, and of other versions -------------------------------------------------------------------------------

HEAD = b"SQLite format 3\0"
LAYOUT_0 = HEAD + bytes(52) + b"SumE" + bytes(28)


def test_a_foreign_file_is_refused_and_stays_as_it_is(tmp_path):
    path = tmp_path / "file"
    for content in (b"", b"plain text, longer than a header: " + b"x" * 200, HEAD, HEAD + bytes(84), LAYOUT_0):
        path.write_bytes(content)
        said = "nothing was changed" if len(content) < 17 or not content.startswith(HEAD) else "not a database"
        with pytest.raises(StoreError, match=said):
            Store(path)
        assert path.read_bytes() == content and [p.name for p in tmp_path.iterdir()] == ["file"]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "a.sqlite")
    pipe = "not an ordinary file but a pipe or a device"
    for path, said in (
        (tmp_path / "pipe", pipe),
        ("/dev/null", pipe),
        (tmp_path / "dangling", "dangling"),
        (tmp_path, "is a folder"),
        (tmp_path / "file" / "s.sqlite", "check the path"),
    ):
        with pytest.raises(StoreError, match=said):
            Store(path)
    with pytest.raises(ValueError, match="dict"):
        Store(":memory:")


NEWER, AGAIN = (f"PRAGMA user_version={LAYOUT_VERSION + more}" for more in (1, 0))
REFUSED = f"layout {LAYOUT_VERSION + 1}"


def test_a_foreign_database_and_a_newer_layout_are_refused(tmp_path, path):
    sql(tmp_path / "other.sqlite", "CREATE TABLE items (kind, key, value)")
    Store(path).close()
    sql(path, NEWER)
    for file, message in ((tmp_path / "other.sqlite", "another program"), (path, REFUSED)):
        before = file.read_bytes()
        with pytest.raises(StoreError, match=message):
            Store(file)
        assert file.read_bytes() == before
    sql(path, AGAIN)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:  # one that is in use
        connection.execute(NEWER)
        with pytest.raises(StoreError, match=REFUSED):
            Store(path)
        assert connection.execute("PRAGMA user_version").fetchone() == (LAYOUT_VERSION + 1,)


def changed_and_killed(path: Path, *steps: str) -> None:
    """Change a store by SQL, and leave it as a kill does, before SQLite has moved the log into the file."""
    twin = path.with_name("folder") / "twin"
    Store(twin).close()
    with closing(sqlite3.connect(twin, isolation_level=None)) as connection:
        for step in ("PRAGMA wal_autocheckpoint=0", *steps):
            connection.execute(step)
        for end in ("", "-wal"):
            path.with_name(path.name + end).write_bytes(twin.with_name("twin" + end).read_bytes())


@pytest.mark.parametrize(("step", "message"), [(NEWER, REFUSED), ("PRAGMA application_id=7", "another program")])
def test_a_layout_only_in_the_log_is_seen_and_nothing_changed(tmp_path, path, step, message):
    changed_and_killed(path, step)
    before = {name: (tmp_path / name).read_bytes() for name in ("s.sqlite", "s.sqlite-wal")}
    assert before["s.sqlite"][60:64] == bytes([0, 0, 0, LAYOUT_VERSION]) and before["s.sqlite"][68:72] == b"SumE"
    (tmp_path / "link").symlink_to("s.sqlite")
    for name in ("s.sqlite", "link", "s.sqlite"):
        with pytest.raises(StoreError, match=f"{message}.*nothing was changed"):
            Store(tmp_path / name)
        assert {name: (tmp_path / name).read_bytes() for name in before} == before
    with closing(sqlite3.connect(path)) as connection:  # and SQLite finds what was there
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_layout_that_did_not_last_refuses_nothing(path):
    changed_and_killed(path, NEWER, AGAIN, "BEGIN", NEWER, "ROLLBACK")
    assert Store(path).put_many("own", {"a": 1}) == 1 and kept(path) == {"own": {"a": 1}}


# Damage ---------------------------------------------------------------------------------------------------------------


def test_a_damaged_name_in_sqlites_own_message_is_damage(path):
    Store(path).close()
    damage = "UPDATE sqlite_master SET name = CAST(x'e520' AS TEXT), sql = 'CREATE TABLE'"
    sql(path, "PRAGMA writable_schema = ON", damage)
    with pytest.raises(StoreError, match="is no text; the file is damaged"), Store(path) as store:
        store.get_many("verdict", ["k"])


TAMPERED = [f"value = {found}" for found in ("5", "1e400", "x'00'", "x''", "CAST(x'ff' AS TEXT)", "NULL")]
NAMES = ["kind = x'ff'", "key = CAST(x'ff' AS TEXT)", "key = 7"]


@pytest.mark.parametrize("change", [*TAMPERED, "checksum = 'x'", "checksum = NULL", "key = 'c'", *NAMES])
def test_a_changed_row_is_named_or_left_out_and_can_be_deleted(change, path):
    with Store(path) as store:
        store.put_many("verdict", {"k": [5, "é"]})
        nullable = "UPDATE sqlite_master SET sql = replace(sql, 'BLOB NOT NULL', 'BLOB')"
        sql(path, "PRAGMA writable_schema = ON", nullable)
        sql(path, f"UPDATE items SET {change}")
        if change not in NAMES:
            with pytest.raises(StoreError, match="its checksum is wrong; delete this row") as caught:
                store.get_many("verdict", ["k", "c"])
            sql(path, re.search(r"\((DELETE FROM items .*?)\) or", str(caught.value))[1])
        assert store.get_many("verdict", ["k", "c"]) == {} and store.put_many("verdict", {"k": 5}) == 1
        assert store.get_many("verdict", ["k", "c"]) == {"k": 5}


@pytest.mark.skipif(not AVAILABLE, reason="the system's calls are filtered on Linux")
def test_a_file_system_without_locks_is_named(tmp_path, store):
    store.put_many("k", {"a": 1})
    store.close()
    for name in ("s.sqlite", "new.sqlite"):
        said = without_locks(lambda name=name: Store(tmp_path / name).get_many("k", ["a"]))
        assert said.startswith("StoreError") and "keep the store on a disk of this machine" in said
    assert [file.name for file in tmp_path.iterdir()] == ["s.sqlite"]


def test_damage_is_an_error_not_a_wrong_value(path):
    """A file cut short is refused; with random bytes over a page, a key is right, or missing with an error."""
    expected = {content_key(i): {"i": i, "text": "y" * 100} for i in range(400)}
    with Store(path) as store:
        store.put_many("k", expected)
    content, rng, caught = path.read_bytes(), random.Random(3), 0
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError, match="damaged"):
        Store(path)
    assert path.read_bytes() == content[: len(content) // 2]
    for page in range(2, len(content) // 4096):
        broken = bytearray(content)
        for _ in range(40):
            broken[page * 4096 + rng.randrange(4096)] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        try:
            with Store(path) as store:
                found = store.get_many("k", [*expected])
            assert len(found) == 400 or sql(path, "PRAGMA integrity_check") != [("ok",)]
            assert all(expected[key] == value for key, value in found.items())
        except StoreError as error:
            caught += "damaged" in str(error)
    assert caught >= 5


def test_a_full_disk_is_explained_and_costs_nothing_finished(path):
    out, err = start(FULL, path).communicate()
    assert "StoreError" in out and ("full" in out or "disk I/O" in out) and "run again" in out, out + err
    assert kept(path)["k"]["kept"] == 1


# What is kept ---------------------------------------------------------------------------------------------------------


def test_awkward_names_and_pickling(tmp_path):
    store = Store(tmp_path / "a?b#c %20 é" / "s.sqlite")
    store.put_many("k'; DROP TABLE items; --", {"'; --\x00\ud83d"[:5]: 1})
    again = pickle.loads(pickle.dumps(store))
    assert again.path == store.path and again.get_many("k'; DROP TABLE items; --", ["'; --"]) == {"'; --": 1}
    assert repr(store) == f"Store({str(store.path)!r})"


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store") / "s.sqlite")


@settings(max_examples=100, deadline=None)
@given(value=plain)
def test_plain_values_come_back_equal(shared_store, value):
    key = content_key("plain", value)
    shared_store.put_many("plain", {key: value})
    assert shared_store.get_many("plain", [key]) == {key: json.loads(json.dumps(value))} == {key: value}


@settings(max_examples=50, deadline=None)
@given(size=st.integers(0, 500), seed=st.integers(0, 2**32 - 1))
def test_vectors_come_back_bit_equal_and_writable(shared_store, size, seed):
    vector, key = np.random.default_rng(seed).standard_normal(2 * size).astype(np.float32)[::-2], str((size, seed))
    shared_store.put_many("vector", {key: vector})
    back = shared_store.get_many("vector", [key])[key]
    assert back.dtype == np.float32 and back.flags.writeable and np.array_equal(back, vector)


@settings(max_examples=200, deadline=None)
@given(a=st.lists(st.text(max_size=4), min_size=1, max_size=4), b=st.lists(st.text(max_size=4), min_size=1, max_size=4))
def test_different_content_has_different_keys(a, b):
    assert (content_key(*a) == content_key(*b)) == (a == b)


def test_fill_missing_stores_no_failure_and_checks_compute(store):
    calls = []

    def flaky(positions):
        calls.append(list(positions))
        return [OSError("down") if position % 3 == 0 and len(calls) < 3 else (position,) for position in positions]

    keys = [*map(str, range(6)), "1"]  # equal keys are one question; values are as the store gives them back
    (first, *known, third, _, _, again) = fill_missing(store, "k", keys, flaky, batch_size=4)
    assert isinstance(first, OSError) and isinstance(third, OSError) and known == [[1], [2]] and again == [1]
    assert fill_missing(store, "k", keys, flaky, batch_size=4) == [*([i] for i in range(6)), [1]]
    assert calls == [[0, 1, 2, 3], [4, 5], [0, 3]]
    for size, message in ((4, "asked for 1 values and returned 2"), (0, "batch_size")):
        with pytest.raises(ValueError, match=message):
            fill_missing(store, "k", ["other"], lambda positions: [1, 2], batch_size=size)


def test_an_error_inside_compute_keeps_the_finished_batches(store):
    def compute(positions):
        if positions[0] >= 4:
            raise KeyboardInterrupt
        return list(positions)

    with pytest.raises(KeyboardInterrupt):
        fill_missing(store, "k", [str(i) for i in range(8)], compute, batch_size=2)
    assert len(kept(store.path)["k"]) == 4
