"""Invalid TOML files: the message, its line and key, and that one cause is one error."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from declaration_texts import compiler, load_all, runtime, suite, target
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retarget.declare.load import DeclarationLoader
from retarget.declare.schema.tables import CompilerConfigTable
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.support.errors import Diagnostic, DiagnosticsError
from retarget.targets.expansion import expand_suite

COMPILER = compiler("cc")
BY_AXES = compiler("cc-{a}")
RUNTIME = runtime("rt")
TARGET = target("all", "cc", ["rt"])
CONFIGS = COMPILER + RUNTIME + TARGET
SUITE = suite("linalg")
GOOD = CONFIGS + SUITE  # lines: compiler 1-3, runtime 4-6, target 7-10, suite 11-15


@pytest.fixture
def folder(two_modules: Path) -> Path:
    return two_modules


@pytest.mark.parametrize("name", ["matrix.toml", "suite.toml", "expectations.toml"])
def test_what_is_no_regular_file_is_named_and_not_opened(folder: Path, name: str) -> None:
    (folder / "suite.toml").write_text(GOOD)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)  # opening it would wait for a writer
    expected = f"{name}: cannot be read: found a named pipe; expected a TOML file"
    assert [line for line in diagnostics(folder / "suite.toml") if line.startswith(name)] == [expected]
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    expected = f"{name}: cannot be read: found a device; expected a TOML file"
    assert [line for line in diagnostics(folder / "suite.toml") if line.startswith(name)] == [expected]


def test_a_base_that_none_of_many_configs_finds_is_reported_for_the_first(folder: Path) -> None:
    values = ", ".join(f'"v{n}"' for n in range(200))
    axes = f'name = "c-{{a}}"\nextends = "cx"\naxes = {{ a = [{values}] }}\n'
    (folder / "suite.toml").write_text(f"[[compiler_config]]\n{axes}{GOOD}")
    assert len([line for line in diagnostics(folder / "suite.toml") if "extends" in line]) <= 20


def diagnostics(path: Path) -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        DeclarationLoader().load_suite_file(path)
    return [str(diagnostic) for diagnostic in caught.value.diagnostics]


def diagnostics_of(folder: Path, text: str) -> list[str]:
    path = folder / "suite.toml"
    path.write_text(text)
    return diagnostics(path)


NO_NAME = (
    "expected a name without '_', which separates the parts of a target's name: a letter or digit, then letters, "
    "digits and any of . + -"
)

COMPILER_KEYS = {  # keys of the compiler config
    "unknown key of a table": ('flgs = ["-a"]\n',
        f"suite.toml:4: compiler_config[0].flgs: found the unknown key 'flgs', expected one of {', '.join(sorted(CompilerConfigTable.model_fields))}; did you mean 'flags'?"),
    "a string for a list": ('flags = "-a"\n', "suite.toml:4: compiler_config[0].flags: found the string '-a', expected an array of strings; did you mean ['-a']?"),
    "an integer for a string": ('flags = [\n  "-a",\n  7,\n]\n', "suite.toml:6: compiler_config[0].flags[1]: found the integer 7, expected a string"),
    "a number for a string in a table": ("env = { A = 1.5 }\n", "suite.toml:4: compiler_config[0].env.A: found the number 1.5, expected a string"),
    "a device without its driver": ('target_from = "host:0"\n',
        "suite.toml:4: compiler_config[0].target_from: found 'host:0', expected host, or host: and the URI of a device, such as host:vulkan://0"),
    "a profile that is not there": ('target_from = ["host", "no.toml"]\n',
        "suite.toml:4: compiler_config[0].target_from[1]: the device profile cannot be used: no.toml: cannot be read: No such file or directory; expected a TOML file"),
    "a boolean for a number": ("timeout = true\n", "suite.toml:4: compiler_config[0].timeout: found the boolean true, expected a number above 0"),
    "an infinite timeout": ("timeout = inf\n", "suite.toml:4: compiler_config[0].timeout: found the number inf, expected a finite number above 0"),
    "a timeout of nothing": ("timeout = 0\n", "suite.toml:4: compiler_config[0].timeout: found the integer 0, expected a number above 0"),
    "a bad environment variable": ('env = { "A=B" = "1" }\n', "suite.toml:4: compiler_config[0].env.\"A=B\": found 'A=B', expected the name of an environment variable, without '='"),
    "a NUL character": ('flags = ["a\\u0000b"]\n', "suite.toml:4: compiler_config[0].flags[0]: found a NUL character, which no program can be given; expected text"),
    "a tag that -m cannot take": ('tags = ["fine", "a b"]\n', "suite.toml:4: compiler_config[0].tags[1]: found 'a b', expected a word for -m: letters, digits and any of _ : + - . [ ] / \\"),
    "a config that extends itself": ('extends = "cc"\n', "suite.toml:4: compiler_config[0].extends: found a cycle: cc → cc; expected a chain that ends"),
}  # fmt: skip

RUNTIME_KEYS = {  # keys of the runtime config
    "no concurrency": ("concurrency = 0\n", "suite.toml:7: runtime_config[0].concurrency: found the integer 0, expected an integer of at least 1"),
    "a date for a string": ("device = 2026-01-02\n", "suite.toml:7: runtime_config[0].device: found the date or time 2026-01-02, expected a string"),
    "a device and devices": ('device = "0"\ndevices = ["1"]\n', "suite.toml:8: runtime_config[0].devices: found both device and devices, expected one of them"),
    "an unknown system": ('host_os = "osx"\n', "suite.toml:7: runtime_config[0].host_os: found 'osx', expected one of android, ios, linux, macos, windows; did you mean 'macos'?"),
    "an unknown architecture": ('host_arch = ["x86_64", "aarch64"]\n',
        "suite.toml:7: runtime_config[0].host_arch[1]: found 'aarch64', expected one of arm, arm64, loongarch64, ppc64le, riscv32, riscv64, s390x, wasm32, wasm64, x86, x86_64; did you mean 'arm64'?"),
    "an empty command to run under": ('run_under = [""]\n', "suite.toml:7: runtime_config[0].run_under[0]: found an empty string, expected a command"),
    "an unknown type of device": ('device_type = "gpus"\n', "suite.toml:7: runtime_config[0].device_type: found 'gpus', expected one of gpu, cpu, accelerator; did you mean 'gpu'?"),
    "a requirement of an unknown capability": ('requires = ["memory >= 1 GiB", "vulkan.shaderFloat46"]\n',
        "suite.toml:7: runtime_config[0].requires[1]: 'vulkan.shaderFloat46': column 1: found the unknown capability 'vulkan.shaderFloat46', expected a feature, property or limit of Vulkan that code generation depends on, or an extension (VK_…); did you mean 'vulkan.shaderFloat64'?"),
    "a tag of pytest's own": ('tags = ["skip"]\n', "suite.toml:7: runtime_config[0].tags[0]: found 'skip', which is a mark of pytest's own; expected another word"),
}  # fmt: skip

TARGET_EDITS = {  # a part of the target config, and what replaces it
    "a table for a list": ('["rt"]', "{}", "suite.toml:10: target_config[0].runtimes: found an empty table, expected an array of strings"),
    "a key that is required": ('runtimes = ["rt"]\n', "", "suite.toml:7: target_config[0].runtimes: found no such key, expected an array of strings"),
    "no compiler config": ('"cc"', "[]", "suite.toml:9: target_config[0].compiler: found an empty array, expected a string or a non-empty array of strings"),
    "a number for one or a list": ('"cc"', "3", "suite.toml:9: target_config[0].compiler: found the integer 3, expected a string or a non-empty array of strings"),
    "an unknown config name": ('"cc"', '"ccc"', "suite.toml:9: target_config[0].compiler: found 'ccc', expected the name of a compiler_config declared in this file or above; did you mean 'cc'?"),
    "a glob that matches no config": ('"rt"', '"x*"', "suite.toml:10: target_config[0].runtimes[0]: found 'x*', expected a glob that matches the name of a runtime_config; there is rt"),
    "a reference given twice": ('["rt"]', '["rt", "rt"]', "suite.toml:10: target_config[0].runtimes[1]: found 'rt' a second time, expected it once"),
}  # fmt: skip

AXES = {  # keys of a compiler config cc-{a}
    "an axis value of another type": ("axes = { a = [1.5] }\n", "suite.toml:4: compiler_config[0].axes.a[0]: found the number 1.5, expected a string or an integer"),
    "a name that leaves an axis out": ("axes = { a = [1], b = [2, 3] }\n", "suite.toml:2: compiler_config[0].name: found 'cc-{a}', expected every axis in it; {b} is missing"),
    "an exclusion that is no combination": ('axes = { a = [1, 2] }\nexclude = ["1"]\n',
        "suite.toml:5: compiler_config[0].exclude[0]: found the string '1', expected a table of strings or integers or an array of strings or integers"),
}  # fmt: skip

BAD_CONFIGS = {
    **{name: (COMPILER + keys + RUNTIME + TARGET, message) for name, (keys, message) in COMPILER_KEYS.items()},
    **{name: (COMPILER + RUNTIME + keys + TARGET, message) for name, (keys, message) in RUNTIME_KEYS.items()},
    **{
        name: (COMPILER + RUNTIME + TARGET.replace(old, new), message)
        for name, (old, new, message) in TARGET_EDITS.items()
    },
    **{name: (BY_AXES + keys + RUNTIME + TARGET, message) for name, (keys, message) in AXES.items()},
    "unknown key": (
        "root_ = true\n" + CONFIGS,
        "suite.toml:1: root_: found the unknown key 'root_', expected one of compiler_config, expectation, golden, host, "
        "module_test_suite, root, runtime_config, target_config, toolchain; did you mean 'root'?",
    ),
    "a table where a list of tables belongs": (
        COMPILER.replace("[[", "[").replace("]]", "]") + RUNTIME + TARGET,
        "suite.toml:1: compiler_config: found a table, expected an array of tables",
    ),
    "no compiler": (
        COMPILER.replace('compiler = "iree"\n', "") + RUNTIME + TARGET,
        "suite.toml:1: compiler_config[0].compiler: found no compiler, expected its name here or by extends",
    ),
    "no driver": (
        COMPILER + RUNTIME.replace('driver = "local-sync"\n', "") + TARGET,
        "suite.toml:4: runtime_config[0].driver: found no driver, expected its name here or by extends",
    ),
    "a config name with an underscore": (
        COMPILER.replace('"cc"', '"c_c"') + RUNTIME + TARGET.replace('"cc"', '"c_c"'),
        f"suite.toml:2: compiler_config[0].name: found 'c_c', {NO_NAME}; did you mean 'c-c'?",
    ),
    "a config name with a path separator": (
        COMPILER + RUNTIME.replace('"rt"', '"r/t"') + TARGET.replace('"rt"', '"r/t"'),
        f"suite.toml:5: runtime_config[0].name: found 'r/t', {NO_NAME}; did you mean 'r-t'?",
    ),
    "a target config name with a path separator": (
        CONFIGS.replace('"all"', '"all/"') + SUITE.replace('"all"', '"all/"'),
        "suite.toml:8: target_config[0].name: found 'all/', expected a name: a letter or digit, then letters, digits "
        "and any of . _ + -; did you mean 'all'?",
    ),
    "a name that is a word of -m": (
        COMPILER.replace('"cc"', '"not"') + RUNTIME + TARGET.replace('"cc"', '"not"'),
        "suite.toml:2: compiler_config[0].name: found 'not', which has a meaning of its own in -m; "
        "expected another word",
    ),
    "a tag that distinguishes the sorts of targets": (
        CONFIGS.replace('runtimes = ["rt"]', 'runtimes = ["rt"]\ntags = ["run"]'),
        "suite.toml:11: target_config[0].tags[0]: found 'run', which distinguishes compile targets from run targets in -m; "
        "expected another word",
    ),
    "a duplicate name": (
        COMPILER + COMPILER + RUNTIME + TARGET,
        "suite.toml:5: compiler_config[1].name: found 'cc', which compiler_config[0] declares already; "
        "expected another name",
    ),
    "a base that is not there": (
        COMPILER + 'extends = "bse"\n' + COMPILER.replace('"cc"', '"base"') + RUNTIME + TARGET,
        "suite.toml:4: compiler_config[0].extends: found 'bse', expected the name of a compiler_config declared in this "
        "file or above; did you mean 'base'?",
    ),
    "a cycle of configs": (
        COMPILER.replace('"cc"', '"heir"')
        + 'extends = "cc"\n'
        + COMPILER
        + 'extends = "b"\n'
        + COMPILER.replace('"cc"', '"b"')
        + 'extends = "cc"\n'
        + RUNTIME
        + TARGET,
        "suite.toml:8: compiler_config[1].extends: found a cycle: cc → b → cc; expected a chain that ends",
    ),
    "an unknown axis": (
        COMPILER.replace('"cc"', '"cc-{opt}"') + 'axes = { opt = [1] }\nflags = ["{op}"]\n' + RUNTIME + TARGET,
        "suite.toml:5: compiler_config[0].flags[0]: found the unknown axis {op}, expected one of opt, or {{op}} for the "
        "text itself; did you mean 'opt'?",
    ),
    "an error of each config of a product": (
        COMPILER.replace('"cc"', '"cc-{a}"')
        + 'axes = { a = [1, 2] }\ntags = ["a b"]\n'
        + RUNTIME
        + TARGET.replace('"cc"', '"cc-*"'),
        "suite.toml:5: compiler_config[0].tags[0]: found 'a b', expected a word for -m: letters, digits and any of "
        "_ : + - . [ ] / \\",
    ),
    "a suite in a suite file only": (CONFIGS, "suite.toml: found no [[module_test_suite]], expected one"),
    "a root in a suite file": (
        "root = true\n" + GOOD,
        "suite.toml:1: root: found root, expected it in a matrix.toml only",
    ),
}

SUITE_FREE = {"a suite in a suite file only", "a root in a suite file"}


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_an_invalid_config_is_reported_once_with_its_line_and_key(folder: Path, name: str) -> None:
    text, message = BAD_CONFIGS[name]
    assert diagnostics_of(folder, text if name in SUITE_FREE or SUITE[:20] in text else text + SUITE) == [message]


SUITE_EDITS = {  # a part of the suite, and what replaces it
    "a source that is missing": ("*.mlir", "fou.mlir", "suite.toml:13: module_test_suite[0].srcs[0]: found no file 'fou.mlir', expected one; did you mean 'foo.mlir'?"),
    "a glob that matches nothing": ("*.mlir", "*.onnx", "suite.toml:13: module_test_suite[0].srcs[0]: found no file that matches '*.onnx'; expected one, or allow_empty = true"),
    "a source above the folder": ("*.mlir", "../*.mlir",
        "suite.toml:13: module_test_suite[0].srcs[0]: found '../*.mlir', expected a path below this file's folder, with '/' between its parts and no '..'"),
    "an absolute source": ("*.mlir", "/x/*.mlir", "suite.toml:13: module_test_suite[0].srcs[0]: found '/x/*.mlir', expected a path below this file's folder, with '/' between its parts and no '..'"),
    "an empty source": ("*.mlir", "", "suite.toml:13: module_test_suite[0].srcs[0]: found '', expected a path without empty parts and '.'"),
    "two stars in a part": ("*.mlir", "**.mlir", "suite.toml:13: module_test_suite[0].srcs[0]: found '**.mlir', expected '**' as a part of its own, as in '**/*.mlir'"),
    "no sources": ('["*.mlir"]', "[]", "suite.toml:13: module_test_suite[0].srcs: found an empty array, expected a non-empty array of strings"),
    "no kind": ('kind = "check"\n', "", "suite.toml:11: module_test_suite[0].kind: found no such key, expected a string"),
    "an unknown target config": ('"all"', '"al"',
        "suite.toml:15: module_test_suite[0].targets[0]: found 'al', expected the name of a target_config declared in this file or above; did you mean 'all'?"),
    "a bad suite name": ('"linalg"', '"../linalg"',
        "suite.toml:12: module_test_suite[0].name: found '../linalg', expected a name: a letter or digit, then letters, digits and any of . _ + -; did you mean 'linalg'?"),
}  # fmt: skip

SUITE_KEYS = {  # more keys of the suite
    "a requirement that is no such": ('requires = [\n  "memory => 8 GiB",\n]\n',
        "suite.toml:17: module_test_suite[0].requires[0]: 'memory => 8 GiB': column 8: found '=>', expected one of >=, <=, >, <, =, !=, or the end; did you mean '>='?"),
    "a requirement of a module that is no such": ('[[module_test_suite.module]]\nmatch = "f*"\nrequires = ["memory >="]\n',
        "suite.toml:18: module_test_suite[0].module[0].requires[0]: 'memory >=': column 10: found the end, expected a value: a number, a version or a word"),
    "an exclusion of all sources": ('exclude = ["*.mlir"]\n', "suite.toml:16: module_test_suite[0].exclude: found nothing left, expected to leave a file, or allow_empty = true"),
    "an exclusion that matches nothing": ('exclude = ["foo.mlir", "x*"]\n', "suite.toml:16: module_test_suite[0].exclude[1]: found 'x*', which matches none of the srcs; expected one that does"),
    "an override that matches no module": ('[[module_test_suite.module]]\nmatch = ["f*", "boo"]\ntags = ["x"]\n',
        "suite.toml:17: module_test_suite[0].module[0].match[1]: found 'boo', expected a glob that matches a module's name; did you mean 'foo'?"),
    "an override without a reason": ('[[module_test_suite.module]]\nmatch = "f*"\nexclude_targets = ["cc"]\n',
        "suite.toml:16: module_test_suite[0].module[0].reason: found no reason, expected one: a hole in the matrix says why it is there"),
    "an override of a target that is not there": ('[[module_test_suite.module]]\nmatch = "f*"\nexclude_targets = ["rr"]\nreason = "x"\n',
        "suite.toml:18: module_test_suite[0].module[0].exclude_targets[0]: found 'rr', expected a target, compiler or runtime config of this suite, or a glob that matches one; there is all, cc, rt"),
    "an override that does nothing": ('[[module_test_suite.module]]\nmatch = "f*"\n', "suite.toml:16: module_test_suite[0].module[0]: found nothing to do, expected exclude_targets, tags, flags or requires"),
    "an unknown key of an override": ('[[module_test_suite.module]]\nmatch = "f*"\nexclude_target = ["cc"]\n',
        "suite.toml:18: module_test_suite[0].module[0].exclude_target: found the unknown key 'exclude_target', expected one of exclude_targets, flags, match, reason, requires, tags; did you mean 'exclude_targets'?"),
}  # fmt: skip

BAD_SUITES = {
    **{name: (SUITE.replace(old, new), message) for name, (old, new, message) in SUITE_EDITS.items()},
    **{name: (SUITE + keys, message) for name, (keys, message) in SUITE_KEYS.items()},
    "a duplicate suite": (
        SUITE + SUITE,
        "suite.toml:17: module_test_suite[1].name: found 'linalg', which module_test_suite[0] declares already; "
        "expected another name",
    ),
}


@pytest.mark.parametrize("name", BAD_SUITES)
def test_an_invalid_suite_is_reported_once_with_its_line_and_key(folder: Path, name: str) -> None:
    text, message = BAD_SUITES[name]
    assert diagnostics_of(folder, CONFIGS + text) == [message]


SOURCE = "suite.toml:13: module_test_suite[0].srcs[0]: found"
BEARABLE = "expected a file name without blanks and : * ? [ ] \\, because it becomes the name of targets"
SYNTAX = "suite.toml:2: found a TOML syntax error in column"
UNREADABLE = "suite.toml: cannot be read:"
Files = dict[str, str | bytes | Callable[[Path], object] | None]

FILES_AND_ERRORS: dict[str, tuple[Files, str]] = {  # files beside the modules, or what makes them
    "a module that is a folder": ({"dir.mlir": Path.mkdir}, f"{SOURCE} the folder 'dir.mlir', expected a file"),
    "two sources of one name": ({"foo.mlirbc": "", "suite.toml": GOOD.replace("*.mlir", "*.mlir*")}, f"{SOURCE} 'foo.mlir' and 'foo.mlirbc', expected one source for each module name"),
    "a link to nothing": ({"gone.mlir": lambda path: path.symlink_to("nothing")}, f"{SOURCE} 'gone.mlir', a link to nothing; expected a file"),
    "a pipe": ({"pipe.mlir": os.mkfifo}, f"{SOURCE} 'pipe.mlir', which is no regular file; expected one"),
    "a file name that no target can bear": ({"a b.mlir": ""}, f"{SOURCE} ' ' in 'a b.mlir', {BEARABLE}"),
    "a file name that reads as another": ({"a\u202eb.mlir": ""}, f"{SOURCE} '\\u202e' in 'a\\u202eb.mlir', {BEARABLE}"),
    "a file name that is a glob": ({"a*b.mlir": ""}, f"{SOURCE} '*' in 'a*b.mlir', {BEARABLE}"),
    "no sign after a key": ({"suite.toml": '[[compiler_config]]\nname "x"\n'}, f"{SYNTAX} 6: expected '=' after a key in a key/value pair"),
    "a key that is there twice": ({"suite.toml": "root = true\nroot = false\n"}, f"{SYNTAX} 13: duplicate key"),
    "text without an end": ({"suite.toml": 'root = true\nname = """x'}, f"{SYNTAX} "),
    "tables nested too deeply": ({"suite.toml": "a = " + "[" * 100_000}, "suite.toml: found tables nested too deeply, expected TOML"),
    "no UTF-8": ({"suite.toml": b"# one\n# tw\xff\n"}, "suite.toml:2: found the byte 0xff, expected UTF-8 text"),
    "no UTF-8 after a byte order mark": ({"suite.toml": b"\xef\xbb\xbfroot = true\r\nnope = 1\r\n# \xff"}, "suite.toml:3: found the byte 0xff, expected UTF-8 text"),
    "a folder, which root cannot read either": ({"suite.toml": Path.mkdir}, f"{UNREADABLE} found a folder; expected a TOML file"),
    "a file that is not there": ({"suite.toml": None}, f"{UNREADABLE} No such file or directory; expected a TOML file"),
    "a name of a file above": ({"matrix.toml": CONFIGS, "suite.toml": COMPILER + SUITE},
        "suite.toml:2: compiler_config[0].name: found 'cc', which compiler_config[0] of matrix.toml declares already; "
        "expected another name, because a nearer file never redefines one, or matrix.toml with `root = true`, which sees no file above it"),
    "a suite in a matrix file": ({"matrix.toml": CONFIGS + SUITE, "suite.toml": SUITE.replace("linalg", "other")}, "matrix.toml:11: module_test_suite[0]: found a suite, expected it in a suite.toml"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES_AND_ERRORS)
