"""Declarations as TOML text: tables written by their keys, joined by blank lines; and the suites of many files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import FileName
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.support.errors import DiagnosticsError

__all__ = ["VMVX_FLAGS", "compiler", "declarations", "load_all", "runtime", "suite", "table", "target"]

VMVX_FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value)


def table(kind: str, /, **values: object) -> str:
    """One element of an array of tables."""
    return "\n".join([f"[[{kind}]]", *(f"{key} = {_value(value)}" for key, value in values.items()), ""])


def compiler(name: str, compiler: str = "iree", **more: object) -> str:
    return table("compiler_config", name=name, compiler=compiler, **more)


def runtime(name: str, driver: str = "local-sync", **more: object) -> str:
    return table("runtime_config", name=name, driver=driver, **more)


def target(name: str, compiler: str | Sequence[str], runtimes: Sequence[str], **more: object) -> str:
    return table("target_config", name=name, compiler=compiler, runtimes=runtimes, **more)


def suite(
    name: str,
    srcs: str | Sequence[str] = "*.mlir",
    kind: str = "check",
    targets: Sequence[str] = ("all",),
    **more: object,
) -> str:
    return table(
        "module_test_suite",
        name=name,
        srcs=[srcs] if isinstance(srcs, str) else srcs,
        kind=kind,
        targets=targets,
        **more,
    )


def declarations(*tables: str) -> str:
    """The text of a file."""
    return "\n".join(tables)


def load_all(paths: Sequence[Path], registry: Registry | None = None) -> tuple[Suite, ...]:
    """Return the suites of all suite files at and below `paths`. Raises `DiagnosticsError` with all errors."""
    loader = DeclarationLoader(registry)
    read = [loader.read_suite_file(file) for file in FileName.SUITE.below(paths)]
    if found := dict.fromkeys(one for _, diagnostics in read for one in diagnostics):
        raise DiagnosticsError(tuple(found))
    return tuple(suite for suites, _ in read for suite in suites)
