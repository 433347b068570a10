"""The arguments of `retarget compare`, and which of its two comparisons they mean.

`retarget compare MODULE --configs a,b`: two ways to run a module, on the same inputs, and the first difference.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from retarget.cli.compare import toolchains
from retarget.cli.support import (
    add_expression_arguments,
    add_path_arguments,
    add_toolchain_argument,
    print_note,
    read_declared,
)
from retarget.extension import Tolerance, UnavailableError
from retarget.extension.registry import load_extensions
from retarget.model import Module, RunTarget, Suite, Target
from retarget.model.outcomes import Failure, OutputComparison, OutputDifference, RunOutcome, Stage
from retarget.session.engine import Engine
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.scratch import ScratchFolder
from retarget.support.text import counted, first_line, listed, strip_colour
from retarget.worker.artifact import is_recorded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget compare`."""
    parser.add_argument("module", nargs="?", default="", help="a module: its file, or its name; none with --toolchains")
    add_path_arguments(parser)
    add_toolchain_argument(parser)
    pairs = parser.add_mutually_exclusive_group(required=True)
    pairs.add_argument(
        "--configs", metavar="A,B", help="two compiler configs, or compiler/runtime pairs such as vulkan/vulkan"
    )
    pairs.add_argument(
        "--toolchains",
        metavar="A,B",
        help="two toolchains, the older first, to compare all selected targets: names or paths (with a /), "
        "or `environment` for what is installed",
    )
    of_configs = parser.add_argument_group("with --configs")
    add_config_arguments(of_configs)
    of_toolchains = parser.add_argument_group("with --toolchains")
    add_expression_arguments(of_toolchains)


def run(arguments: argparse.Namespace) -> int:
    """Compare. Return 0 if nothing differs, or with toolchains if nothing regressed; else 1.

    Raises `argparse.ArgumentError` for wrong usage, `RetargetError` for invalid declarations and for what cannot run.
    """
    if arguments.toolchains is not None:
        return toolchains.run(arguments)
    if not arguments.module:
        msg = "expected a module with --configs, such as: retarget compare matmul.mlir --configs llvm-cpu,vmvx"
        raise argparse.ArgumentError(None, msg)
    if arguments.mark or arguments.keyword:
        msg = "-m and -k are for --toolchains; --configs compares one module"
        raise argparse.ArgumentError(None, msg)
    return compare_configs(arguments)


class _Found(Struct, frozen=True, kw_only=True):
    """A module in a suite, with all its run targets."""

    suite: Suite
    module: Module
    targets: tuple[RunTarget, ...]


def add_config_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the arguments of this comparison alone."""
    parser.add_argument(
        "--atol", type=_error, default=0.0, help="absolute error to overlook, in units of the values (0)"
    )
    parser.add_argument("--rtol", type=_error, default=0.0, help="relative error to overlook, as a ratio (0)")
    parser.add_argument("--ulp", type=_count_of, default=None, help="distance to overlook, in representable values")


def compare_configs(arguments: argparse.Namespace) -> int:
    """Compile, run and compare. Return 0 if the outputs are equal, 1 if they differ, there are none or one side fails.

    Raises `argparse.ArgumentError` for a module or a config that is not there, `RetargetError` for invalid declarations
    and for what cannot run here.
    """
    names = [name.strip() for name in str(arguments.configs).split(",")]
    if len(names) != 2 or not all(names):
        msg = f"found --configs {arguments.configs}, expected two, such as: --configs llvm-cpu,vmvx"
        raise argparse.ArgumentError(None, msg)
    registry = load_extensions(arguments.retarget_extension)
    found, *alike = _choose(_declaring(arguments), names)
    tolerance = Tolerance(atol=arguments.atol, rtol=arguments.rtol, ulp=arguments.ulp)
    with (
        ScratchFolder("outputs") as scratch,
        Engine(registry=registry, extensions=arguments.retarget_extension, note=print_note) as engine,
    ):
        targets = [_available(engine, _matching(found, name), name) for name in names]
        if targets[0] == targets[1]:
            msg = f"found --configs {arguments.configs}, which both mean {targets[0].name}; expected two to compare"
            raise argparse.ArgumentError(None, msg)
        sides = (_pair(targets[0]), _pair(targets[1]))
        folders = (scratch.path / "a", scratch.path / "b")
        outcomes = [_recorded(engine, *one) for one in zip(targets, folders, strict=True)]
        comparison = None
        if all(is_recorded(folder) for folder in folders):
            comparison = engine.compare(folders, sides, tolerance)
    suites = [found.suite.name]
    for one in alike:
        known = {(own.compile.compiler.name, own.compile.flags) for own in one.targets}
        is_same = all((own.compile.compiler.name, own.compile.flags) in known for own in targets)
        suites.append(f"({'also in' if is_same else 'not compared, for its other flags:'} suite {one.suite.name})")
    title = f"{found.module.name} ({display_path(found.module.path)}), suite {' '.join(suites)}"
    sys.stdout.write("\n".join([title, *_report(found, targets, outcomes, comparison)]) + "\n")
    return _status(outcomes, comparison)


def _status(outcomes: Sequence[RunOutcome], comparison: OutputComparison | None) -> int:
    failed = any(outcome.failure is not None and outcome.failure.stage != Stage.COMPARE for outcome in outcomes)
    same = comparison is not None and not comparison.differing and not comparison.unmatched and comparison.values
    return 0 if same and not failed else 1


def _error(text: str) -> float:
    """Return a finite number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0.0 <= value < float("inf"):
        return value
    msg = f"found {text!r}, expected a number from 0 on"
    raise argparse.ArgumentTypeError(msg)


