"""Calls of rules → the tests that they make, one for each source, backend and driver.

The macros are those of IREE's `build_tools/bazel/iree_check_test.bzl`; variants of CPU features are understood as by
the function of this name in `build_tools/cmake/iree_check_test.cmake`, since the macro ignores them. Of a lit test's
RUN lines one form is taken over: a compiler or `iree-opt` piped into FileCheck.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from retarget.model import as_config_name, tag_error
from retarget.support import Diagnostic, DiagnosticsError, display_path, read_regular

from retarget_import.evaluate import CHECK_RULES, BuildFile, Call, package_of

INPUT_TYPE = "--iree-input-type="

_DEFAULT_PAIRS = (("vmvx", "local-task"), ("vulkan-spirv", "vulkan"), ("llvm-cpu", "local-task"))
"""`DEFAULT_TARGET_BACKENDS_AND_DRIVERS` of iree_check_test.bzl."""

_SECONDS = {"short": 60, "moderate": 300, "long": 900, "eternal": 3600}
_SECONDS |= {"small": 60, "medium": 300, "large": 900, "enormous": 3600}
"""Of a timeout and of a size. See https://bazel.build/reference/be/common-definitions#common-attributes-tests."""

_ARCHITECTURES = {"x86_64": "x86_64", "x86_32": "x86", "arm_64": "arm64", "arm_32": "arm"}
_ARCHITECTURES |= {"riscv_64": "riscv64", "riscv_32": "riscv32"}
"""`IREE_ARCH` → `host_arch`."""

_OF_TOOL = ("--expect_failure", "--gtest_")
_WITHOUT_EFFECT = {"deps", "visibility", "testonly", "licenses", "features"}
_OF_LIT = {"cfg", "tools"}
"""Arguments of lit rules that only say where tools are."""

_MAKE_VARIABLE = re.compile(r"\$\((?:\w+ )?[^)]*\)")
_SAYS_NOTHING = {"", "check", "test", "tests", "suite", "e2e"}
"""Words in the names of calls."""

_Variant = Annotated[str, msgspec.Meta(pattern=rf"^(default|generic|host|({'|'.join(_ARCHITECTURES)}):[^:]*:[^:]*)$")]


class _Lit(msgspec.Struct, kw_only=True):
    """The arguments of lit rules. A rule of one source has it in a list."""

    name: str = ""
    srcs: list[str]
    tags: list[str] = []


class _Check(_Lit, kw_only=True):
    """The arguments of check rules."""

    target_backend: str = ""
    driver: str = ""
    target_backends_and_drivers: list[tuple[str, str | None]] = []
    compiler_flags: list[str] = []
    input_type: str = ""
    runner_args: list[str] = []
    target_cpu_features: str | list[str] = ""
    target_cpu_features_variants: list[_Variant] = []
    timeout: Annotated[str, msgspec.Meta(pattern="^(short|moderate|long|eternal)$")] = ""
    size: Annotated[str, msgspec.Meta(pattern="^(small|medium|large|enormous)$")] = ""

    def __post_init__(self) -> None:
        """Split flags as the tool gets them: Bazel hands them to a shell, which removes quotes and backslashes."""
        self.compiler_flags = [part for word in self.compiler_flags for part in shlex.split(word)]
        self.runner_args = [part for word in self.runner_args for part in shlex.split(word)]


class _SingleBackend(_Check, kw_only=True):
    target_backend: str  # without a default


class CheckTest(Struct, frozen=True, kw_only=True):
    """One module for one backend and driver. `driver` is empty for a compile alone.

    `module` is relative to the folder. `flags` are those of the call with `--iree-input-type`, without the backend.
    `arch` is the `host_arch` of a variant of CPU features. `timeout` is in seconds. `calls` are the names of the calls
    that make it, and `words` what the first has in its name besides backend and driver, else the folder's name.
    """

    module: str
    backend: str
    driver: str = ""
    flags: tuple[str, ...] = ()
    runner_flags: tuple[str, ...] = ()
    arch: str = ""
    tags: frozenset[str] = frozenset()
    timeout: int = 0
    calls: tuple[str, ...] = ()
    words: str = ""


