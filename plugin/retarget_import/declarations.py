"""Plan → the text of `matrix.toml` and of each `suite.toml`.

A folder has one suite, with overrides that say why a module is left out of a target config. Where most modules of a
folder would have to be taken out of a target config, its few modules get a suite of their own, and so do modules that
most other target configs do not have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from retarget.model.names import as_config_name, name_error
from retarget.support.toml.write import toml_table

from retarget_import.plan import Compiler, Placed, Plan, Runtime, TargetConfig, unique
from retarget_import.read import CheckTest, Folder

__all__ = ["matrix_text", "plan_suites", "suite_text"]

_MANY = 6
"""A target config gets a suite of its own if more modules of the folder than this, and three times as many as it has,
would be taken out of it."""

_SHOWN = 3


def matrix_text(plan: Plan, sources: Sequence[str]) -> str:
    """Return the text of `matrix.toml`. `sources` are the BUILD files."""
    named = ", ".join(sources[:4]) + (f" and {len(sources) - 4} more" if len(sources) > 4 else "")
    tables = [*map(_compiler, plan.compilers), *map(_runtime, plan.runtimes), *map(_target, plan.targets)]
    return "\n\n".join([f"# Imported from {named} by `retarget import-bazel`.", *tables]) + "\n"


def suite_text(folder: Folder, suites: Sequence[str]) -> str:
    """Return the text of a folder's `suite.toml`. `suites` are its tables."""
    return "\n\n".join([f"# Imported from {folder.build.path.name} by `retarget import-bazel`.", *suites]) + "\n"


def _compiler(compiler: Compiler) -> str:
    parent = compiler.parent
    name = "iree-opt" if compiler.backend == "iree-opt" else "iree"
    return toml_table(
        "compiler_config",
        name=compiler.name,
        extends=parent.name if parent is not None else None,
        compiler=None if parent is not None else name,
        flags=compiler.own_flags or None,
    )


def _runtime(runtime: Runtime) -> str:
    requires_gpu = any(tag.startswith("requires-gpu") for tag in runtime.tags) and runtime.driver == "vulkan"
    return toml_table(
        "runtime_config",
        name=runtime.name,
        driver=runtime.driver,
        flags=runtime.flags or None,
        host_arch=runtime.arch or None,
        device_type="gpu" if requires_gpu else None,
        tags=sorted(runtime.tags) or None,
    )


def _target(target: TargetConfig) -> str:
    return toml_table(
        "target_config",
        name=target.name,
        compiler=target.compiler.name,
        runtimes=[runtime.name for runtime in target.runtimes],
        tags=sorted(target.tags) or None,
    )


# ---------------------------------------------------------------- suites


def plan_suites(plan: Plan, folders: Sequence[Folder]) -> dict[str, list[str]]:
    """Return the suites for the tests of a plan, each as TOML with its overrides, by the paths of their folders.

    Gives its target configs names.
    """
    suites: dict[str, list[str]] = defaultdict(list)
    taken: set[str] = set()
    placed = {folder: [one for one in plan.placed if one.folder is folder] for folder in folders}
    split = {folder: _split(mine) for folder, mine in placed.items() if mine}
    _name_targets(plan.targets, list(chain.from_iterable(split.values())))
    for folder, groups in split.items():
        name = _folder_name(folder, "-lit" if folder.kind == "filecheck" else "", taken)
        for at, targets in enumerate(groups):
            own = name if at == 0 else f"{name}-{targets[0].name}"
            taken.add(own)
            mine = [one for one in placed[folder] if one.target in targets]
            suites[folder.path].append(_suite(plan, folder, mine, own))
    return suites


def _name_targets(targets: Sequence[TargetConfig], groups: Sequence[Sequence[TargetConfig]]) -> None:
    """Give names to target configs, those of most tests first; `groups` are those of one suite.

    The name of a config that another target config of the suite uses is not taken: it would exclude that one, too.
    """
    for target in sorted(targets, key=lambda one: (not one.runtimes, -len(one.uses))):
        taken = {one.name for one in targets}
        for one in chain.from_iterable(group for group in groups if target in group):
            if one is not target:
                taken |= {one.compiler.name, *(runtime.name for runtime in one.runtimes)}
        compiler = target.compiler.name
        runtime = target.runtimes[0].name if target.runtimes else "compile-only"
        together = runtime if runtime.startswith(compiler) else f"{compiler}-{runtime}"
        tagged = [f"{compiler}-{as_config_name(tag)}" for tag in sorted(target.tags)[:1]]
        names = [compiler, *tagged, together, f"{together}-plain"]
        target.name = next((name for name in names if name not in taken), unique(names[-1], taken))


def _folder_name(folder: Folder, suffix: str, taken: Collection[str]) -> str:
    parts = [part for part in (folder.build.path.parent.resolve() / ".").parts if part not in ("/", ".")]
    parts = parts[:-1] if parts[-1:] == ["test"] else parts
    for length in range(1, len(parts) + 1):
        name = "-".join(parts[-length:]).strip("._-+") + suffix
        if name not in taken and name_error(name) is None:
            return name
    number = 2
    while f"suite-{number}" in taken:
        number += 1
    return f"suite-{number}"


