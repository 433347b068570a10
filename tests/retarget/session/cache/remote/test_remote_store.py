"""The cache with a shared store behind it: what one machine makes another takes over, and nothing damaged is used."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from retarget.model.outcomes import Failure, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.remote_objects import RemoteSettings
from retarget.session.cache.remote_store import RemoteStore
from retarget.session.cache.sealed_files import seal
from retarget.session.cache.store import Store

KEY = digest_of(b"key")
OTHER = digest_of(b"other")
ARTIFACT = b"ARTIFACT" * 100
ENTRY = f"v1/entries/{KEY[:2]}/{KEY}"
STORED = f"v1/artifacts/{digest_of(ARTIFACT)[:2]}/{digest_of(ARTIFACT)}.up"

Machine = Callable[..., Store]


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    folder.mkdir()
    return folder


@pytest.fixture
def machine(tmp_path: Path, share: Path) -> Iterator[Machine]:
    """Make the cache of a machine with the shared store behind it."""
    remotes = []

    def make(name: str, *, writes: bool = True, max_bytes: int | None = None, url: str = "") -> Store:
        settings = RemoteSettings(url=url or str(share), folder=None if url else share, writes=writes)
        remotes.append(RemoteStore(settings))
        return Store(tmp_path / name, max_bytes, remotes[-1])

    yield make
    for remote in remotes:
        remote.close()


def remote(store: Store) -> RemoteStore:
    assert store._remote is not None
    return store._remote


def put(store: Store, key: str = KEY, artifact: bytes = ARTIFACT) -> None:
    store.put_artifact(key, artifact, suffix=".up", seconds=1.5, diagnostics="warning: w")
    remote(store).flush(60)


def objects(share: Path) -> set[str]:
    return {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}


def entry(**changes: object) -> dict[str, object]:
    artifact = {"digest": digest_of(ARTIFACT), "size": len(ARTIFACT), "suffix": ".up"}
    return {"diagnostics": "", "seconds": 1.0, "artifact": artifact | changes}


def write(share: Path, name: str, content: bytes) -> None:
    path = share / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def sealed(body: object, *, key: str = KEY, kind: str = "entries", form: int = 1) -> bytes:
    return seal({"format": form, "kind": kind, "key": key, "body": body})


def test_what_one_machine_compiles_another_takes_over(machine: Machine, share: Path) -> None:
    first, second = machine("first"), machine("second")
    put(first)
    assert objects(share) == {ENTRY, STORED}

    found = second.lookup(KEY)

    assert found is not None
    assert (found.key, found.seconds, found.diagnostics, found.reused) == (KEY, 1.5, "warning: w", True)
    assert found.artifact is not None
    assert Path(found.artifact.path).read_bytes() == ARTIFACT
    assert Path(found.artifact.path).is_relative_to(second.folder)
    shutil.rmtree(share)  # from now on it is here
    assert Store(second.folder).lookup(KEY) is not None
    read, written = remote(second).statistics, remote(first).statistics
    assert (read.fetched, read.absent, read.uploaded, read.uploaded_bytes) == (1, 0, 0, 0)
    assert (written.fetched, written.uploaded, written.uploaded_bytes) == (0, 1, read.fetched_bytes)
    assert first.notes == second.notes == ()


def test_on_a_file_system_of_fsspec_an_object_is_written_beside_and_renamed(
    machine: Machine, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = pytest.importorskip("fsspec.implementations.local").LocalFileSystem
    moved, url = [], f"local://{share}"
    move = files.mv

    def moving(system: object, beside: str, path: str) -> None:
        moved.append((Path(beside).name[:5], Path(path).relative_to(share).as_posix()))
        move(system, beside, path)

    monkeypatch.setattr(files, "mv", moving)
    first, second = machine("first", url=url), machine("second", url=url)
    put(first)
    assert (first.notes, moved) == ((), [(".new-", STORED), (".new-", ENTRY)])
    assert objects(share) == {ENTRY, STORED}
    found = second.lookup(KEY)
    assert found is not None
    assert found.artifact is not None
    assert Path(found.artifact.path).read_bytes() == ARTIFACT
    assert (second.lookup(OTHER), second.notes) == (None, ())

    monkeypatch.setattr(files, "mv", lambda *_: (_ for _ in ()).throw(OSError("full")))
    put(first, OTHER, b"another")
    assert objects(share) == {ENTRY, STORED}


def test_a_diagnosed_failure_and_a_result_are_shared_but_no_resolution(machine: Machine, share: Path) -> None:
    first, second = machine("first"), machine("second")
    failure = Failure(stage=Stage.COMPILE, summary="no", text="error: no", hint="yes")
    first.put_failure(KEY, failure, seconds=0.5, diagnostics="d")
    first.write_result(OTHER, {"passed": True})
    first.write_resolution(OTHER, {"flags": []})
    remote(first).flush(60)

    found = second.lookup(KEY)

    assert objects(share) == {ENTRY, f"v1/results/{OTHER[:2]}/{OTHER}"}
    assert found is not None
    assert found.failure == failure
    assert second.read_result(OTHER) == {"passed": True} == Store(second.folder).read_result(OTHER)
    assert second.read_resolution(OTHER) is None


def test_what_stays_in_a_store_is_not_written_over_where_it_cannot_be_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, chance = machine("first"), machine("second"), {"by_chance": True}
    first.write_result(KEY, chance)
    remote(first).flush(60)

    def fail(*_: object) -> bytes:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr("retarget.session.cache.remote_objects._Folder.read", fail)
        second.write_result(KEY, {"passed": True}, stays=chance)
        remote(second).flush(60)

    assert machine("third").read_result(KEY) == chance
    assert [note for note in remote(second).notes if "1 outcome not uploaded" in note]


def test_an_outcome_without_entry_stays_here(machine: Machine, share: Path) -> None:
    store = machine("first")
    store.put_artifact(KEY, ARTIFACT, suffix=".up", seconds=1, diagnostics="", entry=False)
    remote(store).flush(60)

    assert objects(share) == set()


def test_a_failure_that_is_tried_again_is_not_taken_from_the_store(machine: Machine) -> None:
    first, second = machine("first"), machine("second")
    first.put_failure(KEY, Failure(stage=Stage.COMPILE, summary="no"), seconds=1, diagnostics="")
    remote(first).flush(60)
    assert second.lookup(KEY) is not None
    second.forget_failure(KEY)

    assert second.lookup(KEY) is None
    put(second)
    found = machine("third").lookup(KEY)
    assert found is not None
    assert found.artifact is not None


def test_what_is_uploaded_is_what_was_stored(machine: Machine, share: Path) -> None:
    store = machine("first")
    (share / "v1").write_text("in the way")  # nothing can be uploaded yet
    store.put_artifact(KEY, ARTIFACT, suffix=".up", seconds=1, diagnostics="")
    remote(store).flush(60)

    assert store.notes == (
        f"the shared store {share} did not get everything; 1 outcome not uploaded, and made again elsewhere",
    )

    (share / "v1").unlink()
    damaged = machine("second")
    with remote(damaged)._changed:
        damaged.put_artifact(KEY, ARTIFACT, suffix=".up", seconds=1, diagnostics="")
        (damaged.folder / STORED).write_bytes(b"damaged meanwhile")
    remote(damaged).flush(60)
    assert objects(share) == set()


ESCAPED = {"suffix": "/../../../../escaped"}
DAMAGED = [
    (b"", f"{ENTRY} is damaged: its content does not have the SHA-256 that its first line says"),
    (sealed(entry())[:-1], f"{ENTRY} is damaged: its content does not have the SHA-256 that its first line says"),
    (seal(entry()), f"{ENTRY} is in another format than 1: another version of retarget wrote it"),
    (sealed(entry(), form=2), f"{ENTRY} is in another format than 1: another version of retarget wrote it"),
    (sealed(entry(), key=OTHER), f"{ENTRY} has something else than its name says"),
    (sealed(entry(), kind="results"), f"{ENTRY} has something else than its name says"),
    (sealed([]), f"{ENTRY} has something else than its name says"),
    (sealed({}), "missing required field `diagnostics`"),
    (sealed(entry(**ESCAPED)), "at `$.artifact.suffix`"),
    (sealed(entry(digest="../../../escaped")), "at `$.artifact.digest`"),
    (sealed(entry(size=-1)), "Expected `int` >= 0 - at `$.artifact.size`"),
    (sealed(entry(size=1 << 50)), f"{STORED} is said to have {1 << 50} bytes, more than {1 << 30}"),
    (sealed(entry(size=len(ARTIFACT) - 1)), f"the content of {STORED} has another SHA-256 or size"),
    (sealed(entry() | {"seconds": "1"}), "Expected `float`, got `str` - at `$.seconds`"),
    (b"x" * ((16 << 20) + 1), f"{ENTRY} has more than {16 << 20} bytes"),
]


@pytest.mark.parametrize(("content", "reason"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_or_hostile_entry_is_not_used_but_noted(
    machine: Machine, share: Path, tmp_path: Path, content: bytes, reason: str
) -> None:
    write(share, ENTRY, content)
    write(share, STORED, ARTIFACT)
    store = machine("first")

    assert store.lookup(KEY) is None

    start = f"the shared store {share} has 1 object of no use, made again here: "
    assert len(store.notes) == 1
    assert store.notes[0].startswith(start)
    assert store.notes[0].endswith(reason)
    assert (remote(store).statistics.fetched, remote(store).statistics.absent) == (0, 1)
    assert not [path for path in tmp_path.rglob("*escaped*") if share not in path.parents]
    put(store)
    assert machine("second").lookup(KEY) is not None


def test_a_deeply_nested_entry_is_not_used(machine: Machine, share: Path) -> None:
    text = b"[" * 100_000
    write(share, ENTRY, digest_of(text).encode() + b"\n" + text)

    assert machine("first").lookup(KEY) is None


def test_a_folder_that_is_not_there_is_left_out_and_not_created(machine: Machine, share: Path) -> None:
    share.rmdir()
    store = machine("first")
    for number in range(4):
        assert store.lookup(digest_of(bytes([number]))) is None

    put(store)

    assert not share.exists()
    assert len(store.notes) == 1
    reason = f"there is no folder {share}: create it, or mount what it is on"
    assert store.notes[0].startswith(f"the shared store {share} was not read: {reason}; what it may have was ")
    assert store.notes[0].endswith("made here; 1 outcome not uploaded; `retarget cache info` asks it again")


def test_no_more_is_queued_than_fits(machine: Machine, share: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.session.cache.remote_store._MOST_QUEUED", 3)
    store = machine("first")
    with remote(store)._changed:  # nothing is taken out meanwhile
        for number in range(5):
            store.write_result(digest_of(bytes([number])), {"number": number})
    remote(store).flush(60)

    assert len(objects(share)) == 3
    assert store.notes == (
        f"the shared store {share} did not get everything; 2 outcomes not uploaded, and made again elsewhere",
    )
