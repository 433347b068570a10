"""The base of all that extensions provide, the check of what it returns, and the base class of subcommands.

An extension subclasses a base class, such as `Driver`, and overrides what it has. Each overriding method is checked
when it returns: one that returns something else than the base class declares raises an `ExtensionError` that names the
extension, the method, what it returned and what was expected. Otherwise the mistake would show far away, as a
traceback of a worker.

Imports nothing but the element types and the errors: a bundle that reproduces a failure holds a copy.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from retarget.model.calls import CompilerError, DriverError, UnavailableError
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.model import CompilerConfig, RuntimeConfig, Toolchain


_SHOWN = 60
"""Characters of a wrong value that are shown."""

_MethodT = TypeVar("_MethodT", bound=Callable[..., Any])


class ExtensionError(RetargetError):
    """An extension returned what its base class does not allow: not an error of a module or a device."""


def called_in_process(method: _MethodT) -> _MethodT:
    """Mark a method that is called in pytest's process or the command's, where no worker catches what it raises."""
    method.__dict__["called_in_process"] = True
    return method


class Product(ABC):
    """What all base classes have in common. `_product_place` says whose product it is, once that is known."""

    _product_place: str = ""
    _product_base: ClassVar[type[Product]]

    def __init_subclass__(cls, *, is_base: bool = False, **named: Any) -> None:
        super().__init_subclass__(**named)
        if is_base:
            cls._product_base = cls
            return
        for name, declared in methods_of(cls._product_base).items():
            method = inspect.getattr_static(cls, name)
            if isinstance(method, FunctionType) and method is not declared and not hasattr(method, "is_checked"):
                setattr(cls, name, _checked_method(declared, method))

    def overrides(self, method: str) -> bool:
        """Return whether its class has a method of its own, in place of that of its base class."""
        return getattr(type(self), method) is not getattr(self._product_base, method)


class Builds(Product, is_base=True):
    """What compilers and drivers have in common: installed builds, toolchains and releases."""

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Name the build of a toolchain, or without one that which this process imports, for people (`retarget
        explain`): `iree 3.13.0 (build 1a2b3c4d5e6f)`. Empty where nothing is known of it.

        Runs in a worker for a config with an `env`, else in the command's process: import nothing heavy. Raises
        `UnavailableError` if it is not installed.
        """
        return ""

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        """Return the (variable, value) pairs with which a worker uses the build of `config.toolchain`, which is not
        None. A `toolchain` is an error where this is not overridden.

        Workers with other variables are other processes, so two builds never meet in one. Looks at files only; runs in
        pytest's process. Raises `UnavailableError` that says what is missing where; the toolchain's name and
        declaration are put before it.
        """
        not_overridden(self, "toolchain_environment")

    @called_in_process
    def release_packages(self) -> Sequence[str]:
        """Return the packages of Python's package index that make up a release, which all have its version
        (`("iree-base-runtime",)`), for `retarget bisect`: it installs them into a folder, which becomes the path of a
        toolchain. Pure."""
        return ()


def not_overridden(product: Product, method: str) -> NoReturn:
    """Raise the error of a method that is called where another was overridden which goes with it."""
    base = product._product_base.__name__  # noqa: SLF001
    msg = f"{_place(product)}: found no {method}(), expected one: retarget.extension.{base}.{method} says when"
    raise ExtensionError(msg)


def _place(product: Product) -> str:
    return product._product_place or type(product).__name__  # noqa: SLF001


@cache
def methods_of(base: type[Product]) -> Mapping[str, Callable[..., Any]]:
    """Return the methods that a base class declares, by name."""
    found = inspect.getmembers(base, inspect.isfunction)
    return {name: method for name, method in found if name[0] != "_" and name not in vars(Product)}


def no_subclass(found: object, base: type[Product]) -> str:
    """Say what is wrong with something that is no instance of a base class, and how it becomes one."""
    if isinstance(found, type):
        return f"found the class {found.__name__}, expected an object of it: {found.__name__}()"
    return f"found an object of class {type(found).__name__}, expected {_subclass(found, base)}"


