"""Builds of IREE as files: where a folder has its compiler and its runtime, and which build each is.

Imports no IREE and starts nothing. A fingerprint looks at files; a build id reads them.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from retarget.extension import UnavailableError
from retarget.model import Toolchain
from retarget.support import display_path, files_below, install_hint

COMPILER_PACKAGE = "iree-base-compiler"
RUNTIME_PACKAGE = "iree-base-runtime"
_LIBRARY = {"Darwin": "libIREECompiler.dylib", "Windows": "IREECompiler.dll"}.get(
    platform.system(), "libIREECompiler.so"
)
_PACKAGES = ("lib*/python*/site-packages", "Lib/site-packages")
"""Where in a toolchain's folder packages may be, besides a build's own `compiler/bindings/python`."""

_TOOLS = ("tools", "bin", "lib", ".")
"""Where in a toolchain's folder libraries and tools may be: of a build, an installation, or simply there."""

_PART = re.compile(r"iree-lld|lib(?!IREECompiler\.).*(?:iree|LLVM|MLIR).*\.(?:so|dylib)\b.*", re.IGNORECASE)
"""The linker that a compiler starts, and what a library that was built of shared ones loads: they lie beside it."""

_BESIDE = ("lib*.so*", "../lib/lib*iree*.so*", "lib*.dylib", "../lib/lib*iree*.dylib")
"""What a tool of the runtime loads that was built of shared libraries, relative to it."""

_LINKERS = ("IREE_LLVM_EMBEDDED_LINKER_PATH", "IREE_LLVM_SYSTEM_LINKER_PATH", "IREE_LLVM_WASM_LINKER_PATH")
LINKERS = ("ld.lld", "ld", "ld64.lld", "lld", "clang", "gcc", "wasm-ld")
"""The names by which IREE looks for the system's linker on PATH."""

PLUGINS = "IREE_LOAD_PLUGINS"
"""Names files, with commas between them. The library passes over those that do not load; the tools fail."""

_LARGEST_SCRIPT = 1 << 16

_LOOKED = (
    "looked for a package in ., lib/python*/site-packages and {0}/bindings/python, for {1} in tools, bin, lib and ."
)


def build_hint(part: str) -> str:
    """Return how IREE's `compiler` or `runtime` is installed."""
    return install_hint("iree", f"the {part}")


