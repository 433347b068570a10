"""The functions that a module exports and their signatures, read without a device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import iree.runtime as rt
from iree.runtime import version
from retarget.extension import DriverError, FunctionInfo
from retarget.model import split_types
from retarget.support import did_you_mean

from retarget_iree.noise import RUNTIME_ERRORS, clean_status


def load_module(instance: Any, artifact: bytes) -> Any:
    """Load a module into its own copy of the bytes: constants of a mapped file are read-only, and some are updated."""
    if artifact and artifact[:1024].isascii() and b"\0" not in artifact[:1024]:
        msg = "this is text and no module that the IREE runtime can load"
        hint = "--compile-to=PHASE among the compiler's flags gives text: take it out, or check the text (filecheck)"
        raise DriverError(msg, hint=hint)
    try:
        return rt.VmModule.copy_buffer(instance, artifact)
    except RUNTIME_ERRORS as error:
        reason = clean_status(str(error))
        msg = f"this is not a module that the IREE runtime {version.VERSION} can load: {reason}"
        hint = "the artifact is damaged, or from another version of the compiler; compile it again"
        raise DriverError(msg, hint=hint) from error


def exported(module: Any) -> dict[str, Any]:
    """Return the functions that a user may call: no initialisers, and no `$async` variant of a plain function."""
    names = list(module.function_names)
    found: dict[str, Any] = {}
    for name in names:
        if name.startswith("__") or (name.endswith("$async") and name.removesuffix("$async") in names):
            continue
        function = module.lookup_function(name)
        if function is not None:
            found[name] = function
    return found


def signature_of(function: Any) -> Signature:
    """Return the signature that a loaded function states."""
    return parse_signature(repr(function), dict(function.reflection))


def function_info(name: str, signature: Signature) -> FunctionInfo:
    """Return a function's description for the case loaders."""
    return FunctionInfo(
        name=name,
        arguments=None if signature.arguments is None else len(signature.arguments),
        argument_types=signature.argument_types,
        result_types=signature.result_types,
    )


def module_signatures(artifact: bytes) -> Mapping[str, tuple[Signature, Mapping[str, str]]]:
    """Return signature and reflection of a module's exported functions, without a device.

    Raises `DriverError` for bytes that are no module.
    """
    module = load_module(rt.VmInstance(), artifact)
    return {name: (signature_of(one), dict(one.reflection)) for name, one in exported(module).items()}


def unknown_function(function: str, entries: Mapping[str, object]) -> DriverError:
    """Return the error for a function that a module does not export."""
    known = ", ".join(entries) or "none"
    msg = f"the module exports no function {function!r}; it exports: {known}{did_you_mean(function, entries)}"
    return DriverError(msg)


_CONVENTION = re.compile(
    r"^<VmFunction (?P<name>.*?)\((?P<version>\d)(?P<arguments>[a-zA-Z]*)_(?P<results>[a-zA-Z]*)\)"
)
_DECLARATION = re.compile(
    r"^(?P<model>\w+) func @.*?\((?P<arguments>.*)\) -> \((?P<results>.*)\)\s*(?:\{.*\})?$", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function's arguments and results.

    `arguments` and `results` hold one letter each, as the VM passes them: `i`, `I`, `f`, `F` numbers of 32 and 64 bits,
    `r` references. None where unknown. The declared types, one per letter, are empty where unknown.
    """

    arguments: str | None
    results: str | None
    argument_types: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()

    def passed(self, function: str, count: int) -> list[tuple[str, str]]:
        """Return the letter and the declared type of each argument. Raises `DriverError` if there are not `count`."""
        letters, types = self.arguments, self.argument_types
        if letters is not None and len(letters) != count:
            listed = f" ({', '.join(types)})" if types else ""
            msg = f"{function} takes {len(letters)} arguments{listed}; {count} were given"
            raise DriverError(msg)
        return list(zip("r" * count if letters is None else letters, types or [""] * count, strict=True))

    def returned(self, count: int = 0) -> list[tuple[str, str]]:
        """Return the letter and the declared type of each result, `count` of them where unknown."""
        letters = "r" * count if self.results is None else self.results
        return list(zip(letters, self.result_types or [""] * len(letters), strict=True))


def parse_signature(shown: str, reflection: Mapping[str, str]) -> Signature:
    """Parse the signature from a VM function's properties and reflection attributes."""
    convention = _CONVENTION.match(shown)
    if convention is None:
        return Signature(arguments=None, results=None)
    arguments = convention["arguments"].replace("v", "")
    results = convention["results"].replace("v", "")
    argument_types, result_types = declared_types(reflection.get("iree.abi.declaration", ""))
    return Signature(
        arguments=arguments,
        results=results,
        argument_types=argument_types if len(argument_types) == len(arguments) else (),
        result_types=result_types if len(result_types) == len(results) else (),
    )


def declared_types(declaration: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the types of arguments and results of a declaration (`sync func @f(%input0: i32) -> (…)`), both empty if
    it is not a declaration."""
    match = _DECLARATION.match(declaration)
    return ((), ()) if match is None else (_types(match["arguments"]), _types(match["results"]))


def _types(parts: str) -> tuple[str, ...]:
    """Return the types of a declaration's argument or result list, without names (`%input0: i32` → `i32`)."""
    return tuple(re.sub(r"^%[\w$.-]+:\s*", "", part).split(" {")[0].strip() for part in split_types(parts))