def _count_of(text: str) -> int:
    """Return a whole number from 0 on."""
    if text.isascii() and text.isdigit():
        return int(text)
    msg = f"found {text!r}, expected a whole number from 0 on"
    raise argparse.ArgumentTypeError(msg)


# ---------------------------------------------------------------- which module, which targets


def _declaring(arguments: argparse.Namespace) -> list[_Found]:
    """Return the suites that declare a module, by its file or name, with its run targets."""
    path = Path(arguments.module)
    wanted = path.resolve() if path.is_file() else None
    declared = read_declared(arguments, arguments.path if wanted is None else [arguments.module])
    found = [
        _Found(suite=one.suite, module=module, targets=_run_targets(one.targets, module))
        for one in declared.suites
        for module in one.suite.modules
        if (module.name == arguments.module if wanted is None else wanted in map(Path.resolve, _files(module)))
    ]
    if not found and wanted is not None:
        msg = f"no suite declares {display_path(path)}; `retarget init` writes one for the modules of a folder"
        raise argparse.ArgumentError(None, msg)
    if not found:
        hint = did_you_mean(arguments.module, {module.name for one in declared.suites for module in one.suite.modules})
        where = ", ".join(arguments.path)
        msg = f"found no file and no module {arguments.module!r} in {where}{hint or '; `retarget list` shows all'}"
        raise argparse.ArgumentError(None, msg)
    return found


def _files(module: Module) -> tuple[Path, ...]:
    return module.path, *module.data


def _run_targets(targets: Sequence[Target], module: Module) -> tuple[RunTarget, ...]:
    return tuple(target for target in targets if isinstance(target, RunTarget) and target.compile.module == module)


def _choose(candidates: Sequence[_Found], names: Sequence[str]) -> list[_Found]:
    """Return the suites that run the module in both ways.

    Raises `argparse.ArgumentError` where there is none, and where they have several modules.
    """
    able = [found for found in candidates if all(_matching(found, name) for name in names)]
    if not able:
        pairs = dict.fromkeys(_pair(target) for found in candidates for target in found.targets)
        known = [*dict.fromkeys(pair.partition("/")[0] for pair in pairs), *pairs]
        hint = next((did_you_mean(name, known) for name in names if name not in known), "")
        runs = f"runs as {', '.join(pairs)}" if pairs else "has compile targets only"
        what = f"no suite runs module {candidates[0].module.name} as {names[0]} and as {names[1]}"
        raise argparse.ArgumentError(None, f"{what}: it {runs}{hint}")
    modules = {(found.module.path, found.module.entry): found for found in able}
    if len(modules) > 1:
        names = [
            f"{found.module.name} of {display_path(found.module.path)} (suite {found.suite.name})"
            for found in modules.values()
        ]
        expected = "expected the file of one, or its name and the folder of its suite"
        raise argparse.ArgumentError(None, f"found {len(modules)} modules: {listed(names)}; {expected}")
    return able


