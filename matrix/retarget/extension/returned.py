"""Checks what an extension returns against the annotations of its protocols.

Registered products, and the devices and programs that drivers open, are wrapped: a method that returns something else
than its protocol declares raises an `ExtensionError` that names the extension, the method, what it returned and what
was expected. Otherwise the mistake would show far away, as a traceback of a worker.
"""

from __future__ import annotations

import difflib
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from retarget.extension.compilers import CompilerError, UnavailableError
from retarget.extension.drivers import (
    BindsCalls,
    CountsWork,
    Device,
    DriverError,
    FunctionInfo,
    LoadsParameters,
    Program,
    ReportsWork,
    RunPlan,
    ShowsCommand,
    TimesDevice,
)
from retarget.extension.transfers import TransfersBuffers
from retarget.support.errors import RetargetError

__all__ = ["NEAR", "ExtensionError", "guarded", "protocol_members"]

NEAR = 0.8
"""From which likeness on (`difflib`) a name is taken for another one that is misspelt: `find_module`."""

_IN_PROCESS = frozenset(
    {
        "fingerprint",
        "reproduce",
        "run_outside",
        "run_case_outside",
        "find_modules",
        "suite_diagnostics",
        "data_diagnostics",
        "file_schema",
        "version",
        "made",
        "references",
        "return_checks_command",
        "return_checks_version",
        "module_size",
        "program_statistics",
        "runs_by_tool",
        "release_packages",
        "shrink_command",
        "reduce_command",
        "suggest_targets",
        "suggest_suites",
    }
)
"""Methods that are called in pytest's process or the command's, where no worker catches what they raise."""

_SHOWN = 60
"""Characters of a wrong value that are shown."""


class ExtensionError(RetargetError):
    """An extension broke its protocol: not an error of a module or a device."""


class _Guard:
    """A product of an extension. What its protocols do not name is passed on as it is."""

    def __init__(self, product: object) -> None:
        self._product = product

    def __getattr__(self, name: str) -> Any:
        if name == "_product":  # a copy that is not filled in yet
            raise AttributeError(name)
        return getattr(self._product, name)

    def __repr__(self) -> str:
        return repr(self._product)


class _Array:
    """A placeholder for the annotation `Array`: NumPy is not imported before an extension returns an array."""


_NAMES = {"Array": _Array, "FunctionInfo": FunctionInfo, "RunPlan": RunPlan}
"""What annotations name that their modules import for type checkers only."""

_OPTIONAL: Mapping[type[Any], tuple[type[Any], ...]] = {
    Device: (LoadsParameters, TransfersBuffers),
    Program: (ShowsCommand, CountsWork, ReportsWork, BindsCalls, TimesDevice),
}
"""Protocols that an opened object may implement besides its own."""

_NOT_CHECKED = frozenset({"tags"})
"""Methods whose result is checked where it is used: tags against their grammar."""

_ACCEPTED = {bytes: (bytes, bytearray, memoryview), float: (int, float)}
"""Classes that are accepted where an annotation names another."""


def protocol_members(protocol: Any) -> tuple[str, ...]:
    """Return the names of a protocol's methods and attributes, in the order in which they are written."""
    return _members(protocol)


@cache
def _members(protocol: Any) -> tuple[str, ...]:
    members = [*inspect.get_annotations(protocol), *protocol.__dict__]
    return tuple(dict.fromkeys(name for name in members if not name.startswith("_")))


def guarded(product: Any, protocols: Sequence[type[Any]], where: str) -> Any:
    """Return a product whose methods and attributes are checked when they return or are read.

    `where` names extension and product: `extension 'mine': driver 'npu'`.
    """
    names: dict[str, Any] = {}
    for protocol in protocols:
        for name in protocol_members(protocol):
            if not hasattr(type(product), name) and name not in getattr(product, "__dict__", ()):
                continue
            member = getattr(protocol, name, None)
            if inspect.isfunction(member):
                if callable(method := getattr(product, name)):
                    names[name] = _method(name, method, member, f"{where}: {name}()")
            else:
                names[name] = _attribute(name, protocol, where)
    return type(type(product).__name__, (_Guard,), names)(product)


