"""Which version of its code this process has; and what computed values depend on, as (sort, name, state) triples.

| sort | name | state |
|---|---|---|
| `path` | of a file, a folder or nothing | what is there: a file's content, where a link leads |
| `names` | a folder | the names in it |
| `modules` | a folder, and names of modules that are looked for in it | the files and folders that may be one of them |
| `variable` | of the environment | its value |
| `installed` | | the installed distributions, by name, version and digests of their files |
| `unseen` | what was done | none: it may be another the next time |

What runs code that may depend on anything, such as a Python function that computes expected values, does so `watched`,
and a worker records it for each module. The engine determines the states again before it reuses a result. Audit events
tell which files are opened, which folders are listed, and what is done that nothing can be said of; a finder which
modules are looked for; and the functions of `os` what they are asked. What C code does by itself is not seen.
"""

from __future__ import annotations

import _posixsubprocess
import hashlib
import importlib.util
import os
import platform
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, ClassVar

from retarget.support.files import content_digest

__all__ = ["Dependency", "Recorder", "code_digest", "recording", "state_of", "versions_of_arrays", "watched"]

Dependency = tuple[str, str, str]

_ASKED: Sequence[tuple[Any, str, str, int]] = (
    *((os, name, "path", 0) for name in ("access", "lstat", "readlink", "stat")),
    (type(os.environ), "__getitem__", "variable", 1),
    (type(os.environ), "__iter__", "unseen", 0),
    (_posixsubprocess, "fork_exec", "unseen", 0),
)
"""What is replaced in watched code: where, its name, and which argument says what is asked of which sort."""

