"""`retarget list`: views of the targets that a selection holds."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from retarget.cli.support import add_path_arguments, read_declared, text_table
from retarget.model import CompilerConfig, CompileTarget, Origin, Requirement, RunTarget, RuntimeConfig, Suite, Target
from retarget.support.errors import did_you_mean, display_path
from retarget.support.text import cmake_text

_Selected = Sequence[tuple[Suite, Target]]
_Row = Sequence[str]
_Json = Mapping[str, object]


class _View(Struct, frozen=True, kw_only=True):
    """One kind of listing: what it finds among the targets, the columns of each as text, its content as JSON.

    `key` is that of the list in the JSON text, which `more` adds to. `snippets` write files to include, by the name of
    their format.
    """

    help: str
    key: str
    header: _Row
    found: Callable[[_Selected], Iterable[tuple[Any, ...]]]
    row: Callable[..., _Row]
    content: Callable[..., _Json]
    more: Callable[[Iterable[tuple[Any, ...]]], _Json] = lambda _: {}
    snippets: Mapping[str, Callable[[Iterable[tuple[Any, ...]]], str]] = field(default_factory=dict)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget list`."""
    words = "; ".join(f"{name}: {view.help}" for name, view in _VIEWS.items())
    parser.add_argument(
        "what",
        nargs="*",
        metavar="what path",
        help=f"what to list, first ({words}), and folders or suite files to look in (the current folder)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "cmake", "bazel"),
        default="text",
        help="how to print (text); cmake and bazel print the builds of runtimes, as a file to include",
    )
    add_path_arguments(parser, positional=False, expressions=True)


def run(arguments: argparse.Namespace) -> int:
    """Print the listing. Returns 0. Raises `DiagnosticsError` and `RetargetError`."""
    # A word of the table is what to list; a folder of that name is written with a `./` before it.
    words: list[str] = arguments.what
    is_named = bool(words) and words[0] in _VIEWS
    what = words[0] if is_named else "targets"
    paths = words[is_named:] or ["."]
    hint = "" if is_named or not words else did_you_mean(words[0], _VIEWS)
    or_else = "" if is_named else f", and it is no view; expected a path, or one of {', '.join(_VIEWS)}{hint}"
    view = _VIEWS[what]
    if arguments.format not in {"text", "json", *view.snippets}:
        others = " and ".join(name for name, one in _VIEWS.items() if arguments.format in one.snippets)
        msg = f"argument --format: found {arguments.format!r} for {what}, expected text or json; {others} has this one"
        raise argparse.ArgumentError(None, msg)
    selection = read_declared(arguments, paths, or_else=or_else)
    found = tuple(view.found([(one.suite, target) for one in selection.suites for target in one.selected]))
    if arguments.format in view.snippets:
        sys.stdout.write(view.snippets[arguments.format](found))
    elif arguments.format == "json":
        content = {view.key: [view.content(*one) for one in found]} | dict(view.more(found))
        sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(text_table(view.header, [view.row(*one) for one in found]) + "\n")
    return 0


# ---------------------------------------------------------------- targets


def _target_json(_: Suite, target: Target) -> _Json:
    compiled = target.compiled
    runtime: _Json = {}
    if isinstance(target, RunTarget):
        runtime = {"runtime_config": target.runtime.name, "requires": _texts(target.requires)}
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
        "flags": compiled.flags,
        "timeout": target.timeout,
        "tags": target.tags,
        "marks": [{"mark": name, **dict(fields)} for name, fields in target.marks],
    }


def _compile_targets(selected: _Selected) -> Iterable[tuple[Suite, CompileTarget]]:
    """Return the compile targets that are selected, or needed by a run target that is."""
    return {id(target.compiled): (suite, target.compiled) for suite, target in selected}.values()


# ---------------------------------------------------------------- configs


def _fields(config: object, *names: str) -> _Json:
    return {name: getattr(config, name) for name in names}


def _toolchain(config: CompilerConfig | RuntimeConfig) -> str:
    return config.toolchain.name if config.toolchain is not None else ""


def _runtimes(selected: _Selected) -> Iterable[tuple[RuntimeConfig, int]]:
    """Return the distinct runtime configs of the run targets, each with their number."""
    return Counter(target.runtime for _, target in selected if isinstance(target, RunTarget)).items()


