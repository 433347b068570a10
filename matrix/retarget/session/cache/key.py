"""The compile key: what must be equal for two compiles to give the same artifact; files that flags name, and `host`."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import platform
import re
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from retarget.extension import Resolved
from retarget.support.errors import RetargetError
from retarget.support.files import content_digest, files_below

_FORMAT = 2
"""Incremented when what the key covers, or what the store keeps under it, changes."""


def compile_key(
    *,
    compiler: str,
    source: bytes,
    source_name: str,
    resolved: Resolved,
    inputs: Inputs = (),
    env: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the SHA-256 hex over source bytes and name, resolved flags, `inputs` (the content of the files and folders
    that flags and environment name), the compiler's name, build id, code and facts, and the config's environment.

    The source's name is part of it since artifacts and diagnostics carry it.
    """
    parts = [
        _FORMAT,
        compiler,
        resolved.build_id,
        list(resolved.flags),
        [list(fact) for fact in resolved.facts],
        [fact for suffix, fact in resolved.suffix_facts if source_name.endswith(suffix)],
        [list(variable) for variable in sorted(env)],
        [list(entry) for entry in inputs],
        source_name,
        digest_of(source),
        *([resolved.code] if resolved.code else []),
    ]
    return digest_of(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode())


def digest_of(data: bytes) -> str:
    """Return the SHA-256 hex of `data`."""
    return hashlib.sha256(data).hexdigest()


Inputs = tuple[tuple[str, str], ...]
"""(text as the flag has it, digest) of each part that names something, sorted, each once."""

_BREAK = re.compile(r"[=,;:@\s\"'()\[\]{}<>]")
_ATTACHED = re.compile(r"-[A-Za-z](?=[^-=\s])")
_NAME = re.compile(r"--?[\w.-]*=")
_MOST_BREAKS = 12
"""In a value with more breaks, only single words, prefixes and suffixes are parts, not every range between two."""

_PLACES = {".", "..", "/"}
"""Words that are a path only where they are the whole value."""

_DEEPEST_RESPONSE = 8
_LARGEST_RESPONSE = 1024**2
"""The maximum depth of nested response files, and the maximum size of one, in bytes."""

_LARGEST_TREE = 10_000
_MOST_FILES = 200_000
"""A folder with more files is identified by their names, sizes and times, not by content; or is refused."""

_MOMENT_SECONDS = 1.0
"""How long a digest is reused unchecked, where it only selects an outcome to reuse."""

_Question = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...], tuple[Path, ...], bool]


def candidates(flag: str) -> Iterator[str]:
    """Yield every part of a flag that may be a path: the text between two breaks of its value, longest first.

    The name of a flag is no part; the value of `-Ipath` and the text that is no flag at all are.
    """
    name = _NAME.match(flag) if flag.startswith("-") else None
    if name is not None:
        yield from _parts(flag[name.end() :])
    elif not flag.startswith("-"):
        yield from _parts(flag)
    elif _ATTACHED.match(flag):
        yield from _parts(flag[2:])


def _parts(text: str) -> Iterator[str]:
    breaks = [match.start() for match in _BREAK.finditer(text)]
    starts, ends = [0, *(at + 1 for at in breaks)], [*breaks, len(text)]
    seen = set()
    last = len(ends) - 1
    for first, start in enumerate(starts):
        for at in range(last, first - 1, -1):
            if len(breaks) > _MOST_BREAKS and at not in {first, last} and first != 0:
                continue
            part = text[start : ends[at]]
            if part and part not in seen and not (part in _PLACES and part != text):
                seen.add(part)
                yield part


