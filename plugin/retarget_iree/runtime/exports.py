"""The functions that a module exports, read without a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import iree.runtime as rt
from iree.runtime import version
from retarget.model.calls import DriverError, FunctionInfo
from retarget.support.errors import did_you_mean

from retarget_iree.noise import RUNTIME_ERRORS, clean_status
from retarget_iree.runtime.signature import Signature, parse_signature

__all__ = ["exported", "function_info", "load_module", "module_signatures", "signature_of", "unknown_function"]


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
    """Return the functions a user may call: no initialisers, and no `$async` variant where there is the plain one."""
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
    """Return what the case loaders learn of a function."""
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
