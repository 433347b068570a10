"""Whether each test of the original is a target of the result, with its backend, driver, flags and tags, and the
other way round. The result is read from its files, as pytest reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retarget.declare.files import SUITE_FILE
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.support.errors import DiagnosticsError
from retarget.targets.expansion import expand

from retarget_import.backends import sorted_flags, split_backend
from retarget_import.read import CheckTest, Folder

_Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]
"""Module with its folder, backend, driver (empty: compile only), flags, flags of the runtime, architecture."""


def verify(output: Path, folders: Sequence[Folder], registry: Registry) -> list[str]:
    """Return the differences between tests of folders and the targets below `output`.

    Raises `DiagnosticsError` for errors of its declarations.
    """
    wanted = {_key_of_test(folder, test): test for folder in folders for test in folder.tests}
    vocabulary = {tag for test in wanted.values() for tag in test.tags}
    loader = DeclarationLoader(registry)
    found: dict[_Key, tuple[str, set[str]]] = {}
    for path in dict.fromkeys(output / folder.path / SUITE_FILE for folder in folders):
        suites, diagnostics = loader.read_suite_file(path)
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        for suite in suites:
            vocabulary -= _words(suite)
            for target in expand(suite, registry):
                found[_key_of_target(output, target)] = (f"{target.name} of suite {suite.name}", set(target.tags))
    runs = {key[:2] + key[3:4] for key in found if key[2]}
    differences = []
    for key, test in wanted.items():
        shown = f"{_shown(key)} ({', '.join(test.calls)})"
        place, tags = found.get(key, ("", set(test.tags)))
        if not place:
            differences.append(f"not in the result: {shown}")
        if missing := test.tags - tags:
            differences.append(f"without the tags {', '.join(sorted(missing))}: {shown} ({place})")
        if further := (vocabulary & tags) - test.tags:
            differences.append(f"with further tags {', '.join(sorted(further))}: {shown} ({place})")
    for key, (place, _) in found.items():
        if key not in wanted and (key[2] or key[:2] + key[3:4] not in runs):
            differences.append(f"not in the original: {_shown(key)} ({place})")
    return differences


def _key_of_test(folder: Folder, test: CheckTest) -> _Key:
    module = f"{folder.path}/{test.module}".removeprefix("./")
    runner = sorted_flags(test.runner_flags)
    return module, test.backend, test.driver, sorted_flags(test.flags), runner, test.arch


def _key_of_target(output: Path, target: Target) -> _Key:
    compiled = target if isinstance(target, CompileTarget) else target.compile
    module = compiled.module.path.resolve().relative_to(output.resolve()).as_posix()
    is_opt = compiled.compiler.compiler == "iree-opt"
    backend, flags = ("iree-opt", compiled.flags) if is_opt else split_backend(compiled.flags)
    if isinstance(target, RunTarget):
        runtime = target.runtime
        arch = "".join(runtime.host_arch)
        return module, backend, runtime.driver, sorted_flags(flags), sorted_flags(runtime.flags), arch
    return module, backend, "", sorted_flags(flags), (), ""


def _words(suite: Suite) -> set[str]:
    """Return the words that targets have by the names of suite, configs and drivers."""
    words = {suite.name, *(target.name for target in suite.targets)}
    words |= {compiler.name for target in suite.targets for compiler in target.compilers}
    return words.union(*((one.name, one.driver) for target in suite.targets for one in target.runtimes))


def _shown(key: _Key) -> str:
    module, backend, driver, flags, runner, arch = key
    return " ".join(filter(None, [module, backend or "no backend", driver or "compile only", *flags, *runner, arch]))
