"""Tests → the text of `matrix.toml` and of each `suite.toml`: few configs, one suite for each folder and kind.

A module's type of input, and all flags of a lit test, are of the module, or of a suite whose modules have the same.
Other flags are of a compiler config, and the configs of one backend extend one. A tag is of a suite where all its tests
have it, else of a target config. A target config with fewer than half of the folder's modules gets its own suite;
modules that another one does not have are excluded from it, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from retarget.model import as_config_name, name_error
from retarget.session import FileName
from retarget.support import toml_table

from retarget_import.read import INPUT_TYPE, CheckTest, Folder, backend_flags, sorted_flags

_VALUE = re.compile(r"(?!true$|false$)[A-Za-z][A-Za-z0-9._-]{0,31}")
"""The value of a flag that names a compiler config."""


class _Config(Struct, kw_only=True, eq=False):
    """A compiler or runtime config: what is for a backend or a driver with flags, and the tests that use it."""

    base: str
    flags: tuple[str, ...]
    arch: str = ""
    tests: list[CheckTest] = field(default_factory=list)
    name: str = ""


class _Target(Struct, kw_only=True, eq=False):
    """A target config and, by folder, the tests that use it."""

    compiler: _Config
    runtime: _Config | None
    tags: frozenset[str]
    tests: dict[Folder, list[CheckTest]] = field(default_factory=lambda: defaultdict(list))
    name: str = ""

    @property
    def uses(self) -> set[str]:
        """The names of its configs."""
        return {self.compiler.name, *([self.runtime.name] if self.runtime else [])}


def declarations_of(folders: Sequence[Folder]) -> dict[Path, list[str]]:
    """Return the tables of each file for the tests of folders. Paths are below the folder of the result."""
    compilers: dict[object, _Config] = {}
    runtimes: dict[object, _Config] = {}
    targets: dict[object, _Target] = {}
    own_flags = {folder: _own_flags(folder) for folder in folders}
    tags = {folder: frozenset.intersection(*(test.tags for test in folder.tests)) for folder in folders}
    for folder in folders:
        for test in folder.tests:
            flags = tuple(flag for flag in test.flags if flag not in own_flags[folder][test.module])
            compiler = compilers.setdefault(
                (test.backend, sorted_flags(flags)), _Config(base=test.backend, flags=flags)
            )
            compiler.tests.append(test)
            runtime = None
            if test.driver:
                new = _Config(base=test.driver, flags=test.runner_flags, arch=test.arch)
                runtime = runtimes.setdefault((test.driver, test.runner_flags, test.arch), new)
                runtime.tests.append(test)
            left = test.tags - tags[folder]
            target = _Target(compiler=compiler, runtime=runtime, tags=left)
            targets.setdefault((compiler, runtime, left), target).tests[folder].append(test)
    configs = (*_compiler_tables([*compilers.values()]), *_runtime_tables([*runtimes.values()]))
    files = defaultdict(list, {Path(FileName.MATRIX): [*configs, *_target_tables([*targets.values()])]})
    for folder in folders:
        files[Path(folder.path, FileName.SUITE)] += _suites(
            folder, [*targets.values()], own_flags[folder], tags[folder]
        )
    return files


def _own_flags(folder: Folder) -> dict[str, tuple[str, ...]]:
    """Return for each module what is not of a compiler config: its type of input, all flags of a lit test."""
    found: dict[str, tuple[str, ...]] = {}
    for test in folder.tests:
        flags = tuple(flag for flag in test.flags if folder.kind == "filecheck" or flag.startswith(INPUT_TYPE))
        found[test.module] = flags if found.get(test.module, flags) == flags else ()
    return found


# ---------------------------------------------------------------- configs


def _unique(name: str, taken: Collection[str]) -> str:
    number, found = 2, name
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found


def _compiler_tables(compilers: Sequence[_Config]) -> Iterator[str]:
    """Yield the compiler configs, those of one backend behind what they extend, and give them names."""
    names: set[str] = set()
    for backend in dict.fromkeys(one.base for one in compilers):
        mine = sorted((one for one in compilers if one.base == backend), key=lambda one: len(one.flags))
        common = tuple(flag for flag in mine[0].flags if all(flag in one.flags for one in mine))
        if common != mine[0].flags:
            mine.insert(0, _Config(base=backend, flags=common))
        first, *others = mine
        first.name = _unique(as_config_name(backend) or "iree", names)
        names.add(first.name)
        tool = "iree-opt" if backend == "iree-opt" else "iree"
        flags = (*backend_flags(backend), *common)
        yield toml_table("compiler_config", name=first.name, compiler=tool, flags=flags or None)
        for one in others:
            own = tuple((Counter(one.flags) - Counter(common)).elements())
            value = own[0].partition("=")[2] if len(own) == 1 else ""
            word = as_config_name(value) if _VALUE.fullmatch(value) else one.tests[0].words
            one.name = _unique("-".join(filter(None, (first.name, word))), names)
            names.add(one.name)
            yield toml_table("compiler_config", name=one.name, extends=first.name, flags=own)


def _runtime_tables(runtimes: Sequence[_Config]) -> Iterator[str]:
    """Yield the runtime configs, and give them names."""
    names: set[str] = set()
    for one in runtimes:
        words = (as_config_name(one.base), one.tests[0].words if one.flags else "", as_config_name(one.arch))
        one.name = _unique("-".join(filter(None, words)), names)
        names.add(one.name)
        is_gpu = one.base == "vulkan" and all("requires-gpu" in " ".join(test.tags) for test in one.tests)
        yield toml_table(
            "runtime_config",
            name=one.name,
            driver=one.base,
            flags=one.flags or None,
            host_arch=one.arch or None,
            device_type="gpu" if is_gpu else None,
        )


def _target_tables(targets: Sequence[_Target]) -> Iterator[str]:
    """Yield the target configs, and give them names: that of the compiler config where no other one has it.

    A suite that excludes a name excludes all target configs that use a config of this name.
    """
    names = {name for target in targets for name in target.uses}
    for target in targets:
        name = target.compiler.name
        if any(name in other.uses for other in targets if other is not target):
            tag = next(iter(sorted(target.tags)), "")
            word = tag or (target.runtime.name if target.runtime else "compile-only")
            name = _unique(f"{name}-{as_config_name(word)}", names)
        target.name = name
        names.add(name)
        runtimes = [target.runtime.name] if target.runtime else []
        tags = sorted(target.tags) or None
        yield toml_table("target_config", name=name, compiler=target.compiler.name, runtimes=runtimes, tags=tags)


# ---------------------------------------------------------------- suites


def _suites(
    folder: Folder, targets: Sequence[_Target], own_flags: Mapping[str, tuple[str, ...]], tags: Collection[str]
) -> Iterator[str]:
    """Yield the tables of a folder's suite, then those for target configs with few of its modules."""
    groups: dict[frozenset[str], list[_Target]] = {frozenset(): []}
    for target in targets:
        if mine := frozenset(test.module for test in target.tests[folder]):
            groups.setdefault(mine if 2 * len(mine) < len(own_flags) else frozenset(), []).append(target)
    path = folder.build.resolve().parent
    name = path.parent.name if path.name == "test" else path.name
    name = name if name_error(name) is None else f"suite-{as_config_name(name)}"
    name = f"{name}-lit" if folder.kind == "filecheck" else name
    for few, group in groups.items():
        if not group:
            continue
        # What takes modules out of target configs, and flags of modules, are overrides.
        tests = [test for target in group for test in target.tests[folder]]
        modules = sorted({test.module for test in tests})
        others = sorted(folder.files.difference(modules))
        is_glob = folder.files.issuperset(modules) and len(others) < len(modules)
        flags = _grouped({module: own_flags[module] for module in modules})
        yield toml_table(
            "module_test_suite",
            name=f"{name}-{group[0].name}" if few else name,
            srcs=["*.mlir"] if is_glob else modules,
            exclude=others if is_glob and others else None,
            kind=folder.kind,
            targets=[target.name for target in group],
            compiler_flags=next(iter(flags)) or None if len(flags) == 1 else None,
            tags=sorted(tags) or None,
            timeout=max(test.timeout for test in tests) or None,
        )
        for own, matched in flags.items():
            if own and len(flags) > 1:
                yield _override(matched, flags=own)
        having = {target.name: {test.module for test in target.tests[folder]} for target in group}
        lacking = {module: tuple(name for name, mine in having.items() if module not in mine) for module in modules}
        for excluded, matched in _grouped(lacking).items():
            calls = [call for one in group if one.name in excluded for test in one.tests[folder] for call in test.calls]
            reason = f"not in the sources of {', '.join(dict.fromkeys(calls))} ({folder.build.name})"
            if excluded:
                yield _override(matched, exclude_targets=excluded, reason=reason)


def _grouped(modules: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Return the modules that have the same, by what they have."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for module, own in modules.items():
        groups[own].append(module)
    return groups


def _override(modules: Sequence[str], **keys: str | Sequence[str]) -> str:
    names = [Path(module).with_suffix("").as_posix() for module in modules]
    return toml_table("module_test_suite.module", match=names[0] if len(names) == 1 else names, **keys)