def _subclass(found: object, base: type[Product]) -> str:
    expected = f"retarget.extension.{base.__name__}"
    return f"one of a subclass of {expected}: class {type(found).__name__}({expected})"


def check_attributes(product: Product, where: str) -> None:
    """Raise `ExtensionError` for an attribute that a product lacks, or that is not what its base class says."""
    for name, hint in _hints(product._product_base).items():  # noqa: SLF001
        if name[0] != "_":
            if not hasattr(product, name):
                msg = f"{where}: found no {name}, expected {_names([hint])}"
                raise ExtensionError(msg)
            checked_value(hint, f"{where}: {name}", getattr(product, name))


def note_place(product: Product, place: str) -> None:
    """Note whose product it is, for the errors of its methods: `extension 'mine': driver 'npu'`."""
    object.__setattr__(product, "_product_place", place)  # its class may be frozen


def _checked_method(declared: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    name, in_process = declared.__name__, hasattr(declared, "called_in_process")

    @wraps(method)
    def checked(self: Product, *arguments: Any, **named: Any) -> Any:
        try:
            value = method(self, *arguments, **named)
        except (RetargetError, UnavailableError, CompilerError, DriverError):
            raise
        except (Exception, SystemExit) as error:
            if not in_process:  # a worker reports it, with its traceback
                raise
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = "" if trace is None else f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
            msg = f"{_place(self)}: {name}() raised {type(error).__name__}: {error}{line}"
            raise ExtensionError(msg) from error
        hint = _hints(declared)["return"]
        if hint is NoneType:
            return None
        where = f"{_place(self)}: {name}()"
        value = checked_value(hint, where, value)
        if isinstance(value, Product):
            note_place(value, where)
            check_attributes(value, where)
        return value

    checked.__dict__["is_checked"] = True
    return checked


# ---------------------------------------------------------------- the check of a value


class _Array:
    """A placeholder for the annotation `Array`: NumPy is not imported before an extension returns an array."""


_NAMES = {"Array": _Array, "CompilerConfig": object, "RuntimeConfig": object, "Toolchain": object}
"""What annotations name that their modules import for type checkers only."""

_ACCEPTED = {bytes: (bytes, bytearray, memoryview), float: (int, float)}
"""Classes that are accepted where an annotation names another."""


class _Mismatch(Exception):  # noqa: N818  it becomes an ExtensionError
    """A value is not what an annotation says. `path` leads to it from the value that was checked."""

    def __init__(self, value: object, expected: str) -> None:
        self.value, self.expected, self.path = value, expected, ""


def checked_value(hint: Any, where: str, value: Any) -> Any:
    """Return a value that is what an annotation says, sequences as tuples. Raises `ExtensionError` for any other."""
    try:
        return _checked(hint, value)
    except _Mismatch as wrong:
        place, plain = f"{where}{wrong.path}", isinstance(wrong.value, str | bytes | int | float)
        shown = repr(wrong.value)[:_SHOWN] if plain else ""
        sort = type(wrong.value).__name__
        found = "None" if wrong.value is None else f"{shown} ({sort})" if plain else f"a {sort}"
        msg = f"{place} {'returned' if place.endswith('()') else 'is'} {found}, expected {wrong.expected}"
        raise ExtensionError(msg) from None


@cache
def _hints(declared: Any) -> dict[str, Any]:
    """Return the annotations of a function or class, evaluated."""
    return get_type_hints(declared, localns=_NAMES)


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


def _checked(hint: Any, value: Any) -> Any:
    """Return a value that is what an annotation says. Raises `_Mismatch` for any other."""
    if isinstance(hint, type):
        return _checked_instance(hint, value)
    origin, arguments = _parts(hint)
    if origin in (Union, UnionType):
        return _checked_option(arguments, value)
    if origin is tuple and ... not in arguments:
        if not isinstance(value, tuple | list) or len(value) != len(arguments):
            raise _Mismatch(value, f"a pair of {_names(arguments, ' and ')}")
        return _checked_items(arguments, value)
    if origin in (tuple, Sequence):
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            item, parts = arguments[0], get_args(arguments[0])
            several = f"pairs of {_names(parts, ' and ')}" if get_origin(item) is tuple else _names([item])
            raise _Mismatch(value, f"a sequence of {'NumPy arrays' if '_Array' in several else several}")
        return _checked_items(itertools.repeat(arguments[0]), value)
    if origin is not Callable:
        return _checked_instance(origin or hint, value)
    if not callable(value):
        raise _Mismatch(value, "a function without arguments")
    return value


def _checked_option(hints: Sequence[Any], value: Any) -> Any:
    if value is None and NoneType in hints:
        return None
    options = [hint for hint in hints if hint is not NoneType]
    for hint in options:
        try:
            return _checked(hint, value)
        except _Mismatch:
            if len(options) == 1:
                raise
    raise _Mismatch(value, _names(hints))


def _checked_items(hints: Iterable[Any], values: Iterable[Any]) -> tuple[Any, ...]:
    items: list[Any] = []
    try:
        for hint, value in zip(hints, values, strict=False):
            items.append(_checked(hint, value))
    except _Mismatch as wrong:
        wrong.path = f"[{len(items)}]{wrong.path}"
        raise
    return tuple(items)


def _checked_instance(kind: Any, value: Any) -> Any:
    is_one = _is_array(value) if kind is _Array else isinstance(value, _ACCEPTED.get(kind, kind))
    if not is_one or (isinstance(value, bool) and kind not in (bool, object)):
        is_product = issubclass(kind, Product) and value is not None
        expected = "a NumPy array" if kind is _Array else kind.__name__
        raise _Mismatch(value, _subclass(value, kind) if is_product else expected)
    for name, hint in _fields(kind):
        try:
            _checked(hint, getattr(value, name))
        except _Mismatch as wrong:
            wrong.path = f".{name}{wrong.path}"
            raise
    return value


@cache
def _fields(kind: Any) -> Sequence[tuple[str, Any]]:
    names: Iterable[str] = getattr(kind, "__struct_fields__", getattr(kind, "__dataclass_fields__", ()))
    return [(name, _hints(kind)[name]) for name in names]


def _is_array(value: object) -> bool:
    import numpy as np  # who returns arrays has imported it

    return isinstance(value, np.ndarray | np.generic)


def _names(hints: Sequence[Any], between: str = " or ") -> str:
    names = (hint.__name__ if hasattr(hint, "__name__") else _names(get_args(hint)) for hint in hints)
    return between.join(dict.fromkeys(names))


class Command(Product, is_base=True):
    """A subcommand. `name` is what is typed after `retarget`; `help` is one line, without a full stop.

    `examples` are command lines, each with what it does; `--help` shows them.
    """

    name: str
    help: str
    examples: Sequence[tuple[str, str]] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare options and arguments. Called for the subcommand that runs only."""

    @abstractmethod
    def run(self, arguments: argparse.Namespace) -> int:
        """Run and return the exit status. Raises `RetargetError`, whose text is printed (exit status 1), and
        `argparse.ArgumentError` for wrong usage (2)."""


@dataclass(eq=False, kw_only=True)
class CommandModule(Command):
    """A `Command` whose module is imported when it runs: it has the functions `add_arguments(parser)` and
    `run(arguments)`, in place of which the parser of an action may set `act`.

    With `takes_extensions` the command has the option `--retarget-extension`, a list in
    `arguments.retarget_extension`. `statuses` are its exit statuses with what each says, where they are not the usual.
    """

    name: str
    help: str
    module: str
    examples: Sequence[tuple[str, str]] = ()
    takes_extensions: bool = False
    statuses: Sequence[tuple[int, str]] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments of the module."""
        self._imported().add_arguments(parser)
        if self.takes_extensions:
            parser.add_argument(
                "--retarget-extension",
                action="append",
                default=[],
                metavar="MODULE",
                help="load an extension that no entry point names; may be repeated",
            )

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the action, or else the module."""
        act = getattr(arguments, "act", None) or self._imported().run
        status: int = act(arguments)
        return status

    def _imported(self) -> Any:
        return importlib.import_module(self.module)
