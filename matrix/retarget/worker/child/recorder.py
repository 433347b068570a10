"""Records what code depends on while it reads cases: the Python functions that compute expected values, above all.

Audit events tell which files it opens and lists, what it tries to import, and what it does that nothing can be said of
(processes, sockets). `os.environ` and `os.stat` tell what it asks them while they are watched. What C libraries open by
themselves is not seen.
"""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import ExtensionFileLoader, SourceFileLoader, all_suffixes
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from retarget.extension import CaseLoader, NamesDataFiles
from retarget.model import CompileTarget
from retarget.support.dependencies import Dependency, name_of, state_of
from retarget.support.errors import RetargetError

__all__ = ["Recorder", "recorder_of"]

_UNSEEN = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "socket.connect", "subprocess.Popen"}
_OF_A_PATH = {"ctypes.dlopen": "file", "os.listdir": "names", "os.scandir": "names", "sqlite3.connect": "file"}
_IMPORTLIB = "<frozen importlib._bootstrap_external>"


class Recorder:
    """Records for one module's cases.

    What the cases of the one before imported from source files is removed first: the process would otherwise keep the
    text that it had then, and of several files of one name the first.
    """

    _watching: ClassVar[list[Recorder]] = []
    _kept: ClassVar[set[tuple[str, str]]] = set()
    """What was imported for earlier modules and cannot be removed, as sort and name or path."""
    _removable: ClassVar[set[str]] = set()
    _path: ClassVar[list[str]] = []

    def __init__(self, folder: Path, covered: Iterable[Path]) -> None:
        """`folder` is the suite's. `covered` files are part of the case digest."""
        self._folder = folder
        self._covered = {os.path.realpath(path) for path in covered}
        self._found: dict[tuple[str, str], str] = {}
        self._written: set[str] = set()
        self._tried: set[str] = set()
        self._noting = threading.local()
        fixed = {one.__name__.partition(".")[0] for one in [*sys.modules.values()] if _is_extension(one)}
        for name in self._removable:
            if name.partition(".")[0] not in fixed:
                sys.modules.pop(name, None)
            elif file := _file_of(sys.modules.get(name)):  # its C modules cannot be loaded again
                self._kept.add(("file", file))
        self._removable.clear()
        importlib.invalidate_caches()
        Recorder._path = self._path or list(sys.path)
        sys.path[:] = self._path
        for sort, what in self._kept:
            self.note(sort, what)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what is done meanwhile."""
        _install_hook()
        before, plain = set(sys.modules), os._Environ  # noqa: SLF001  (the class of os.environ has no other name)
        stat, writes_bytecode = os.stat, sys.dont_write_bytecode
        environments: tuple[Any, ...] = (os.environ, os.environb)

        def noted_stat(path: Any, *arguments: Any, **more: Any) -> os.stat_result:
            self.note("entry", path)
            return stat(path, *arguments, **more)

        for environment in environments:
            environment.__class__ = _Environment
        os.stat, sys.dont_write_bytecode = noted_stat, True  # bytecode would stand for text edited in the same second
        self._watching.append(self)
        try:
            yield
        finally:
            self._watching.remove(self)
            os.stat, sys.dont_write_bytecode = stat, writes_bytecode
            for environment in environments:
                environment.__class__ = plain
            self._note_modules(before)

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What was recorded, sorted."""
        return tuple(sorted((*what, state) for what, state in self._found.items()))

    @classmethod
    def heard(cls, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an audit event, before what it announces is done."""
        for recorder in cls._watching:
            if event == "open":
                recorder.note_opened(*arguments)
            elif event == "import":
                recorder.note("import", arguments[0])
            elif event in _UNSEEN:
                recorder.note("unseen", event)
            elif event in _OF_A_PATH:
                path = arguments[0]
                if _OF_A_PATH[event] == "names" and path is None:
                    path = os.curdir
                if sys._getframe(1).f_code.co_filename != _IMPORTLIB:  # noqa: SLF001  (the candidates say more exactly)
                    recorder.note(_OF_A_PATH[event], path)

    @classmethod
    def asked(cls, sort: str, name: str) -> None:
        """Record what the environment is asked."""
        for recorder in cls._watching:
            recorder.note(sort, name)

    def note(self, sort: str, what: Any) -> None:
        """Record a name, or a path as a call takes it, and its state of now. What this does itself is not recorded."""
        if getattr(self._noting, "now", False):
            return
        self._noting.now = True
        try:
            if sort == "import":
                self._tried.add(what)
                return
            name = self._name_of_path(what) if sort in {"entry", "file", "names"} else what
            if name and (sort, name) not in self._found:
                self._found[sort, name] = state_of(sort, name, self._folder, os.environ)
        except (OSError, TypeError, ValueError):  # so that what is about to be done fails, too
            self._found["unseen", sort] = ""
        finally:
            self._noting.now = False

    def note_imported(self) -> None:
        """Record the files of what is imported already, such as by an extension: nothing tells that it is used."""
        for file in filter(None, map(_file_of, [*sys.modules.values()])):
            self.note("file", file)

    def note_opened(self, path: Any, _mode: str | None, flags: int) -> None:
        """Record that a file is opened; none that is written first."""
        if flags & (os.O_TRUNC | os.O_EXCL) and isinstance(path, str | bytes | os.PathLike):
            self._written.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100  (as below)
        elif flags & os.O_ACCMODE != os.O_WRONLY:
            self.note("file", path)

    def _name_of_path(self, path: Any) -> str:
        """Return the name of a path; empty where it is known what it depends on: an open file, an own one, a library's,
        one of the case digest."""
        if path is None or isinstance(path, int):
            return ""
        where = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  (as the system sees it: no link is followed)
        is_known = where in self._written or f"{os.sep}__pycache__{os.sep}" in where or _is_of_distribution(where)
        is_known = is_known or where.startswith((_library(), *_own_folders()))
        return "" if is_known or os.path.realpath(where) in self._covered else name_of(where, self._folder)

    def _note_modules(self, before: set[str]) -> None:
        """Record what was imported, and where it would have been found before."""
        known = {name.partition(".")[0] for name in before - self._removable}
        kept = set(self._kept)
        for name in sorted(self._tried | (sys.modules.keys() - before)):
            top, module = name.partition(".")[0], sys.modules.get(name)
            origin = _file_of(module)
            if _is_of_distribution(origin) or (module is None and top not in sys.stdlib_module_names):
                if top not in known:
                    self._keep("package", top)
            elif not origin and not any(map(_is_of_distribution, getattr(module, "__path__", ("site-packages",)))):
                self._removable.add(name)  # a folder without __init__.py: its files are those of another module later
                continue
            elif module is not None and (not origin or origin.startswith((_library(), *_own_folders()))):
                continue
            if _is_of_distribution(origin):
                continue
            self._note_candidates(name, origin)
            is_source = module is not None and isinstance(getattr(module.__spec__, "loader", None), SourceFileLoader)
            if is_source and top not in known:
                self.note("file", origin)
                self._removable.add(name)
            elif module is not None:
                self._keep("file", origin)
        if not self._kept <= kept:  # what stays was told something while it was imported, once for all
            of_paths = {"entry", "file", "names"}
            self._kept.update((sort, str(self._folder / one) if sort in of_paths else one) for sort, one in self._found)
        self._tried.clear()

    def _keep(self, sort: str, what: str) -> None:
        self._kept.add((sort, what))
        self.note(sort, what)

    def _note_candidates(self, name: str, origin: str) -> None:
        """Record the places in which a module is looked for before that of its file; all if it has none."""
        above, _, leaf = name.rpartition(".")
        searched = getattr(sys.modules.get(above), "__path__", ()) if above else sys.path
        entries = [one or "." for one in searched if isinstance(one, str) and not one.endswith(".zip")]
        candidates = [os.path.join(entry, leaf) for entry in entries]  # noqa: PTH118
        found = [origin.startswith((f"{one}.", f"{one}{os.sep}")) for one in candidates]
        if origin and True not in found:  # of a loader that does not look there
            return
        for candidate in candidates[: found.index(True) if origin else None]:
            self.note("entry", candidate)
            for suffix in all_suffixes():
                self.note("entry", f"{candidate}{suffix}")


def recorder_of(loader: CaseLoader, target: CompileTarget) -> Recorder:
    """Return a recorder for the cases of a target's module."""

    named: Sequence[Path] = ()
    if isinstance(loader, NamesDataFiles):
        with suppress(RetargetError):  # the files' own errors, which reading the cases gives
            named = loader.data_files(target.module, target.folder)
    recorder = Recorder(target.folder, (*target.module.data, *named))
    if any(path.suffix == ".py" for path in named):
        recorder.note_imported()
    return recorder


class _Environment(os._Environ[Any]):  # noqa: SLF001
    """The environment while it is watched."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str | bytes) and not os.fsdecode(key).startswith("RETARGET_"):
            Recorder.asked("variable", os.fsdecode(key))
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        Recorder.asked("unseen", "os.environ")
        return super().__iter__()


@cache
def _install_hook() -> None:
    sys.addaudithook(Recorder.heard)


def _file_of(module: ModuleType | None) -> str:
    """Return the absolute path of the file that a module comes from; empty for others."""
    spec = getattr(module, "__spec__", None)
    return os.path.abspath(spec.origin) if spec is not None and spec.has_location and spec.origin else ""  # noqa: PTH100


@cache
def _library() -> str:
    return sysconfig.get_path("stdlib") + os.sep


@cache
def _own_folders() -> tuple[str, ...]:
    """Return the folders of retarget's packages, whose code the digest of a result covers in another way."""
    tops = (name for name in sys.modules if "." not in name and name.startswith(("retarget", "pytest_retarget")))
    files = map(Path, filter(None, map(_file_of, map(sys.modules.get, tops))))
    return tuple(f"{one.parent}{os.sep}" if one.name == "__init__.py" else str(one) for one in files)


def _is_extension(module: Any) -> bool:
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), ExtensionFileLoader)


def _is_of_distribution(path: str) -> bool:
    return bool({"site-packages", "dist-packages"} & {*Path(path).parts})
