"""Which version of its code this process has; and what computed values depend on, as (sort, name, state) triples.

| sort | name | state |
|---|---|---|
| `path` | of a file, a folder or nothing | what is there: a file's content, where a link leads |
| `loaded` | of the file of a module that the worker had before | as for `path` |
| `names` | a folder | the names in it, and which are folders |
| `module` | the path of a module without its suffix | the files and folders that may be it |
| `variable` | of the environment | its value |
| `installed` | | the installed distributions, by name, version and digests of their files |
| `unseen` | | none: something was done that may give another result the next time |

Code that may depend on anything, such as a function that computes expected values, is called `watched`, and a worker
records it for each module. The engine determines the states again before it reuses a result. Audit events tell what is
opened, listed and not seen, a finder which modules are looked for, functions of `os` what they are asked. C code may
open files by itself: so every path counts that is made by `os.path.join` or becomes text.
"""

from __future__ import annotations

import _posixsubprocess
import hashlib
import importlib.util
import os
import platform
import posix
import re
import shutil
import site
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from retarget.support.files import content_digest

Dependency = tuple[str, str, str]

OF_LOADERS = ("LD_*", "DYLD_*", "*ICD*", "*VISIBLE_DEVICES", "*DRIVER_FILES*", "*LAYER*", "OPENCL_*")
_OF_MESA = "ACO_* AGX_* ANV_* FD_* GALLI?M_* HK_* INTEL_* LP_* LVP_* MESA_* NIR_* NVK_* PAN*_* PVR_* RADV_* TU_* V3D*"
_OF_OTHERS = "AMD*_* CL_* CUDA_* GPU_* HIP_* HSA_* IGC_* IREE_* METAL_* MTL_* MVK_* NEO* OCLGRIND_* POCL_* ROC*_* ZE*_*"
_OF_REST = "*SAN_OPTIONS GLIBC_TUNABLES MALLOC_* QEMU_* RUSTICL_* VK_* __GL_*"
OF_DRIVERS = (*OF_LOADERS, *f"{_OF_MESA} {_OF_OTHERS} {_OF_REST}".split())
"""The variables that drivers and their loaders read."""

_ASKED: Sequence[tuple[Any, str, str, int | None]] = (
    *((os, name, "path", 0) for name in ("access", "lstat", "readlink", "stat")),
    (os.path, "join", "path", None),
    (PurePath, "__str__", "path", None),
    (type(os.environ), "__getitem__", "variable", 1),
    *((type(os.environ), name, "unseen", 0) for name in ("__iter__", "__len__", "__repr__")),
    (_posixsubprocess, "fork_exec", "unseen", 0),
)
"""The functions that are replaced in watched code: where, its name, and which argument says what is asked of which
sort; None: what it returns says it."""

