"""The builds of IREE that configs and this process use: those of a toolchain, or the environment's.

A worker uses the toolchain that the variable `RETARGET_IREE_TOOLCHAIN` names, a folder: one build per process. Only
`compiler_api` and `select_runtime` prepare an import of IREE.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from retarget.extension import UnavailableError
from retarget.model import Toolchain

from retarget_iree.builds import (
    CompilerBuild,
    RuntimeBuild,
    build_hint,
    compiler_at,
    folder_of,
    installed_folder,
    runtime_at,
)

VARIABLE = "RETARGET_IREE_TOOLCHAIN"
"""Names the folder of the toolchain that this process uses."""

_API = 1
"""The version of the library's C API, before the minor one: another wrapper package than its own can call it then."""

_OWN_LINKER = ("EMBEDDED", "WASM")
"""The backends that IREE links with its own linker."""
_NO_CRASH = {
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
}


def find_compiler(toolchain: Toolchain | None = None) -> CompilerBuild:
    """Return the compiler of a toolchain, or else that of this process. Raises `UnavailableError`."""
    return _own_compiler() if toolchain is None else compiler_at(folder_of(toolchain, "iree-compile"))


@functools.cache
def _own_compiler() -> CompilerBuild:
    folder = os.environ.get(VARIABLE)
    return compiler_at(Path(folder) if folder else installed_folder("compiler"))


def find_runtime(toolchain: Toolchain | None = None) -> RuntimeBuild:
    """Return the runtime of a toolchain, or else that of this process. Raises `UnavailableError`."""
    if toolchain is not None:
        return runtime_at(folder_of(toolchain, "iree-run-module"))
    folder = os.environ.get(VARIABLE)
    return runtime_at(Path(folder) if folder else installed_folder("runtime"))


def find_tool(toolchain: Toolchain | None) -> RuntimeBuild:
    """Return the runtime of a toolchain, or else that of this process, with the tool that runs artifacts, which the
    toolchain may name by `run_with`. Raises `UnavailableError`."""
    if toolchain is not None and toolchain.run_with and toolchain.path is not None:
        tool = toolchain.path.absolute() / toolchain.run_with
        if not tool.is_file():
            msg = f"{toolchain.path} has no {toolchain.run_with}, which is its run_with"
            raise UnavailableError(msg)
        return RuntimeBuild(folder=toolchain.path.absolute(), tool=tool)
    build = find_runtime(toolchain)
    if build.tool is None:
        msg = f"{build.folder} has no iree-run-module"
        raise UnavailableError(msg)
    return build


def compiler_environment(toolchain: Toolchain | None) -> tuple[tuple[str, str], ...]:
    """Return the variables with which a worker uses the compiler of a toolchain. Raises `UnavailableError`."""
    return () if toolchain is None else ((VARIABLE, str(find_compiler(toolchain).folder)),)


def linker_flags(build: CompilerBuild) -> tuple[str, ...]:
    """Return flags that name a build's own linker to it, where its path is more than a word of a shell.

    IREE 3.13 has a shell run the linker by its bare path. A flag may quote it. They are no part of a compile key.
    """
    beside = [file.with_name("iree-lld") for file in (build.library, build.tool) if file is not None]
    linker = str(next((file for file in beside if file.is_file()), ""))
    if not re.search(r"[^\w@%+=:,./-]", linker):
        return ()
    quoted = re.sub(r'(["$`\\])', r"\\\1", linker)
    kinds = (kind for kind in _OWN_LINKER if not os.environ.get(f"IREE_LLVM_{kind}_LINKER_PATH"))
    return tuple(f'--iree-llvmcpu-{kind.lower()}-linker-path="{quoted}"' for kind in kinds)


@functools.cache
def describe_runtime() -> str:
    """Name the build of the IREE runtime that this process uses, for people; without importing it.

    Raises `UnavailableError` where there is none.
    """
    return find_runtime().describe()


