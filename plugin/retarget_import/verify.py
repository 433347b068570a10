"""Whether each test of the original is a target of the result, with its backend, driver, flags and tags, and the
other way round. The result is read from its files, as pytest reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.declare.files import SUITE_FILE
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.support.errors import DiagnosticsError
from retarget.targets.expansion import expand

from retarget_import.plan import split_backend
from retarget_import.read import CheckTest, Folder, sorted_flags

__all__ = ["Verified", "verify"]

_Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]
"""Module with its folder, backend, driver (empty: compile only), flags, flags of the runtime, architecture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How many tests were compared, and the differences as lines."""

    tests: int
    differences: tuple[str, ...]


def verify(output: Path, folders: Sequence[Folder], registry: Registry) -> Verified:
    """Compare the tests of folders with the targets below `output`. Raises `DiagnosticsError` for its errors."""
    wanted: dict[_Key, CheckTest] = {}
    for folder in folders:
        for test in folder.tests:
            wanted[_key_of_test(folder, test)] = test
    loader = DeclarationLoader(registry)
    found: dict[_Key, tuple[Suite, Target]] = {}
    for path in dict.fromkeys(output / folder.path / SUITE_FILE for folder in folders):
        suites, diagnostics = loader.read_suite_file(path)
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        for suite in suites:
            for target in expand(suite, registry):
                found[_key_of_target(output, target)] = (suite, target)
    runs = {key[:2] + key[3:4] for key in found if key[2]}
    vocabulary = {tag for test in wanted.values() for tag in test.tags}
    differences = [f"not in the result: {_shown(key, test.calls)}" for key, test in wanted.items() if key not in found]
    for key, (suite, target) in found.items():
        if key in wanted:
            differences += _tag_differences(key, wanted[key], suite, target, vocabulary)
        elif key[2] or key[:2] + key[3:4] not in runs:
            differences.append(f"not in the original: {_shown(key, ())} ({target.name} of suite {suite.name})")
    return Verified(tests=len(wanted), differences=tuple(differences))


def _key_of_test(folder: Folder, test: CheckTest) -> _Key:
    module = f"{folder.path}/{test.module}".removeprefix("./")
    runner = sorted_flags(test.runner_flags)
    return module, test.backend, test.driver, sorted_flags(test.flags), runner, test.arch


def _key_of_target(output: Path, target: Target) -> _Key:
    compiled = target if isinstance(target, CompileTarget) else target.compile
    module = compiled.module.path.resolve().relative_to(output.resolve()).as_posix()
    backend, flags = _backend(compiled)
    if isinstance(target, RunTarget):
        arch = "".join(target.runtime.host_arch)
        return module, backend, target.runtime.driver, flags, sorted_flags(target.runtime.flags), arch
    return module, backend, "", flags, (), ""


def _backend(target: CompileTarget) -> tuple[str, tuple[str, ...]]:
    is_opt = target.compiler.compiler == "iree-opt"
    backend, flags = ("iree-opt", target.flags) if is_opt else split_backend(target.flags)
    return backend, sorted_flags(flags)


def _tag_differences(key: _Key, test: CheckTest, suite: Suite, target: Target, vocabulary: set[str]) -> Iterator[str]:
    names = {suite.name, *_words(suite)}
    missing = sorted(test.tags - set(target.tags))
    further = sorted((vocabulary & set(target.tags)) - test.tags - names)
    if missing:
        yield f"without the tags {', '.join(missing)}: {_shown(key, test.calls)} ({target.name} of suite {suite.name})"
    if further:
        yield f"with further tags {', '.join(further)}: {_shown(key, test.calls)} ({target.name} of suite {suite.name})"


def _words(suite: Suite) -> Mapping[str, None]:
    """Return the words that targets have by the names of configs, drivers and backends."""
    words: dict[str, None] = {}
    for target in suite.targets:
        words[target.name] = None
        for compiler in target.compilers:
            words[compiler.name] = None
        for runtime in target.runtimes:
            words |= dict.fromkeys((runtime.name, runtime.driver))
    return words


def _shown(key: _Key, calls: Sequence[tuple[str, int]]) -> str:
    module, backend, driver, flags, runner, arch = key
    parts = [module, backend or "no backend", driver or "compile only", *flags, *runner, *([arch] if arch else [])]
    names = f" ({', '.join(name for name, _ in calls)})" if calls else ""
    return " ".join(parts) + names
