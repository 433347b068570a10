"""The files of a session on a worker's machine: as they are where both see the same, else fetched once, by digest."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from retarget.session import CompileJob, InputDigests, RunJob
from retarget.support import RetargetError, read_regular, replacing

from retarget_cluster.jobs import Job, file_view

_SHA256 = re.compile(r"[0-9a-f]{64}")
_BREAK = r"=,;:@\s\"'()\[\]{}<>"
_TRIM_TO = 0.9

Fetch = Callable[[str, int], bytes | None]
"""Asks the session for a piece of the file with a digest, from an offset on."""


class Content:
    """The fetched files in one folder, bounded: those used longest ago go first. Safe from several threads."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._digests = InputDigests()
        self._lock = threading.Lock()
        self._fetching: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def localised(self, job: Job, scratch: Path, fetch: Fetch) -> Job:
        """Return a job that names files of this machine.

        Where this machine has not all of them at the same paths, with the same content, the files of the job are below
        `scratch`, each at the path that it has on the session's machine. Raises `RetargetError` for what cannot be
        brought here, such as a folder that a flag names. A run's folder that both see is not compared: runs may write
        there.
        """
        found = {
            text: (Path(Path(text).name) if digest.startswith(InputDigests.program) else job.folder / text, digest)
            for text, digest in job.files
        }
        sees_same = isinstance(job.work, RunJob) and job.view != "" and job.view == file_view()
        lacking = {
            path
            for path, digest in found.values()
            if not (sees_same and path.is_dir()) and self._digest(path) != digest
        }
        is_same_folder = all(Path(text).is_absolute() for text in found) or _current_folder() == job.folder
        if not lacking and is_same_folder:
            return _with_source(job, job.source)
        paths: dict[str, str] = {}
        for text, (path, digest) in found.items():
            place = Path(f"{scratch}{path}")
            if path in lacking:
                if not _SHA256.fullmatch(digest):
                    msg = f"{path} is not the same on this machine, and only single files are brought here"
                    raise RetargetError(msg)
                source = self._fetched(digest, path, fetch)
            elif isinstance(job.work, CompileJob) or path.is_dir():
                paths[text] = str(path)
                continue
            else:
                source = path
            place.parent.mkdir(parents=True, exist_ok=True)
            _place(source, place)
            paths[text] = str(place)
        moved = replace(job, work=_at(job.work, paths, scratch))
        return _with_source(moved, paths.get(job.source, ""))

    def _digest(self, path: Path) -> str:
        ((_, digest),) = self._digests.of((), files=[path], fresh=True)
        return digest

    def _fetched(self, digest: str, path: Path, fetch: Fetch) -> Path:
        """Return the file with a digest, which is fetched unless it is here."""
        file = self._folder / digest[:2] / digest
        with self._lock:
            fetching = self._fetching[digest]
        with fetching:
            if file.exists() and self._digest(file) == digest:
                with suppress(OSError):
                    os.utime(file)
                return file
            file.parent.mkdir(parents=True, exist_ok=True)
            hashed, offset = hashlib.sha256(), 0
            with replacing(file) as beside:
                with beside.open("wb") as output:
                    while piece := fetch(digest, offset):
                        hashed.update(piece)
                        output.write(piece)
                        offset += len(piece)
                if hashed.hexdigest() != digest:
                    msg = f"{path} changed while it was sent, or the session is gone"
                    raise RetargetError(msg)
        self._trim()
        return file

    def _trim(self) -> None:
        files = []
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        total = sum(size for _, size, _ in files)
        if total <= self._max_bytes:
            return
        for _, size, path in sorted(files)[:-1]:
            if total <= self._max_bytes * _TRIM_TO:
                return
            with suppress(OSError):
                path.unlink()
                total -= size


def _place(source: Path, place: Path) -> None:
    """Make a file, or the content of a folder, appear at another path. No symbolic link: loaders refuse those that lead
    out of a suite's folder."""
    with suppress(FileExistsError):
        try:
            os.link(source, place)
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(source, place)


def _current_folder() -> Path | None:
    with suppress(OSError):
        return Path.cwd()
    return None


def _at(work: Any, paths: Mapping[str, str], scratch: Path) -> Any:
    """Return a job's work with its files at other paths."""
    if isinstance(work, CompileJob):
        texts = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
        named = re.compile(rf"(?<![^{_BREAK}])(?:{texts})(?![^{_BREAK}])|(?<=^-[A-Za-z])(?:{texts})$")
        message = work.message.with_flags(lambda flag: named.sub(lambda match: paths[match[0]], flag))
        return replace(work, message=message)
    if isinstance(work, RunJob):
        moved = {Path(text) for text in paths}
        moved |= {parent for path in moved for parent in path.parents}
        target = work.message.target
        moved -= set(target.compile.folder.parents)
        return replace(work, message=_mapped(work.message, lambda one: _moved(one, moved, scratch)))
    return work


def _with_source(job: Job, path: str) -> Job:
    """Return a compile with its source, where that came as a file."""
    if not job.source or not isinstance(job.work, CompileJob):
        return job
    message = job.work.message
    request = replace(message.request, source=read_regular(Path(path)))
    return replace(job, work=replace(job.work, message=replace(message, request=request)))


def _moved(one: Any, moved: set[Path], scratch: Path) -> Any:
    if isinstance(one, Path):
        return Path(f"{scratch}{one}") if one in moved else one
    if isinstance(one, str) and one.startswith("/") and Path(one) in moved:
        return f"{scratch}{one}"
    return one


def translated(value: Any, scratch: Path) -> Any:
    """Return the result of a job in terms of the session's machine: without `scratch` before its paths."""
    text = str(scratch)

    def change(one: Any) -> Any:
        if isinstance(one, str):
            return one.replace(text, "")
        return Path(str(one).replace(text, "")) if isinstance(one, Path) else one

    return _mapped(value, change)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a frozen value with its paths and strings changed, as deep as it goes."""
    if isinstance(value, tuple):
        return tuple(_mapped(one, change) for one in value)
    names = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", ())
    if names and not isinstance(value, type):
        old = {name: getattr(value, name) for name in names}
        new = {name: _mapped(one, change) for name, one in old.items()}
        return type(value)(**new) if new != old else value
    return change(value)
