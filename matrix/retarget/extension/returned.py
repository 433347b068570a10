"""What an extension returns, held against its protocol where it comes in.

Registered compilers, drivers and case loaders, and the devices and programs that drivers open, are wrapped: a method
that returns something else than its protocol says raises an `ExtensionError` that names the extension, the method, what
came and what was expected. Otherwise the mistake would show far away, as a traceback of a worker.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retarget.extension.cases import Case, CaseData, CheckedCase
from retarget.extension.compilers import Compiled, CompilerError, Resolved, UnavailableError
from retarget.extension.drivers import DriverError, FunctionInfo, RunPlan
from retarget.extension.suggestions import SuggestedTarget, Suggestions
from retarget.model import Module
from retarget.model.outcomes import DeviceInfo
from retarget.support.errors import Diagnostic, RetargetError

__all__ = ["CHECKS", "NEAR", "ExtensionError", "guarded"]

Check = Callable[[str, object], Any]
"""Takes where a value was found and the value; returns it, or what takes its place. Raises `_WrongError`."""

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
        "suggest_targets",
        "suggest_suites",
    }
)
"""Methods that are called in pytest's process or the command's, where no worker catches what they raise."""

_SHOWN = 60
"""Characters of a wrong value that are shown."""


class ExtensionError(RetargetError):
    """An extension broke its protocol: nothing that can be held against a module or a device."""


class _WrongError(Exception):
    """What is wrong with a value, without who returned it."""


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


@dataclass(frozen=True, slots=True)
class _Property:
    """The check of what is read, not called."""

    check: Check


def guarded(product: Any, sort: str, where: str) -> Any:
    """Return a product whose methods check what they return.

    `sort` is the `word` of a `protocol_checks.Sort`: `compiler`, `driver`, …
    `where` names extension and product: `extension 'mine': driver 'npu'`.
    """
    return _guarded(product, CHECKS[sort], where)


def _guarded(product: Any, checks: Mapping[str, Check | _Property], where: str) -> Any:
    names: dict[str, Any] = {}
    for name, check in checks.items():
        if isinstance(check, _Property):
            names[name] = _property(name, check.check, where)
        elif callable(method := getattr(product, name, None)):
            names[name] = _method(name, method, check, f"{where}: {name}()")
        elif method is not None:
            names[name] = method
    return type(type(product).__name__, (_Guard,), names)(product)


def _method(name: str, method: Callable[..., object], check: Check, where: str) -> Callable[..., object]:
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
        return _held(check, where, value)

    return checked


def _property(name: str, check: Check, where: str) -> property:
    return property(lambda guard: _held(check, f"{where}: {name}", getattr(guard._product, name)))  # noqa: SLF001


def _held(check: Check, where: str, value: object) -> Any:
    try:
        return check(where, value)
    except _WrongError as error:
        raise ExtensionError(str(error)) from None


Checks = Mapping[str, Check | _Property]
"""By the names of methods and attributes."""


# ---------------------------------------------------------------- the checks


def _wrong(where: str, value: object, expected: str) -> _WrongError:
    plain = isinstance(value, str | bytes | int | float)
    text = repr(value)[:_SHOWN] if plain else ""
    found = "None" if value is None else f"{text} ({type(value).__name__})" if plain else f"a {type(value).__name__}"
    verb = "returned" if where.endswith("()") else "is"
    return _WrongError(f"{where} {verb} {found}, expected {expected}")


def _as_it_is(_where: str, value: object) -> object:
    return value


def _a(*kinds: type, name: str = "") -> Check:
    expected = name or " or ".join(kind.__name__ for kind in kinds)

    def check(where: str, value: object) -> object:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise _wrong(where, value, expected)
        return value

    return check


def _maybe(check: Check) -> Check:
    return lambda where, value: None if value is None else check(where, value)


def _many(check: Check, of: str) -> Check:
    """Check each of several values and return them as a tuple."""

    def check_all(where: str, value: object) -> object:
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            raise _wrong(where, value, f"a sequence of {of}")
        return tuple(check(f"{where}[{index}]", item) for index, item in enumerate(value))

    return check_all


def _pairs(first: Check, second: Check, of: str) -> Check:
    def check_pair(where: str, value: object) -> object:
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise _wrong(where, value, f"a pair of {of}")
        return first(f"{where}[0]", value[0]), second(f"{where}[1]", value[1])

    return _many(check_pair, f"pairs of {of}")


def _record(kind: type, **fields: Check) -> Check:
    """Check an object of a class and some of its fields."""

    def check(where: str, value: object) -> object:
        if not isinstance(value, kind):
            raise _wrong(where, value, kind.__name__)
        for name, of_field in fields.items():
            of_field(f"{where}.{name}", getattr(value, name))
        return value

    return check


def _array(where: str, value: object) -> object:
    import numpy as np  # whoever returns arrays has imported it

    if not isinstance(value, np.ndarray | np.generic):
        raise _wrong(where, value, "a NumPy array")
    return value


_text = _a(str)
_path = _a(Path)
_number = _a(int)
_bytes = _a(bytes, bytearray, memoryview, name="bytes")
_texts = _many(_text, "str")
_paths = _many(_path, "Path")
_arrays = _many(_array, "NumPy arrays")
_expected = _maybe(_many(_maybe(_array), "NumPy arrays"))
_text_pairs = _pairs(_text, _text, "str")
_plan = _maybe(_record(RunPlan, argv=_texts, env=_text_pairs, cwd=_maybe(_path)))
_functions = _many(
    _record(FunctionInfo, name=_text, arguments=_maybe(_number), argument_types=_texts, result_types=_texts),
    "FunctionInfo",
)
_infos = _many(
    _record(DeviceInfo, driver=_text, uri=_text, ordinal=_number, name=_text, physical_id=_text, driver_version=_text),
    "DeviceInfo",
)
_module = _record(Module, name=_text, path=_path, data=_paths, entry=_text, tags=_texts)
_diagnostics = _many(_record(Diagnostic, file=_path, line=_number, key_path=_text, message=_text), "Diagnostic")
_data = _record(CaseData, inputs=_arrays, expected=_expected)
_case = _record(
    Case,
    name=_text,
    function=_text,
    inputs=_arrays,
    expected=_expected,
    tolerances=_a(Mapping),
    agree_with=_text,
)
_resolved = _record(
    Resolved,
    build_id=_text,
    flags=_texts,
    files=_paths,
    facts=_text_pairs,
    not_inputs=_texts,
    suffix_facts=_text_pairs,
    build=_text,
)


def _read(where: str, value: object) -> object:
    """Check a case, and what it reads when it is about to run."""
    _case(where, value)
    if not isinstance(value, Case) or value.read is None:
        return value
    if not callable(value.read):
        place = f"{where}.read"
        raise _wrong(place, value.read, "a function without arguments")
    read = value.read

    def checked() -> CaseData:
        data: CaseData = _held(_data, f"{where}.read()", read())
        return data

    return replace(value, read=checked)


def _opened(checks: Checks, required: tuple[str, ...], what: str) -> Check:
    """Check that an object has the methods of a protocol, and wrap it."""

    def check(where: str, value: object) -> object:
        missing = [name for name in required if not hasattr(type(value), name) and not hasattr(value, name)]
        if missing:
            expected = f"{what} with {', '.join(required)}; {', '.join(missing)} is missing"
            raise _wrong(where, value, expected)
        for name in checks.keys() - set(dir(value)):
            if near := difflib.get_close_matches(name, set(dir(value)) - checks.keys(), n=1, cutoff=NEAR):
                msg = f"{where} has {near[0]!r}, which nothing calls; did you mean {name!r}?"
                raise _WrongError(msg)
        return _guarded(value, checks, where)

    return check


_PROGRAM: Checks = {"functions": _Property(_functions), "call": _arrays}
_program = _opened(_PROGRAM, ("functions", "call"), "a program")
_DEVICE: Checks = {
    "infos": _Property(_infos),
    "load": _program,
    "load_with_parameters": _program,
    "close": _as_it_is,
}
CHECKS: Mapping[str, Checks] = {
    "compiler": {
        "name": _text,
        "artifact_suffix": _text,
        "fingerprint": _text,
        "resolve": _resolved,
        "compile": _record(Compiled, artifact=_bytes, diagnostics=_text),
        "tags": _as_it_is,  # held against the grammar of tags where they are used
        "reproduce": _texts,
        "show": _text,
        "describe_build": _text,
        "suggest_targets": _many(_record(SuggestedTarget), "SuggestedTarget"),
    },
    "driver": {
        "name": _text,
        "artifact_suffixes": _texts,
        "probe": _infos,
        "open": _opened(_DEVICE, ("infos", "load", "close"), "a device"),
        "functions": _functions,
        "tags": _as_it_is,
        "run_outside": _plan,
        "describe_build": _text,
    },
    "case loader": {
        "kind": _text,
        "load": _many(_read, "Case"),
        "find_modules": _many(_module, "Module"),
        "suite_diagnostics": _diagnostics,
        "data_diagnostics": _diagnostics,
        "file_schema": _a(Mapping, name="a JSON Schema"),
        "version": _text,
        "make": _as_it_is,
        "made": _module,
        "parameters": _pairs(_text, _path, "str and Path"),
        "run_case_outside": _plan,
        "references": _texts,
        "check": _many(_record(CheckedCase, name=_text, summary=_text, report=_text), "CheckedCase"),
        "precedence": _number,
        "suggest_suites": _record(Suggestions),
    },
    "command": {
        "name": _text,
        "help": _text,
        "examples": _Property(_text_pairs),
        "add_arguments": _as_it_is,
        "run": _number,
    },
}
"""By sort of product: all methods and attributes of its protocols."""