_UNSEEN = ("ctypes.dlopen", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.", "sqlite3.", "subprocess.")
"""How the names of the audit events begin that nothing can be said of."""

_LIBRARY = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120
"""Where Python's own modules are."""


class Recorder:
    """Records what is done in the watched code of one module's cases. A finder that finds nothing."""

    current: ClassVar[Recorder | None] = None
    _staying: ClassVar[dict[tuple[str, str], str]] = {}
    """What was recorded while packages were imported that stay: they do not ask again."""

    def __init__(self, covered: Collection[str]) -> None:
        """`covered` are packages whose code counts in another way."""
        self.is_watching = False
        self.dependencies: Sequence[Dependency] = ()
        self._covered = {*covered, *sys.stdlib_module_names}
        self._known = {_top(name) for name in [*sys.modules]}
        self._has_watched = False
        self._imported: set[str] = set()
        self._searched: defaultdict[str, set[str]] = defaultdict(set)
        self._states: dict[tuple[str, str], str] = {}
        self._noting = threading.local()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what is done meanwhile."""
        _install_hook()
        before, bytecode = {*sys.modules}, sys.dont_write_bytecode
        with ExitStack() as stack:
            for owner, name, sort, at in _ASKED:
                plain = getattr(owner, name)
                stack.callback(setattr, owner, name, plain)
                setattr(owner, name, _noting(plain, partial(self.note, sort), at))
            sys.dont_write_bytecode = True  # it would stand for text edited in the same second
            sys.meta_path.insert(0, self)
            self.is_watching = self._has_watched = True
            try:
                yield
            finally:
                self.is_watching = False
                sys.meta_path[:] = [one for one in sys.meta_path if one is not self]
                sys.dont_write_bytecode = bytecode
                self._imported |= sys.modules.keys() - before

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an audit event, before what it announces is done."""
        if event == "open":
            path, _, flags = arguments
            self.note("unseen" if flags & (os.O_WRONLY | os.O_RDWR) else "path", path)
        elif event.startswith(_UNSEEN):
            self.note("unseen", event)
        elif event in {"os.listdir", "os.scandir"} and not _is_import(sys._getframe(2)):  # noqa: SLF001
            folder = os.curdir if arguments[0] is None else arguments[0]
            self.note("unseen" if isinstance(folder, int) else "names", folder)

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> None:
        """Record where a module is looked for."""
        for folder in sys.path if path is None else path:
            if isinstance(folder, str) and (place := _place(folder)):
                self._searched[place].add(name.rpartition(".")[2])

    def note(self, sort: str, what: Any) -> None:
        """Record what something depends on, and its state of now. What this does itself is not recorded."""
        if getattr(self._noting, "now", False):
            return
        self._noting.now = True
        try:
            name = _place(what) if sort in {"path", "names"} else "" if sort == "unseen" else os.fsdecode(what)
            if (name or sort == "unseen") and (sort, name) not in self._states:
                self._states[sort, name] = state_of(sort, name, os.environ)
        except (OSError, TypeError, ValueError):  # what is to be done fails, too
            self._states["unseen", ""] = ""
        finally:
            self._noting.now = False

    def end(self) -> None:
        """Say what was recorded, and take away what was imported from source files: their text may change, and another
        suite may have modules of the same names."""
        if not self._has_watched:
            return
        self.note("installed", "distributions")
        for folder, names in self._searched.items():
            self.note("modules", "\n".join((folder, *sorted(names))))
        packages: defaultdict[str, dict[str, ModuleType]] = defaultdict(dict)
        for name, module in [*sys.modules.items()]:
            packages[_top(name)][name] = module
        for top, modules in packages.items():
            for file in () if top in self._covered else (file for one in modules.values() for file in _files_of(one)):
                self.note("path", file)
            if top not in self._known and all(map(_is_source, modules.values())):
                for name in modules:
                    del sys.modules[name]
            elif top not in self._covered and modules.keys() & self._imported:
                self._staying.update(self._states)
        importlib.invalidate_caches()
        self.dependencies = tuple(sorted((*what, state) for what, state in {**self._states, **self._staying}.items()))


@contextmanager
def recording(covered: Collection[str]) -> Iterator[Recorder]:
    """Record what watched code depends on while one module's cases are read and run. `covered` is as for `Recorder`."""
    recorder, path = Recorder(covered), [*sys.path]
    Recorder.current = recorder
    try:
        yield recorder
    finally:
        Recorder.current = None
        recorder.end()
        sys.path[:] = path


@contextmanager
def watched() -> Iterator[None]:
    """Record what is done meanwhile, where a worker records: for code that computes values and may depend on anything.

    Results are reused as long as nothing of it changes.
    """
    with ExitStack() as stack:
        if Recorder.current is not None:
            stack.enter_context(Recorder.current.watching())
        yield


def state_of(sort: str, name: str, env: Mapping[str, str]) -> str:  # noqa: PLR0911  (one for each sort)
    """Return the state of a dependency, with `env` as the environment; empty where nothing can tell it."""
    try:
        match sort:
            case "path":
                link = f"link to {os.readlink(name)}: " if os.path.islink(name) else ""  # noqa: PTH114, PTH115
                return link + ("folder" if os.path.isdir(name) else content_digest(Path(name)))  # noqa: PTH112
            case "names":
                return _digest("\0".join(sorted(os.listdir(name))))  # noqa: PTH208  (names alone)
            case "modules":
                folder, *names = name.split("\n")
                found = [one for one in Path(folder).iterdir() if one.name.partition(".")[0] in names]
                return _digest("\0".join(sorted(f"{one.name} {(one / '__init__.py').exists()}" for one in found)))
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


@cache
def versions_of_arrays() -> str:
    """Return the versions of what all cases are made and compared with in the workers of this machine."""
    return f"Python {platform.python_version()} numpy {_version('numpy')} ml_dtypes {_version('ml_dtypes')}"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


@cache
def _installed() -> str:
    about = {one for entry in sys.path for one in Path(entry).glob("*.*-info")}
    return _digest("\n".join(sorted(f"{one.name} {content_digest(one / 'RECORD')}" for one in about)))


@cache
def _install_hook() -> None:
    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if (recorder := Recorder.current) is not None and recorder.is_watching:
            recorder.heard(event, arguments)

    sys.addaudithook(hear)


def _is_import(frame: FrameType) -> bool:
    """Whether a folder is listed to find a module in it: `find_spec` says more exactly what of it counts."""
    return frame.f_code.co_filename == "<frozen importlib._bootstrap_external>"


def _noting(plain: Callable[..., Any], note: Callable[[Any], None], at: int) -> Callable[..., Any]:
    def noted(*arguments: Any, **named: Any) -> Any:
        note([*arguments, *named.values()][at])
        return plain(*arguments, **named)

    return noted


def _place(path: Any) -> str:
    """Return the absolute path of something; empty for an open file, and where the version of Python or of an installed
    distribution says what is there. A module's bytecode stands for its text."""
    if isinstance(path, int):
        return ""
    place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  (as the system sees it: no link is followed)
    parts = {*place.split(os.sep)}  # noqa: PTH206  (it is asked for every module)
    if "__pycache__" in parts and place.endswith(".pyc"):
        place = importlib.util.source_from_cache(place)
    return "" if parts & {"site-packages", "dist-packages"} or f"{place}{os.sep}".startswith(_LIBRARY) else place


def _files_of(module: ModuleType) -> Sequence[str]:
    """Return the file that a module comes from, or the folders of one without; empty where it comes from no file."""
    spec = getattr(module, "__spec__", None)
    if spec is not None and spec.has_location:
        return [os.path.abspath(spec.origin)]  # noqa: PTH100
    return [*getattr(module, "__path__", ())]


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