class Folder(Struct, frozen=True, kw_only=True, eq=False):
    """The tests of one kind of one BUILD file. `path` is the folder below the common one, as `.` or `a/b`.

    `files` are the modules that the folder of the result has, tested or not.
    """

    path: str
    kind: str
    build: Path
    files: frozenset[str]
    tests: tuple[CheckTest, ...]


def read_tests(build: BuildFile, drivers: Collection[str]) -> tuple[list[CheckTest], list[CheckTest], list[str]]:
    """Return the check tests and the lit tests of a file, each once, and what is left out.

    Tests for others than `drivers` are only compiled. Raises `DiagnosticsError` for arguments of another type.
    """
    checks: dict[tuple[object, ...], CheckTest] = {}
    lits: dict[tuple[object, ...], CheckTest] = {}
    errors: list[Diagnostic] = []
    left_out: list[str] = []
    for call in build.calls:
        is_check = call.rule in CHECK_RULES
        tests = checks if is_check else lits
        try:
            reader = _Reader(build.path, call)
            for test in reader.check_tests(drivers) if is_check else reader.lit_tests():
                key = (test.module, test.backend, test.driver, sorted_flags(test.flags), test.runner_flags, test.arch)
                other = tests.get(key, test)
                tags, timeout = other.tags | test.tags, max(other.timeout, test.timeout)
                calls = tuple(dict.fromkeys((*other.calls, *test.calls)))
                tests[key] = replace(other, tags=tags, timeout=timeout, calls=calls)
            left_out += reader.left_out
        except msgspec.ValidationError as error:
            what, _, place = str(error).partition(" - at `$.")
            message = f"{place.rstrip('`')}: {what}" if place else what
            errors.append(Diagnostic(file=build.path, line=call.line, key_path=call.rule, message=message))
    if errors:
        raise DiagnosticsError(errors)
    return [*checks.values()], [*lits.values()], left_out