def test_a_file_that_cannot_be_is_reported_once(folder: Path, name: str) -> None:
    files, message = FILES_AND_ERRORS[name]
    for file, made in ({"suite.toml": GOOD} | files).items():
        if callable(made):
            made(folder / file)
        elif made is not None:
            (folder / file).write_bytes(made.encode() if isinstance(made, str) else made)
    (found,) = diagnostics(folder / "suite.toml")
    assert found.startswith(message) if message.endswith(" ") else found == message


def test_a_byte_order_mark_is_passed_over(folder: Path) -> None:
    assert diagnostics_of(folder, "\ufeffroot = 1\r\n")[1:] == [
        "suite.toml:1: root: found the integer 1, expected true or false"
    ]


def test_a_link_out_of_the_folder_is_an_error(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "foo.mlir").symlink_to(folder / "foo.mlir")
    (inner / "up").symlink_to(folder)
    path = inner / "suite.toml"
    path.write_text(CONFIGS + SUITE.replace('"*.mlir"', '"foo.mlir", "up/bar.mlir"'))
    assert diagnostics(path) == [
        f"inner/suite.toml:13: module_test_suite[0].srcs[0]: found 'foo.mlir', which links to '{folder}/foo.mlir'; "
        "expected a file below this file's folder",
        f"inner/suite.toml:13: module_test_suite[0].srcs[1]: found 'up/bar.mlir', which links to '{folder}/bar.mlir'; "
        "expected a file below this file's folder",
    ]


