"""A program as files: its module, the cases file with its inputs and expected values, and a suite that declares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.model import Module
from retarget.support import toml_table

if TYPE_CHECKING:
    from retarget.extension import Array

    from retarget_fuzz.programs.program import Expected, Program

MODULE = "module.mlir"
_CASES = "module.cases.toml"
_LITERAL = 64
"""The most elements of an array that a cases file shows."""


def write_module(folder: Path, program: Program) -> Module:
    """Write a program's module and its cases file to a folder, which is made. Raises `OSError`."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Array] = {}

    def values(name: str, arrays: Sequence[Array]) -> str:
        lines = []
        for number, array in enumerate(arrays):
            if array.size > _LITERAL:
                files[file := f"{name}{number}.npy"] = array
                lines.append(f'    "{file}",')
            else:
                lines.append(f"    {_literal(array)},")
        return "\n".join([f"{name} = [", *lines, "]"]) if lines else f"{name} = []"

    expected = program.expected()
    lines = ["[[case]]", values("inputs", program.inputs), values("expected", [one.value for one in expected])]
    lines += [
        f"tolerance.{name} = {{ atol = {atol!r}, rtol = {rtol!r} }}"
        for name, (atol, rtol) in _tolerances(expected).items()
    ]
    for file, array in files.items():
        np.save(folder / file, array)
    module, cases = folder / MODULE, folder / _CASES
    module.write_text(program.module(), encoding="utf-8")
    cases.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return Module(name=module.stem, path=module, data=(cases,))


def write_suite(
    folder: Path, name: str, configs: Mapping[str, Sequence[str]], *, comment: str = "", timeout: float | None = None
) -> None:
    """Declare the module of a folder on runtime configs, by the names of compiler configs; on none it is only compiled.
    Raises `OSError`."""
    tables = [
        toml_table("target_config", name=f"{name}-{number}", compiler=compiler, runtimes=list(runtimes))
        for number, (compiler, runtimes) in enumerate(configs.items(), 1)
    ]
    suite = {"name": name, "srcs": [MODULE], "kind": "cases", "targets": [f"{name}-*"], "timeout": timeout}
    tables.append(toml_table("module_test_suite", **suite))
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    (folder / "suite.toml").write_text(head + "\n\n".join(tables) + "\n", encoding="utf-8")


def _literal(array: Array) -> str:
    """Return the elements as TOML; an array that shows its sizes badly, as a table."""
    import numpy as np

    elements = array if array.dtype.kind in "biu" else array.astype(np.float64)
    if not array.size:
        return f"{{ values = [], shape = {list(array.shape)} }}"
    return str(elements.tolist()).replace("True", "true").replace("False", "false")


def _tolerances(expected: Sequence[Expected]) -> Mapping[str, tuple[float, float]]:
    """Return the largest tolerances of the results of each type that is compared with one."""
    found: dict[str, tuple[float, float]] = {}
    for one in expected:
        if one.value.dtype.kind not in "biu":
            atol, rtol = found.get(one.value.dtype.name, (0.0, 0.0))
            found[one.value.dtype.name] = max(atol, float(one.atol)), max(rtol, float(one.rtol))
    return found