class _Reader:
    """One call: its tests, and what is `left_out` of it. Raises `msgspec.ValidationError`, also later."""

    def __init__(self, path: Path, call: Call) -> None:
        self._rule = call.rule
        self._arguments = dict(call.arguments)
        for key in {"src", "test_file"} & call.arguments.keys():
            self._arguments["srcs"] = [self._arguments.pop(key)]
        common = msgspec.convert(self._arguments, _Lit)
        self._folder = path.parent
        self._place = f"{display_path(path)}:{call.line}"
        self._name = common.name or call.rule
        self._labels = common.srcs
        # Every target has the words of its driver and compiler config.
        tags = (tag for tag in common.tags if tag_error(tag) is None and not tag.startswith(("driver=", "target=")))
        self._tags = frozenset(tags)
        self.left_out: list[str] = []
        if not self._labels:
            self._leave_out("all", "it has no sources, as of a glob that matches nothing")

    def _leave_out(self, what: str, reason: str) -> None:
        self.left_out.append(f"{self._place}: {what} of {self._name}: {reason}")

    def _leave_out_arguments(self, known: Iterable[str]) -> None:
        if unknown := self._arguments.keys() - {*known} - _WITHOUT_EFFECT:
            self._leave_out(f"the arguments {', '.join(sorted(unknown))}", "they are not taken over")

    def lit_tests(self) -> Iterator[CheckTest]:
        """Yield the tests that FileCheck judges."""
        self._leave_out_arguments({*_Lit.__struct_fields__, *_OF_LIT})
        for label in self._labels:
            try:
                file = self._file(label)
                backend, flags = command_of(self._folder / file)
            except UnsupportedError as error:
                self._leave_out(label, str(error))
            else:
                yield CheckTest(module=file, backend=backend, flags=flags, tags=self._tags, calls=(self._name,))

    def check_tests(self, drivers: Collection[str]) -> Iterator[CheckTest]:
        """Yield the tests of a check rule."""
        arguments = msgspec.convert(
            self._arguments, _Check if self._rule == "iree_check_test_suite" else _SingleBackend
        )
        self._leave_out_arguments(arguments.__struct_fields__)
        flags, runner_flags = arguments.compiler_flags, tuple(arguments.runner_args)
        if variable := _MAKE_VARIABLE.search(" ".join((*flags, *runner_flags))):
            self._leave_out("all", f"its flags have {variable[0]}, which Bazel replaces")
            return
        if features := arguments.target_cpu_features:
            flags = [*flags, *_features(features if isinstance(features, str) else ",".join(features))]
        if arguments.input_type:
            flags = [*flags, f"{INPUT_TYPE}{arguments.input_type}"]
        pairs: Sequence[tuple[str, str | None]] = arguments.target_backends_and_drivers or _DEFAULT_PAIRS
        if arguments.target_backend:
            pairs = [(arguments.target_backend, arguments.driver)]
        of_tool = next((flag for flag in runner_flags if flag.startswith(_OF_TOOL)), "")
        files = [*self._check_files()]
        for backend, driver in pairs:
            reason = f"{of_tool} is a flag of iree-check-module, not of a driver" if driver and of_tool else ""
            if driver and driver not in drivers:
                reason = "no extension here has this driver"
            if reason:
                self._leave_out(f"the runs on {driver}", f"{reason}; they are compiled")
            runs = driver if driver and not reason else ""
            for variant in (arguments.target_cpu_features_variants if backend == "llvm-cpu" else ()) or ["default"]:
                further, arch, word = _variant(variant)
                for file in files:
                    yield CheckTest(
                        module=file,
                        backend=backend,
                        driver=runs,
                        flags=(*flags, *further),
                        runner_flags=runner_flags if runs else (),
                        arch=arch if runs else "",
                        tags=self._tags,
                        timeout=_SECONDS.get(arguments.timeout or arguments.size, 0),
                        calls=(self._name,),
                        words=self._words({backend, driver or "", word}, word),
                    )

    def _check_files(self) -> Iterator[str]:
        for label in self._labels:
            try:
                file = self._file(label)
            except UnsupportedError as error:
                self._leave_out(label, str(error))
                continue
            if os.path.isfile(self._folder / file):  # noqa: PTH113  (Path.is_file raises for a name that is too long)
                yield file
            else:
                self._leave_out(label, "there is no such file; a rule may generate it")

    def _file(self, label: str) -> str:
        """Return the file of a label, relative to the folder. Raises `UnsupportedError` for one of another package."""
        package, _, name = label.rpartition(":")
        folder = self._folder.resolve()
        own, wanted = package_of(folder)[1], package.removeprefix("//")
        is_own = f"/{folder.as_posix()}".endswith(f"/{wanted}") if own is None else wanted == own
        if label.startswith("@") or {"", ".", ".."} & {*name.split("/")} or (package and not is_own):
            msg = "it is a file of another package"
            raise UnsupportedError(msg)
        return name

    def _words(self, known: Collection[str], variant: str) -> str:
        folder = self._folder.resolve().name
        said = {*known, *_SAYS_NOTHING, *folder.split("_")}
        words = [*(word for word in self._name.split("_") if word not in said), variant]
        return as_config_name("-".join(filter(None, words)) or folder)


def _variant(text: str) -> tuple[tuple[str, ...], str, str]:
    """Return the further flags, the architecture and the word of a variant of CPU features."""
    if text == "default":
        return (), "", ""
    if ":" not in text:
        return (f"--iree-llvmcpu-target-cpu={text}",), "", text
    arch, word, features = text.split(":")
    return _features(features), _ARCHITECTURES[arch], word


def _features(text: str) -> tuple[str, ...]:
    return (f"--iree-llvmcpu-target-cpu-features={text}",) if text else ()