def test_a_folder_that_cannot_be_read_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub/locked").mkdir(parents=True)
    scandir = os.scandir

    def refuse(path: str) -> object:  # root may read whatever it likes
        if str(path).rstrip("/").endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert diagnostics_of(folder, GOOD.replace('"*.mlir"', '"**/*.mlir", "sub/locked/lost.mlir"')) == [
        "suite.toml:13: module_test_suite[0].srcs[0]: found the folder 'sub/locked', which cannot be read: Permission denied",
        "suite.toml:13: module_test_suite[0].srcs[1]: found no file 'sub/locked/lost.mlir', expected one",
    ]


def test_all_errors_of_a_file_and_those_above_come_together_in_order(folder: Path) -> None:
    (folder / "matrix.toml").write_text(COMPILER + "timeout = -1\n" + RUNTIME + "typo = 1\n")
    (folder / "a").mkdir()
    (folder / "a" / "foo.mlir").touch()
    (folder / "a" / "suite.toml").write_text(SUITE.replace('"all"', '"missing"') + "extra = 2\n" + TARGET + "x = 1\n")
    found = diagnostics(folder / "a" / "suite.toml")
    assert [message.split(": ")[:2] for message in found] == [
        ["a/suite.toml:5", "module_test_suite[0].targets[0]"],
        ["a/suite.toml:6", "module_test_suite[0].extra"],
        ["a/suite.toml:11", "target_config[0].x"],
        ["matrix.toml:4", "compiler_config[0].timeout"],
        ["matrix.toml:8", "runtime_config[0].typo"],
    ]


