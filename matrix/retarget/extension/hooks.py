"""The hooks by which extensions provide compilers, drivers, case loaders and subcommands, and the check of those."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

import pluggy
from msgspec import Struct

from retarget.extension.cases import CaseLoader
from retarget.extension.commands import Command
from retarget.extension.compilers import Compiler
from retarget.extension.drivers import Driver
from retarget.extension.products import Product, check_attributes, methods_of, no_subclass
from retarget.support.errors import RetargetError

PROJECT = "retarget"
"""What pluggy calls the project, and the group of the entry points."""

hookimpl = pluggy.HookimplMarker(PROJECT)


class ProductKind(Struct, frozen=True, kw_only=True):
    """One kind of product that extensions provide: its hook, its base class, and which attribute names it.

    A hook takes no arguments, and returns all such products of the extension. It is called once, when that is loaded.
    """

    word: str
    hook: str
    base: type[Product]
    name: str = "name"


PRODUCT_KINDS = (
    ProductKind(word="compiler", hook="retarget_compilers", base=Compiler),
    ProductKind(word="driver", hook="retarget_drivers", base=Driver),
    ProductKind(word="case loader", hook="retarget_case_loaders", base=CaseLoader, name="kind"),
    ProductKind(word="command", hook="retarget_commands", base=Command),
)


def checked_product(extension: str, kind: ProductKind, product: object) -> Product:
    """Return a product that is an object of a subclass, with a name, and with methods that can be called as those of
    the base class. Raises `RetargetError` for another."""
    where = f"extension {extension!r}: hook {kind.hook}"
    if not isinstance(product, kind.base):
        msg = f"{where}: {no_subclass(product, kind.base)}"
        raise RetargetError(msg)
    name = getattr(product, kind.name, None)
    if not isinstance(name, str) or not name:
        found = f"{type(product).__name__} with {kind.name} = {name!r}"
        msg = f"{where}: found {found}, expected a {kind.word} whose {kind.name} is a string"
        raise RetargetError(msg)
    where = f"{where}: {kind.word} {name!r}"
    if kind.base is Command and re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name) is None:
        msg = f"{where}: expected a name of lower-case letters, digits and single hyphens"
        raise RetargetError(msg)
    for method, declared in methods_of(kind.base).items():
        own = getattr(product, method)
        parameters = tuple(inspect.signature(declared).parameters)[1:]
        if getattr(own, "__func__", None) is not declared and not can_be_called(own, parameters):
            found = f"{method}{inspect.signature(own)}" if callable(own) else f"{method} = {own!r}"
            msg = f"{where}: found {found}, expected {method}({', '.join(parameters)})"
            raise RetargetError(msg)
    check_attributes(product, where)
    return product


def can_be_called(function: object, parameters: Sequence[str]) -> bool:
    """Return whether a callable takes these arguments, by position and by name alike."""
    if not callable(function):
        return False
    signature = inspect.signature(function)
    try:
        signature.bind(*parameters)
        signature.bind(**dict.fromkeys(parameters))
    except TypeError:
        return False
    return True


def is_hook(function: object) -> bool:
    """Return whether something is marked as a hook of this project."""
    return inspect.isroutine(function) and hasattr(function, f"{PROJECT}_impl")