def _runtime_row(runtime: RuntimeConfig, count: int) -> _Row:
    on = () if runtime.host is None else (f"{runtime.host.name}:",)
    host = " ".join((*on, *runtime.host_os, *runtime.host_arch)) or "any"
    defines = (f"{name}={value}" for name, value in runtime.defines)
    needs = " ".join((*runtime.run_under[:1], *runtime.deps, *defines))
    requires = ", ".join(_texts(runtime.requires))
    file = display_path(runtime.origin.file)
    return runtime.name, " ".join(runtime.drivers), _toolchain(runtime), host, str(count), requires, needs, file


def _runtime_json(runtime: RuntimeConfig, count: int) -> _Json:
    return {
        **_fields(runtime, "name", "driver", "devices", "roles", "flags"),
        "toolchain": _toolchain(runtime) or None,
        "host": runtime.host.name if runtime.host is not None else None,
        "env": dict(runtime.env),
        **_fields(runtime, "host_os", "host_arch", "run_under", "deps"),
        "defines": dict(runtime.defines),
        **_fields(runtime, "tags", "timeout", "concurrency", "profile"),
        "requires": _texts(runtime.requires),
        "run_targets": count,
        "declared": _declared(runtime.origin),
    }


def _distinct_builds(runtimes: Iterable[tuple[RuntimeConfig, int]]) -> Sequence[dict[str, Any]]:
    """Return the distinct builds: runtime configs that need the same of a build share one."""
    together: dict[tuple[object, ...], list[RuntimeConfig]] = {}
    for runtime, _ in runtimes:
        key = (runtime.host_os, runtime.host_arch, frozenset(runtime.deps), frozenset(runtime.defines))
        together.setdefault(key, []).append(runtime)
    return [
        {
            **_fields(first, "host_os", "host_arch", "deps"),
            "defines": dict(first.defines),
            "drivers": list(dict.fromkeys(one for runtime in (first, *others) for one in runtime.drivers)),
            "runtime_configs": list(dict.fromkeys(runtime.name for runtime in (first, *others))),
        }
        for first, *others in together.values()
    ]


def _named_builds(runtimes: Iterable[tuple[RuntimeConfig, int]]) -> Mapping[str, dict[str, Any]]:
    """Return the distinct builds by the first runtime config of each. Configs of two folders may have one name, which
    a number follows then."""
    named: dict[str, dict[str, Any]] = {}
    for build in _distinct_builds(runtimes):
        first = name = build["runtime_configs"][0]
        number = 1
        while name in named:
            number += 1
            name = f"{first}_{number}"  # names of configs have no underscore
        named[name] = build
    return named


def _cmake(runtimes: Iterable[tuple[RuntimeConfig, int]]) -> str:
    """Return the builds as variables of CMake, named by the first runtime config of each."""
    builds = _named_builds(runtimes)
    lines = [f"# {_WRITTEN.format('cmake')}", "# A build is named by the first runtime config that it is for."]
    lines.append(f"set(Retarget_RUNTIMES {cmake_text(builds)})")
    for build, one in builds.items():
        lines.append("")
        for key in ("runtime_configs", "drivers", "deps", "defines", "host_os", "host_arch"):
            value = _defined(one["defines"]) if key == "defines" else one[key]
            lines.append(f"set(Retarget_RUNTIME_{build}_{key.upper()} {cmake_text(value)})")
    return "\n".join(lines) + "\n"


def _bazel(runtimes: Iterable[tuple[RuntimeConfig, int]]) -> str:
    """Return the builds as a list in Starlark, which has JSON's texts, lists and dictionaries."""
    builds = [
        {
            "name": name,
            **{key: list(one[key]) for key in ("runtime_configs", "drivers", "deps", "host_os", "host_arch")},
            "defines": _defined(one["defines"]),
        }
        for name, one in _named_builds(runtimes).items()
    ]
    text = json.dumps(builds, indent=4, ensure_ascii=False)
    return f'"""{_WRITTEN.format("bazel")}"""\n\nRUNTIMES = {text}\n'