def _split(placed: Sequence[Placed]) -> list[list[TargetConfig]]:
    """Return the target configs of the folder's suite, then those of each further suite."""
    modules: dict[TargetConfig, set[str]] = {}
    for one in placed:
        if one.target is not None:
            modules.setdefault(one.target, set()).add(one.test.module)
    everything = set().union(*modules.values())
    widest = max(modules.values(), key=len)
    main: list[TargetConfig] = []
    others: dict[frozenset[str], list[TargetConfig]] = {}
    for target, mine in modules.items():
        excluded = len(everything - mine)
        is_narrow = excluded > _MANY and excluded > 3 * len(mine)
        alone = mine.difference(*(other for other in modules.values() if other != mine))
        if mine != widest and (is_narrow or 2 * len(alone) > len(mine)):
            others.setdefault(frozenset(mine), []).append(target)
        else:
            main.append(target)
    return [main, *others.values()]


def _suite(plan: Plan, folder: Folder, placed: Sequence[Placed], name: str) -> str:
    modules = list(dict.fromkeys(one.test.module for one in placed))
    targets = list(dict.fromkeys(one.target for one in placed if one.target is not None))
    srcs, exclude = _sources(folder, modules)
    timeouts = [one.test.timeout for one in placed if one.test.timeout is not None]
    suite = toml_table(
        "module_test_suite",
        name=name,
        srcs=srcs,
        exclude=exclude or None,
        kind=folder.kind,
        targets=[target.name for target in targets],
        compiler_flags=plan.suite_flags[folder] or None,
        tags=sorted(plan.suite_tags[folder]) or None,
        timeout=max(timeouts, default=None),
    )
    overrides = (*_additions(plan, folder, placed), *_exclusions(folder, placed, modules, targets))
    above = [f"# {file}: {comment}\n" for file in exclude if (comment := _comment_on(file, placed))]
    return "\n\n".join(["".join(above) + suite, *overrides])


def _override(files: Iterable[str], **keys: str | Sequence[str]) -> str:
    """Return what a suite says of some modules."""
    names = sorted(Path(file).with_suffix("").as_posix() for file in files)
    given = {key: value or None for key, value in keys.items()}
    return toml_table("module_test_suite.module", match=names[0] if len(names) == 1 else names, **given)


def _sources(folder: Folder, modules: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return globs of sources, and of what they match besides: a list of files only where a glob says no more."""
    left_out = tuple(file for file in folder.files if file not in modules)
    if set(modules) <= set(folder.files) and len(left_out) <= min(len(modules) - 1, 4):
        return ("*.mlir",), left_out
    return tuple(sorted(modules)), ()


def _comment_on(file: str, placed: Sequence[Placed]) -> str:
    calls = dict.fromkeys((one.folder, line) for one in placed for _, line in one.test.calls)
    return next(filter(None, (folder.build.comments.on(file, line) for folder, line in calls)), "")


def _additions(plan: Plan, folder: Folder, placed: Sequence[Placed]) -> Iterator[str]:
    """Yield the flags and tags of modules, those that have the same together."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for module in dict.fromkeys(one.test.module for one in placed):
        tags = tuple(sorted(plan.module_tags.get((folder, module), ())))
        groups[plan.module_flags.get((folder, module), ()), tags].append(module)
    for (flags, tags), files in groups.items():
        if flags or tags:
            yield _override(files, tags=tags, flags=flags)


def _exclusions(
    folder: Folder, placed: Sequence[Placed], modules: Sequence[str], targets: Sequence[TargetConfig]
) -> Iterator[str]:
    """Yield what takes modules out of target configs: those with one comment together, others in few overrides."""
    tests: dict[str, list[CheckTest]] = defaultdict(list)
    for one in placed:
        if one.target is not None:
            tests[one.target.name].append(one.test)
    calls = {name: tuple(dict.fromkeys(call for test in mine for call in test.calls)) for name, mine in tests.items()}
    by_comment: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for module in modules:
        for target in targets:
            if not any(test.module == module for test in tests[target.name]):
                comments = (folder.build.comments.on(module, line) for _, line in calls[target.name])
                by_comment[next(filter(None, comments), "")].append((module, target.name))
    file = folder.build.path.name
    for comment, pairs in by_comment.items():
        for matched, excluded in _fewest(pairs):
            names = list(dict.fromkeys(name for target in excluded for name, _ in calls[target]))
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            reason = f"{comment or f'not in the sources of {shown}'} ({file})"
            yield _override(matched, exclude_targets=excluded, reason=reason)


def _fewest(pairs: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return pairs of (module, target) as few pairs of (modules, targets)."""
    by_modules = [(modules, targets) for targets, modules in _grouped(pairs)]
    by_targets = _grouped([(target, module) for module, target in pairs])
    return min(by_modules, by_targets, key=len)


def _grouped(pairs: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the seconds that each first has, with the firsts that share them."""
    seconds: dict[str, list[str]] = defaultdict(list)
    for first, second in pairs:
        seconds[first].append(second)
    firsts: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for first, own in seconds.items():
        firsts[tuple(own)].append(first)
    return [(own, tuple(group)) for own, group in firsts.items()]