_RUN = re.compile(r"(?m)^\s*(?://|#|;)+\s*RUN:(?P<command>.*)$")
_CONDITION = re.compile(r"(?m)^\s*(?://|#|;)+\s*(?P<line>(?:XFAIL|REQUIRES|UNSUPPORTED):.*?)\s*$")
"""Where lit expects a test to fail, or runs it."""

_REPLACED = re.compile(r"%[a-zA-Z{(]|\$[a-zA-Z_{(]")
_OF_FILECHECK = re.compile(
    r"%s$|--?(?:enable-var-scope|dump-input.*|color|v|vv|allow-unused-prefixes.*|check-prefix(?:es)?=CHECK)$"
)
"""The words behind FileCheck that change nothing."""


class UnsupportedError(Exception):
    """Why a file is not taken over."""


def command_of(file: Path) -> tuple[str, tuple[str, ...]]:
    """Return the backend and the flags of a test's RUN line. Raises `UnsupportedError`."""
    tool, *words = _words(file)
    pipe = words.index("|") if "|" in words else 0
    flags, filecheck = words[:pipe], words[pipe + 1 :]
    if tool not in ("iree-opt", "iree-compile") or filecheck[:1] != ["FileCheck"]:
        msg = f"its RUN line is {tool} …; iree-opt or iree-compile piped into FileCheck is taken over"
        raise UnsupportedError(msg)
    flags = flags[:-2] if flags[-2:] == ["-o", "-"] else flags
    others = [word for word in flags if word != "%s" and (word[:1] != "-" or _REPLACED.search(word))]
    if others or flags.count("%s") != 1:
        msg = f"its RUN line has {others[0] if others else 'no %s'}; flags and one %s are taken over"
        raise UnsupportedError(msg)
    for word in filecheck[1:]:
        if not _OF_FILECHECK.match(word):
            msg = f"its FileCheck has {word}; the prefix CHECK and no other option is taken over"
            raise UnsupportedError(msg)
    flags.remove("%s")
    if tool == "iree-opt":
        return "iree-opt", tuple(flags)
    if not any(flag.startswith("--compile-to=") for flag in flags):
        msg = "its RUN line is iree-compile without --compile-to=PHASE, whose output is no text"
        raise UnsupportedError(msg)
    return split_backend(flags)


def _words(file: Path) -> list[str]:
    """Return the words of a RUN line; redirections and pipes are words of their own."""
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, ValueError) as error:
        msg = f"it cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise UnsupportedError(msg) from error
    if condition := _CONDITION.search(text):
        msg = f"it has the line {condition['line']}, which is not taken over"
        raise UnsupportedError(msg)
    lines = (found["command"].strip() for found in _RUN.finditer(text))
    commands = "\n".join(lines).replace("\\\n", " ").splitlines()
    if len(commands) != 1:
        msg = f"it has {len(commands)} RUN lines; one is taken over"
        raise UnsupportedError(msg)
    lexer = shlex.shlex(commands[0], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [*lexer] or [""]
    except ValueError as error:
        msg = f"its RUN line cannot be split into words: {error}"
        raise UnsupportedError(msg) from error


_LEGACY = "--iree-hal-target-backends="
_FLAGS = {
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


def backend_flags(backend: str) -> tuple[str, ...]:
    """Return the flags that compile for a backend."""
    return _FLAGS.get(backend, (f"{_LEGACY}{backend}",))


def split_backend(flags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the backend that flags compile for, empty where they name none, and the other flags."""
    legacy = {flag.removeprefix(_LEGACY): (flag,) for flag in flags if flag.startswith(_LEGACY)}
    for backend, own in (*legacy.items(), *_FLAGS.items()):
        if own and set(own) <= set(flags):
            return backend, tuple(flag for flag in flags if flag not in own)
    return "", tuple(flags)


def sorted_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return flags in an order that equal sets of them share. Flags of one name keep theirs: the last one counts."""
    return tuple(sorted(flags, key=lambda flag: flag.lstrip("-").partition("=")[0]))
