"""Where the installed IREE lies and which build it is.

Everything but `compiler_api` is cheap: it reads package metadata and file sizes and imports nothing of IREE.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.extension import UnavailableError
from retarget.installing import install_hint

__all__ = [
    "Toolchain",
    "command",
    "compiler_api",
    "compiler_hint",
    "find_toolchain",
    "runtime_hint",
    "runtime_installed",
]

_DISTRIBUTION = "iree-base-compiler"
_NO_CRASH = {
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
}
_LIBRARY = {"Darwin": "libIREECompiler.dylib", "Windows": "IREECompiler.dll"}.get(
    platform.system(), "libIREECompiler.so"
)


def compiler_hint() -> str:
    """Say how IREE's compiler is installed."""
    return install_hint("iree", "the compiler")


def runtime_hint() -> str:
    """Say how IREE's runtime is installed."""
    return install_hint("iree", "the runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """One installed IREE compiler: its folder of binaries, its library, and its version as the package says it."""

    folder: Path
    library: Path
    version: str

    @property
    def compile_tool(self) -> Path:
        """The `iree-compile` binary that belongs to the library."""
        return self.folder / "iree-compile"

    def fingerprint(self) -> str:
        """Name this installation cheaply: version, library path, its size in bytes and its modification time in ns."""
        status = self.library.stat()
        return f"iree {self.version} {self.library} {status.st_size} {status.st_mtime_ns}"

    def build_id(self) -> str:
        """Name this build by content: version, revision and digest of the library, the same on every machine.

        The digest is the wheel's own record where the file still has the recorded size; a library that was built or
        replaced by hand is read and hashed once per process.
        """
        return f"iree-compiler {self.version} {_revision(self.folder)} {_library_digest(self.library)}"


def _locate(package: str) -> Path | None:
    """Return the folder of an `iree.…` package without importing it (`iree` itself is a namespace package)."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


@functools.cache
def find_toolchain() -> Toolchain:
    """Return the installed compiler. Raises `UnavailableError` where there is none."""
    package = _locate("iree.compiler")
    if package is None:
        msg = "the IREE compiler is not installed: there is no module iree.compiler"
        raise UnavailableError(msg, hint=compiler_hint())
    folder = package / "_mlir_libs"
    library = folder / _LIBRARY
    if not library.is_file():
        msg = f"the IREE compiler is not usable: {library} is missing"
        raise UnavailableError(msg, hint=compiler_hint())
    try:
        version = importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        version = "unpackaged"
    return Toolchain(folder=folder, library=library, version=version)


def runtime_installed() -> bool:
    """Tell whether the IREE runtime is installed, without importing it."""
    return _locate("iree.runtime") is not None


@functools.cache
def compiler_api() -> Any:
    """Import and return `iree.compiler.api`, set up for a worker that is one of many.

    MLIR's thread pool is switched off: the pool of workers already fills the cores, and one thread per compile costs
    less CPU in all. The flag can be given once per process, before the first session; so everything in a process that
    wants the compiler gets it here. Raises `UnavailableError`.
    """
    find_toolchain()
    try:
        from iree.compiler import api
        from iree.compiler.api import ctypes_dl
    except (ImportError, OSError, RuntimeError) as error:
        msg = f"the IREE compiler does not load: {error}"
        raise UnavailableError(msg, hint=compiler_hint()) from error
    # LLVM's crash handler starts a symbolizer, which was seen to hang where the signal came inside malloc; a crash must
    # end the worker at once. The command that reproduces it by hand prints them.
    os.environ.setdefault("LLVM_DISABLE_SYMBOLIZATION", "1")
    _set_up_process(ctypes_dl._dylib)  # noqa: SLF001 - the package's own wrapper installs no crash handlers
    return api


@functools.cache
def _process_arguments() -> Any:
    """Return an argument vector that lives as long as the process: a crash prints it."""
    arguments = (b"iree-compile", b"--mlir-disable-threading", None)
    return (ctypes.c_char_p * len(arguments))(*arguments)


def _set_up_process(library: Any) -> None:
    """Give the flags that hold for the process, and let a crash print the compiler's stack before it kills.

    The handlers that come along for signals which tell of no crash are taken back: those are the worker's.
    """
    before = {number: signal.getsignal(number) for number in map(signal.Signals, _NO_CRASH & signal.valid_signals())}
    arguments = _process_arguments()
    library.ireeCompilerSetupGlobalCL(len(arguments) - 1, arguments, b"retarget", True)
    for number, handler in before.items():
        if handler is not None:  # None: set by others than Python, which cannot set it again
            with contextlib.suppress(ValueError):  # not the main thread: signals are not ours to set
                signal.signal(number, handler)


def command(name: str) -> str:
    """Return how to call a tool of this environment from a shell: its bare name if PATH leads to it, else its path."""
    beside = Path(sys.executable).with_name(name) if name != "python" else Path(sys.executable)
    found = shutil.which(name)
    if not beside.exists():
        return name
    if found is not None and Path(found).parent == beside.parent:
        return name
    return str(beside)


def _revision(folder: Path) -> str:
    """Return IREE's revision from the version file of the package, without importing the package."""
    file = folder.parent / "version.py"
    if not file.is_file():
        return "unknown-revision"
    found = re.search(r"""["']IREE["']\s*:\s*["']([0-9a-f]+)["']""", file.read_text(encoding="utf-8"))
    return found[1] if found else "unknown-revision"


@functools.cache
def _library_digest(library: Path) -> str:
    try:
        recorded = importlib.metadata.files(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        recorded = []
    for entry in recorded:
        if entry.name != library.name or entry.hash is None or entry.size != library.stat().st_size:
            continue
        if Path(str(entry.locate())).resolve() == library.resolve():
            return f"{entry.hash.mode}:{entry.hash.value}"
    with library.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