class CompilerBuild(Struct, frozen=True, kw_only=True):
    """One IREE compiler: the folder of its Python package `iree.compiler`, its library, its tool `iree-compile`.

    It has a library or a tool, most have all three. `folder` is where it was looked for.
    """

    folder: Path
    package: Path | None = None
    library: Path | None = None
    tool: Path | None = None

    @property
    def version(self) -> str:
        """Return the version as the package says it."""
        return _version(self.package)

    def fingerprint(self) -> str:
        """Name this installation cheaply: version, folder, of each file its size and the times of its changes.

        That of the inode is among them, since a copy may keep the modification time of what it was copied from.
        """
        digest = hashlib.sha256()
        for name, path in self.files():
            status = path.stat()
            digest.update(f"{name}\0{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n".encode())
        return f"iree {self.version} {self.package or self.folder} {digest.hexdigest()}"

    def build_id(self) -> str:
        """Name this build by content: version, revision and digest of its files, the same on every machine.

        The library's digest is the wheel's own record where that came no earlier than the file and has its size; a
        library that was built or replaced by hand is read.
        """
        revision = _version(self.package, r"""["']IREE["']\s*:\s*["']([0-9a-f]+)["']""", "unknown-revision")
        return f"iree-compiler {self.version} {revision} sha256:{_content(self, self.fingerprint())}"

    def describe(self) -> str:
        """Name this build for people, with its folder where that is not the environment's."""
        return _described("iree", self.version, self.build_id(), self.package or self.folder)

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files of the package by their names in it, what there is elsewhere by its own name, and the linkers
        and plugins that the compiler finds by variables of the environment."""
        if self.package is not None:
            names = sorted(files_below(self.package))  # without what Python and linkers leave there
            yield from ((name, self.package / name) for name in names if "__pycache__" not in Path(name).parts)
        for path in (self.library, self.tool):
            if path is not None and (self.package is None or self.package not in path.parents):
                yield path.name, path
                yield from ((one.name, one) for one in sorted(path.parent.glob("*")) if _PART.fullmatch(one.name))
        yield from ((one.name, one) for one in _run_by(self.tool))
        for variable in (*_LINKERS, PLUGINS):
            for named in filter(None, os.environ.get(variable, "").split(",")):
                found = named if Path(named).is_file() else shutil.which(named)
                yield f"{variable} {named}", Path(found or os.devnull)


class RuntimeBuild(Struct, frozen=True, kw_only=True):
    """One IREE runtime: the folder that has its packages `iree.runtime` and `iree._runtime_libs`, and its tool
    `iree-run-module`. One of them may be missing. `folder` is where it was looked for."""

    folder: Path
    packages: Path | None = None
    tool: Path | None = None

    def describe(self, *, runs_tool: bool = False) -> str:
        """Name this build for people, with its folder where that is not the environment's. What runs artifacts tells
        builds apart: the package with its library, or the tool with the libraries beside it."""
        tracy = os.environ.get("IREE_PY_RUNTIME") == "tracy"
        libs = self.packages / "iree" / f"_runtime_libs{'_tracy' * tracy}" if self.packages is not None else None
        if self.tool is not None and (runs_tool or libs is None):
            beside = (one for like in _BESIDE for one in sorted(self.tool.parent.glob(like)))
            files = [self.tool, *beside, *_run_by(self.tool)]
        else:
            files = sorted((*libs.glob("_runtime*"), *libs.parent.glob("runtime/*.py"))) if libs is not None else []
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.read_bytes())
        return _described(f"iree-runtime{'-tracy' * tracy}", _version(libs), digest.hexdigest(), libs or self.folder)


# ---------------------------------------------------------------- where a build is


def folder_of(toolchain: Toolchain, tool: str) -> Path:
    """Return the folder of a toolchain; of one on PATH, that which the tool is of. Raises `UnavailableError`."""
    if toolchain.path is not None:
        try:
            if toolchain.path.is_dir():
                os.scandir(toolchain.path).close()
                return toolchain.path.absolute()
            found = "is a file" if toolchain.path.exists() else "does not exist"
        except OSError as error:
            found = f"cannot be read: {error.strerror}"
        where = display_path(toolchain.path)
        msg = f"{where} {found}; expected a folder with packages, a virtual environment or a build folder"
        raise UnavailableError(msg)
    path = shutil.which(tool)
    if path is None:
        msg = f"PATH leads to no {tool}"
        raise UnavailableError(msg)
    above = Path(path).resolve().parents
    in_package = next((at for at, folder in enumerate(above) if folder.name == "iree"), 0)
    return above[in_package + 1]


def compiler_at(folder: Path) -> CompilerBuild:
    """Return the compiler of a toolchain's folder. Raises `UnavailableError` that says what is missing."""
    packages = _packages(folder, "compiler", "iree/compiler")
    package = packages / "iree" / "compiler" if packages is not None else None
    own = [package / "_mlir_libs"] if package is not None else []
    places = (*own, *(folder / place for place in _TOOLS))
    library, tool = _first(places, _LIBRARY), _first(places, "iree-compile")
    if library is None and tool is None:
        lacks = f": its package {package} has neither {_LIBRARY} nor iree-compile" if package else ""
        msg = f"{folder} has no IREE compiler{lacks}; {_LOOKED.format('compiler', f'{_LIBRARY} and iree-compile')}"
        raise UnavailableError(msg)
    return CompilerBuild(folder=folder, package=package, library=library, tool=tool)


def runtime_at(folder: Path) -> RuntimeBuild:
    """Return the runtime of a toolchain's folder. Raises `UnavailableError` that says what is missing."""
    packages = _packages(folder, "runtime", "iree/_runtime_libs")
    own = [packages / "iree" / "_runtime_libs"] if packages is not None else []
    tool = _first((*own, *(folder / place for place in _TOOLS)), "iree-run-module")
    if packages is None and tool is None:
        msg = f"{folder} has no IREE runtime; {_LOOKED.format('runtime', 'iree-run-module')}"
        raise UnavailableError(msg)
    return RuntimeBuild(folder=folder, packages=packages, tool=tool)


