"""`retarget list`: views of the targets that a selection holds."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from retarget.cli.support import add_expression_arguments, add_path_arguments, read_declared, request_of, table
from retarget.model import CompilerConfig, CompileTarget, Origin, RunTarget, RuntimeConfig, Suite, Target
from retarget.support.errors import did_you_mean, display_path
from retarget.targets.tags import marks

__all__ = ["add_arguments", "run"]

_Selected = Sequence[tuple[Suite, Target]]
_Row = Sequence[str]
_Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """One sort of listing: its columns as text, its content as JSON."""

    help: str
    header: _Row
    rows: Callable[[_Selected], Sequence[_Row]]
    content: Callable[[_Selected], _Json]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget list`."""
    words = "; ".join(f"{name}: {view.help}" for name, view in _VIEWS.items())
    parser.add_argument(
        "what",
        nargs="*",
        metavar="what path",
        help=f"what to list, first ({words}), and folders or suite files to look in (the current folder)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")
    add_expression_arguments(parser)
    add_path_arguments(parser, positional=False)


def run(arguments: argparse.Namespace) -> int:
    """Print the listing. Returns 0. Raises `DiagnosticsError` and `RetargetError`."""
    # A word of the table is what to list; a folder of that name is written with a `./` before it.
    words: list[str] = arguments.what
    is_named = bool(words) and words[0] in _VIEWS
    what = words[0] if is_named else "targets"
    paths = words[is_named:] or ["."]
    hint = "" if is_named or not words else did_you_mean(words[0], _VIEWS)
    or_else = "" if is_named else f", and it is no view; expected a path, or one of {', '.join(_VIEWS)}{hint}"
    selected = read_declared(request_of(arguments, paths, or_else=or_else)).selected
    view = _VIEWS[what]
    if arguments.format == "json":
        sys.stdout.write(json.dumps(view.content(selected), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(table(view.header, view.rows(selected)) + "\n")
    return 0


# ---------------------------------------------------------------- targets


def _target_rows(selected: _Selected) -> Sequence[_Row]:
    return [(target.name, suite.name, " ".join(target.tags)) for suite, target in selected]


def _target_content(selected: _Selected) -> _Json:
    return {"targets": [_target_json(target) for _, target in selected]}


def _target_json(target: Target) -> _Json:
    compiled = target if isinstance(target, CompileTarget) else target.compile
    runtime: _Json = {} if isinstance(target, CompileTarget) else {"runtime_config": target.runtime.name}
    return {
        "name": target.name,
        "sort": "compile" if isinstance(target, CompileTarget) else "run",
        "suite": compiled.suite,
        "kind": compiled.kind,
        "module": compiled.module.name,
        "source": display_path(compiled.module.path),
        "compile_target": compiled.name,
        "compiler_config": compiled.compiler.name,
        **runtime,
        "flags": list(compiled.flags),
        "timeout": target.timeout,
        "tags": list(target.tags),
        "marks": [{"mark": name, **dict(fields)} for name, fields in marks(target)],
    }


def _compile_targets(selected: _Selected) -> Sequence[tuple[Suite, CompileTarget]]:
    """Return the compile targets that are selected, or needed by a run target that is."""
    needed: dict[int, tuple[Suite, CompileTarget]] = {}
    for suite, target in selected:
        compiled = target if isinstance(target, CompileTarget) else target.compile
        needed.setdefault(id(compiled), (suite, compiled))
    return tuple(needed.values())


# ---------------------------------------------------------------- configs


def _runtimes(selected: _Selected) -> Sequence[tuple[RuntimeConfig, int]]:
    """Return the distinct runtime configs of the run targets, each with their number."""
    counts = Counter(target.runtime for _, target in selected if isinstance(target, RunTarget))
    return tuple(counts.items())


def _runtime_rows(selected: _Selected) -> Sequence[_Row]:
    return [
        (
            runtime.name,
            runtime.driver,
            " ".join((*runtime.host_os, *runtime.host_arch)) or "any",
            str(count),
            " ".join((*runtime.deps, *(f"{name}={value}" for name, value in runtime.defines))),
        )
        for runtime, count in _runtimes(selected)
    ]


def _runtime_content(selected: _Selected) -> _Json:
    counted = _runtimes(selected)
    return {
        "runtimes": [
            {
                "name": runtime.name,
                "driver": runtime.driver,
                "devices": list(runtime.devices),
                "flags": list(runtime.flags),
                "env": dict(runtime.env),
                "host_os": list(runtime.host_os),
                "host_arch": list(runtime.host_arch),
                "run_under": list(runtime.run_under),
                "deps": list(runtime.deps),
                "defines": dict(runtime.defines),
                "tags": list(runtime.tags),
                "timeout": runtime.timeout,
                "concurrency": runtime.concurrency,
                "run_targets": count,
                "declared": _declared(runtime.origin),
            }
            for runtime, count in counted
        ],
        "builds": _builds([runtime for runtime, _ in counted]),
    }


def _builds(runtimes: Iterable[RuntimeConfig]) -> Sequence[_Json]:
    """Return the distinct builds: runtime configs that need the same of a build share one."""
    together: dict[tuple[object, ...], list[RuntimeConfig]] = {}
    for runtime in runtimes:
        key = (runtime.host_os, runtime.host_arch, frozenset(runtime.deps), frozenset(runtime.defines))
        together.setdefault(key, []).append(runtime)
    return [
        {
            "host_os": list(first.host_os),
            "host_arch": list(first.host_arch),
            "deps": list(first.deps),
            "defines": dict(first.defines),
            "drivers": list(dict.fromkeys(runtime.driver for runtime in (first, *others))),
            "runtime_configs": [runtime.name for runtime in (first, *others)],
        }
        for first, *others in together.values()
    ]


def _compilers(selected: _Selected) -> Sequence[tuple[CompilerConfig, int]]:
    """Return the distinct compiler configs that the targets need, each with the number of compile targets."""
    return tuple(Counter(target.compiler for _, target in _compile_targets(selected)).items())


def _compiler_rows(selected: _Selected) -> Sequence[_Row]:
    return [
        (
            config.name,
            config.compiler,
            str(count),
            " ".join(config.tags),
            " ".join(f"{name}={shlex.quote(value)}" for name, value in config.env),
            shlex.join(config.flags),
        )
        for config, count in _compilers(selected)
    ]


def _compiler_content(selected: _Selected) -> _Json:
    return {
        "compilers": [
            {
                "name": config.name,
                "compiler": config.compiler,
                "flags": list(config.flags),
                "env": dict(config.env),
                "devices": dict(config.devices),
                "tags": list(config.tags),
                "timeout": config.timeout,
                "compile_targets": count,
                "declared": _declared(config.origin),
            }
            for config, count in _compilers(selected)
        ]
    }


# ---------------------------------------------------------------- suites, tags


def _suites(selected: _Selected) -> Sequence[tuple[Suite, int, int]]:
    """Return the suites of the targets, each with the numbers of compile and run targets."""
    suites: dict[int, Suite] = {}
    compiles: Counter[int] = Counter()
    runs: Counter[int] = Counter()
    for suite, target in selected:
        suites.setdefault(id(suite), suite)
        (runs if isinstance(target, RunTarget) else compiles)[id(suite)] += 1
    return tuple((suite, compiles[key], runs[key]) for key, suite in suites.items())


def _suite_rows(selected: _Selected) -> Sequence[_Row]:
    return [
        (suite.name, suite.kind, str(len(suite.modules)), str(compiles), str(runs), display_path(suite.origin.file))
        for suite, compiles, runs in _suites(selected)
    ]


def _suite_content(selected: _Selected) -> _Json:
    return {
        "suites": [
            {
                "name": suite.name,
                "kind": suite.kind,
                "folder": display_path(suite.folder),
                "modules": [module.name for module in suite.modules],
                "target_configs": [target.name for target in suite.targets],
                "compile_targets": compiles,
                "run_targets": runs,
                "tags": list(suite.tags),
                "declared": _declared(suite.origin),
            }
            for suite, compiles, runs in _suites(selected)
        ]
    }


def _tag_counts(selected: _Selected) -> Mapping[str, int]:
    return dict(sorted(Counter(tag for _, target in selected for tag in target.tags).items()))


def _declared(origin: Origin) -> _Json:
    return {"file": display_path(origin.file), "key_path": origin.key_path}


_VIEWS = {
    "targets": _View(
        help="all targets", header=("target", "suite", "tags"), rows=_target_rows, content=_target_content
    ),
    "compile": _View(
        help="the compile targets they need",
        header=("target", "suite", "tags"),
        rows=lambda selected: _target_rows(_compile_targets(selected)),
        content=lambda selected: _target_content(_compile_targets(selected)),
    ),
    "runtimes": _View(
        help="their runtime configs, and the distinct builds of them",
        header=("runtime config", "driver", "host", "run targets", "needs"),
        rows=_runtime_rows,
        content=_runtime_content,
    ),
    "compilers": _View(
        help="their compiler configs",
        header=("compiler config", "compiler", "compile targets", "tags", "environment", "flags"),
        rows=_compiler_rows,
        content=_compiler_content,
    ),
    "suites": _View(
        help="their suites",
        header=("suite", "kind", "modules", "compile targets", "run targets", "file"),
        rows=_suite_rows,
        content=_suite_content,
    ),
    "tags": _View(
        help="their tags",
        header=("tag", "targets"),
        rows=lambda selected: [(tag, str(count)) for tag, count in _tag_counts(selected).items()],
        content=lambda selected: {
            "tags": [{"tag": tag, "targets": count} for tag, count in _tag_counts(selected).items()]
        },
    ),
}
