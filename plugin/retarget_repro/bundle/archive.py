"""Bundles as `.tar.zst` files: written with the same bytes for the same content, opened as data from strangers,
and tried in fresh processes.

Only what is written here is opened: plain ustar entries of regular files in one folder, whose digests `bundle.json`
has. So no header can ask for a link, a device or memory, and nothing is written outside of the new folder.

The steps of `repro.py` for compilers and drivers that are extensions of retarget: there the package is needed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec.structs import replace
from retarget.extension import CompileRequest, CompilerError, Device, Resolved, UnavailableError
from retarget.model import CompilerConfig, Origin, RuntimeConfig, Toolchain
from retarget.session import load_extensions
from retarget.support import RetargetError, display_path, first_line, install_hint, irregular, replacing, shown

from retarget_repro.bundle.format import Bundle, Digest, Reproduced, read_bundle, write_json

MOST_FILES = 10_000
MOST_BYTES = 4 * 1024**3
"""How many files and bytes a bundle may hold: what is larger is neither written nor opened."""

_WINDOW = 128 * 1024**2
"""Bytes of memory that decompression may take."""

_BLOCK = 512
_SORTS = {b"1": "a link", b"2": "a link", b"3": "a device", b"4": "a device", b"5": "a folder", b"6": "a named pipe"}
_CHUNK = 1 << 20
_SOME = 512
"""Compressed bytes that are taken at once: no more than 16 MiB come of them."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Decompressed:
    """The content of one whole frame. At its end, bytes that are missing or too many are a `RetargetError`."""

    def __init__(self, file: BinaryIO, zstandard: Any) -> None:
        self._file = file
        self._error = zstandard.ZstdError
        self._frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        self._left = memoryview(b"")

    def read(self, size: int, /) -> bytes:
        while not self._left and not self._frame.eof:
            if not (some := self._file.read(_SOME)):
                msg = "it is truncated"
                raise RetargetError(msg)
            try:
                self._left = memoryview(self._frame.decompress(some))
            except self._error as error:
                msg = f"it is damaged, or no file of Zstandard: {error}"
                raise RetargetError(msg) from error
        taken, self._left = self._left[:size], self._left[size:]
        return bytes(taken)

    def expect_end(self) -> None:
        """Raise `RetargetError` where something follows, but the second block of zeros that ends an archive."""
        if _exactly(self, _BLOCK) != bytes(_BLOCK) or self.read(1) or self._frame.unused_data or self._file.read(1):
            msg = "something follows its last file"
            raise RetargetError(msg)


def pack(folder: Path, output: Path) -> Bundle:
    """Write a folder with a `bundle.json` to `output`, after the digests in it were renewed; return what it says now.

    Raises `RetargetError` for a folder that is too large, and for an output that cannot be written.
    """
    zstandard = _zstandard()
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if "__pycache__" not in name]
    total = sum((folder / name).stat().st_size for name in names)
    if len(names) > MOST_FILES or total > MOST_BYTES:
        msg = f"the bundle has {len(names)} files of {total} bytes, expected at most {MOST_FILES} and {MOST_BYTES}"
        raise RetargetError(msg)
    digests = {name: _digest(folder / name) for name in names if name != "bundle.json"}
    bundle = msgspec.structs.replace(read_bundle(folder), files=digests)
    write_json(bundle, folder)
    compressor = zstandard.ZstdCompressor(level=10, write_checksum=True)
    try:
        with replacing(output) as new, new.open("wb") as file, compressor.stream_writer(file) as stream:
            for name in sorted({*digests, "bundle.json"}):
                path = folder / name
                info = tarfile.TarInfo(f"{folder.name}/{name}")
                info.size, info.mode = path.stat().st_size, 0o755 if name == "repro.py" else 0o644
                stream.write(info.tobuf(tarfile.USTAR_FORMAT))
                with path.open("rb") as source:
                    shutil.copyfileobj(source, stream, _CHUNK)
                stream.write(bytes(-info.size % _BLOCK))
            stream.write(bytes(2 * _BLOCK))
    except OSError as error:
        msg = f"cannot write {display_path(output)}: {error.strerror or error}"
        raise RetargetError(msg) from error
    return bundle


def unpack(archive: Path, folder: Path) -> Bundle:
    """Unpack a bundle to a new folder and return what it says. Nothing in it is executed.

    Raises `RetargetError` for a folder that exists and for a file that is no whole bundle; nothing is left then.
    """
    zstandard = _zstandard()
    shown = display_path(archive)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        msg = f"{display_path(folder)} exists; expected a new or an empty folder"
        raise RetargetError(msg)
    new: Path | None = None
    try:
        with _opened(archive) as file:
            folder.parent.mkdir(parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
            stream = _Decompressed(file, zstandard)
            _extract(stream, new)
            stream.expect_end()
        bundle = read_bundle(new)
        _verify(new, bundle)
        new.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        new.rename(folder)
        new = None
    except OSError as error:
        is_read = error.filename is not None and Path(error.filename) == archive
        what = f"open {shown}" if is_read else f"unpack {shown} to {display_path(folder)}"
        msg = f"cannot {what}: {error.strerror or error}"
        raise RetargetError(msg) from error
    except RetargetError as error:
        msg = f"{shown} cannot be opened as a bundle: {str(error).replace(f'{new}/', '').replace(f'{new} ', 'it ')}"
        raise RetargetError(msg) from error
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)
    return bundle