def _defined(defines: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" if value else name for name, value in defines.items()]


_WRITTEN = "Written by `retarget list runtimes --format {}`: the distinct builds of the runtime that targets need."


def _compilers(selected: _Selected) -> Iterable[tuple[CompilerConfig, int]]:
    """Return the distinct compiler configs that the targets need, each with the number of compile targets."""
    return Counter(target.compiler for _, target in _compile_targets(selected)).items()


def _compiler_row(config: CompilerConfig, count: int) -> _Row:
    env = " ".join(f"{name}={shlex.quote(value)}" for name, value in config.env)
    return (
        config.name,
        config.compiler,
        _toolchain(config),
        str(count),
        " ".join(config.tags),
        env,
        shlex.join(config.flags),
    )


def _compiler_json(config: CompilerConfig, count: int) -> _Json:
    return {
        **_fields(config, "name", "compiler", "flags"),
        "toolchain": _toolchain(config) or None,
        "env": dict(config.env),
        "devices": dict(config.devices),
        **_fields(config, "tags", "timeout"),
        "compile_targets": count,
        "declared": _declared(config.origin),
    }


# ---------------------------------------------------------------- suites, tags


def _texts(requires: Iterable[Requirement]) -> Sequence[str]:
    return [one.text for one in requires]


def _suites(selected: _Selected) -> Iterable[tuple[Suite, int, int]]:
    """Return the suites of the targets, each with the numbers of compile and run targets."""
    suites = {id(suite): suite for suite, _ in selected}
    counts = Counter((id(suite), isinstance(target, RunTarget)) for suite, target in selected)
    return ((suite, counts[key, False], counts[key, True]) for key, suite in suites.items())


def _suite_row(suite: Suite, compiles: int, runs: int) -> _Row:
    counts = (str(count) for count in (len(suite.modules), compiles, runs))
    return suite.name, suite.kind, *counts, ", ".join(_texts(suite.requires)), display_path(suite.origin.file)


def _suite_json(suite: Suite, compiles: int, runs: int) -> _Json:
    return {
        "name": suite.name,
        "kind": suite.kind,
        "folder": display_path(suite.folder),
        "modules": [module.name for module in suite.modules],
        "target_configs": [target.name for target in suite.targets],
        "compile_targets": compiles,
        "run_targets": runs,
        "tags": suite.tags,
        "requires": _texts(suite.requires),
        "declared": _declared(suite.origin),
    }


def _declared(origin: Origin) -> _Json:
    return {"file": display_path(origin.file), "key_path": origin.key_path}


_TARGETS = _View(
    help="all targets",
    key="targets",
    header=("target", "suite", "tags"),
    found=lambda selected: selected,
    row=lambda suite, target: (target.name, suite.name, " ".join(target.tags)),
    content=_target_json,
)
_VIEWS = {
    "targets": _TARGETS,
    "compile": replace(_TARGETS, help="the compile targets they need", found=_compile_targets),
    "runtimes": _View(
        help="their runtime configs, and the distinct builds of them",
        key="runtimes",
        header=("runtime config", "driver", "toolchain", "host", "run targets", "requires", "needs", "file"),
        found=_runtimes,
        row=_runtime_row,
        content=_runtime_json,
        more=lambda runtimes: {"builds": _distinct_builds(runtimes)},
        snippets={"cmake": _cmake, "bazel": _bazel},
    ),
    "compilers": _View(
        help="their compiler configs",
        key="compilers",
        header=("compiler config", "compiler", "toolchain", "compile targets", "tags", "environment", "flags"),
        found=_compilers,
        row=_compiler_row,
        content=_compiler_json,
    ),
    "suites": _View(
        help="their suites",
        key="suites",
        header=("suite", "kind", "modules", "compile targets", "run targets", "requires", "file"),
        found=_suites,
        row=_suite_row,
        content=_suite_json,
    ),
    "tags": _View(
        help="their tags",
        key="tags",
        header=("tag", "targets"),
        found=lambda selected: sorted(Counter(tag for _, target in selected for tag in target.tags).items()),
        row=lambda tag, count: (tag, str(count)),
        content=lambda tag, count: {"tag": tag, "targets": count},
    ),
}
