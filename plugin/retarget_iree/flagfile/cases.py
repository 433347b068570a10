"""Modules, cases and parameter files of flagfiles, for the case loader `run-module`.

Imported when there are flagfiles, not before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from retarget.extension import (
    Case,
    CaseData,
    CaseRequest,
    FunctionInfo,
    ModulesRequest,
    RunPlan,
    SuggestedSuite,
    Suggestions,
    Tolerance,
)
from retarget.model import Module, RuntimeConfig, Stage
from retarget.support import (
    DataFiles,
    Diagnostic,
    DiagnosticsError,
    RetargetError,
    did_you_mean,
    display_path,
    is_inside,
)

from retarget_iree.flagfile.parse import Flag, FlagFile, flags_of, load_flagfile, parse_flagfile, read_text, resolved
from retarget_iree.flagfile.values import Form, Location, Written, packed_text, parse_value, quoted
from retarget_iree.runtime.drivers import IreeDriver, run_module_command

_SOURCES = (".mlir", ".mlirbc")
_IMPORTED = ".onnx"
"""Used where there is no other program: a folder may keep the model that its `.mlir` was imported from."""
_SHOWN = 12
_TELLING = ((Stage.COMPARE, r"\[FAILED\] (.*)"), (Stage.RUN, r"(?!EXEC @)(?:[^\s:]+:\d+: )?(\S.*)"))
"""The lines in which `iree-run-module` reports a failure."""


def find_modules(folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
    """See `RunModuleCaseLoader`. Reads only the `--module=` flags of flagfiles."""
    diagnostics: list[Diagnostic] = []
    flagfiles: dict[Path, list[Path]] = {}
    beside: dict[Path, tuple[Path, ...]] = {}
    for source in srcs:
        try:
            flagfiles.setdefault(_module_of(source, folder, beside), []).append(source)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    alone = Counter(path.parent for path in flagfiles)
    modules: list[Module] = []
    for path, data in flagfiles.items():
        below = path.parent.relative_to(folder)
        name = (below if alone[path.parent] == 1 and below.parts else below / path.stem).as_posix()
        modules.append(Module(name=name, path=path, data=tuple(data)))
    return modules


def data_diagnostics(module: Module, folder: Path) -> Sequence[Diagnostic]:
    from retarget_iree.flagfile.data import data_diagnostics as diagnostics_of_data  # imports NumPy

    diagnostics: list[Diagnostic] = []
    for path in module.data:
        try:
            diagnostics += diagnostics_of_data(load_flagfile(path, folder), folder)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
    return diagnostics


def named_files(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the flagfiles that one includes, and the files that they name. Raises `DiagnosticsError`."""
    text = read_text(path)
    flags, _ = flags_of(path, text, folder)
    yield from dict.fromkeys(flag.location.file for flag in flags if flag.location.file != path)
    file = parse_flagfile(path, text, folder)
    yield from (path.parent / value.path for value in (*file.inputs, *(file.expected or ())) if value.path)
    yield from (path.parent / named.text for _, named in file.parameters)


def cases_of(request: CaseRequest) -> Sequence[Case]:
    names = _case_names(request.data, request.folder)
    return [_case(path, name, request) for path, name in zip(request.data, names, strict=True)]


def parameters_of(request: CaseRequest) -> Sequence[tuple[str, Path]]:
    """Raises `DiagnosticsError` for files that are not there, and for flagfiles of one module that give a scope
    different files."""
    given: dict[str, tuple[Path, dict[Path, None]]] = {}
    diagnostics: list[Diagnostic] = []
    for path in request.data:
        data, before = DataFiles(folder=request.folder, base=path.parent), len(diagnostics)
        of_file: dict[str, tuple[Location, dict[Path, None]]] = {}
        with suppress(DiagnosticsError):  # of an invalid one its case says why
            for scope, written in load_flagfile(path, request.folder).parameters:
                try:
                    file = data.path(written.text, is_large=True)
                    of_file.setdefault(scope, (written.location, {}))[1][file] = None
                except RetargetError as error:
                    diagnostics.append(written.location.diagnostic(str(error)))
        if len(diagnostics) > before:
            continue
        for scope, (location, files) in of_file.items():
            first, known = given.setdefault(scope, (path, files))
            if known != files:
                msg = (
                    f"found other files of parameter scope {quoted(scope)} than in {display_path(first)}, "
                    "expected the same in all flagfiles of a module: it is loaded once"
                )
                diagnostics.append(location.diagnostic(msg))
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    return [(scope, file) for scope, (_, files) in given.items() for file in files]


def plan_of(config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str) -> RunPlan | None:
    """See `RunModuleCaseLoader`. None also for a flagfile that is gone."""
    if artifact.suffix not in IreeDriver.artifact_suffixes:
        return None
    for path, name in zip(module.data, _case_names(module.data, folder), strict=True):
        if name == case or not case or len(module.data) == 1:
            try:
                argv = run_module_command(config, artifact.absolute(), _tool_arguments(path, folder))
            except DiagnosticsError:
                return None
            return None if argv is None else RunPlan(argv=argv, env=config.env, cwd=path.parent, telling=_TELLING)
    return None


def _tool_arguments(flagfile: Path, folder: Path) -> tuple[str, ...]:
    """Return the arguments of `iree-run-module` for a flagfile, in the flagfile's folder.

    The flags are written out if the flagfile names its module's source, which the tool cannot load, or has numbers of 2
    or 4 bits, which are bytes for the tool.
    """
    flags, _ = flags_of(flagfile, read_text(flagfile), folder)
    if all(flag.name != "module" and _tool_flag(flag) == _flag(flag) for flag in flags):
        return (f"--flagfile={flagfile.name}",)
    return tuple(_tool_flag(flag) for flag in flags if flag.name != "module")


