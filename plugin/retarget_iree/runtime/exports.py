"""The functions that a module exports and their signatures, read without a device.

Parameter archives for IREE's runtime, and what they hold where a module looks for something else.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import iree.runtime as rt
from iree.runtime import version
from retarget.extension import DriverError, FunctionInfo
from retarget.model import split_types
from retarget.support import did_you_mean, display_path

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
    """Return the functions that a user may call: no own ones of the runtime, no `$async` variant of a plain one."""
    names = list(module.function_names)
    found: dict[str, Any] = {}
    for name in names:
        plain = name.removesuffix("$async")
        if name in {"__init", "__deinit", "__notify"} or (plain != name and plain in names):
            continue
        function = module.lookup_function(name)
        if function is not None:
            found[name] = function
    return found


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


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Name the argument or the result that an error is about."""
    try:
        yield
    except (*RUNTIME_ERRORS, DriverError) as error:
        msg = f"{what}: {clean_status(str(error))}"
        raise DriverError(msg, hint=getattr(error, "hint", "")) from error


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


def signature_of(function: Any) -> Signature:
    """Return the signature that a loaded function states in its properties and its reflection attributes."""
    convention = _CONVENTION.match(repr(function))
    if convention is None:
        return Signature(arguments=None, results=None)
    arguments = convention["arguments"].replace("v", "")
    results = convention["results"].replace("v", "")
    argument_types, result_types = declared_types(dict(function.reflection).get("iree.abi.declaration", ""))
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


NO_PARAMETERS = (
    "the module takes parameters from files: --parameters=SCOPE=FILE in a flagfile (kind run-module) or "
    'parameters = { SCOPE = "FILE" } in a cases file (kind cases) names one'
)
_SHOWN = 4
"""Keys that are named of each scope."""


def load_archive(index: Any, path: Path) -> mmap.mmap:
    """Add what a parameter file holds to a `ParameterIndex`, and return the mapping that its entries are in.

    Writes of a program into a parameter stay in this process: the file never changes. Raises `DriverError` for a file
    that is no archive.
    """
    try:
        with path.open("rb") as file:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        handle = rt.FileHandle.wrap_memory(mapping, readable=True, writable=True)
        index.load_from_file_handle(handle, path.suffix.removeprefix(".").lower())
    except RUNTIME_ERRORS as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else clean_status(str(error))
        msg = f"the parameter file {display_path(path)} cannot be loaded: {said}"
        hint = "expected an .irpa, .gguf or .safetensors archive; `iree-dump-parameters` shows what one holds"
        raise DriverError(msg, hint=hint) from error
    return mapping


def parameter_indices(parameters: Sequence[tuple[str, Path]]) -> Mapping[str, Any]:
    """Return one index per scope, in the order of first mention; a scope may have several files.

    Raises `DriverError` for a file that is no archive.
    """
    indices: dict[str, Any] = {}
    for scope, path in parameters:
        load_archive(indices.setdefault(scope, rt.ParameterIndex()), path)
    return indices


def parameters_hint(indices: Mapping[str, Any]) -> str:
    """Return what to do about a parameter that a module did not find in what it was given."""
    if not indices:
        return NO_PARAMETERS
    given = "; ".join(f"scope {scope or '(no name)'} with {_keys(index)}" for scope, index in indices.items())
    return f"the module was given {given}; `iree-dump-parameters --parameters=FILE` shows more of a file"


def _keys(index: Any) -> str:
    keys = [key for key, _ in index.items()]
    more = f" and {len(keys) - _SHOWN} more" if keys[_SHOWN:] else ""
    return f"{', '.join(keys[:_SHOWN]) or 'no keys'}{more}"
