"""Calls of check rules → the tests that they make, one for each source, backend and driver.

The macros are those of IREE's `build_tools/bazel/iree_check_test.bzl`; variants of CPU features are understood as by
the function of this name in `build_tools/cmake/iree_check_test.cmake`, since the macro ignores them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from retarget.model.names import is_tag
from retarget.support.errors import Diagnostic

from retarget_import.evaluate import BuildFile, Call, package_of

__all__ = [
    "INPUT_TYPE",
    "CheckTest",
    "Folder",
    "LeftOut",
    "argument_errors",
    "left_out_of",
    "sorted_flags",
    "source_file",
    "tags_of",
    "tests_of",
]

INPUT_TYPE = "--iree-input-type="

_DEFAULT_PAIRS = (("vmvx", "local-task"), ("vulkan-spirv", "vulkan"), ("llvm-cpu", "local-task"))
"""`DEFAULT_TARGET_BACKENDS_AND_DRIVERS` of iree_check_test.bzl."""

_SECONDS = {"short": 60, "moderate": 300, "long": 900, "eternal": 3600}
_SIZES = {"small": "short", "medium": "moderate", "large": "long", "enormous": "eternal"}
"""See https://bazel.build/reference/be/common-definitions#common-attributes-tests."""

_ARCHITECTURES = {"x86_64": "x86_64", "x86_32": "x86", "arm_64": "arm64", "arm_32": "arm"}
_ARCHITECTURES |= {"riscv_64": "riscv64", "riscv_32": "riscv32"}
"""`IREE_ARCH` → `host_arch`."""

_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "generic": ("--iree-llvmcpu-target-cpu=generic",),
    "host": ("--iree-llvmcpu-target-cpu=host",),
}
"""Variants of CPU features that are of no architecture → flags."""

_STRINGS = (list[str], "a list of strings")
_FORMS: Mapping[str, tuple[Any, str]] = {
    **dict.fromkeys(("srcs", "compiler_flags", "runner_args", "tags", "target_cpu_features_variants"), _STRINGS),
    **dict.fromkeys(("src", "test_file", "target_backend", "driver", "input_type"), (str, "a string")),
    "target_backends_and_drivers": (list[tuple[str, str | None]], "a list of (backend, driver)"),
    "target_cpu_features": (str | list[str], "a string or a list of strings"),
}
"""The arguments of the rules with their types, and these in words."""

_NEEDED: Mapping[str, Sequence[str]] = {
    "iree_check_single_backend_test_suite": ("srcs", "target_backend"),
    "iree_check_test_suite": ("srcs",),
    "iree_check_test": ("src", "target_backend"),
    "iree_lit_test_suite": ("srcs",),
    "iree_lit_test": ("test_file",),
}