def installed_folder(part: str) -> Path:
    """Return the folder of which this process imports the `compiler` or the `runtime`. Raises `UnavailableError` where
    there is none."""
    package = locate(f"iree.{part}")
    if package is None:
        msg = f"the IREE {part} is not installed: there is no module iree.{part}"
        raise UnavailableError(msg, hint=build_hint(part))
    return package.parents[1]


def locate(package: str) -> Path | None:
    """Return the folder of an `iree.…` package without importing it (`iree` itself is a namespace package)."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _packages(folder: Path, part: str, package: str) -> Path | None:
    """Return the folder below `folder` that holds a package; of several Pythons' that of this one."""
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    patterns = (*_PACKAGES, f"{part}/bindings/python")
    places = [folder, *(place for pattern in patterns for place in sorted(folder.glob(pattern)))]
    there = [place for place in places if (place / package).is_dir()]
    return min(there, key=lambda place: own not in place.parts, default=None)


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


# ---------------------------------------------------------------- which build it is


@functools.cache
def _content(build: CompilerBuild, fingerprint: str) -> str:
    """Return the digest of a build's files, read once as long as the fingerprint holds."""
    del fingerprint
    digest = hashlib.sha256()
    for name, path in build.files():
        # The library has hundreds of MB: its digest is the recorded one where that can be trusted.
        of_file = _recorded_digest(path) if path == build.library else ""
        if not of_file:
            with path.open("rb") as stream:
                of_file = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{name}\0{of_file}\n".encode())
    return digest.hexdigest()


def _run_by(tool: Path | None) -> Sequence[Path]:
    """Return the files that a tool names by their paths, if it is a script: what it runs is the build."""
    if tool is None:
        return ()
    with tool.open("rb") as stream:
        text = stream.read(_LARGEST_SCRIPT).decode(errors="replace") if stream.read(2) == b"#!" else ""
    named = re.findall(r"""(?<![\w.])/[^\s"'`$;|&<>()]+""", text.partition("\n")[2])
    return [path for path in map(Path, dict.fromkeys(named)) if path.is_file()]


def _described(name: str, version: str, build_id: str, folder: Path) -> str:
    build = hashlib.sha256(build_id.encode()).hexdigest()[:12]
    own = {Path(sysconfig.get_path(place)).resolve() for place in ("purelib", "platlib")}
    where = "" if own & set(folder.resolve().parents) else f", {folder}"
    return f"{name} {version} (build {build}{where})"


def _version(
    package: Path | None, pattern: str = r"""(?m)^VERSION\s*=\s*["']([^"']+)["']""", otherwise: str = "unpackaged"
) -> str:
    """Return the version, or what else a package's version file says, without importing the package."""
    text = ""
    if package is not None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = (package / "version.py").read_text(encoding="utf-8")
    found = re.search(pattern, text)
    return found[1] if found else otherwise


def _recorded_digest(library: Path) -> str:
    """Return the digest in the RECORD of the wheel that a library lies in; empty where the file has another size or
    came after the record."""
    import importlib.metadata

    status = library.stat()
    digest = ""
    beside = [str(folder) for folder in library.parents[3:4]]
    with contextlib.suppress(OSError):
        for distribution in importlib.metadata.distributions(name=COMPILER_PACKAGE, path=beside):
            for entry in distribution.files or ():
                if entry.name == "RECORD" and Path(str(entry.locate())).stat().st_ctime_ns < status.st_ctime_ns:
                    return ""
                if entry.name == library.name and entry.hash is not None and entry.size == status.st_size:
                    is_it = entry.hash.mode == "sha256" and Path(str(entry.locate())).resolve() == library.resolve()
                    digest = base64.urlsafe_b64decode(f"{entry.hash.value}=").hex() if is_it else ""
    return digest
