"""Parameter archives for IREE's runtime, and what they hold where a module looks for something else."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import iree.runtime as rt
from retarget.extension import DriverError
from retarget.support import display_path

from retarget_iree.noise import RUNTIME_ERRORS, clean_status

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