def _method(
    name: str, method: Callable[..., object], declared: Callable[..., object], where: str
) -> Callable[..., object]:
    def checked(_: object, *arguments: object, **named: object) -> object:
        try:
            value = method(*arguments, **named)
        except (RetargetError, UnavailableError, CompilerError, DriverError):
            raise
        except (Exception, SystemExit) as error:
            if name not in _IN_PROCESS:  # a worker reports it, with its traceback
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            msg = f"{where} raised {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
            raise ExtensionError(msg) from error
        hint = _hints(declared)["return"]
        return value if hint is NoneType or name in _NOT_CHECKED else _checked(hint, where, value)

    return checked


def _attribute(name: str, protocol: Any, where: str) -> property:
    declared = getattr(protocol, name, None)
    last: list[tuple[object, object]] = []

    def read(guard: _Guard) -> object:
        value = getattr(guard._product, name)  # noqa: SLF001
        if last and value is last[0][0]:
            return last[0][1]
        hint = _hints(declared.fget)["return"] if isinstance(declared, property) else _hints(protocol)[name]
        checked = _checked(hint, f"{where}: {name}", value)
        if isinstance(value, tuple):  # a device's `infos` are read for every run, and have hundreds of features
            last[:] = [(value, checked)]
        return checked

    return property(read)


@cache
def _hints(declared: Any) -> dict[str, Any]:
    """Return the annotations of a function or class, evaluated."""
    return get_type_hints(declared, localns=_NAMES)


# ---------------------------------------------------------------- the checks


def _checked(hint: Any, where: str, value: Any) -> Any:
    """Return a value that is what an annotation says: sequences as tuples, objects of protocols and functions wrapped.

    Raises `ExtensionError` for any other value.
    """
    return value if _test(hint)(value) else _wrapped(hint, where, value)


def _wrapped(hint: Any, where: str, value: Any) -> Any:
    """Return a value that does not stay as it is. Raises `ExtensionError`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(arguments, where, value)
    if origin is tuple and arguments[-1] is not ...:
        if not isinstance(value, tuple | list) or len(value) != len(arguments):
            raise _wrong(where, value, f"a pair of {_pair(arguments)}")
        return tuple(_checked(arguments[index], f"{where}[{index}]", item) for index, item in enumerate(value))
    if origin in (tuple, Sequence):
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            raise _wrong(where, value, f"a sequence of {_plural(arguments[0])}")
        return tuple(_checked(arguments[0], f"{where}[{index}]", item) for index, item in enumerate(value))
    if origin is Callable:
        if not callable(value):
            raise _wrong(where, value, "a function without arguments")
        if arguments[1] is None:  # nothing to check, and benchmarks time it
            return value
        return lambda: _checked(arguments[1], f"{where}()", value())
    return _instance(origin or hint, where, value)


@cache
def _test(hint: Any) -> Callable[[Any], bool]:
    """Return what tells whether a value is what an annotation says, and stays as it is: there is nothing to wrap."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        tests = [_test(one) for one in arguments]
        return lambda value: any(test(value) for test in tests)
    if origin is tuple and arguments[-1] is not ...:
        tests = [_test(one) for one in arguments]
        return lambda value: type(value) is tuple and len(value) == len(tests) and all(map(_passes, tests, value))
    if origin in (tuple, Sequence):
        test = _test(arguments[0])
        return lambda value: type(value) is tuple and all(map(test, value))
    return _test_of_kind(origin or hint)


def _passes(test: Callable[[Any], bool], value: object) -> bool:
    return test(value)


def _test_of_kind(kind: Any) -> Callable[[Any], bool]:
    if kind is Callable or getattr(kind, "_is_protocol", False):
        return lambda _: False
    if is_dataclass(kind):
        return _test_of_fields(kind)
    accepted = _ACCEPTED.get(kind, (kind,))
    if kind in (bool, object, _Array):  # an array is looked at by the class that NumPy has for it
        return _is_array if kind is _Array else lambda value: isinstance(value, accepted)
    return lambda value: isinstance(value, accepted) and not isinstance(value, bool)


