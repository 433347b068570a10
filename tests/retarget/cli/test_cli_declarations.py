"""`retarget list`, `check`, `explain`, `schema`: what they print and how they exit."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime, suite, table, target
from extension_texts import TINY_COMPILER
from retarget.cli.commands import _COMMANDS
from retarget.cli.main import TRACEBACK_VARIABLE, _parser, main
from retarget.extension.registry import load_commands
from retarget.targets.availability import Platform

Run = Callable[..., tuple[int, str, str]]

EXTENSION = (
    "from retarget.extension import hookimpl, RunPlan\n"
    + TINY_COMPILER
    + """\
    def tags(self, config): return ["backend-of-" + config.name]
    def reproduce(self, target, flags, output):
        return ["tinyc", *flags, target.module.path.name, "-o", str(output)]

class Driver(retarget.extension.Driver):
    name = "toy"
    def probe(self): return []
    def open(self, config): ...
    def run_outside(self, config, artifact, function, kind):
        return RunPlan(argv=("toyrun", str(artifact), function), env=(("TOY", "1"),))

class Loader(retarget.extension.CaseLoader):
    kind = "lines"
    def load(self, request): return []

@hookimpl
def retarget_compilers(): return [Compiler()]
@hookimpl
def retarget_drivers(): return [Driver()]
@hookimpl
def retarget_case_loaders(): return [Loader()]
"""
)

MATRIX = declarations(
    compiler("base", "tiny", flags=["-base"], env={"LEVEL": "2 3"}),
    table("compiler_config", name="cc", extends="base", flags=["-cc"], tags=["fast"]),
    runtime("rt", "toy", device="toy://0", flags=["--rt"], deps=["//toy"], defines={"TOY": "ON"}),
    runtime("elsewhere", "toy", host_os="ios", requires=["memory >= 8 GiB"]),
    target("all", "cc", ["rt", "elsewhere"]),
)

SUITE = declarations(
    suite("first", "*.lines", "lines", compiler_flags=["-suite"]),
    table("module_test_suite.module", match="bar", exclude_targets=["rt"], reason="the toy cannot"),
    table("module_test_suite.module", match="foo", flags=["-foo"], tags=["odd"]),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETARGET_EXTENSIONS", "cli_extension")
    monkeypatch.delitem(sys.modules, "cli_extension", raising=False)
    monkeypatch.setattr("retarget.session.commands.tempfile.gettempdir", lambda: "/tmp")  # noqa: S108  only printed
    for name, text in (
        ("extensions/cli_extension.py", EXTENSION),
        (".git/HEAD", ""),
        ("suites/matrix.toml", MATRIX),
        ("suites/suite.toml", SUITE),
        ("suites/foo.lines", ""),
        ("suites/bar.lines", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "extensions")
    return tmp_path


@pytest.mark.parametrize("command", [["list"], ["explain"], ["run"], ["emit", "ctest", "-o", "out"]])
def test_a_tag_that_no_target_has_is_named(project: Path, run: Run, command: list[str]) -> None:
    status, _, err = run(*command, "-m", "fasst")
    assert err.splitlines()[0] == "note: -m 'fasst': no target has the tag 'fasst'; did you mean 'fast'?"
    assert status == (0 if command == ["list"] else 2)


def test_a_target_as_json(project: Path, run: Run) -> None:
    out = run("list", "targets", "suites/suite.toml", "--format", "json", "-m", "rt")[1]
    assert json.loads(out) == {
        "targets": [
            {
                "name": "foo_cc_rt",
                "sort": "run",
                "suite": "first",
                "kind": "lines",
                "module": "foo",
                "source": "suites/foo.lines",
                "compile_target": "foo_cc",
                "compiler_config": "cc",
                "runtime_config": "rt",
                "requires": [],
                "flags": ["-base", "-cc", "-suite", "-foo"],
                "timeout": None,
                "tags": ["run", "first", "cc", "backend-of-cc", "fast", "all", "odd", "rt", "toy", "toy://0"],
                "marks": [
                    {"mark": "suite", "name": "first"},
                    {"mark": "compiler", "name": "cc"},
                    {"mark": "backend", "name": "backend-of-cc"},
                    {"mark": "runtime", "name": "rt"},
                    {"mark": "driver", "name": "toy"},
                    {"mark": "device", "name": "toy://0"},
                ],
            }
        ]
    }


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (
            "runtimes",
            [
                f"RUNTIME CONFIG  DRIVER  TOOLCHAIN  HOST  RUN TARGETS  REQUIRES         {'NEEDS':12}  FILE",
                f"elsewhere       toy                ios   2            memory >= 8 GiB  {'':12}  suites/matrix.toml",
                f"rt              toy                any   1            {'':15}  //toy TOY=ON  suites/matrix.toml",
            ],
        ),
        (
            "compilers",
            [
                "COMPILER CONFIG  COMPILER  TOOLCHAIN  COMPILE TARGETS  TAGS  ENVIRONMENT  FLAGS",
                "cc               tiny                 2                fast  LEVEL='2 3'  -base -cc",
            ],
        ),
        (
            "suites",
            [
                "SUITE  KIND   MODULES  COMPILE TARGETS  RUN TARGETS  REQUIRES  FILE",
                "first  lines  2        2                3                      suites/suite.toml",
            ],
        ),
        (
            "tags",
            [
                "TAG            TARGETS",
                "all            5",
                "backend-of-cc  5",
                "cc             5",
                "compile        2",
                "elsewhere      2",
                "fast           5",
                "first          5",
                "ios            2",
                "odd            3",
                "rt             1",
                "run            3",
                "toy            3",
                "toy://0        1",
            ],
        ),
    ],
)
def test_the_other_listings(project: Path, run: Run, what: str, lines: list[str]) -> None:
    status, out, _ = run("list", what)
    assert (status, out.splitlines()) == (0, lines)


@pytest.mark.parametrize("what", ["targets", "compile", "runtimes", "compilers", "suites", "tags"])
def test_each_listing_is_json_too(project: Path, run: Run, what: str) -> None:
    status, out, _ = run("list", what, "--format", "json")
    assert status == 0
    key = {"compile": "targets"}.get(what, what)
    assert json.loads(out)[key]


def test_builds_are_a_file_that_cmake_includes(project: Path, tmp_path: Path, run: Run) -> None:
    status, out, _ = run("list", "runtimes", "--format", "cmake")
    assert status == 0
    show = [f"message(${{Retarget_RUNTIME_{name}}})" for name in ("rt_DEPS", "rt_DEFINES", "elsewhere_HOST_OS")]
    script = tmp_path / "show.cmake"
    loop = ["foreach(one IN LISTS Retarget_RUNTIMES)", "message(${one})", "endforeach()"]
    script.write_text("\n".join([out, *loop, *show]))
    cmake = Path(pytest.importorskip("cmake").CMAKE_BIN_DIR) / "cmake"
    shown = subprocess.run([cmake, "-P", script], check=True, capture_output=True, text=True).stderr
    assert shown.splitlines() == ["elsewhere", "rt", "//toy", "TOY=ON", "ios"]


def test_builds_are_a_file_that_bazel_loads(project: Path, run: Run) -> None:
    status, out, _ = run("list", "runtimes", "--format", "bazel")
    assert status == 0
    of_build = {"drivers": ["toy"], "host_arch": []}
    assert ast.literal_eval(out.partition("RUNTIMES = ")[2]) == [
        {
            "name": "elsewhere",
            "runtime_configs": ["elsewhere"],
            "deps": [],
            "host_os": ["ios"],
            "defines": [],
            **of_build,
        },
        {"name": "rt", "runtime_configs": ["rt"], "deps": ["//toy"], "host_os": [], "defines": ["TOY=ON"], **of_build},
    ]


def test_runtime_configs_of_one_name_share_an_entry_or_have_builds_of_two_names(project: Path, run: Run) -> None:
    for name, needs in (("same", ["//toy"]), ("more", ["//toy", "//more"])):
        folder = project / name
        folder.mkdir()
        (folder / "a.lines").write_text("")
        (folder / "suite.toml").write_text(
            declarations(
                compiler("cc", "tiny"),
                runtime("rt", "toy", deps=needs, defines={"TOY": "ON"}),
                target("all", "cc", ["rt"]),
                suite(name, "*.lines", "lines"),
            )
        )
    status, out, err = run("list", "runtimes", "--format", "cmake")
    assert (status, err) == (0, "")
    assert [line for line in out.splitlines() if "rt" in line and ("CONFIGS" in line or "DEPS" in line)] == [
        "set(Retarget_RUNTIME_rt_RUNTIME_CONFIGS [=[rt]=])",
        "set(Retarget_RUNTIME_rt_DEPS [=[//toy;//more]=])",
        "set(Retarget_RUNTIME_rt_2_RUNTIME_CONFIGS [=[rt]=])",
        "set(Retarget_RUNTIME_rt_2_DEPS [=[//toy]=])",
    ]
    status, out, _ = run("list", "runtimes", "--format", "bazel")
    assert [one["name"] for one in ast.literal_eval(out.partition("RUNTIMES = ")[2])] == ["rt", "rt_2", "elsewhere"]


def test_check_shows_what_is_in_order(project: Path, run: Run) -> None:
    assert run("check") == (0, "no errors in 2 files, 1 suite, 2 compile targets, 3 run targets\n", "")


def test_check_shows_errors_and_what_no_extension_brings(project: Path, run: Run) -> None:
    matrix = project / "suites" / "matrix.toml"
    matrix.write_text(matrix.read_text().replace('driver = "toy"\nhost_os', 'driver = "tay"\nhost_os'))
    unused = '\n[[compiler_config]]\nname = "unused"\ncompiler = "gcc"\n'
    plain = '\n[[compiler_config]]\nname = "plain"\ncompiler = "tiny"\ntoolchain = "own"\n'
    own = '\n[[toolchain]]\nname = "own"\npath = "absent"\n'
    matrix.write_text(matrix.read_text() + unused + plain + own)
    suite = project / "suites" / "suite.toml"
    suite.write_text(suite.read_text().replace('kind = "lines"', 'kind = "linse"'))
    status, out, err = run("check", "suites")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "suites/matrix.toml:23: runtime_config[1].driver: found the driver 'tay', expected a registered one: "
        f"{_others('drivers', 'toy')}; did you mean 'toy'?",
        "suites/matrix.toml:34: compiler_config[2].compiler: found the compiler 'gcc', expected a registered one: "
        f"{_others('compilers', 'tiny')}; is the extension that provides it installed?",
        "suites/matrix.toml:39: compiler_config[3].toolchain: found 'own', but the compiler 'tiny' uses no toolchains; "
        "expected none",
        "suites/suite.toml:4: module_test_suite[0].kind: found the case loader 'linse', expected a registered one: "
        f"{_others('case_loaders', 'lines')}; did you mean 'lines'?",
    ]


def _others(sort: str, name: str) -> str:
    from retarget.extension.registry import load_extensions

    names = sorted(getattr(load_extensions(), sort))
    assert name in names
    return ", ".join(names)


def test_check_reports_a_requirement_whose_prefix_no_driver_has(project: Path, run: Run) -> None:
    matrix, suite = project / "suites/matrix.toml", project / "suites/suite.toml"
    text = matrix.read_text().replace('"memory >= 8 GiB"', '"toy.lanes >= 4", "toi.lanes", "vulkan.shaderInt64"')
    matrix.write_text(text)
    override = '[[module_test_suite.module]]\nmatch = "*"\nrequires = ["toi.b"]\n'
    head, table, rest = suite.read_text().partition("[[module_test_suite]]\n")
    suite.write_text(f'{head}{table}requires = ["toi.a"]\n{rest}{override}')
    status, _, err = run("check", "suites")
    assert status == 1
    said = ": found the prefix 'toi', which no driver here has; expected one of cpu, cuda, "
    places = [line.partition(said)[0].partition(": ")[2] for line in err.splitlines()]
    wanted = ["runtime_config[1]", "module_test_suite[0]", "module_test_suite[0].module[2]"]
    assert sorted(places) == sorted(f"{one}.requires[{int(one == wanted[0])}]" for one in wanted)
    assert err.startswith("suites/matrix.toml:25: ")
    assert err.endswith("; did you mean 'toy'?\n")


def test_check_reports_a_profile_that_is_not_there_or_of_another_driver(project: Path, run: Run) -> None:
    matrix, profile = project / "suites" / "matrix.toml", project / "suites" / "toy.toml"
    matrix.write_text(matrix.read_text().replace('host_os = "ios"\n', 'host_os = "ios"\nprofile = "toy.toml"\n'))
    status, out, err = run("check", "suites")
    assert (status, out) == (1, "")
    assert f"{profile.relative_to(project)}: cannot be read: " in err
    profile.write_text('format = 1\ndriver = "cuda"\n')
    assert run("check", "suites") == (
        1,
        "",
        "suites/matrix.toml:25: runtime_config[1].profile: found 'toy', a profile of the driver 'cuda', "
        "expected one of 'toy'\n",
    )


def test_check_of_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("check") == (1, "", "found no suite.toml and no matrix.toml at or below .\n")


def test_explain_shows_where_everything_comes_from(project: Path, run: Run) -> None:
    assert run("explain", "suites/suite.toml::first::foo_cc_rt") == (
        0,
        """\
