"""Tests → the declarations that a person would write for them: few configs, one suite for each folder and kind.

A flag is written where the most of it is said at once: of a suite where all its tests have it, of its modules where
that is the type of their input, else of a compiler config; configs of one backend extend one. A tag is written of
a runtime config, a suite, a target config or a module.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from retarget.model.names import as_config_name

from retarget_import.read import INPUT_TYPE, CheckTest, Folder, sorted_flags

__all__ = [
    "Compiler",
    "Placed",
    "Plan",
    "Runtime",
    "TargetConfig",
    "backend_flags",
    "plan_configs",
    "split_backend",
    "unique",
]

_LEGACY = "--iree-hal-target-backends="
_BACKEND_FLAGS = {
    "llvm-cpu": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"),
    "vmvx": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"),
    "vulkan-spirv": ("--iree-hal-target-device=vulkan",),
    "cuda": ("--iree-hal-target-device=cuda",),
    "rocm": ("--iree-hal-target-device=hip",),
    "metal-spirv": ("--iree-hal-target-device=metal",),
    "webgpu-spirv": ("--iree-hal-target-device=webgpu",),
    "iree-opt": (),
    "": (),
}
"""The flags that mean what `--iree-hal-target-backends=` meant; IREE has deprecated that one."""

_LIT = "filecheck"
_HOST_DRIVERS = ("local-sync", "local-task")
_LONGEST = 40
"""Characters of the name of a compiler config that is made of its flags, where the calls have a word for it."""

_STAGES = re.compile(
    r"^(?:iree|llvmcpu|llvmgpu|vmvx|vulkan|spirv|cuda\d*|rocm|hip|metal|hal|flow|stream|opt|codegen|global|preprocessing"
    r"|experimental|dispatch-creation|input|target|enable|cpu|gpu)(?:-|$)"
)
"""What flags begin with that does not tell them apart."""

_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_DROPPED = {"check", "test", "tests", "suite", "e2e"}
_LONGEST_WORDS = 32


def backend_flags(backend: str) -> tuple[str, ...]:
    """Return the flags that compile for a backend of the BUILD files."""
    return _BACKEND_FLAGS.get(backend, (f"{_LEGACY}{backend}",))


def split_backend(flags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the backend that flags compile for, empty where they name none, and the other flags."""
    for flag in flags:
        if flag.startswith(_LEGACY):
            return flag.removeprefix(_LEGACY), _without(flags, (flag,))
    for backend, own in _BACKEND_FLAGS.items():
        if own and set(own) <= set(flags):
            return backend, _without(flags, own)
    return "", flags


@dataclass(eq=False, slots=True, kw_only=True)
class Compiler:
    """A compiler config to be written. `flags` are complete but for those of the backend."""

    backend: str
    flags: tuple[str, ...]
    uses: list[tuple[Folder, CheckTest]] = field(default_factory=list)
    name: str = ""
    parent: Compiler | None = None

    @property
    def own_flags(self) -> tuple[str, ...]:
        """What is written: without the flags of `parent`."""
        if self.parent is None:
            return (*backend_flags(self.backend), *self.flags)
        return tuple((Counter(self.flags) - Counter(self.parent.flags)).elements())


@dataclass(eq=False, slots=True, kw_only=True)
class Runtime:
    """A runtime config to be written."""

    driver: str
    flags: tuple[str, ...]
    arch: str
    uses: list[tuple[Folder, CheckTest]] = field(default_factory=list)
    name: str = ""
    tags: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True, kw_only=True)
class TargetConfig:
    """A target config to be written, and the tests that use it with their folders. The suites name it."""

    compiler: Compiler
    runtimes: tuple[Runtime, ...]
    tags: frozenset[str]
    uses: tuple[tuple[Folder, CheckTest], ...]
    name: str = ""