def test_what_refers_to_an_invalid_config_is_not_blamed(folder: Path) -> None:
    (folder / "matrix.toml").write_text("broken [")
    (folder / "suite.toml").write_text(SUITE)
    assert [message.split(": ")[0] for message in diagnostics(folder / "suite.toml")] == ["matrix.toml:1"]


def test_suites_of_two_files_have_distinct_names(folder: Path) -> None:
    (folder / "matrix.toml").write_text(CONFIGS)
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "foo.mlir").touch()
        (folder / name / "suite.toml").write_text(SUITE)
    with pytest.raises(DiagnosticsError) as caught:
        load_all([folder])
    assert str(caught.value) == (
        "b/suite.toml:2: module_test_suite[0].name: found 'linalg', which a/suite.toml declares already; "
        "expected another name"
    )
    loader = DeclarationLoader()
    loader.load_suite_file(folder / "a" / "suite.toml")
    loader.load_suite_file(folder / "a" / "suite.toml")  # the same file again is no conflict


def test_two_targets_of_one_name_are_an_error(folder: Path) -> None:
    (folder / "foo_cc.mlir").touch()
    path = folder / "suite.toml"
    path.write_text(
        COMPILER.replace('"cc"', '"rt"') + CONFIGS.replace('compiler = "cc"', 'compiler = ["cc", "rt"]') + SUITE
    )
    (suite,) = DeclarationLoader().load_suite_file(path)
    with pytest.raises(DiagnosticsError) as caught:
        expand_suite(suite, Registry())
    assert str(caught.value) == (
        "suite.toml:14: module_test_suite[0]: found the target name 'foo_cc_rt' for module 'foo' with compiler config "
        "'cc' on runtime config 'rt' and module 'foo_cc' with compiler config 'rt', expected another name for one of "
        "the modules or configs"
    )