@functools.cache
def select_runtime() -> None:
    """Have `iree.runtime` imported from the toolchain of this process, or see that the environment has it.

    Raises `UnavailableError` where there is none, or it does not load.
    """
    build = find_runtime()
    if build.packages is None:
        msg = f"{build.folder} has no Python package of the IREE runtime, only the tool {build.tool}"
        raise UnavailableError(msg, "run_under runs the tool")
    _prefer(build.packages)
    try:
        importlib.import_module("iree.runtime")
    except (ImportError, OSError) as error:
        there = ", ".join(sorted(path.name for path in build.packages.glob("iree/_runtime_libs/_runtime*")))
        python = f"this is Python {sys.version_info.major}.{sys.version_info.minor}; there is {there}"
        msg = f"the IREE runtime of {build.packages} does not load: {error} ({python})"
        raise UnavailableError(msg, hint=build_hint("runtime")) from error


def _prefer(packages: Path) -> None:
    """Import the packages `iree.…` from a folder, whatever else is in it, before those of the environment."""
    if str(packages) not in sys.path:
        sys.path.append(str(packages))
    iree: Any = importlib.import_module("iree")
    own = str(packages / "iree")
    iree.__path__ = [own, *(path for path in iree.__path__ if path != own)]


@functools.cache
def compiler_api() -> Any:
    """Import and return `iree.compiler.api`, set up for a worker that is one of many.

    The wrapper package is the build's own, or the environment's where a build has none: the library's C API is stable.

    MLIR's thread pool is switched off: the pool of workers already fills the cores, and one thread per compile costs
    less CPU in all. The flag can be given once per process, before the first session; so everything in a process that
    wants the compiler gets it here. Raises `UnavailableError`.
    """
    build = find_compiler()
    if build.library is None:
        msg = f"{build.folder} has no library of the IREE compiler, only the tool {build.tool}"
        raise UnavailableError(msg, hint=build_hint("compiler"))
    try:
        if build.package is not None:
            _prefer(build.package.parents[1])
        places: Any = importlib.import_module("iree.compiler._mlir_libs").__path__
        if str(build.library.parent) not in places:
            places.insert(0, str(build.library.parent))
        from iree.compiler import api
        from iree.compiler.api import ctypes_dl
    except (ImportError, OSError, RuntimeError, AttributeError, ValueError) as error:
        msg = f"the IREE compiler does not load: {error}"
        raise UnavailableError(msg, hint=build_hint("compiler")) from error
    library = ctypes_dl._dylib  # noqa: SLF001 - the package's own wrapper installs no crash handlers
    if (version := library.ireeCompilerGetAPIVersion() >> 16) != _API:
        msg = f"the IREE compiler {build.library} has version {version} of its API, expected {_API}"
        raise UnavailableError(msg)
    # LLVM's crash handler starts a symbolizer, which was seen to hang where the signal came inside malloc; a crash must
    # end the worker at once. The command that reproduces it by hand prints them.
    os.environ.setdefault("LLVM_DISABLE_SYMBOLIZATION", "1")
    _set_up_process(library)
    return api


@functools.cache
def _process_arguments() -> Any:
    """Return an argument vector that lives as long as the process: a crash prints it."""
    flags = map(os.fsencode, linker_flags(find_compiler()))
    arguments = (b"iree-compile", b"--mlir-disable-threading", *flags, None)
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


def command(name: str, toolchain: Toolchain | None = None) -> str:
    """Return how to call a tool from a shell: that of a toolchain by its path; of this environment by its bare name if
    PATH leads to it, else by its path."""
    if toolchain is not None:
        with contextlib.suppress(UnavailableError):
            tool = (find_compiler if name == "iree-compile" else find_tool)(toolchain).tool
            return name if tool is None else str(tool)
        return str(toolchain.path / name) if toolchain.path is not None else name  # missing, as the shell reports
    beside = Path(sys.executable).with_name(name) if name != "python" else Path(sys.executable)
    found = shutil.which(name)
    is_on_path = found is not None and Path(found).parent == beside.parent
    return name if is_on_path or not beside.exists() else str(beside)