_UNSEEN = ("ctypes.dlopen", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.", "sqlite3.", "subprocess.")
"""How the names of the audit events begin that nothing can be said of."""

_OF_PATHS = {"path", "names", "module"}

_MACHINE = (
    *("/dev", "/etc", "/proc", "/sys"),
    *(f"/usr/{name}" for name in ("bin", "include", "lib", "lib32", "lib64", "libexec", "sbin", "share")),
    *([] if sys.prefix == sys.base_prefix else [sys.prefix]),
    str(Path(__file__).parents[1]),
)

_IMPORTLIB = "<frozen importlib._bootstrap_external>"
_SITES = (os.path.dirname(os.__file__), *site.getsitepackages(), site.getusersitepackages())  # noqa: PTH120
_INSTALLED = tuple(one + os.sep for one in _SITES)
"""The modules that list folders to find modules; the folders of Python's own modules and of what is installed."""


class Recorder:
    """Records what is done in the watched code of one module's cases. A finder that finds nothing."""

    current: ClassVar[Recorder | None] = None
    _staying: ClassVar[dict[tuple[str, str], str]] = {}
    """The records of imports of packages that stay: they do not ask again."""

    def __init__(self) -> None:
        self.dependencies: tuple[Dependency, ...] = ()
        self._known: set[str] = set()
        self._imported: set[str] = set()
        self.is_watching = False
        self._declared: tuple[str, ...] | None = None
        self.has_watched = False
        self._states: dict[tuple[str, str], str] = {}
        self._written: set[str] = set()
        self._began = time.time()
        self._noting = threading.local()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what is done meanwhile."""
        _install_hook()
        self.note("installed", "")
        before, bytecode = {*sys.modules}, sys.dont_write_bytecode
        self._known = self._known or {*map(_top, before)}
        with ExitStack() as stack:
            for owner, name, sort, at in _ASKED:
                plain = getattr(owner, name)
                stack.callback(setattr, owner, name, plain)
                setattr(owner, name, _noting(plain, sort, at))
            variables = vars(posix).pop("environ")  # a dict, whose methods stay as they are
            stack.callback(vars(posix).update, environ=variables)
            stack.callback(vars(posix).pop, "__getattr__")
            vars(posix)["__getattr__"] = lambda name: self._of_posix(name, environ=variables)
            sys.dont_write_bytecode = True  # it would stand for text edited in the same second
            sys.meta_path.insert(0, self)
            self.is_watching = self.has_watched = True
            try:
                yield
            finally:
                self.is_watching = False
                sys.meta_path[:] = [one for one in sys.meta_path if one is not self]
                sys.dont_write_bytecode = bytecode
                self._imported |= sys.modules.keys() - before

    @contextmanager
    def opening(self, declared: Iterable[Path]) -> Iterator[None]:
        """Record the files that are opened to be read meanwhile: not those `declared`, nor what is below them, nor
        those that this process writes, nor temporary ones that are written meanwhile."""
        _install_hook()
        self._declared = tuple(map(_place, declared))
        try:
            yield
        finally:
            self._declared = None

    def note_opened(self, path: Any, flags: int) -> None:
        """Record a file that is opened, where no more than that is recorded."""
        if (declared := self._declared) is None:
            return
        place = _place(path)
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._written.add(place)
        elif not any(_is_in(place, one) for one in declared):
            if _is_in(place, os.environ.get("TMPDIR") or "/tmp"):  # noqa: S108  (of the programs that this one starts)
                with suppress(OSError):
                    if os.stat(place).st_ctime > self._began:  # noqa: PTH116
                        return
            self.note("path", path)

    def note_started(self, program: Any, words: Sequence[Any], folder: Any) -> None:
        """Record a program that is started, and the files that its command names."""
        named = [os.fsdecode(word) for word in (program, *words)]
        for name in {shutil.which(named[0]) or "", *named, *" ".join(named).split()}:
            if os.path.isfile(place := os.path.join(os.fsdecode(folder or ""), name)):  # noqa: PTH113, PTH118
                self.note_opened(place, os.O_RDONLY)

    def _of_posix(self, name: str, **values: Any) -> Any:
        """Return what its module is asked for and does not have while code is watched."""
        if name not in values:
            raise AttributeError(name)
        self.note("unseen", name)
        return values[name]

    @classmethod
    def heard(cls, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an audit event, before what it announces is done."""
        if (recorder := cls.current) is None:
            return
        if not recorder.is_watching:
            if event == "open" and sys._getframe(1).f_code.co_filename != _IMPORTLIB:  # noqa: SLF001
                recorder.note_opened(arguments[0], arguments[2])
            elif event == "ctypes.dlopen" and os.sep in os.fsdecode(arguments[0] or ""):
                recorder.note_opened(arguments[0], os.O_RDONLY)
            elif event == "subprocess.Popen":
                recorder.note_started(*arguments[:3])
            return
        if event == "open":
            path, _, flags = arguments
            recorder.note("written" if flags & (os.O_WRONLY | os.O_RDWR) else "path", path)
            if not isinstance(path, int) and os.path.isdir(path):  # noqa: PTH112
                recorder.note("unseen", event)  # what is opened relative to its descriptor has no place
        elif event.startswith(_UNSEEN):
            recorder.note("unseen", event)
        elif event in {"os.listdir", "os.scandir"}:
            folder, caller = arguments[0], sys._getframe(1).f_code.co_filename  # noqa: SLF001
            if caller != _IMPORTLIB:  # `find_spec` says more exactly what of a folder counts
                recorder.note("unseen" if isinstance(folder, int) else "names", folder or os.curdir)

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> None:
        """Record where a module is looked for."""
        for folder in sys.path if path is None else path:
            self.note("module", os.path.join(folder, name.rpartition(".")[2]))  # noqa: PTH118

    def note(self, sort: str, what: Any) -> None:
        """Record what something depends on, and its state of now. What this does itself is not recorded."""
        if getattr(self._noting, "now", False):
            return
        self._noting.now = True
        try:
            if sort == "written":  # nothing can be said of it, nor of what it was before
                self._states["unseen", ""] = ""
                self._written.add(_place(what))
                return
            name = _place(what) if sort in _OF_PATHS else os.fsdecode(what) if sort == "variable" else ""
            if (name or sort not in _OF_PATHS) and (sort, name) not in self._states:
                self._states[sort, name] = dependency_state(sort, name, os.environ)
        except (OSError, TypeError, ValueError):  # the operation itself fails, too
            self._states["unseen", ""] = ""
        finally:
            self._noting.now = False

    def end(self) -> None:
        """Say what was recorded, and take away what was imported from source files: their text may change, and another
        suite may have modules of the same names."""
        if not self._states:
            return
        for name, module in [*sys.modules.items()] if self.has_watched else ():
            for file in _files_of(module):
                if name in self._imported:
                    self.note("path", file)
                elif (loaded := _loaded(file))[0]:
                    self._states.setdefault(("loaded", loaded[0]), loaded[1])
        names = self._imported & sys.modules.keys()
        staying = self._known | {_top(name) for name in names if not _is_source(sys.modules[name])}
        if {*map(_top, names)} & staying - sys.stdlib_module_names:
            self._staying.update(self._states)
        for name in names:
            if _top(name) not in staying:
                del sys.modules[name]
        importlib.invalidate_caches()
        states = {**self._states, **self._staying}
        for name in self._written:
            states.pop(("path", name), None)
        self.dependencies = tuple(sorted((*what, state) for what, state in states.items()))


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record what watched code depends on while one module's cases are read and run."""
    recorder, path = Recorder(), [*sys.path]
    Recorder.current = recorder
    try:
        yield recorder
    finally:
        Recorder.current = None
        recorder.end()
        if recorder.has_watched:
            sys.path[:] = path


def opened(declared: Iterable[Path]) -> AbstractContextManager[None]:
    """Record, where a worker records, the files that are read meanwhile, but for those `declared`: for code whose own
    text is known, and that may read what nobody declares."""
    return nullcontext() if Recorder.current is None else Recorder.current.opening(declared)


def machine_folders(*used: Path) -> list[Path]:
    """Return the folders of the system, the virtual environment and this package, whose content devices, builds and the
    code of extensions stand for; but for those that hold the current folder, or a file that is `used`."""
    folders = map(Path, _MACHINE)
    return [folder for folder in folders if not any(one.is_relative_to(folder) for one in (Path.cwd(), *used))]


def watched() -> AbstractContextManager[None]:
    """Record what is done meanwhile, where a worker records: for code that computes values and may depend on anything.

    Results are reused as long as nothing of it changes.
    """
    return nullcontext() if Recorder.current is None else Recorder.current.watching()


def variables(likes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the variables whose names are like these, sorted."""
    return sorted(one for one in os.environ.items() if any(fnmatchcase(one[0], like) for like in likes))


def dependency_state(sort: str, name: str, env: Mapping[str, str]) -> str:  # noqa: PLR0911  (one for each sort)
    """Return the state of a dependency, with `env` as the environment; empty where nothing can tell it."""
    try:
        match sort:
            case "path" | "loaded":
                link = f"link to {os.readlink(name)}: " if os.path.islink(name) else ""  # noqa: PTH114, PTH115
                return link + ("folder" if os.path.isdir(name) else content_digest(Path(name)))  # noqa: PTH112
            case "names":
                with os.scandir(name) as entries:
                    return _digest("\0".join(sorted(f"{one.name} {one.is_dir()}" for one in entries)))
            case "module":
                found = sorted(Path(name).parent.glob(f"{Path(name).name}*"))
                return _digest("\0".join(f"{one.name} {(one / '__init__.py').exists()}" for one in found))
            case "variable":
                return _digest(env[name]) if name in env else "unset"
            case "installed":
                return _installed()
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return ""


@cache
def code_digest(*modules: str) -> str:
    """Return a digest (SHA-256 hex) of the content of modules; of a package, of all files below it.

    Names are as in `import`; the packages that a module lies in are imported, it is not. Each is read once per process.
    Raises `ModuleNotFoundError` for one that is not there.
    """
    digest = hashlib.sha256()
    for module in sorted(set(modules)):
        for name, path in _files(module):
            digest.update(f"{module} {name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def code_reached(module: str) -> str:
    """Return a digest (SHA-256 hex) of the package that a module lies in and of what is imported from there."""
    return _digest("\n".join(f"{name} {text.digest}" for name, text in sorted(_reached(module).items())))


def variables_named(*modules: str) -> list[tuple[str, str]]:
    """Return the variables whose names are in quotes somewhere in what modules reach, sorted: their code may read
    them."""
    words = frozenset[bytes]().union(*(text.words for module in modules for text in _reached(module).values()))
    return sorted(one for one in os.environ.items() if os.fsencode(one[0]) in words)


CORE = tuple(
    f"retarget.{name}" for name in ("arrays", "extension", "model", "profiles", "session.run", "support", "worker")
)
"""The modules of the core that run and judge, and say what a result depends on."""


@cache
def code_judging(*modules: str) -> tuple[tuple[str, str], ...]:
    """Return the texts of the core and of what modules of extensions reach, as (name, digest) pairs. The names are
    those of any machine."""
    core = {f"{module}/{name}": _content(path) for module in CORE for name, path in _files(module)}
    of_extensions = {name: text.digest for module in modules for name, text in _reached(module).items()}
    return tuple(sorted(one for one in {**core, **of_extensions}.items() if one[0].endswith(".py")))


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class _Text(NamedTuple):
    """A file: the digest of its content, and the words that it has in quotes, where it is Python."""

    digest: str
    words: frozenset[bytes]


_QUOTED = re.compile(rb"[\"']([A-Za-z_]\w+)[\"']")


@cache
def _reached(module: str) -> Mapping[str, _Text]:
    """Return the files of the package that a module lies in, and of what is imported from there, however deep: modules
    that are not installed, and those of the same package at the top. Nothing is imported for it: names that the code
    computes are not seen."""
    home, *below = module.split(".")
    above = (path for folder in _folders_of(home, is_home=True) for path in _sources(folder, [home, *below]))
    seen = {*above, *(str(path) for _, path in _files(module.rpartition(".")[0] or module))}
    waiting, found = [*seen], {}
    while waiting:
        content = Path(path := waiting.pop()).read_bytes()
        words = _QUOTED.findall(content) if path.endswith(".py") else ()
        found[_name_of(path)] = _Text(hashlib.sha256(content).hexdigest(), frozenset(words))
        if path.endswith(".py"):
            more = {*_imported_from(path, content.decode("utf-8", "replace"), home)} - seen
            seen |= more
            waiting += more
    return found


def _name_of(path: str) -> str:
    """Return the path of a file from the package at the top on."""
    folder, _, name = path.rpartition(os.sep)
    while f"{folder}{os.sep}__init__.py" in _names_in(folder).get("__init__", ()):
        folder, _, package = folder.rpartition(os.sep)
        name = f"{package}/{name}"
    return name


_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+)?import\b[ \t]*(\([^)]*\)|[^\n#;]*)", re.MULTILINE)


def _imported_from(path: str, text: str, home: str) -> Iterator[str]:
    """Yield the files of the modules that the text of a module names in its imports; of installed ones those of the
    package `home`."""
    for dots, name, listed in _IMPORT.findall(text):
        for word in re.findall(r"[\w.]+", listed) or [""]:
            parts = [part for part in f"{name}.{word}".split(".") if part] if name or dots else word.split(".")
            if dots:
                yield from _sources(path.rsplit(os.sep, len(dots))[0], parts)
            elif parts[0] != "retarget" and parts[0] not in sys.stdlib_module_names:
                for folder in _folders_of(parts[0], is_home=parts[0] == home):
                    yield from _sources(folder, parts)


def _sources(folder: str, parts: Sequence[str]) -> Iterator[str]:
    for part in parts:
        yield from _names_in(folder).get(part, ())
        folder = f"{folder}{os.sep}{part}"
        yield from (path for path in _names_in(folder).get("__init__", ()) if path.endswith(".py"))


@cache
def _names_in(folder: str) -> Mapping[str, Sequence[str]]:
    """Return the files of the modules in a folder, by the names of these."""
    found: dict[str, list[str]] = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else ():  # noqa: PTH112, PTH208
        if name.endswith((".py", *EXTENSION_SUFFIXES)):
            found.setdefault(name.partition(".")[0], []).append(f"{folder}{os.sep}{name}")
    return found


@cache
def _folders_of(name: str, *, is_home: bool) -> Sequence[str]:
    """Return the folders that a module at the top lies in; none where it is installed, and not at home."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    found = spec.submodule_search_locations or ([spec.origin] if spec.has_location and spec.origin else ())
    return [str(Path(one).parent) for one in found if is_home or _place(one)]


@cache
def installed_extensions() -> Sequence[tuple[str, str]]:
    """Return the entry points of installed extensions: names and values."""
    import importlib.metadata  # not where another process says what it has found

    return sorted((point.name, point.value) for point in importlib.metadata.entry_points(group="retarget"))


@cache
def versions_of_arrays() -> str:
    """Return the versions of what all cases are made and compared with in the workers of this machine."""
    found = sorted(one.name for one in _distributions() if one.name.startswith(("ml_dtypes-", "numpy-")))
    return f"Python {platform.python_version()} {' '.join(found)}"


@cache
def _installed() -> str:
    return _digest("\n".join(sorted(f"{one.name} {content_digest(one / 'RECORD')}" for one in _distributions())))


def _distributions() -> Sequence[Path]:
    return [one for entry in sys.path for one in Path(entry).glob("*.*-info")]


@cache
def _install_hook() -> None:
    sys.addaudithook(Recorder.heard)


def _noting(plain: Callable[..., Any], sort: str, at: int | None) -> Callable[..., Any]:
    def noted(*arguments: Any, **named: Any) -> Any:  # a module that stays may have it still when others are recorded
        if (recorder := Recorder.current) is not None and recorder.is_watching:
            recorder.note(sort, plain(*arguments, **named) if at is None else [*arguments, *named.values()][at])
        return plain(*arguments, **named)

    return noted


def _place(path: Any) -> str:
    """Return the absolute path of something; empty for an open file, and where the version of Python or of an installed
    distribution says what is there. A module's bytecode stands for its text."""
    if isinstance(path, int):
        return ""
    place = str(Path.cwd() / os.fsdecode(path))  # as the system sees it: what `..` is after a link, it knows alone
    parts = {*place.split(os.sep)}  # noqa: PTH206  (it is asked for every module)
    if "__pycache__" in parts and place.endswith(".pyc"):
        place = importlib.util.source_from_cache(place)
    is_installed = f"{place}{os.sep}".startswith(_INSTALLED)
    return "" if is_installed and ".." not in parts else place


def _files_of(module: ModuleType) -> Sequence[str]:
    """Return the file that a module comes from, or the folders of one without; empty where it comes from no file."""
    spec = getattr(module, "__spec__", None)
    if not isinstance(spec, ModuleSpec):
        return ()
    if spec.has_location and spec.origin is not None:
        return (spec.origin,)
    return tuple(spec.submodule_search_locations or ())


@cache
def _loaded(file: str) -> tuple[str, str]:
    """Return the place and the state of what a module of this process came from, which it does not read again."""
    place = _place(file)
    return place, dependency_state("path", place, {}) if place else ""


def _is_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(f"{folder.rstrip(os.sep)}{os.sep}")


def _is_source(module: ModuleType) -> bool:
    """Whether a module can be imported again, and may be another then."""
    files = _files_of(module)
    return bool(files) and all(one and not one.endswith(tuple(EXTENSION_SUFFIXES)) for one in map(_place, files))


def _top(name: str) -> str:
    return name.partition(".")[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a module by their names in it, without what Python leaves there."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        msg = f"there is no module {module!r}"
        raise ModuleNotFoundError(msg, name=module)
    for folder in map(Path, spec.submodule_search_locations or ()):
        for path in sorted(folder.rglob("*")):
            if "__pycache__" not in path.parts and path.is_file():
                yield path.relative_to(folder).as_posix(), path
    if spec.submodule_search_locations is None and spec.origin is not None:
        yield "", Path(spec.origin)