KEYS = [
    "name",
    "compiler",
    "driver",
    "flags",
    "env",
    "axes",
    "exclude",
    "extends",
    "devices",
    "runtimes",
    "tags",
    "srcs",
]
KEYS += ["targets", "kind", "module", "match", "exclude_targets", "timeout", "host_os", "x y"]
TEXTS = st.sampled_from(
    ["a", "b", "cc", "{a}", "cc-{a}", "*", "**", "../x", "", "a_b", "foo.mlir", "*.mlir", "[", "check"]
)
VALUES = st.recursive(
    TEXTS | st.integers(-1, 2) | st.booleans() | st.floats(allow_nan=False, width=16),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(st.sampled_from(KEYS), VALUES | st.lists(TEXTS, max_size=3), max_size=7)
SORTS = st.sampled_from(["compiler_config", "runtime_config", "target_config", "module_test_suite", "root", "typo"])
FILES = st.dictionaries(SORTS, st.lists(TABLES, max_size=3) | VALUES, max_size=5)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    return {"Infinity": "inf", "-Infinity": "-inf"}.get(text := json.dumps(value), text)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=100, deadline=None
)
@given(data=FILES)
@pytest.mark.slow
def test_whatever_stands_in_a_file_is_a_suite_or_an_error(folder: Path, data: dict[str, object]) -> None:
    path = folder / "suite.toml"
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in data.items()))
    diagnostics: Sequence[Diagnostic] = ()
    suites: Sequence[Suite] = ()
    try:
        suites = DeclarationLoader().load_suite_file(path)
        for suite in suites:
            expand_suite(suite, Registry())
    except DiagnosticsError as error:
        diagnostics = error.diagnostics
    assert suites or diagnostics
    assert [diagnostic for diagnostic in diagnostics if diagnostic.key_path and not diagnostic.line] == []


def test_patterns_are_bounded_because_long_ones_take_minutes(folder: Path) -> None:
    long = "[" * 20_000
    suite = SUITE.replace('"*.mlir"', f'"{long}"') + f'only = ["{long}"]\n'
    assert diagnostics_of(folder, CONFIGS + suite) == [
        f"suite.toml:{line}: module_test_suite[0].{key}[0]: found the string '{'[' * 60}…', 20000 characters long, "
        "expected at most 1000 characters"
        for line, key in ((13, "srcs"), (16, "only"))
    ]