_UNDERSTOOD = {
    *("name", "src", "srcs", "target_backend", "driver", "target_backends_and_drivers", "compiler_flags", "input_type"),
    *("runner_args", "tags", "target_cpu_features", "target_cpu_features_variants", "timeout", "size"),
}
_OF_TOOL = ("--expect_failure", "--gtest_")
_WITHOUT_EFFECT = {"deps", "visibility", "testonly", "licenses", "features"}
_MAKE_VARIABLE = re.compile(r"\$\((?:\w+ )?[^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTest:
    """One module for one backend and driver. `driver` is empty for a compile alone.

    `module` is relative to the folder. `flags` are those of the call with `--iree-input-type`, without the backend.
    `arch` is the `host_arch` of a variant of CPU features. `timeout` is in seconds. `calls` are the names and lines of
    the calls that make it.
    """

    module: str
    backend: str
    driver: str
    flags: tuple[str, ...] = ()
    runner_flags: tuple[str, ...] = ()
    arch: str = ""
    tags: frozenset[str] = frozenset()
    timeout: float | None = None
    calls: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What is not taken over: where it is written, what it is, and why."""

    path: Path
    line: int
    what: str
    reason: str


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Folder:
    """One BUILD file and its tests of one kind. `path` is the folder below the common one, as `.` or `a/b`.

    `files` are the modules that the folder of the result has, tested or not.
    """

    path: str
    kind: str = "check"
    build: BuildFile
    files: tuple[str, ...]
    tests: tuple[CheckTest, ...]


def tests_of(build: BuildFile, calls: Sequence[Call]) -> tuple[tuple[CheckTest, ...], tuple[LeftOut, ...]]:
    """Return the tests of calls of check rules without `argument_errors`, each once, and what is left out."""
    tests: dict[tuple[object, ...], CheckTest] = {}
    left_out: list[LeftOut] = []
    for call in calls:
        files, missing = _sources(build, call)
        found, reason = _of_call(call, files)
        unknown = ", ".join(sorted(call.arguments.keys() - _UNDERSTOOD - _WITHOUT_EFFECT))
        what = f"{call.rule} {call.arguments.get('name', '')}"
        left_out += missing
        left_out += [
            LeftOut(path=build.path, line=call.line, what=what, reason=one)
            for one in (reason, unknown and f"the arguments {unknown}")
            if one
        ]
        for test in found:
            key = (test.module, test.backend, test.driver, sorted_flags(test.flags), test.runner_flags, test.arch)
            other = tests.get(key)
            tests[key] = test if other is None else _united(other, test)
    return tuple(tests.values()), tuple(left_out)


def sorted_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return flags in an order that equal sets of them share. Flags of one name keep theirs: the last one counts."""
    return tuple(sorted(flags, key=lambda flag: flag.lstrip("-").partition("=")[0]))


def tags_of(call: Call) -> frozenset[str]:
    """Return the tags of a call; without those that name driver and backend, which every target has as words."""
    words = call.arguments.get("tags") or ()
    return frozenset(word for word in words if is_tag(word) and not word.startswith(("driver=", "target=")))


def source_file(build: BuildFile, label: str) -> str:
    """Return the file of a label, relative to the BUILD file's folder; empty where it is of another package."""
    package, _, name = label.rpartition(":")
    if label.startswith("@") or {"", ".", ".."} & {*name.split("/")}:
        return ""
    folder = build.path.parent.resolve()
    own = package_of(folder)[1]
    wanted = package.removeprefix("//")
    is_own = f"/{folder.as_posix()}".endswith(f"/{wanted}") if own is None else wanted == own
    return name if is_own or not package else ""


def left_out_of(build: BuildFile, call: Call, reasons: Mapping[str, Sequence[str]]) -> list[LeftOut]:
    """Return what is left out of a call: for each reason the labels of files."""
    name = call.arguments.get("name", call.rule)
    return [
        LeftOut(path=build.path, line=call.line, what=f"{', '.join(labels)} of {name}", reason=reason)
        for reason, labels in reasons.items()
    ]


def _sources(build: BuildFile, call: Call) -> tuple[list[str], list[LeftOut]]:
    labels = [call.arguments["src"]] if call.rule == "iree_check_test" else call.arguments["srcs"]
    files: list[str] = []
    left_out: dict[str, list[str]] = {}
    for label in labels:
        file = source_file(build, label)
        if file and os.path.isfile(build.path.parent / file):  # noqa: PTH113  (Path.is_file raises for a name that is too long)
            files.append(file)
            continue
        reason = "there is no such file; a rule may generate it" if file else "it is a file of another package"
        left_out.setdefault(reason, []).append(label)
    return files, left_out_of(build, call, left_out)


def _of_call(call: Call, files: Sequence[str]) -> tuple[list[CheckTest], str]:
    """Return the tests of a call, and why there are no others."""
    arguments = call.arguments
    flags = [*_words(arguments, "compiler_flags"), *_features(arguments.get("target_cpu_features"))]
    if arguments.get("input_type"):
        flags.append(f"{INPUT_TYPE}{arguments['input_type']}")
    runner = _words(arguments, "runner_args")
    written = (*(arguments.get("compiler_flags") or ()), *(arguments.get("runner_args") or ()))
    variable = next((found[0] for word in written if (found := _MAKE_VARIABLE.search(word))), "")
    if variable:
        return [], f"its flags have {variable}, which Bazel replaces"
    pairs = arguments.get("target_backends_and_drivers")
    reason = ""
    if arguments.get("target_backend") is not None:
        pairs = [(arguments["target_backend"], arguments.get("driver"))]
    elif not pairs:
        pairs = _DEFAULT_PAIRS
    if of_tool := next((word for word in runner if word.startswith(_OF_TOOL)), ""):
        reason = f"the runs with {of_tool}, a flag of iree-check-module, not of a driver; its modules are compiled"
        pairs, runner = [(backend, None) for backend, _ in pairs], []
    timeout = arguments.get("timeout") or _SIZES.get(arguments.get("size") or "")
    common = CheckTest(
        module="",
        backend="",
        driver="",
        flags=tuple(flags),
        runner_flags=tuple(runner),
        tags=tags_of(call),
        timeout=_SECONDS[timeout] if timeout else None,
        calls=((str(arguments.get("name", "")), call.line),),
    )
    return [
        replace(common, module=file, backend=backend, driver=driver or "", flags=(*common.flags, *extra), arch=arch)
        for backend, driver in pairs
        for extra, arch in (_variants(arguments) if backend == "llvm-cpu" else [((), "")])
        for file in files
    ], reason


def _variants(arguments: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """Return the further flags and the architecture of each variant of CPU features."""
    variants: Sequence[str] = arguments.get("target_cpu_features_variants") or ["default"]
    found: list[tuple[tuple[str, ...], str]] = []
    for variant in variants:
        arch, _, rest = variant.partition(":")
        features = rest.rpartition(":")[2]
        found.append((_VARIANTS[arch], "") if arch in _VARIANTS else (_features(features), _ARCHITECTURES[arch]))
    return found


def _features(features: str | Sequence[str] | None) -> tuple[str, ...]:
    if not features:
        return ()
    text = features if isinstance(features, str) else ",".join(features)
    return (f"--iree-llvmcpu-target-cpu-features={text}",)


def _words(arguments: Mapping[str, Any], key: str) -> list[str]:
    """Return flags as the tool gets them: Bazel hands them to a shell, which removes quotes and backslashes."""
    return [part for word in arguments.get(key) or () for part in shlex.split(word)]


def _united(one: CheckTest, other: CheckTest) -> CheckTest:
    timeouts = [test.timeout for test in (one, other) if test.timeout is not None]
    return replace(
        one, tags=one.tags | other.tags, timeout=max(timeouts, default=None), calls=(*one.calls, *other.calls)
    )


def argument_errors(build: BuildFile) -> list[Diagnostic]:
    """Return an error for each argument of a call that its rule does not take."""
    return [
        Diagnostic(file=build.path, line=call.line, key_path=call.rule, message=message)
        for call in build.calls
        for message in _argument_messages(call)
    ]


def _argument_messages(call: Call) -> Iterator[str]:
    arguments = {key: value for key, value in call.arguments.items() if value is not None}
    yield from (f"found no {key}, expected one" for key in _NEEDED[call.rule] if key not in arguments)
    for key, (sort, form) in _FORMS.items():
        try:
            if key in arguments:
                msgspec.convert(arguments[key], sort)
        except msgspec.ValidationError:
            yield f"{key}: found {arguments.pop(key)!r}, expected {form}"
    for key in ("compiler_flags", "runner_args"):
        for word in arguments.get(key) or ():
            try:
                shlex.split(word)
            except ValueError:
                yield f"{key}: found {word!r}, expected closed quotes"
    for key, known in (("timeout", _SECONDS), ("size", _SIZES)):
        if key in arguments and arguments[key] not in [*known]:
            yield f"{key}: found {arguments[key]!r}, expected one of {', '.join(known)}"
    for variant in arguments.get("target_cpu_features_variants") or ():
        if variant not in _VARIANTS and (len(parts := variant.split(":")) != 3 or parts[0] not in _ARCHITECTURES):
            yield (
                f"target_cpu_features_variants: found {variant!r}, expected {', '.join(map(repr, _VARIANTS))} or "
                f"'ARCHITECTURE:NAME:FEATURES' with an architecture of {', '.join(_ARCHITECTURES)}"
            )
