"""Cases files in a folder of their own, and what is reported of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retarget.extension import Case, CaseData, CaseRequest, FunctionInfo
from retarget_cases.loader import CasesLoader


def function(name: str = "f", arguments: Sequence[str] = (), results: Sequence[str] = ()) -> FunctionInfo:
    return FunctionInfo(
        name=name, arguments=len(arguments), argument_types=tuple(arguments), result_types=tuple(results)
    )


def load(folder: Path, text: str, *functions: FunctionInfo, compiler: str = "cc") -> Sequence[Case]:
    """The cases that `text` gives the module `m`."""
    path = folder / "m.cases.toml"
    path.write_text(text)
    request = CaseRequest(
        module="m", source=folder / "m.mlir", data=(path,), folder=folder, compiler=compiler, functions=functions
    )
    return CasesLoader().load(request)


def read(case: Case) -> CaseData:
    assert case.read is not None
    return case.read()


def value(folder: Path, type_: str, written: str) -> Any:
    """The array that `written` becomes as an argument of a type."""
    (case,) = load(folder, f"[[case]]\ninputs = [{written}]\nagree_with = 'other'\n", function("f", [type_], [type_]))
    (array,) = read(case).inputs
    return array
