"""What `retarget init` writes for modules with FileCheck directives: a suite per phase of IREE to compile them to.

The phase is what a RUN line says by `--compile-to=`; without RUN lines, that of the first dialect in a directive.
"""

from __future__ import annotations

import re
from pathlib import Path

from retarget.extension import ModulesRequest, SuggestedSuite, Suggestions

from retarget_filecheck.directives import directive_diagnostics, prefixes

__all__ = ["filecheck_suites"]

_DIRECTIVE = re.compile(r"(?m)^[^\n]*//+\s*CHECK(?:-[A-Z]+(?:-\d+)?)?(?:\{LITERAL\})?:(?P<pattern>.*)$")
_RUN = re.compile(r"(?m)^\s*//+\s*RUN:(?P<command>.*)$")
_PHASE = re.compile(r"--compile-to=(?P<phase>[\w-]+)")
_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ](?P<names>\S+)")
_DIALECT = re.compile(r"\b(?P<name>flow|stream|hal|vm)\.\w")
_LARGEST = 16 << 20


def filecheck_suites(request: ModulesRequest) -> Suggestions:
    """Return the suites, one for each phase, and the modules with directives whose phase is not known."""
    by_phase: dict[str, list[Path]] = {}
    left_out: list[tuple[Path, str]] = []
    for path in request.files:
        if path.suffix != ".mlir" or path.stat().st_size > _LARGEST:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        directives = _DIRECTIVE.findall(text)
        if not directives:
            continue
        phase, reason = _phase(text, directives)
        if reason:
            left_out.append((path, reason))
        else:
            by_phase.setdefault(phase, []).append(path)
    suites = tuple(
        SuggestedSuite(
            files=tuple(files),
            comment=(
                f"What the compiler's output at the phase {phase} must hold, as the modules' CHECK lines say it.",
                "Nothing is run; RUN lines are not used.",
            ),
            label=phase if len(by_phase) > 1 else "",
            compiler_flags=(f"--compile-to={phase}",),
            compiles_only=True,
        )
        for phase, files in by_phase.items()
    )
    return Suggestions(suites=suites, left_out=tuple(left_out))


def _phase(text: str, directives: list[str]) -> tuple[str, str]:
    """Return the phase, or why the module cannot be tested as it is."""
    commands = [match["command"].strip() for match in _RUN.finditer(text.replace("\\\n", "\n"))]
    named = [match["names"] for match in _PREFIXES.finditer(" ".join(commands))]
    phases = {match["phase"] for command in commands for match in _PHASE.finditer(command)}
    if not commands:
        found = (_DIALECT.search(pattern) for pattern in directives)
        phases = set([match["name"] for match in found if match is not None][:1])
    reason = ""
    if diagnostics := directive_diagnostics(text, prefixes("check")):
        reason = f"line {diagnostics[0].line}: {diagnostics[0].message}"
    elif re.search(r"(?m)^// -----", text):
        reason = "has several modules in one file (// -----); a suite takes one module per file"
    elif any("CHECK" not in names.split(",") for names in named):
        reason = f"is checked with the prefix {named[0]}; here it is CHECK or the compiler config's name"
    elif not phases and not commands:
        reason = "has CHECK lines that do not show the phase to compile to; a suite needs one: --compile-to=PHASE"
    elif len(phases) != 1:
        tool = next((command.split()[0] for command in commands if command), "nothing")
        reason = f"has a RUN line of {tool} without one --compile-to=PHASE; a suite of kind filecheck needs a phase"
    return ("", reason) if reason else (phases.pop(), "")