foo_cc_rt (run target)
  module           foo                       suites/foo.lines
  suite            first                     suites/suite.toml:1
  kind             lines                     suites/suite.toml:4
  target config    all                       suites/matrix.toml:27
  compiler config  cc (compiler tiny)        suites/matrix.toml:7
  runtime config   rt (driver toy, toy://0)  suites/matrix.toml:13
  compile target   foo_cc
  override         match foo                 suites/suite.toml:13
  timeout          the default
compiler flags
  -base   suites/matrix.toml:4
  -cc     suites/matrix.toml:10
  -suite  suites/suite.toml:6
  -foo    suites/suite.toml:15
compiler environment
  LEVEL  2 3
runtime flags
  --rt  suites/matrix.toml:17
a build of the runtime needs
  //toy
  TOY    ON
tags
  run            the sort of target
  first          the suite
  cc             the compiler config
  backend-of-cc  derived by compiler tiny
  fast           tags of compiler config cc
  all            the target config
  odd            an override of the suite
  rt             the runtime config
  toy            the driver
  toy://0        the device
by hand
  LEVEL='2 3' tinyc -base -cc -suite -foo foo.lines -o /tmp/foo_cc.bin
  TOY=1 toyrun /tmp/foo_cc.bin FUNCTION
""",
        "",
    )


def test_explain_shows_no_command_for_a_module_that_is_made_yet(cwd: Path, run: Run) -> None:
    (cwd / "nodes.toml").write_text(
        'format = 1\npackage = "onnx 1.23.2"\n\n[tests]\ntest_abs = "op-Abs opset-13 f32"\n'
    )
    (cwd / "suite.toml").write_text(
        '[[compiler_config]]\nname = "c"\ncompiler = "iree"\n[[target_config]]\nname = "t"\ncompiler = "c"\n'
        'runtimes = []\n[[module_test_suite]]\nname = "n"\nsrcs = ["nodes.toml"]\nkind = "onnx-backend"\n'
        'targets = ["t"]\n'
    )
    lines = run("explain", "test_abs_c")[1].splitlines()
    assert lines[lines.index("by hand") + 1 :] == [
        "  pytest generates the module from nodes.toml when it runs the target; a failure names the file"
    ]


def test_explain_says_why_requirements_are_not_asked_here(project: Path, run: Run) -> None:
    out = run("explain", "foo_cc_elsewhere")[1]
    system, architecture = Platform.here()
    reason = f"runtime config 'elsewhere' needs ios; this host is {system} on {architecture}"
    assert f"requirements\n  memory >= 8 GiB (suites/matrix.toml:25)  not asked: {reason}\n" in out


def test_explain_says_which_override_takes_a_target_out(project: Path, run: Run) -> None:
    assert run("explain", "bar_cc_rt") == (
        0,
        """\
bar_cc_rt is taken out of suite first
  by override      suites/suite.toml:8
  match            bar
  exclude_targets  rt
  reason           the toy cannot
""",
        "",
    )


def test_errors_of_declarations_exit_with_1(project: Path, run: Run) -> None:
    (project / "suites" / "suite.toml").write_text("x = 1\n")
    for command in (["list"], ["explain", "foo_cc"], ["check"]):
        status, out, err = run(*command)
        assert (status, out) == (1, "")
        assert err.startswith(
            "suites/suite.toml: found no [[module_test_suite]], expected one\nsuites/suite.toml:1: x:"
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["list", "-m", "a b"],
            "retarget: Wrong expression passed to '-m': a b: at column 3: expected end of input; got identifier\n",
        ),
        (
            ["explain"],
            "retarget: expected the name of a target (`retarget list` shows them all), or -m or -k with an "
            "expression\n",
        ),
        (
            ["list", "nowhere"],
            "retarget: found no file or folder nowhere, and it is no view; expected a path, or one of targets, "
            "compile, runtimes, compilers, suites, tags\n",
        ),
        (
            ["list", "compilerz"],
            "retarget: found no file or folder compilerz, and it is no view; expected a path, or one of targets, "
            "compile, runtimes, compilers, suites, tags; did you mean 'compilers'?\n",
        ),
        (["list", "tags", "nowhere"], "retarget: found no file or folder nowhere\n"),
        (["list", "tags", "--format", "json", "nowhere"], "retarget: found no file or folder nowhere\n"),
        (["list", "--ignore", "nowhere"], "retarget: --ignore: found no file or folder nowhere\n"),
        (["check", "nowhere"], "retarget: found no file or folder nowhere\n"),
        (["explain", "fo_cc_rt"], "retarget: found no target 'fo_cc_rt' in .; did you mean 'foo_cc_rt'?\n"),
        (
            ["list", "tags", "--format", "bazel"],
            "retarget: argument --format: found 'bazel' for tags, expected text or json; runtimes has this one\n",
        ),
    ],
)
def test_wrong_usage_exits_with_2(project: Path, run: Run, words: list[str], message: str) -> None:
    assert run(*words) == (2, "", message)


@pytest.mark.parametrize("words", [[], ["lst"], ["list", "--formt"], ["schema", "--formt"]])
def test_usage_is_shown_for_words_that_do_not_parse(run: Run, words: list[str]) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.startswith("usage: retarget")


def test_an_error_of_our_own_shows_no_traceback(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("boom")  # noqa: EM101  any error

    monkeypatch.setattr("retarget.cli.list.read_declared", fail)
    monkeypatch.delenv(TRACEBACK_VARIABLE, raising=False)
    status, _, err = run("list")
    reported = "retarget: this should not have happened: ValueError: boom\nset RETARGET_TRACEBACK=1 to see where\n"
    assert (status, err) == (1, reported)
    monkeypatch.setenv(TRACEBACK_VARIABLE, "1")
    with pytest.raises(ValueError, match="boom"):
        main(["list"])


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The shell of the test finds the extension as this process does.
    monkeypatch.setenv("PYTHONPATH", str(project / "extensions"), prepend=os.pathsep)
    command = f"{sys.executable} -m retarget.cli list tags --format json | head -c 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.parametrize(
    ("words", "imported"),
    [(["schema"], ["files.schema"]), (["--help"], []), (["cache", "--help"], ["artifacts.cache"])],
)
def test_only_the_command_that_runs_is_imported(words: list[str], imported: list[str]) -> None:
    modules = [*(command.module for command in _COMMANDS), "retarget_iree.import_xfails", "numpy", "iree"]
    program = f"import sys, atexit; atexit.register(lambda: print([m for m in {modules} if m in sys.modules]))\n"
    program += f"from retarget.cli import main; main({words})\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"{[f'retarget.cli.{name}' for name in imported]}\n")


@pytest.mark.slow
def test_characters_that_the_output_does_not_have_are_escaped(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[[expectation]]\nmatch = "foo"\nwhen = "run"\nstage = "run"\nreason = "bedauerlich, für alle"\n'
    (project / "suites/expectations.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(project / "extensions"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    command = [sys.executable, "-m", "retarget.cli", "explain", "foo_cc_rt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "    reason    bedauerlich, f\\xfcr alle" in done.stdout.splitlines()


def test_an_unknown_command_is_compared_with_the_known_ones(run: Run) -> None:
    assert run("lits")[2].endswith("retarget: error: found the command 'lits'; did you mean 'list'?\n")
    assert "; expected one of init, list, check, " in run("xyz")[2]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("command", list(load_commands().provided))
def test_help_has_examples_that_parse_and_the_exit_status(command: str, run: Run) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert re.search(r"^exit status:\n  0 +\w", out, re.MULTILINE)
    examples = [line for line, _ in load_commands().provided[command].examples]
    for example in examples:
        assert f"  {example}" in out
        words = shlex.split(example.partition(" > ")[0])
        assert words[:2] == ["retarget", command]
        _parser(words[1:]).parse_args(words[1:])


def test_a_folder_that_cannot_be_read_is_an_error_without_a_traceback(project: Path, run: Run) -> None:
    (project / "suites/conftest.py").write_text(  # whoever runs tests as root can read every folder
        "def pytest_collect_directory(path):\n"
        "    raise PermissionError(13, 'Permission denied', str(path / 'locked/conftest.py'))\n"
    )
    (project / "suites/locked").mkdir()
    status, out, err = run("list")
    assert (status, out) == (1, "")
    assert err.splitlines()[0] == "cannot read suites/locked/locked/conftest.py: Permission denied"
    assert "Traceback" not in err


def test_a_named_folder_that_cannot_be_read_is_wrong_usage(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_permission(path: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", without_permission)
    assert run("check", "suites") == (2, "", "retarget: cannot read 'suites': Permission denied\n")


def test_names_that_the_system_refuses_are_errors(project: Path, run: Run) -> None:
    long = "x" * 5000
    for words in (["list", long], ["check", long], ["show", long], ["explain", "foo", long], ["init", long]):
        status, _, err = run(*words)
        assert status in {1, 2}
        assert "File name too long" in err


def test_a_link_to_a_folder_above_is_not_followed(project: Path, run: Run) -> None:
    (project / "suites" / "up").symlink_to(project)
    (project / "suites" / "round").symlink_to("round")
    status, out, _ = run("list", "./suites")
    assert (status, out.count("\n")) == (0, 6)


def test_a_named_pipe_is_not_waited_for(tmp_path: Path, run: Run) -> None:
    os.mkfifo(tmp_path / "config.json")
    assert run("import-xfails", str(tmp_path / "config.json"))[0] == 1
    assert run("show", str(tmp_path / "config.json"))[0] == 1