def _opened(path: Path) -> BinaryIO:
    """Open a file. Raises `OSError`, also for a pipe, which would be waited for."""
    if what := irregular(path):
        raise OSError(errno.EINVAL, f"found {what}, expected a file", str(path))
    return path.open("rb")


def _extract(stream: _Readable, folder: Path) -> None:
    """Write the entries of an archive below an empty folder, their own top folder left out."""
    top = ""
    total = 0
    for info in _entries(stream):
        first, _, name = info.name.partition("/")
        top = top or first
        if first != top or not name:
            msg = f"found {info.name!r} beside the folder {top!r}; expected one folder"
            raise RetargetError(msg)
        if (fault := _fault(info.name)) or PurePosixPath(name).as_posix() != name:
            msg = f"found the name {info.name!r}, {fault or 'written in another way than bundles have it'}"
            raise RetargetError(msg)
        total += info.size
        if info.size < 0 or total > MOST_BYTES:
            msg = f"it is too large at {info.name!r}: expected at most {MOST_BYTES} bytes in all"
            raise RetargetError(msg)
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        except FileExistsError as error:  # whatever names this file system takes for the same
            msg = f"found {info.name!r}, whose name collides with an earlier one"
            raise RetargetError(msg) from error
        with file:
            _copy(stream, file, info.size)
        path.chmod(0o644)
        _exactly(stream, -info.size % _BLOCK)


def _entries(stream: _Readable) -> Iterator[tarfile.TarInfo]:
    """Yield the header of each regular file; its content is to be read before the next."""
    count = 0
    while (block := _exactly(stream, _BLOCK)) != bytes(_BLOCK):
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            msg = f"found no header of an archive's file after {count} files: {error}"
            raise RetargetError(msg) from error
        if info.type not in {tarfile.REGTYPE, tarfile.AREGTYPE}:
            what = _SORTS.get(info.type, f"an entry of type {info.type!r}")
            msg = f"found {what}, {info.name!r}; expected regular files alone, as `retarget repro` writes them"
            raise RetargetError(msg)
        count += 1
        if count > MOST_FILES:
            msg = f"it holds more than {MOST_FILES} files"
            raise RetargetError(msg)
        yield info
    if not count:
        msg = "it holds no files"
        raise RetargetError(msg)


def _fault(name: str) -> str:
    """Return what is wrong with an entry's name; empty where nothing is."""
    parts = name.split("/")
    if ":" in name or "\\" in name or any(part in {"", ".", ".."} for part in parts):
        return "which may lead out of the folder"
    if not name.isprintable() or any(part.endswith((" ", ".")) for part in parts):
        return "which not every file system takes"
    return ""


def _copy(stream: _Readable, file: BinaryIO, size: int) -> None:
    while size:
        chunk = _exactly(stream, min(size, _CHUNK))
        file.write(chunk)
        size -= len(chunk)


