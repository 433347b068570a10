"""The case loader `filecheck`: what a compiler's output must say, written as FileCheck directives in the module."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import (
    ArtifactRequest,
    Case,
    CaseLoader,
    CaseRequest,
    CheckedCase,
    ModulesRequest,
    SuggestedSuite,
    Suggestions,
    UnavailableError,
)
from retarget.model import Module, Suite
from retarget.support import Diagnostic, RetargetError, decoded, display_path, install_hint, read_regular

from retarget_cases.filecheck.directives import directive_diagnostics, other_prefixes, prefixes

_NAMED_PREFIXES = 8
_DIRECTIVE = re.compile(r"(?m)^[^\n]*//+\s*CHECK(?:-[A-Z]+(?:-\d+)?)?(?:\{LITERAL\})?:(?P<pattern>.*)$")
_RUN = re.compile(r"(?m)^\s*//+\s*RUN:(?P<command>.*)$")
_PHASE = re.compile(r"--compile-to=(?P<phase>[\w-]+)")
_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ](?P<names>\S+)")
_DIALECT = re.compile(r"\b(?P<name>flow|stream|hal|vm)\.\w")
_LARGEST = 16 << 20


class FileCheckLoader(CaseLoader):
    """Checks the text output of a compile with the directives in the module's source. Nothing is run."""

    kind = "filecheck"
    precedence = 20

    def load(self, request: CaseRequest) -> Sequence[Case]:  # noqa: ARG002  the base class's
        """Return no cases: what is checked is the compiler's output."""
        return ()

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return a suite per phase of IREE that modules with directives are compiled to.

        The phase is what a RUN line says by `--compile-to=`; without RUN lines, that of the first dialect in a
        directive. Modules with directives whose phase is not known are left out.
        """
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

    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return the directives of a module that are misspelled, and that it is no text."""
        try:
            source = _source(module.path)
        except RetargetError as error:
            return (Diagnostic(file=module.path, message=str(error)),)
        known = _prefixes_of(suite.known_compilers)
        used = dict.fromkeys(compiler.name for target in suite.targets for compiler in target.compilers)
        found = dict.fromkeys(
            diagnostic for compiler in used for diagnostic in directive_diagnostics(source, prefixes(compiler), known)
        )
        return [Diagnostic(file=module.path, line=line, message=message) for line, message in found]

    def check(self, request: ArtifactRequest) -> Sequence[CheckedCase]:
        """Return one case: that all directives for the compiler config hold.

        Raises `RetargetError` for a source or an artifact that is no text, `UnavailableError` without the package.
        """
        try:
            source = _source(request.source)
        except RetargetError as error:
            msg = f"{display_path(request.source)}: {error}"
            raise RetargetError(msg) from error
        text = decoded(request.artifact)
        if text is None:
            msg = (
                f"the artifact is no text ({len(request.artifact)} bytes, beginning {request.artifact[:4]!r}): there "
                "is nothing to match; a suite of kind filecheck says up to where to compile: "
                'compiler_flags = ["--compile-to=flow"]'
            )
            raise RetargetError(msg)
        if importlib.util.find_spec("filecheck") is None:
            msg = "the package filecheck is not installed"
            raise UnavailableError(msg, hint=install_hint("filecheck"))
        return (_checked(request, source, text),)


def _checked(request: ArtifactRequest, source: str, text: str) -> CheckedCase:
    mine = prefixes(request.compiler)
    name, shown = f"FileCheck {','.join(mine)}", display_path(request.source)
    if diagnostics := directive_diagnostics(source, mine, _prefixes_of(request.known_compilers)):
        report = "\n".join(f"{shown}:{line}: error: {message}" for line, message in diagnostics)
        line, message = diagnostics[0]
        return CheckedCase(name=name, summary=f"{request.source.name}:{line}: {message}", report=report)

    from retarget_cases.filecheck.matching import match_text  # imports the package

    text_name = f"{request.module.rpartition('/')[2]}_{request.compiler}.mlir"
    failed = match_text(source, shown, text, text_name, mine)
    if failed is None and not text.strip():  # FileCheck refuses it, too: CHECK-NOT holds of any compiler that is silent
        return CheckedCase(name=name, summary="the compiler's output is empty, expected a text to check")
    if failed is None:
        return CheckedCase(name=name)
    if failed.nothing:
        return CheckedCase(name=name, summary=_nothing(shown, source, mine))
    where = f"{request.source.name}:{failed.line}: " if failed.line else ""
    return CheckedCase(name=name, summary=where + failed.message, report=failed.report)


def _prefixes_of(configs: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(prefix for config in configs for prefix in prefixes(config)))


def _nothing(shown: str, source: str, mine: Sequence[str]) -> str:
    others = other_prefixes(source, mine)
    others_text = f"; it has {', '.join(others[:_NAMED_PREFIXES])}" if others else ""
    *first, last = (f"{prefix}:" for prefix in mine)
    return f"nothing to check: {shown} has no directive {', '.join(first)} or {last}{others_text}"


def _source(path: Path) -> str:
    """Return a module's text. Raises `RetargetError`, whose message does not name the file."""
    try:
        content = read_regular(path)
    except OSError as error:
        msg = f"cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    source = decoded(content)
    if source is None:
        msg = "found no text, so it can hold no directives; expected MLIR as text"
        raise RetargetError(msg)
    return source


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
        reason = f"line {diagnostics[0][0]}: {diagnostics[0][1]}"
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
