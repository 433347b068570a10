"""The store: what is read is what was written, whatever happens in between."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from data_errors import error_of
from retarget.model.outcomes import Failure, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.store import Store, StoreError
from retarget.support.errors import RetargetError
from retarget.support.files import write_atomically
from retarget.support.scratch import hold_existing, hold_lock, remove_unheld

KEY = digest_of(b"key")
OTHER = digest_of(b"other")
ELSEWHERE = "give one that can be written with --retarget-cache-dir or RETARGET_CACHE_DIR"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def put(store: Store, key: str, artifact: bytes) -> Path:
    outcome = store.put_artifact(key, artifact, suffix=".up", seconds=1.5, diagnostics="warning: w")
    assert outcome.artifact is not None
    return Path(outcome.artifact.path)


def age(path: Path, seconds: float) -> None:
    past = time.time() - seconds
    os.utime(path, (past, past))


def test_an_artifact_comes_back_with_its_time_and_diagnostics(store: Store) -> None:
    path = put(store, KEY, b"ARTIFACT")
    found = Store(store.folder).lookup(KEY)
    assert found is not None
    assert found.reused
    assert (found.key, found.seconds, found.diagnostics, found.failure) == (KEY, 1.5, "warning: w", None)
    assert found.artifact is not None
    assert (found.artifact.digest, found.artifact.size) == (digest_of(b"ARTIFACT"), 8)
    assert Path(found.artifact.path) == path
    assert path.read_bytes() == b"ARTIFACT"
    assert path.suffix == ".up"


@pytest.mark.parametrize("kind", [{"signal": "SIGFPE"}, {"timed_out": True}, {"no_verdict": True}])
def test_a_crash_or_timeout_is_refused(store: Store, kind: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="a transient failure must not be stored: gone"):
        store.put_failure(KEY, Failure(stage=Stage.COMPILE, summary="gone", **kind), seconds=1, diagnostics="")
    assert store.lookup(KEY) is None


def test_what_was_used_longest_ago_is_evicted_first(tmp_path: Path) -> None:
    unbounded = Store(tmp_path)
    paths = [put(unbounded, digest_of(bytes([number])), bytes([number]) * 1000) for number in range(5)]
    for number, path in enumerate(paths):
        age(path, 1000 - number)
    for number in range(5):
        age(tmp_path / "v1" / "entries" / digest_of(bytes([number]))[:2] / digest_of(bytes([number])), 2000)
    unbounded.lookup(digest_of(bytes([0])))  # a look-up is a use

    other = hold_lock(tmp_path / "v1" / "trim.lock", wait=False)
    assert other is not None
    with other:
        assert Store(tmp_path, max_bytes=3000).trim() == 0
    assert Store(tmp_path, max_bytes=3000).trim() >= 3000

    assert [path.exists() for path in paths] == [True, False, False, False, True]


def test_a_damaged_result_is_dropped_and_noted(store: Store) -> None:
    store.write_result(KEY, {"host": "here"})
    assert store.read_result(KEY) == {"host": "here"}
    store.write_result(KEY, {"host": "there"})
    assert store.read_result(KEY) == {"host": "there"}
    path = store.folder / "v1" / "results" / KEY[:2] / KEY
    path.write_bytes(path.read_bytes().replace(b"there", b"THERE"))
    assert store.read_result(KEY) is None
    reason = f"{path} is damaged: its content does not have the SHA-256 that its first line says"
    assert store.notes == (f"{reason}; it was dropped and is created again",)
    assert not path.exists()
    path.write_bytes(b"x")
    assert store.verify().removed == (reason,)


def test_results_are_held_within_the_bound_and_take_no_artifact_with_them(tmp_path: Path) -> None:
    store = Store(tmp_path, max_bytes=20_000)
    put(store, KEY, b"x" * 4000)
    for number in range(200):
        store.write_result(digest_of(bytes([number])), {"host": "x" * 500})
    assert store.info().size <= 20_000
    assert store.lookup(KEY) is not None


def test_a_key_is_locked_once_between_stores(store: Store) -> None:
    lock = store.try_lock(KEY)
    assert lock is not None
    assert Store(store.folder).try_lock(KEY) is None
    lock.release()
    again = Store(store.folder).try_lock(KEY)
    assert again is not None
    again.release()


def test_the_lock_of_a_killed_process_is_free(store: Store) -> None:
    code = (
        "import sys, os, signal\nfrom pathlib import Path\nfrom retarget.session.cache.store import Store\n"
        "lock = Store(Path(sys.argv[1])).try_lock(sys.argv[2])\nassert lock is not None\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(store.folder), KEY], check=False)
    assert done.returncode == -9
    lock = store.try_lock(KEY)
    assert lock is not None
    lock.release()


def test_what_a_killed_process_left_half_written_is_removed_when_it_is_old(store: Store) -> None:
    path = put(store, KEY, b"ARTIFACT")
    old, new = path.with_name(".new-1-old"), path.with_name(".new-2-new")
    for half in (old, new):
        half.write_bytes(b"half")
    age(old, 2 * 24 * 3600)
    assert store.info().artifacts == 1
    assert store.unfinished() == [old]
    assert store.unfinished(remove=True) == [old]
    assert not old.exists()
    assert new.exists()


def test_many_processes_may_write_and_read_at_a_time(store: Store) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom retarget.session.cache.key import digest_of\n"
        "from retarget.session.cache.store import Store\n"
        "store = Store(Path(sys.argv[1]), max_bytes=40_000)\n"
        "for turn in range(60):\n"
        "    number = (turn * int(sys.argv[2])) % 30\n"
        "    key = digest_of(bytes([number]))\n"
        "    found = store.lookup(key)\n"
        "    if found is None:\n"
        "        store.put_artifact(key, bytes([number]) * 2000, suffix='', seconds=0, diagnostics='')\n"
        "assert not store.notes, store.notes\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(store.folder), str(step)], stderr=subprocess.PIPE, text=True)
        for step in (1, 7, 11)
    ]
    errors = [process.communicate(timeout=600)[1] for process in processes]

    assert errors == ["", "", ""]
    assert store.verify().removed == () or all("is not there" in line for line in store.verify().removed)


def test_a_cache_folder_below_a_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "cache")
    with pytest.raises(StoreError) as caught:
        store.lookup(KEY)
    entry = store.folder / "v1" / "entries" / KEY[:2] / KEY
    expected = f"the cache folder {store.folder} cannot be used (Not a directory: {entry}); {ELSEWHERE}"
    assert str(caught.value) == expected
    with pytest.raises(RetargetError, match="cannot be used"):
        store.try_lock(KEY)
    with pytest.raises(RetargetError, match="cannot be used"):
        put(store, KEY, b"ARTIFACT")


@pytest.mark.skipif(sys.platform != "linux", reason="uses /dev/full, the disk that is always full")
def test_a_full_disk_is_reported_and_leaves_no_half_written_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, OTHER, b"OTHER")
    real = Path.write_bytes

    def write_to_a_full_disk(path: Path, data: bytes) -> int:
        real(path, data[: len(data) // 2])
        return real(Path("/dev/full"), data)

    monkeypatch.setattr(Path, "write_bytes", write_to_a_full_disk)
    with pytest.raises(StoreError) as caught:
        put(store, KEY, b"ARTIFACT")

    assert str(caught.value) == (
        f"the disk of the cache folder {store.folder} is full (No space left on device); free some space "
        "('retarget cache clear' empties the cache), "
        "or give another folder with --retarget-cache-dir or RETARGET_CACHE_DIR"
    )
    assert list(store.folder.rglob(".new-*")) == []
    assert store.lookup(KEY) is None
    assert store.lookup(OTHER) is not None


@pytest.mark.parametrize(
    ("printed", "size"),
    [("", 4 * 1024**3), ("0", 0), ("4096", 4096), ("20G", 20 * 1024**3), ("500 MiB", 500 * 1024**2), ("1KB", 1024)],
)
def test_the_bound_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str, size: int
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_SIZE", printed)
    assert Store.default_max_bytes() == Store(tmp_path).max_bytes == size
    assert Store(tmp_path, max_bytes=7).max_bytes == 7


@pytest.mark.parametrize("printed", ["much", "-1", "1.5G", "G", "1 P", "²"])
def test_a_bound_that_is_no_size_is_refused(monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    monkeypatch.setenv("RETARGET_CACHE_SIZE", printed)
    expected = "expected a number of bytes, or one with K, M, G or T after it (times 1024 each), such as 20G"
    assert error_of(Store.default_max_bytes) == f"found RETARGET_CACHE_SIZE={printed!r}, {expected}"


def test_what_is_held_is_not_evicted(tmp_path: Path) -> None:
    store = Store(tmp_path, max_bytes=3000)
    path = put(store, KEY, b"held" * 500)
    with hold_existing(path) or pytest.fail("it has gone"):
        for number in range(5):
            put(store, digest_of(bytes([number])), bytes([number]) * 2000)
        assert path.exists()
    put(store, OTHER, b"other" * 500)
    assert not path.exists()
    assert hold_existing(path) is None


def test_what_is_held_stays_the_same_file_while_others_store_it_too(tmp_path: Path) -> None:
    path = put(Store(tmp_path), KEY, b"held" * 500)
    with hold_existing(path) or pytest.fail("it has gone"):
        assert put(Store(tmp_path), OTHER, b"held" * 500) == path
        small = Store(tmp_path, max_bytes=3000)
        for number in range(5):
            put(small, digest_of(bytes([number])), bytes([number]) * 2000)
        assert path.exists()


def test_what_replaces_a_file_just_before_its_removal_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "artifact"
    path.write_bytes(b"first")
    flock = fcntl.flock

    def replaced(descriptor: int, how: int) -> None:
        write_atomically(path, b"second")
        flock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", replaced)

    assert not remove_unheld(path)
    assert path.read_bytes() == b"second"


@pytest.mark.parametrize("number", [errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP])
def test_a_file_system_without_hard_links_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def link(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.link", link)
    path = put(Store(tmp_path), KEY, b"ARTIFACT")

    assert path.read_bytes() == b"ARTIFACT"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_after_the_clock_has_jumped_back_what_was_used_last_stays(tmp_path: Path) -> None:
    unbounded = Store(tmp_path)
    before = [put(unbounded, digest_of(bytes([number])), bytes([number]) * 1000) for number in range(4)]
    for path in before:
        age(path, -1_000_000)  # of a future that has not come
    store = Store(tmp_path, max_bytes=3000)
    after = [put(store, digest_of(bytes([number])), bytes([number]) * 1000) for number in (10, 11)]
    assert [path.exists() for path in after] == [True, True]
    assert store.info().size <= 3000


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    store = Store(tmp_path, max_bytes=3000)
    first, second = store.try_lock(KEY), store.try_lock(KEY)
    assert first is not None
    assert second is not None  # each compiles for itself
    first.release()
    paths = [put(store, digest_of(bytes([number])), bytes([number]) * 1000) for number in range(5)]

    assert [path.exists() for path in paths][0::4] == [False, True]
    assert hold_existing(paths[-1]) is not None


@pytest.mark.slow
def test_the_first_entries_may_be_read_in_many_threads(tmp_path: Path) -> None:
    put(Store(tmp_path), KEY, b"ARTIFACT")
    read = (
        "import sys, threading\nfrom pathlib import Path\nfrom retarget.session.cache.store import Store\n"
        "sys.setswitchinterval(1e-6)\nstore = Store(Path(sys.argv[1]))\nbarrier = threading.Barrier(8)\n"
        "def run():\n    barrier.wait()\n    store.lookup(sys.argv[2])\n"
        "threads = [threading.Thread(target=run) for _ in range(8)]\n"
        "for thread in threads:\n    thread.start()\nfor thread in threads:\n    thread.join()\n"
    )
    for _ in range(30):  # msgspec ended one process of seven
        subprocess.run([sys.executable, "-c", read, str(tmp_path), KEY], check=True)