def _matching(found: _Found, name: str) -> list[RunTarget]:
    return [target for target in found.targets if name in {target.compile.compiler.name, _pair(target)}]


def _available(engine: Engine, targets: Sequence[RunTarget], name: str) -> RunTarget:
    """Return the first that can run here. Raises `RetargetError` with every reason."""
    reasons = []
    for target in targets:
        try:
            engine.check_available(target)
        except (UnavailableError, RetargetError) as error:
            reason = first_line(str(error))
        else:
            if not engine.registry.gives_no_outputs(target.runtime):
                return target
            reason = "out of run_under come no outputs to compare"
        reasons.append(reason if _pair(target) == name else f"{_pair(target)}: {reason}")
    msg = f"{name} cannot be compared here: {'; '.join(reasons)}"
    raise RetargetError(msg)


def _recorded(engine: Engine, target: RunTarget, folder: Path) -> RunOutcome:
    """Compile and run a target; its outputs are recorded in `folder`. A compile that fails is a failure at compile."""
    compiled = engine.compile(target.compile)
    if compiled.artifact is None:
        failure = compiled.failure or Failure(stage=Stage.COMPILE, summary="there is no artifact")
        return RunOutcome(devices=(), failure=failure)
    return engine.run(target, compiled.artifact, record=folder)


def _pair(target: RunTarget) -> str:
    return f"{target.compile.compiler.name}/{target.runtime.name}"


# ---------------------------------------------------------------- the report


def _report(
    found: _Found, targets: Sequence[RunTarget], outcomes: Sequence[RunOutcome], comparison: OutputComparison | None
) -> Iterator[str]:
    width = max(len(_pair(target)) for target in targets)
    for target, outcome in zip(targets, outcomes, strict=True):
        yield f"  {_pair(target).ljust(width)}  {_verdict(outcome, comparison)}"
    if comparison is None:
        yield "nothing to compare: not both have outputs"
        path = found.module.path
        if path.is_file() and not found.module.entry:
            yield f"for all that is known: pytest {shlex.quote(display_path(path))}"
        return
    compared = f"{counted(comparison.values, 'value')} of {counted(comparison.cases, 'case')} compared"
    for case, side in comparison.unmatched:
        yield f"not compared: case {case}, which {side} did not finish"
    if not comparison.values and not comparison.differing:
        yield "nothing to compare: no case returned or checked any value"
    elif comparison.first is None:
        yield f"equal: {compared}"
    else:
        yield from _difference(comparison.first)
        verb = "differs" if comparison.arrays == 1 else "differ"
        yield f"{comparison.differing} of {counted(comparison.arrays, 'array')} {verb}; {compared}"


def _verdict(outcome: RunOutcome, comparison: OutputComparison | None) -> str:
    failure = outcome.failure
    if failure is None and comparison is not None and not comparison.judged:
        return "ran; the module has no expected values of its own"
    if failure is None:
        partly = comparison is not None and comparison.judged < comparison.cases
        where = f" in {comparison.judged} of {comparison.cases} cases" if comparison is not None and partly else ""
        return f"agrees with what the module expects{where}"
    failed = [case for case in outcome.cases if case.failure is not None]
    summary = strip_colour(failure.summary)
    if len(outcome.cases) > 1 and failed and failed[0].failure == failure and f"'{failed[0].name}'" not in summary:
        summary = f"{failed[0].name}{f' and {len(failed) - 1} more' if len(failed) > 1 else ''}: {summary}"
    if failure.stage == Stage.COMPARE and not failure.transient:
        return f"does not agree with what the module expects: {summary}"
    return f"{failure.stage}: {summary}"


def _difference(difference: OutputDifference) -> Iterator[str]:
    yield f"first difference: {difference.case}, {difference.place}:"
    lines = difference.mismatch.report.split("\n")
    if difference.max_ulp is not None and lines[-1].startswith("max abs error"):
        lines[-1] += f", {difference.max_ulp} ulp"
    yield from (f"  {line}" for line in lines)