def _is_array(value: object) -> bool:
    import numpy as np  # who returns arrays has imported it

    return isinstance(value, np.ndarray | np.generic)


def _test_of_fields(kind: Any) -> Callable[[Any], bool]:
    tests: list[tuple[str, Callable[[Any], bool]]] = []

    def has_fields(value: Any) -> bool:
        if not tests:  # a class may be that of a field of its own
            tests.extend((field.name, _test(_hints(kind)[field.name])) for field in fields(kind))
        return isinstance(value, kind) and all(test(getattr(value, name)) for name, test in tests)

    return has_fields


def _one_of(hints: Sequence[Any], where: str, value: Any) -> Any:
    """Return a value that is what one of several annotations says."""
    others = [hint for hint in hints if hint is not NoneType]
    if value is None and NoneType in hints:
        return None
    if len(others) == 1:
        return _checked(others[0], where, value)
    for hint in others:
        with suppress(ExtensionError):
            return _checked(hint, where, value)
    raise _wrong(where, value, _name(hints))


def _instance(kind: type[Any], where: str, value: Any) -> Any:
    if getattr(kind, "_is_protocol", False):
        return _opened(kind, where, value)
    accepted = _ACCEPTED.get(kind, (kind,))
    is_one = _is_array(value) if kind is _Array else isinstance(value, accepted)
    if not is_one or (isinstance(value, bool) and kind not in (bool, object)):
        raise _wrong(where, value, "a NumPy array" if kind is _Array else kind.__name__)
    if not is_dataclass(kind):
        return value
    items = ((field.name, getattr(value, field.name)) for field in fields(kind))
    changed = {name: _checked(_hints(kind)[name], f"{where}.{name}", item) for name, item in items}
    functions = {name: item for name, item in changed.items() if callable(item)}
    return replace(value, **functions) if functions else value


def _opened(protocol: type[Any], where: str, value: object) -> Any:
    """Check that an object has the members of a protocol, and wrap it."""
    required, protocols = protocol_members(protocol), (protocol, *_OPTIONAL.get(protocol, ()))
    missing = [name for name in required if not hasattr(type(value), name) and not hasattr(value, name)]
    if missing:
        expected = f"a {protocol.__name__.lower()} with {', '.join(required)}; {', '.join(missing)} is missing"
        raise _wrong(where, value, expected)
    for name, near in _misspelt(frozenset(dir(value)), protocols):
        msg = f"{where} has {near!r}, which nothing calls; did you mean {name!r}?"
        raise ExtensionError(msg)
    return guarded(value, protocols, where)


@cache
def _misspelt(names: frozenset[str], protocols: tuple[type[Any], ...]) -> tuple[tuple[str, str], ...]:
    """Return the members of protocols that are not among the names, but for one that is almost theirs, with it."""
    known = {name for one in protocols for name in protocol_members(one)}
    found = ((name, difflib.get_close_matches(name, names - known, n=1, cutoff=NEAR)) for name in known - names)
    return tuple((name, near[0]) for name, near in found if near)


def _pair(hints: Sequence[Any]) -> str:
    return " and ".join(dict.fromkeys(_name([hint]) for hint in hints))


def _name(hints: Sequence[Any]) -> str:
    names = (hint.__name__ if hasattr(hint, "__name__") else _name(get_args(hint)) for hint in hints)
    return " or ".join(dict.fromkeys(names))


def _plural(hint: Any) -> str:
    if get_origin(hint) is tuple:
        return f"pairs of {_pair(get_args(hint))}"
    return "NumPy arrays" if _Array in (hint, *get_args(hint)) else str(hint.__name__)


def _wrong(where: str, value: object, expected: str) -> ExtensionError:
    plain = isinstance(value, str | bytes | int | float)
    text = repr(value)[:_SHOWN] if plain else ""
    found = "None" if value is None else f"{text} ({type(value).__name__})" if plain else f"a {type(value).__name__}"
    verb = "returned" if where.endswith("()") else "is"
    return ExtensionError(f"{where} {verb} {found}, expected {expected}")