def _exactly(stream: _Readable, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        more = stream.read(size - len(found))
        if not more:
            msg = "it is truncated"
            raise RetargetError(msg)
        found += more
    return bytes(found)


def _verify(folder: Path, bundle: Bundle) -> None:
    """Raise `RetargetError` for files that are not as `bundle.json` has them."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"bundle.json"}
    for name in sorted(found ^ set(bundle.files)):
        msg = f"{shown(name)} is {'not in bundle.json' if name in found else 'missing'}"
        raise RetargetError(msg)
    for name in (bundle.compile.source, *filter(None, [bundle.artifact])):
        if name not in bundle.files:
            msg = f"bundle.json names {shown(name)!r}, which is no file of the bundle"
            raise RetargetError(msg)
    for name, expected in bundle.files.items():
        if _digest(folder / name) != expected:
            msg = f"{name} has not the digest that bundle.json has of it"
            raise RetargetError(msg)


def _digest(path: Path) -> Digest:
    with path.open("rb") as file:
        return Digest(size=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def _zstandard() -> Any:
    """Return the package. Raises `RetargetError` where it is not installed."""
    try:
        import zstandard
    except ImportError as error:
        msg = f"bundles need the package zstandard, which is not installed; {install_hint('repro')}"
        raise RetargetError(msg) from error
    return zstandard


_GOOD, _BAD, _CANNOT_TELL = 0, 1, 125
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


def attempt(folder: Path, arguments: Sequence[str] = (), *, hidden: Collection[str] = ()) -> tuple[int, str]:
    """Run the `repro.py` of an unpacked bundle once, with its code, without `hidden` variables and those of Python.
    Return its exit status, 0, 1 or 125, and its verdict in one line: `bad: compare: values differ`.

    Where the toolchain is `retarget`, its packages are found as this process finds them. Raises `RetargetError`.
    """
    isolated = read_bundle(folder).toolchain == "iree"
    hidden = {*hidden, *(_HIDDEN if isolated else ())}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    argv = [sys.executable, *(["-I"] if isolated else []), "-B", str(folder / "repro.py"), *arguments]
    try:
        done = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        msg = f"repro.py does not start: {error.strerror or error}"
        raise RetargetError(msg) from error
    status = done.returncode if done.returncode in {_GOOD, _BAD} else _CANNOT_TELL
    if status == _BAD and not any(line.startswith("bad: ") for line in done.stdout.splitlines()):
        status = _CANNOT_TELL  # Python's own status for an exception
    text = done.stdout + done.stderr
    lines = [line for line in text.splitlines() if line.startswith(("good: ", "bad: ", "cannot tell: "))]
    return status, lines[-1] if lines else f"exit status {status}: {text.strip().rpartition(chr(10))[2]}"


def default_runs(stage: str) -> int:
    """Return how often to reproduce a failure: what a signal or the clock ended may be chance."""
    return {"crash": 3, "timeout": 3, "compile": 1}.get(stage, 2)


def reproduce(folder: Path, *, runs: int, toolchain: Path | None = None, hidden: Collection[str] = ()) -> Reproduced:
    """Reproduce the failure of an unpacked bundle several times, without `hidden` variables of the environment.

    `others` has what runs said that did not show it.

    Raises `RetargetError`.
    """
    arguments = [] if toolchain is None else [f"--toolchain={toolchain.absolute()}"]
    made = [attempt(folder, arguments, hidden=hidden) for _ in range(runs)]
    others = dict.fromkeys(line for status, line in made if status != _BAD)
    return Reproduced(runs=runs, same=sum(status == _BAD for status, _ in made), others=tuple(others))


_ORIGIN = Origin(file=Path("bundle.json"), key_path="")


def open_devices(
    run: Mapping[str, Any], uris: Sequence[str], note: Callable[..., None], toolchain: Path | None = None
) -> tuple[Device, RuntimeConfig]:
    """Open the devices of a bundle, or those that are named instead, with a toolchain, or with what is installed where
    that has no runtime, which is noted. Return the config, too. Raises what `Driver.open` does, and `UnavailableError`
    without `run_with`."""
    registry = load_extensions()
    driver, used = registry.driver(run["driver"]), None
    if toolchain is not None and not driver.overrides("toolchain_environment"):
        note(said=f"the driver {driver.name!r} uses no toolchains")
    elif toolchain is not None:
        used = Toolchain(name="--toolchain", path=toolchain, run_with=run.get("run_with", ""), origin=_ORIGIN)
    config = RuntimeConfig(
        name="repro",
        driver=run["driver"],
        devices=tuple(uris or [device["uri"] for device in run["devices"]]),
        roles=tuple(run.get("roles", ())),
        used=tuple(run["used"]),
        flags=tuple(run["flags"]),
        toolchain=used,
        origin=_ORIGIN,
    )
    try:
        os.environ.update(registry.worker_environment(config))
    except UnavailableError as error:
        if run.get("run_with"):
            raise
        note(said=str(error))
        config = replace(config, toolchain=None)
    return driver.open(config), config


def compile_module(
    bundle: Mapping[str, Any], folder: Path, artifact: Path, note: Callable[..., None], toolchain: Path | None = None
) -> None:
    """Compile the module of a bundle. Failures go to `note`.

    Raises `RetargetError` where the compiler gives no verdict, or cannot use the toolchain, and what it raises itself.
    """
    step = bundle["compile"]
    source = folder / step["source"]
    registry = load_extensions()
    if toolchain is not None:
        used = Toolchain(name="--toolchain", path=toolchain, origin=_ORIGIN)
        config = CompilerConfig(name="repro", compiler=step["compiler"], toolchain=used, origin=_ORIGIN)
        os.environ.update(registry.worker_environment(config))
    request = CompileRequest(
        source=source.read_bytes(),
        source_name=source.name,
        source_path=source,
        resolved=Resolved(
            build_id="",
            flags=tuple(flag.replace("{bundle}", str(folder)) for flag in step["flags"]),
            facts=tuple((name, value) for name, value in step["facts"]),
        ),
    )
    try:
        compiled = registry.compiler(step["compiler"]).compile(request)
    except CompilerError as error:
        if not error.verdict:
            msg = f"the compiler says nothing of the module: {error}"
            raise RetargetError(msg) from error
        summary = first_line(str(error)) or first_line(error.diagnostics, "the compiler refused it without a word")
        note(failure=["compile", summary])
        return
    artifact.write_bytes(compiled.artifact)