def _flag(flag: Flag) -> str:
    return f"--{flag.name}" if flag.value is None else f"--{flag.name}={flag.value.text}"


def _tool_flag(flag: Flag) -> str:
    """Return a flag as the tool reads it."""
    if flag.value is not None and flag.value.text and flag.name in {"input", "expected_output"}:
        return f"--{flag.name}={packed_text(parse_value(flag.value))}"
    return _flag(flag)


# ---------------------------------------------------------------- modules


def _module_of(flagfile: Path, folder: Path, beside: dict[Path, tuple[Path, ...]]) -> Path:
    """Return the module of a flagfile. Raises `DiagnosticsError`."""
    whole = Location(file=flagfile)
    if flagfile.suffix in {*_SOURCES, _IMPORTED}:
        msg = "found a program, expected a flagfile of iree-run-module: name the flagfiles in srcs, not the modules"
        raise whole.error(msg)
    flags, _ = flags_of(flagfile, read_text(flagfile), folder)  # other errors are reported when the case is run
    for flag in flags:
        if flag.name == "module" and flag.value is not None and flag.value.text:
            return _named_module(flag.value, flagfile.parent, folder)
    if flagfile.parent not in beside:
        beside[flagfile.parent] = _programs(flagfile.parent)
    found = beside[flagfile.parent]
    if len(found) == 1:
        if found[0].is_symlink() and not is_inside(found[0], folder):
            msg = (
                f"found the module {found[0].name} beside it, which links to {str(found[0].resolve())!r}; "
                "expected a file in the suite's folder: copy it there"
            )
            raise whole.error(msg)
        return found[0]
    names = ", ".join(path.name for path in found)
    if not found:
        msg = "found no module beside it, expected one (.mlir, .mlirbc or .onnx), or --module=FILE in it"
    else:
        msg = (
            f"found several modules beside it ({names}), expected --module=FILE in it, such as --module={found[0].name}"
        )
    raise whole.error(msg)


def _programs(folder: Path) -> tuple[Path, ...]:
    files = sorted(folder.iterdir())
    written = tuple(path for path in files if path.suffix in _SOURCES and path.is_file())
    return written or tuple(path for path in files if path.suffix == _IMPORTED and path.is_file())


def _named_module(written: Written, base: Path, folder: Path) -> Path:
    """Return the program that `--module=` names; for a compiled one, the program of its stem beside it."""
    path, shown = Path(written.text), quoted(written.text)
    found = resolved(written, base, folder, "module")
    if path.suffix not in {*_SOURCES, _IMPORTED}:
        sources = [found.with_suffix(suffix) for suffix in (*_SOURCES, _IMPORTED)]
        found = next((source for source in sources if source.is_file()), found)
        if found not in sources:
            msg = f"found {shown}, expected a program: .mlir, .mlirbc or .onnx (it is compiled by this run)"
            raise written.location.error(msg)
    elif not found.is_file():
        near = [entry.name for entry in _programs(found.parent)] if found.parent.is_dir() else []
        msg = f"found no file {shown}, expected a module{did_you_mean(path.name, near)}"
        raise written.location.error(msg)
    return folder / found.relative_to(folder.resolve())  # which may itself be reached by a link


# ---------------------------------------------------------------- cases


def _case_names(flagfiles: Sequence[Path], folder: Path) -> list[str]:
    """Name cases by the stems of their flagfiles, by their paths below `folder` where stems repeat."""
    stems = [path.stem for path in flagfiles]
    return [
        path.stem if stems.count(path.stem) == 1 else path.relative_to(folder).with_suffix("").as_posix()
        for path in flagfiles
    ]


def _case(path: Path, name: str, request: CaseRequest) -> Case:
    try:
        file = load_flagfile(path, request.folder)
        function = _function(file, request.functions)
    except DiagnosticsError as error:
        return Case(name=name, function="", read=partial(_refuse, error))
    from retarget_iree.flagfile.data import read_case  # imports NumPy

    return Case(
        name=function.name if len(request.data) == 1 else name,
        function=function.name,
        read=partial(read_case, file, function, request.folder),
        must_check=any(one.form not in {Form.IGNORED, Form.NULL} for one in file.expected or ()),
        tolerances={
            **{
                dtype: Tolerance(atol=most, rtol=file.rtol) for dtype, most in file.thresholds.items() if not file.exact
            },
            "": Tolerance(same_bits=True),
        },
    )


def _refuse(error: RetargetError) -> CaseData:
    raise error.with_traceback(None)


def _function(file: FlagFile, functions: Sequence[FunctionInfo]) -> FunctionInfo:
    by_name = {function.name: function for function in functions}
    known = ", ".join(list(by_name)[:_SHOWN]) or "none"
    if len(by_name) > _SHOWN:
        known = f"{known} and {len(by_name) - _SHOWN} more"
    if file.function is None:
        if len(by_name) == 1:
            return functions[0]
        msg = f"found no --function, expected one: the module exports {len(by_name)} functions: {known}"
        raise Location(file=file.path).error(msg)
    wanted = file.function.text
    if wanted not in by_name:
        guess = did_you_mean(wanted, by_name)
        msg = f"found {quoted(wanted)}, expected a function that the module exports: {known}{guess}"
        raise file.function.location.error(msg)
    return by_name[wanted]


# ---------------------------------------------------------------- suites that `retarget init` writes

_LARGEST = 1 << 20
"""The largest file that is searched, in bytes."""
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