class InputDigests:
    """Digests of files and folders, which are read again only if they change. Safe from several threads."""

    program = "program "
    """Begins the digest of a program that is found on PATH."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[_Question, tuple[float, Inputs]] = {}

    def of(
        self,
        flags: Sequence[str],
        *,
        env: Sequence[tuple[str, str]] = (),
        files: Sequence[Path] = (),
        fresh: bool = False,
        only_files: bool = False,
    ) -> Inputs:
        """Return what `flags` name, relative to the current folder; the files that values of `env` name (its folders
        are search paths); and `files`, whether they are there or not: a name without a folder is a program's, on PATH.
        With `only_files` folders do not count.

        Without `fresh`, an answer of a moment ago is reused: a suite asks the same for each module. A file that cannot
        be read has a special digest: the compiler reports it.
        """
        question = (str(Path.cwd()), tuple(flags), tuple(env), tuple(files), only_files)
        with self._lock:
            known = self._answers.get(question)
        if known is not None and not fresh and time.monotonic() - known[0] < _MOMENT_SECONDS:
            return known[1]
        found: dict[str, str] = {}
        for flag in flags:
            self._add(flag, found, Path.is_file if only_files else Path.exists, depth=0)
        for _, value in env:
            found.update((part, content_digest(Path(part))) for part in _parts(value) if _holds(Path.is_file, part))
        found.update((str(path), self._digest(path)) for path in files if path.name != str(path))
        for name in (str(path) for path in files if path.name == str(path)):
            program = Path(shutil.which(name, path=dict(env).get("PATH")) or os.devnull)
            found[f"$PATH/{name}"] = f"{self.program}{content_digest(program)}"
        answer = tuple(sorted(found.items()))
        with self._lock:
            self._answers[question] = (time.monotonic(), answer)
        return answer

    def _add(self, flag: str, found: dict[str, str], counts: Callable[[Path], bool], *, depth: int) -> None:
        for part in candidates(flag):
            if part in found or not _holds(counts, part):
                continue
            found[part] = self._digest(Path(part))
            if f"@{part}" in flag and depth < _DEEPEST_RESPONSE:
                for word in _response(Path(part)):
                    self._add(word, found, counts, depth=depth + 1)

    def _digest(self, path: Path) -> str:
        return self._tree(path) if path.is_dir() else content_digest(path)

    def _tree(self, folder: Path) -> str:
        folder = folder.absolute()
        files = list(itertools.islice(files_below(folder), _MOST_FILES + 1))
        if len(files) > _MOST_FILES:
            msg = (
                f"the folder {folder}, which a compiler flag names, holds more than {_MOST_FILES} files; its content "
                "would be part of the compile key: name a smaller folder"
            )
            raise RetargetError(msg)
        by_content = len(files) <= _LARGEST_TREE
        digest = hashlib.sha256()
        for name in sorted(files):
            content = content_digest(folder / name) if by_content else _stated(folder / name)
            digest.update(f"{name}\0{content}\n".encode("utf-8", "surrogateescape"))
        return f"tree {digest.hexdigest()}"


def _holds(test: Callable[[Path], bool], part: str) -> bool:
    try:
        return test(Path(part))
    except (OSError, ValueError):  # too long a name, a null byte, a folder that may not be searched
        return False


def _stated(file: Path) -> str:
    try:
        status = file.stat()
    except OSError:
        return "absent"
    return f"{status.st_size} {status.st_mtime_ns}"


def _response(file: Path) -> Sequence[str]:
    """Return the flags that a response file holds; none if it is not text."""
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST_RESPONSE:
            return ()
        return shlex.split(file.read_text(encoding="utf-8"), comments=True)
    except (OSError, ValueError):
        return ()


_OF_X86 = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
_OF_ARM = ("features", "cpu implementer", "cpu architecture", "cpu variant", "cpu part", "cpu revision")
_OF_OTHERS = ("isa", "uarch", "mvendorid", "marchid", "mimpid", "cpu", "revision", "platform")
_FIELDS = frozenset((*_OF_X86, *_OF_ARM, *_OF_OTHERS))
"""The lines of Linux's /proc/cpuinfo that distinguish kinds of cores (x86, Arm, RISC-V, POWER)."""


@cache
def host_identity(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return a SHA-256 hex that differs wherever a compiler may take the host CPU for another.

    Where the system has no `/proc/cpuinfo`, machine, processor, system and release replace it.
    """
    facts = [platform.system(), platform.machine()]
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts += [platform.processor(), platform.release(), platform.node()]
    else:
        fields = (line.partition(":") for line in text.splitlines())
        named = ((name.strip().lower(), value.strip()) for name, _, value in fields)
        facts += sorted({f"{name}={value}" for name, value in named if name in _FIELDS})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()
