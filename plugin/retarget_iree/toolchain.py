"""Where IREE is installed and which build it is: the one that this process imports, be it by PYTHONPATH.

Nothing but `compiler_api` imports IREE. `fingerprint` looks at files, `build_id` reads them.
"""

from __future__ import annotations

import base64
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
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.engine.cache.inputs import files_below
from retarget.extension import UnavailableError
from retarget.support.installing import install_hint

__all__ = [
    "Toolchain",
    "command",
    "compiler_api",
    "compiler_hint",
    "describe_runtime",
    "environment_facts",
    "find_toolchain",
    "runtime_hint",
    "runtime_installed",
]

_DISTRIBUTION = "iree-base-compiler"
_VARIABLES = ("IREE_LLVM_EMBEDDED_LINKER_PATH", "IREE_LLVM_SYSTEM_LINKER_PATH", "IREE_LLVM_WASM_LINKER_PATH")
_NO_CRASH = {
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
}
_LIBRARY = {"Darwin": "libIREECompiler.dylib", "Windows": "IREECompiler.dll"}.get(
    platform.system(), "libIREECompiler.so"
)


def compiler_hint() -> str:
    """Return how IREE's compiler is installed."""
    return install_hint("iree", "the compiler")


def runtime_hint() -> str:
    """Return how IREE's runtime is installed."""
    return install_hint("iree", "the runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """One IREE compiler: the folder of its Python package, its library, and its version as the package says it."""

    package: Path
    library: Path
    version: str

    @property
    def compile_tool(self) -> Path:
        """The `iree-compile` binary that belongs to the library."""
        return self.library.with_name("iree-compile")

    def fingerprint(self) -> str:
        """Name this installation cheaply: version, folder, and of each file its size and the times of its last changes.

        That of the inode is among them, since a copy may keep the modification time of what it was copied from.
        """
        digest = hashlib.sha256()
        for name, path in _files(self.package):
            status = path.stat()
            digest.update(f"{name}\0{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n".encode())
        return f"iree {self.version} {self.package} {digest.hexdigest()}"

    def build_id(self) -> str:
        """Name this build by content: version, revision and digest of the package's files, the same on every machine.

        The library's digest is the wheel's own record where that came no earlier than the file and has its size; a
        library that was built or replaced by hand is read.
        """
        content = _content(self.package, self.library, self.fingerprint())
        return f"iree-compiler {self.version} {_revision(self.package)} sha256:{content}"

    def describe(self) -> str:
        """Name this build for people, with its folder where that is not the environment's."""
        return _described("iree", self.version, self.build_id(), self.package)


@functools.cache
def _content(package: Path, library: Path, fingerprint: str) -> str:
    """Return the digest of a package's files, read once as long as the fingerprint holds."""
    del fingerprint
    digest = hashlib.sha256()
    for name, path in _files(package):
        digest.update(f"{name}\0{_file_digest(path, library)}\n".encode())
    return digest.hexdigest()


def _files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return the files of a package by their names in it, without what Python and linkers leave there."""
    return tuple((name, folder / name) for name in sorted(files_below(folder)) if "__pycache__" not in Path(name).parts)


def _described(name: str, version: str, build_id: str, folder: Path) -> str:
    build = hashlib.sha256(build_id.encode()).hexdigest()[:12]
    own = {Path(sysconfig.get_path(place)).resolve() for place in ("purelib", "platlib")}
    where = "" if own & set(folder.resolve().parents) else f", {folder}"
    return f"{name} {version} (build {build}{where})"


@functools.cache
def describe_runtime() -> str:
    """Name the build of the IREE runtime that this process imports, for people; without importing it.

    Raises `UnavailableError` where there is none.
    """
    tracy = os.environ.get("IREE_PY_RUNTIME") == "tracy"
    folder = _locate("iree._runtime_libs_tracy" if tracy else "iree._runtime_libs")
    if folder is None:
        msg = "the IREE runtime is not installed: there is no module iree._runtime_libs"
        raise UnavailableError(msg, hint=runtime_hint())
    digest = hashlib.sha256()
    for library in sorted(folder.glob("_runtime*")):
        digest.update(library.read_bytes())
    name = "iree-runtime-tracy" if tracy else "iree-runtime"
    return _described(name, _version(folder / "version.py"), digest.hexdigest(), folder)


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
    library = package / "_mlir_libs" / _LIBRARY
    if not library.is_file():
        msg = f"the IREE compiler is not usable: {library} is missing"
        raise UnavailableError(msg, hint=compiler_hint())
    return Toolchain(package=package, library=library, version=_version(package / "version.py"))


def environment_facts() -> tuple[tuple[str, str], ...]:
    """Return the environment variables that the compiler looks for its linkers in, with their values."""
    return tuple((name, os.environ[name]) for name in _VARIABLES if os.environ.get(name))


def runtime_installed() -> bool:
    """Return whether the IREE runtime is installed, without importing it."""
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

    Handlers for signals that are no crash are removed again: those are the worker's.
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


def _version(file: Path) -> str:
    """Return the version that a package's version file says, without importing the package."""
    found = re.search(r"""(?m)^VERSION\s*=\s*["']([^"']+)["']""", _text(file))
    return found[1] if found else "unpackaged"


def _revision(package: Path) -> str:
    """Return IREE's revision from the version file of the package, without importing the package."""
    found = re.search(r"""["']IREE["']\s*:\s*["']([0-9a-f]+)["']""", _text(package / "version.py"))
    return found[1] if found else "unknown-revision"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _file_digest(path: Path, library: Path) -> str:
    """Return a file's SHA-256 hex; of the library, hundreds of MB, the recorded one where that can be trusted."""
    if path == library and (recorded := _recorded_digest(library)):
        return recorded
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _recorded_digest(library: Path) -> str:
    """Return the digest in the wheel's RECORD; empty where the file has another size or came after the record."""
    status = library.stat()
    digest = ""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, OSError):
        for entry in importlib.metadata.files(_DISTRIBUTION) or []:
            if entry.name == "RECORD" and Path(str(entry.locate())).stat().st_ctime_ns < status.st_ctime_ns:
                return ""
            if entry.name == library.name and entry.hash is not None and entry.size == status.st_size:
                is_it = entry.hash.mode == "sha256" and Path(str(entry.locate())).resolve() == library.resolve()
                digest = base64.urlsafe_b64decode(f"{entry.hash.value}=").hex() if is_it else ""
    return digest
