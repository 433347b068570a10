"""`retarget init`: the first `matrix.toml` and `suite.toml` of a folder, for its modules and the devices here."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from retarget.cli.support import check_paths
from retarget.declare.initial import Plan, Survey, matrix_text, plan_suites, suite_text, survey
from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import FileName
from retarget.extension import Compiler, SuggestedTarget
from retarget.extension.registry import Registry, load_extensions
from retarget.model import RunTarget
from retarget.model.outcomes import DeviceInfo
from retarget.session.local_engine import Finding, find_devices
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import write_files
from retarget.support.text import counted, first_line
from retarget.targets.availability import host_mismatch
from retarget.targets.expansion import expand_suite

_DEVICE_SECONDS = 60.0
_SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget init`."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), help="the folder with the modules (the current)"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be written, and write nothing")


class _Configs(Struct, frozen=True, kw_only=True):
    """The target configs that suites can use, by name: those to declare, or those that are declared above.

    `compiles` are for suites that run nothing, `runs` for those that run, `compares` for those that compare results
    with those of the compiler config `reference`. `by` are the compilers of each.
    """

    compiles: tuple[str, ...]
    runs: tuple[str, ...]
    compares: tuple[str, ...]
    reference: str
    words: tuple[str, ...]
    suggested: tuple[SuggestedTarget, ...] = ()
    compilers: Mapping[str, str]
    by: Mapping[str, Sequence[Compiler]]
    absent: tuple[str, ...] = ()
    above: tuple[Path, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    """Write the files and print what is in them. Returns 0.

    Raises `argparse.ArgumentError` for a folder that is not there, `RetargetError` for one that has declarations or no
    modules.
    """
    folder = Path(os.path.abspath(_folder(arguments.folder)))  # noqa: PTH100  links stay as they are
    registry = load_extensions(arguments.retarget_extension)
    found = survey(folder)
    _expect_undeclared(folder, registry)
    if not found.files and not found.unusable:
        msg = f"found no files in {_shown(folder)}; expected modules to test, such as .mlir files"
        raise RetargetError(msg)
    configs = _declared_above(folder, registry, arguments.retarget_extension) or _suggested(
        registry, arguments.retarget_extension
    )
    loader = DeclarationLoader(registry)
    beside = FileName.SUITE.below([path.parent for path in configs.above])
    suites = tuple(suite.name for path in beside for suite in loader.read_suite_file(path)[0])
    plan = plan_suites(found, registry, reference=configs.reference, taken=configs.words, suites=suites)
    if not plan.suites:
        raise RetargetError(_nothing(found, plan))
    files = _texts(folder, found, plan, configs)
    if arguments.dry_run:
        for path, text in files:
            sys.stdout.write(f"# ---------------- {display_path(path)}\n{text}\n")
        return 0
    written = write_files(files)
    try:
        counts = _counts(folder, registry)
    except RetargetError:
        for path in written:
            path.unlink()
        raise
    sys.stdout.write("\n".join(_report(found, plan, configs, files, counts)) + "\n")
    return 0


def _folder(path: Path) -> Path:
    """Return the folder. Raises `argparse.ArgumentError` where it is none."""
    check_paths([str(path)], or_else="; expected one with modules")
    if not path.is_dir():
        msg = f"found {display_path(path)}, which is no folder; expected one with modules"
        raise argparse.ArgumentError(None, msg)
    return path


def _expect_undeclared(folder: Path, registry: Registry) -> None:
    """Raise `RetargetError` where the folder has suites, or lies in the folder of a suite that has its modules."""
    path = folder / FileName.SUITE
    if os.path.lexists(path):
        msg = (
            f"found {display_path(path)}, which is not overwritten; "
            f"`retarget check` checks it, `retarget list` shows its targets"
        )
        raise RetargetError(msg)
    for above in folder.parents:
        path = above / FileName.SUITE
        if not path.is_file():
            continue
        suites, _ = DeclarationLoader(registry).read_suite_file(path)
        for suite in suites:
            inside = [module for module in suite.modules if module.path.is_relative_to(folder)]
            if inside:
                msg = (
                    f"suite {suite.name} of {display_path(path)} has modules of this folder already, such as "
                    f"{inside[0].name}; `pytest {shlex.quote(display_path(folder))}` runs them"
                )
                raise RetargetError(msg)


# ---------------------------------------------------------------- configs


def _declared_above(folder: Path, registry: Registry, extensions: Sequence[str]) -> _Configs | None:
    """Return the target configs that a `matrix.toml` here or above declares, those first that something here can run.

    Raises `DiagnosticsError` for errors in it.
    """
    loader = DeclarationLoader(registry)
    scope = loader.scope_of(folder)
    targets = tuple(scope.targets.configs.values())
    if not targets:
        if loader.matrix_files and os.path.lexists(folder / FileName.MATRIX):
            where = display_path(folder / FileName.MATRIX)
            msg = f"found {where} without a [[target_config]], which suites need; add one"
            raise RetargetError(msg)
        return None
    drivers = sorted({config.driver for target in targets for config in target.runtimes} & registry.drivers.keys())
    findings = find_devices(drivers, extensions=extensions, timeout=_DEVICE_SECONDS)
    devices = {finding.driver for finding in findings if finding.usable}
    usable = [
        target
        for target in targets
        if any(config.driver in devices and host_mismatch(config) is None for config in target.runtimes)
    ]
    chosen = usable or targets
    compilers = dict.fromkeys(config.name for target in chosen for config in target.compilers if target.runtimes)
    everything: dict[str, Sequence[DeviceInfo]] = dict.fromkeys(registry.drivers, ())
    references = {target.compiler_config for target, _ in registry.suggested_targets(everything) if target.is_reference}
    reference = next(iter([name for name in compilers if name in references] or compilers), "")
    known = registry.compilers
    scoped = {config.name: config.compiler for target in targets for config in target.compilers}
    words = (*scope.targets.configs, *scope.compilers.configs, *scope.runtimes.configs, *registry.drivers)
    return _Configs(
        compiles=tuple(target.name for target in chosen[:1]),
        runs=tuple(target.name for target in chosen),
        compares=tuple(target.name for target in chosen if target.runtimes),
        reference=reference if len(compilers) > 1 else "",
        words=words,
        compilers=scoped,
        by={of.name: [known[one.compiler] for one in of.compilers if one.compiler in known] for of in chosen},
        absent=_absent(findings),
        above=tuple(loader.matrix_files),
    )


def _suggested(registry: Registry, extensions: Sequence[str]) -> _Configs:
    """Return what the compilers suggest for the devices that the drivers find."""
    findings = find_devices(sorted(registry.drivers), extensions=extensions, timeout=_DEVICE_SECONDS)
    devices = {finding.driver: finding.usable for finding in findings if finding.usable}
    pairs = registry.suggested_targets(devices)
    targets = tuple(target for target, _ in pairs)
    running = tuple(target.name for target in targets if not target.is_reference)
    if not running:
        reasons = "; ".join(_absent(findings)) or "no extension suggests configs"
        msg = f"found no device that a compiler here compiles for: {reasons}; `retarget devices` shows more"
        raise RetargetError(msg)
    reference = next((target.compiler_config for target in targets if target.is_reference), "")
    backends = [target.compiler_config for target in targets]
    return _Configs(
        compiles=running[:1],
        runs=running,
        compares=tuple(target.name for target in targets),
        reference=reference,
        words=(*(target.name for target in targets), *backends, *registry.drivers),
        suggested=targets,
        compilers={target.compiler_config: compiler for target, compiler in pairs},
        by={target.name: [registry.compilers[compiler]] for target, compiler in pairs},
        absent=_absent(findings),
    )


def _absent(findings: Sequence[Finding]) -> tuple[str, ...]:
    lines = []
    for finding in findings:
        if not finding.usable:
            reason = first_line(finding.unavailable or finding.error or "it lists none")
            lines.append(reason if reason.startswith(finding.driver) else f"{finding.driver}: {reason}")
    return tuple(lines)


# ---------------------------------------------------------------- files


def _texts(folder: Path, found: Survey, plan: Plan, configs: _Configs) -> list[tuple[Path, str]]:
    targets: dict[str, Sequence[str]] = {}
    for suite in plan.suites:
        suggestion = suite.suggestion
        names = configs.compares if suggestion.compares else configs.runs
        if suggestion.compiles_only:
            names = configs.compiles
        paths = suite.suggestion.files
        taken = [name for name in names if any(one.takes(path) for one in configs.by[name] for path in paths)]
        targets[suite.name] = taken or names
    files: list[tuple[Path, str]] = []
    if configs.suggested:
        used = {name for names in targets.values() for name in names}
        declared = [target for target in configs.suggested if target.name in used]
        files.append((folder / FileName.MATRIX, matrix_text(declared, configs.compilers, configs.absent)))
    files.append((folder / FileName.SUITE, suite_text(plan, found, targets)))
    return [*files, *(written for suite in plan.suites for written in suite.suggestion.writes)]


def _counts(folder: Path, registry: Registry) -> tuple[int, int]:
    """Return how many compile and run targets the new declarations make. Raises `RetargetError` for their errors."""
    suites = DeclarationLoader(registry).load_suite_file(folder / FileName.SUITE)
    targets = [target for suite in suites for target in expand_suite(suite, registry)]
    runs = sum(isinstance(target, RunTarget) for target in targets)
    return len(targets) - runs, runs


# ---------------------------------------------------------------- what is printed


def _report(
    found: Survey, plan: Plan, configs: _Configs, files: Sequence[tuple[Path, str]], counts: tuple[int, int]
) -> Sequence[str]:
    lines = _listed([f"wrote {display_path(path)}" for path, _ in files], "wrote")
    lines += [f"uses the configs of {display_path(path)}" for path in configs.above]
    lines += [
        f"suite {suite.name} (kind {suite.kind}): {counted(len(suite.suggestion.files), 'file')}"
        for suite in plan.suites
    ]
    lines += [f"no device: {reason}" for reason in configs.absent]
    lines += _not_taken(found, plan)
    here = display_path(found.folder)
    where = "" if here == "." else f" {shlex.quote(here)}"
    compiles, runs = counts
    lines.append(f"{counted(compiles, 'compile target')} and {counted(runs, 'run target')}; next:")
    lines.append(f"  pytest{where}")
    lines.append(f"  retarget list{where}")
    lines.append("targets that are known to fail are recorded by: pytest --retarget-update-expectations")
    return lines


def _not_taken(found: Survey, plan: Plan) -> Sequence[str]:
    own = [f"left out: {folder} has a {FileName.SUITE} of its own" for folder in found.declared]
    return [*_left_out(plan.left_out), *own]


def _left_out(files: Sequence[tuple[Path, str]]) -> Sequence[str]:
    return _listed([f"left out: {display_path(path)} {reason}" for path, reason in files], "left out:")


def _listed(lines: list[str], what: str) -> list[str]:
    """Return the first lines, and how many more files there are."""
    return [*lines[:_SHOWN], f"{what} {len(lines) - _SHOWN} more files"] if len(lines) > _SHOWN else lines


def _nothing(found: Survey, plan: Plan) -> str:
    what = f"{counted(len(found.files) + len(found.unusable), 'file')} in {_shown(found.folder)}"
    if plan.left_out or found.declared:
        return "\n".join([f"found no module that can be tested as it is among {what}", *_not_taken(found, plan)])
    expected = (
        f"found no module among {what}; expected .mlir or .onnx files, or flagfiles of iree-run-module; "
        "`retarget init --help` says what is recognised"
    )
    return "\n".join([expected, *_left_out(found.unusable)])


def _shown(folder: Path) -> str:
    shown = display_path(folder)
    return "the current folder" if shown == "." else shown
