"""What `retarget init` writes for flagfiles of `iree-run-module`: one suite of those whose module is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import ModulesRequest, SuggestedSuite, Suggestions
from retarget.support.errors import DiagnosticsError

from retarget_iree.flagfile.cases import find_modules

__all__ = ["flagfile_suites"]

_LARGEST = 1 << 20
"""Bytes of a file that is looked into."""
_FLAG = re.compile(rb"(?m)^\s*--(?:input|expected_output|function|module|flagfile)\s*=")
_SUFFIXES = frozenset({"", ".txt", ".flags", ".flagfile"})


def flagfile_suites(request: ModulesRequest) -> Suggestions:
    """Return one suite of all flagfiles whose module is there."""
    modules: dict[Path, None] = {}
    files: list[Path] = []
    left_out: list[tuple[Path, str]] = []
    for path in request.files:
        if path.suffix not in _SUFFIXES or path.stat().st_size > _LARGEST or not _FLAG.search(path.read_bytes()):
            continue
        try:
            found = find_modules(request.folder, [path])
        except DiagnosticsError as error:
            left_out.append((path, f"looks like a flagfile of iree-run-module, but: {error.diagnostics[0].message}"))
            continue
        files.append(path)
        modules |= dict.fromkeys(module.path for module in found)
    included = _included(request.folder, files)
    files = [path for path in files if path not in included]
    if not files:
        return Suggestions(left_out=tuple(left_out))
    comment = ("Flagfiles of iree-run-module: inputs and expected outputs of the module beside each.",)
    suite = SuggestedSuite(files=tuple(files), comment=comment, by_name=True, used=(*modules, *sorted(included)))
    return Suggestions(suites=(suite,), left_out=tuple(left_out))


def _included(folder: Path, files: Sequence[Path]) -> set[Path]:
    """Return the flagfiles that others include: they are no cases of their own."""
    found: set[Path] = set()
    for path in files:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.strip().partition("=")
            if name.strip() == "--flagfile" and value.strip():
                found.add(path.parent / value.strip())
    real = {path.resolve() for path in found}
    return {path for path in files if path.resolve() in real and path.is_relative_to(folder)}