@dataclass(eq=False, slots=True, kw_only=True)
class Placed:
    """A test with its configs and what is left of its tags for the target config."""

    folder: Folder
    test: CheckTest
    compiler: Compiler
    runtime: Runtime | None
    tags: frozenset[str]
    target: TargetConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is written. Flags and tags of suites and modules are by folder, and by folder and module."""

    compilers: tuple[Compiler, ...]
    runtimes: tuple[Runtime, ...]
    targets: tuple[TargetConfig, ...]
    placed: tuple[Placed, ...]
    suite_flags: Mapping[Folder, tuple[str, ...]]
    suite_tags: Mapping[Folder, frozenset[str]]
    module_flags: Mapping[tuple[Folder, str], tuple[str, ...]]
    module_tags: Mapping[tuple[Folder, str], frozenset[str]]


def plan_configs(folders: Sequence[Folder]) -> Plan:
    """Return the configs for tests. All flags of a lit test are its own, or those of its suite."""
    suite_flags = {folder: _suite_flags(folder.tests, is_any=folder.kind == _LIT) for folder in folders}
    module_flags: dict[tuple[Folder, str], tuple[str, ...]] = {}
    compilers: dict[tuple[str, tuple[str, ...]], Compiler] = {}
    runtimes: dict[tuple[str, tuple[str, ...], str], Runtime] = {}
    placed: list[Placed] = []
    for folder in folders:
        above = suite_flags[folder]
        left = {id(test): _without(test.flags, above) for test in folder.tests}
        own = _module_flags(folder.tests, left, are_all=folder.kind == _LIT)
        module_flags |= {(folder, module): flags for module, flags in own.items() if flags}
        for test in folder.tests:
            flags = _without(left[id(test)], own.get(test.module, ()))
            key = (test.backend, sorted_flags(flags))
            compiler = compilers.setdefault(key, Compiler(backend=test.backend, flags=flags))
            compiler.uses.append((folder, test))
            runtime = None
            if test.driver:
                runtime = runtimes.setdefault(
                    (test.driver, test.runner_flags, test.arch),
                    Runtime(driver=test.driver, flags=test.runner_flags, arch=test.arch),
                )
                runtime.uses.append((folder, test))
            placed.append(Placed(folder=folder, test=test, compiler=compiler, runtime=runtime, tags=test.tags))
    every = _extended(list(compilers.values()))
    _name_runtimes(list(runtimes.values()))
    suite_tags, module_tags = _place_tags(placed, list(runtimes.values()))
    return Plan(
        compilers=tuple(every),
        runtimes=tuple(runtimes.values()),
        targets=_targets(placed),
        placed=tuple(placed),
        suite_flags=suite_flags,
        suite_tags=suite_tags,
        module_flags=module_flags,
        module_tags=module_tags,
    )


# ---------------------------------------------------------------- flags


def _without(flags: Sequence[str], gone: Sequence[str]) -> tuple[str, ...]:
    return tuple(flag for flag in flags if flag not in gone)


def _suite_flags(tests: Sequence[CheckTest], *, is_any: bool) -> tuple[str, ...]:
    """Return the flags of all tests of a folder; of tests of one backend those that are of no backend."""
    common = [flag for flag in tests[0].flags if all(flag in test.flags for test in tests)] if tests else []
    is_any = is_any or len({test.backend for test in tests}) > 1
    return tuple(flag for flag in common if is_any or flag.startswith(INPUT_TYPE))


def _module_flags(
    tests: Sequence[CheckTest], left: Mapping[int, Sequence[str]], *, are_all: bool
) -> dict[str, tuple[str, ...]]:
    """Return the type of input of each module whose tests have the same."""
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for test in tests:
        found[test.module].add(tuple(flag for flag in left[id(test)] if are_all or flag.startswith(INPUT_TYPE)))
    return {module: flags.pop() for module, flags in found.items() if len(flags) == 1}


def _extended(compilers: list[Compiler]) -> list[Compiler]:
    """Return the configs with what they extend, each after its parent, and give them names."""
    ordered: list[Compiler] = []
    names: set[str] = set()
    for backend in dict.fromkeys(one.backend for one in compilers):
        mine = sorted((one for one in compilers if one.backend == backend), key=lambda one: len(one.flags))
        common = tuple(flag for flag in mine[0].flags if all(flag in one.flags for one in mine))
        if len(mine[0].flags) > len(common):
            mine.insert(0, Compiler(backend=backend, flags=common))
        for at, compiler in enumerate(mine):
            parents = [one for one in mine[:at] if not set(one.flags) - set(compiler.flags)]
            compiler.parent = max(parents, key=lambda one: len(one.flags), default=None)
            compiler.name = unique(_compiler_name(compiler), names)
            names.add(compiler.name)
        ordered += mine
    return ordered


def _compiler_name(compiler: Compiler) -> str:
    if compiler.parent is None:
        return as_config_name(compiler.backend) or "iree"
    known = _known_words(compiler.uses)
    calls = {name for _, test in compiler.uses for name, _ in test.calls}
    words = _flag_words(compiler.own_flags)
    folders = {as_config_name(folder.build.path.parent.resolve().name) for folder, _ in compiler.uses}
    name = f"{compiler.parent.name}-{words or (len(folders) == 1 and folders.pop()) or 'flags'}"
    beside = _words_beside(calls, known)
    if beside and (not words or len(compiler.own_flags) > 1 or len(name) > _LONGEST):
        return f"{as_config_name(compiler.backend)}-{beside}"
    return name


def _known_words(uses: Sequence[tuple[Folder, CheckTest]]) -> set[str]:
    known = {word for _, test in uses for word in (test.backend, test.driver) if word}
    folders = {folder.path.rpartition("/")[2] for folder, _ in uses}
    return known | folders | {word for folder in folders for word in folder.split("_")}


def _name_runtimes(runtimes: Sequence[Runtime]) -> None:
    names: set[str] = set()
    for runtime in runtimes:
        calls = {name for _, test in runtime.uses for name, _ in test.calls}
        words = ""
        if runtime.flags:
            words = _words_beside(calls, _known_words(runtime.uses)) or _flag_words(runtime.flags) or "flags"
        name = "-".join(filter(None, (as_config_name(runtime.driver), words, as_config_name(runtime.arch))))
        runtime.name = unique(name, names)
        names.add(runtime.name)


def _flag_words(flags: Sequence[str]) -> str:
    """Return words for flags: `generic` for `--iree-llvmcpu-target-cpu=generic`; empty where they would be long."""
    words = "-".join(filter(None, map(_words_of, flags)))
    return words if len(words) <= _LONGEST_WORDS else ""


def _words_of(flag: str) -> str:
    name, _, value = flag.lstrip("-").partition("=")
    switch = value.lower() in ("", "true", "false", "1", "0")
    if not switch and _VALUE.fullmatch(value):
        return as_config_name(value)
    short = name.replace("_", "-")
    while (found := _STAGES.match(short)) and found.end() < len(short):
        short = short[found.end() :]
    if switch:
        return f"no-{short}" if value.lower() in ("false", "0") else as_config_name(short)
    return as_config_name(f"{short}-{value}")


def _words_beside(calls: Collection[str], known: Collection[str]) -> str:
    """Return the words that all names of suites have besides the known ones: `graph` of `check_cuda_graph`.

    `known` are names of backend, driver and folder, which the names of suites repeat.
    """
    left = {_beside(call, known) for call in calls}
    return left.pop() if len(left) == 1 else ""


def _beside(call: str, known: Collection[str]) -> str:
    text = f"_{call}_"
    for word in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<=[_-]){re.escape(word)}(?=[_-])", "", text)
    words = [word for word in re.split(r"[^A-Za-z0-9.]+", text) if word and word not in _DROPPED]
    return "-".join(words)


def unique(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: itself, or with a number."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found


# ---------------------------------------------------------------- tags and target configs


def _place_tags(
    placed: Sequence[Placed], runtimes: Sequence[Runtime]
) -> tuple[dict[Folder, frozenset[str]], dict[tuple[Folder, str], frozenset[str]]]:
    """Take from the tests' tags those that runtime configs, suites and modules have. Return those of the last two."""
    by_folder: dict[Folder, list[Placed]] = defaultdict(list)
    by_module: dict[tuple[Folder, str], list[Placed]] = defaultdict(list)
    by_pair: dict[tuple[Compiler, Runtime | None], list[Placed]] = defaultdict(list)
    for one in placed:
        by_folder[one.folder].append(one)
    mixed = {
        folder: _common([one.tags for one in group])
        for folder, group in by_folder.items()
        if len({one.runtime for one in group}) > 1
    }
    for runtime in runtimes:
        if runtime.driver not in _HOST_DRIVERS:
            everywhere = _common([mixed.get(folder, frozenset()) for folder, _ in runtime.uses])
            runtime.tags = _common([test.tags for _, test in runtime.uses]) - everywhere
    for one in placed:
        one.tags -= one.runtime.tags if one.runtime is not None else frozenset()
    suite_tags = {folder: _common([one.tags for one in group]) for folder, group in by_folder.items()}
    for one in placed:
        one.tags -= suite_tags[one.folder]
        by_module[one.folder, one.test.module].append(one)
        by_pair[one.compiler, one.runtime].append(one)
    module_tags = {key: _common([one.tags for one in group]) for key, group in by_module.items()}
    for group in by_pair.values():  # a tag of all tests of a target config, or of one that its module cannot have
        for tag in sorted(frozenset().union(*(one.tags for one in group))):
            having = [one for one in group if tag in one.tags]
            keys = [(one.folder, one.test.module) for one in having]
            if len(having) == len(group) > 1 or any(tag not in module_tags[key] for key in keys):
                for key in keys:
                    module_tags[key] -= {tag}
    for one in placed:
        one.tags -= module_tags[one.folder, one.test.module]
    return suite_tags, module_tags


def _common(sets: Collection[frozenset[str]]) -> frozenset[str]:
    return frozenset.intersection(*sets) if sets else frozenset()


def _targets(placed: Sequence[Placed]) -> tuple[TargetConfig, ...]:
    """Return the target configs, without names: one for each compiler config, tags and modules, with all runtimes."""
    columns: dict[tuple[Compiler, frozenset[str], Runtime | None], list[Placed]] = defaultdict(list)
    for one in placed:
        columns[one.compiler, one.tags, one.runtime].append(one)
    grouped: dict[tuple[Compiler, frozenset[str], frozenset[tuple[Folder, str]]], list[Placed]] = defaultdict(list)
    for (compiler, tags, _), column in columns.items():
        grouped[compiler, tags, frozenset((one.folder, one.test.module) for one in column)] += column
    targets: list[TargetConfig] = []
    for (compiler, tags, _), mine in grouped.items():
        runtimes = tuple(dict.fromkeys(one.runtime for one in mine if one.runtime is not None))
        tests = tuple((one.folder, one.test) for one in mine)
        targets.append(TargetConfig(compiler=compiler, runtimes=runtimes, tags=tags, uses=tests))
        for one in mine:
            one.target = targets[-1]
    return tuple(targets)
