"""Compilers, drivers, case loaders and subcommands are checked against their protocols when they register.

Of a protocol that is optional, all methods or none: what a product has of it is checked as strictly, and a public
method whose name is almost that of one is taken for a mistake, because the core would never call it.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from retarget.extension.cases import (
    CaseLoader,
    ChecksArtifacts,
    ChecksData,
    ChecksSuites,
    ComparesConfigs,
    DescribesFiles,
    FindsModules,
    HasParameters,
    MakesModules,
    NamesDataFiles,
    ReturnsChecks,
    RunsCasesOutside,
    TypesFunctions,
)
from retarget.extension.commands import Command
from retarget.extension.compilers import (
    Compiler,
    CountsDispatches,
    DescribesBuild,
    HasFrontEnd,
    HasReleases,
    MeasuresModules,
    NamesDevices,
    ShowsArtifacts,
    ShrinksModules,
    TargetsProfiles,
    UsesToolchains,
)
from retarget.extension.drivers import (
    Driver,
    ImportsAhead,
    LoadsArtifacts,
    MapsArtifacts,
    OpensTogether,
    ReadsNeeds,
    RunsByTool,
    RunsOnHosts,
    Sanitizes,
)
from retarget.extension.returned import NEAR, protocol_members
from retarget.extension.suggestions import SuggestsSuites, SuggestsTargets
from retarget.support.errors import RetargetError

__all__ = ["SORTS", "Sort", "can_be_called", "checked_product"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """One sort of product that extensions provide: its hook, its protocols, and what names it.

    A name must match `name_pattern`. `attributes` must be strings; `lists` are sequences of strings, if they are there.
    """

    word: str
    hook: str
    protocol: type[Any]
    name_attribute: str = "name"
    name_pattern: str = ".+"
    attributes: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    optional: tuple[type[Any], ...] = ()


SORTS = (
    Sort(
        word="compiler",
        hook="retarget_compilers",
        protocol=Compiler,
        attributes=("artifact_suffix",),
        lists=("measuring_flags", "statistics_flags"),
        optional=(
            ShowsArtifacts,
            SuggestsTargets,
            DescribesBuild,
            HasFrontEnd,
            CountsDispatches,
            MeasuresModules,
            NamesDevices,
            TargetsProfiles,
            UsesToolchains,
            HasReleases,
            ShrinksModules,
        ),
    ),
    Sort(
        word="driver",
        hook="retarget_drivers",
        protocol=Driver,
        lists=("artifact_suffixes", "opens_with", "sanitizers"),
        optional=(
            LoadsArtifacts,
            MapsArtifacts,
            ImportsAhead,
            ReadsNeeds,
            DescribesBuild,
            OpensTogether,
            UsesToolchains,
            HasReleases,
            RunsByTool,
            RunsOnHosts,
            Sanitizes,
        ),
    ),
    Sort(
        word="case loader",
        hook="retarget_case_loaders",
        protocol=CaseLoader,
        name_attribute="kind",
        optional=(
            FindsModules,
            ChecksSuites,
            ChecksData,
            NamesDataFiles,
            MakesModules,
            HasParameters,
            RunsCasesOutside,
            ComparesConfigs,
            ChecksArtifacts,
            DescribesFiles,
            ReturnsChecks,
            SuggestsSuites,
            TypesFunctions,
        ),
    ),
    Sort(
        word="command",
        hook="retarget_commands",
        protocol=Command,
        name_pattern=r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
        attributes=("help",),
    ),
)


def checked_product(extension: str, sort: Sort, product: object) -> str:
    """Return the name of a product that offers what its protocols ask for.

    Raises `RetargetError` for one that does not.
    """
    where = f"extension {extension!r}: hook {sort.hook}"
    name = getattr(product, sort.name_attribute, None)
    if not isinstance(name, str) or not name:
        found = f"{type(product).__name__} with {sort.name_attribute} = {name!r}"
        msg = f"{where}: found {found}, expected a {sort.word} whose {sort.name_attribute} is a string"
        raise RetargetError(msg)
    where = f"{where}: {sort.word} {name!r}"
    if re.fullmatch(sort.name_pattern, name, re.DOTALL) is None:
        msg = f"{where}: expected a name of lower-case letters, digits and single hyphens"
        raise RetargetError(msg)
    for attribute in sort.attributes:
        value = getattr(product, attribute, None)
        if not isinstance(value, str):
            msg = f"{where}: found {attribute} = {value!r}, expected a string"
            raise RetargetError(msg)
    for attribute in sort.lists:
        value = getattr(product, attribute, ())
        if not isinstance(value, tuple | list) or not all(isinstance(item, str) for item in value):
            msg = f"{where}: found {attribute} = {value!r}, expected a tuple of strings"
            raise RetargetError(msg)
    for method in _methods(sort.protocol):
        _check_method(where, product, sort.protocol, method)
    for protocol in sort.optional:
        _check_optional(where, product, protocol)
    _check_names(where, product, sort)
    return name


def _find_methods(protocol: type[Any]) -> tuple[str, ...]:
    return tuple(name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if not name.startswith("_"))


def _find_parameters(protocol: type[Any], method: str) -> tuple[str, ...]:
    return tuple(inspect.signature(getattr(protocol, method)).parameters)[1:]


_methods: Any = cache(_find_methods)
_parameters: Any = cache(_find_parameters)  # typeshed: a class is Hashable, `type[Any]` is not


def _check_method(where: str, product: object, protocol: type[Any], method: str) -> None:
    parameters = _parameters(protocol, method)
    expected = f"expected {method}({', '.join(parameters)})"
    implementation = getattr(product, method, None)
    if not callable(implementation):
        msg = f"{where}: found no method {method!r}, {expected}"
        raise RetargetError(msg)
    if not can_be_called(implementation, parameters):
        msg = f"{where}: found {method}{inspect.signature(implementation)}, {expected}"
        raise RetargetError(msg)


def _check_optional(where: str, product: object, protocol: type[Any]) -> None:
    """Check that a product has all or nothing of an optional protocol. Attributes alone are no sign of one."""
    methods = _methods(protocol)
    there = [method for method in methods if callable(getattr(product, method, None))]
    if not there:
        return
    missing = [name for name in protocol_members(protocol) if not hasattr(product, name)]
    if missing:
        few = f"{' and '.join(there)} without {' and '.join(missing)}"
        msg = f"{where}: found {few}, expected all of {protocol.__name__}: {', '.join(protocol_members(protocol))}"
        raise RetargetError(msg)
    for method in methods:
        _check_method(where, product, protocol, method)


def _check_names(where: str, product: object, sort: Sort) -> None:
    """Refuse a public method that the core would never call, and whose name is almost that of one it would."""
    known = {name: protocol for protocol in (sort.protocol, *sort.optional) for name in protocol_members(protocol)}
    missing = [name for name in known if not hasattr(product, name)]
    for name in _public(product):
        near = difflib.get_close_matches(name, missing, n=1, cutoff=NEAR) if name not in known else []
        if near:
            msg = (
                f"{where}: found {name!r}, which nothing calls; did you mean {near[0]!r} of "
                f"{known[near[0]].__name__}? If not, let its name begin with '_'"
            )
            raise RetargetError(msg)


def _public(product: object) -> Iterator[str]:
    for name in dir(type(product)):
        if not name.startswith("_"):
            yield name
    yield from (name for name in getattr(product, "__dict__", {}) if not name.startswith("_"))


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
