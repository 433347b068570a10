"""Config files of iree-test-suites become configs and few rules that say the same."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import tomli
from declaration_texts import compiler, declarations, runtime, target
from hypothesis import given
from retarget.cli import main
from retarget.model import CompileTarget
from retarget.session import DeclarationLoader, RuleSet, expand_suite, load_extensions
from retarget_iree.import_xfails import LISTS

CPU = """\
{
  "config_name": "cpu_llvm_sync",  // as its authors call it
  "iree_compile_flags": [
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-input-demote-f64-to-f32=false",
  ],
  "iree_run_module_flags": ["--device=local-sync"],
  "skip_compile_tests": ["node/test_det"],
  "skip_run_tests": [
    // hangs
    "node/test_loop"
  ],
  "expected_compile_failures": ["node/test_dft", "node/test_edge_pad"],
  "expected_run_failures": ["node/test_mod", "node/test_top_k"],
}
"""
GPU = """\
{
  "config_name": "gpu_vulkan",
  "iree_compile_flags": ["--iree-hal-target-device=vulkan"],
  "iree_run_module_flags": ["--device=vulkan://0", "--device_allocator=caching"],
  "skip_compile_tests": [],
  "skip_run_tests": [],
  "expected_compile_failures": ["node/test_dft", "node/test_edge_pad", "node/test_loop"],
  "expected_run_failures": ["node/test_top_k"]
}
"""
MATRIX = declarations(
    "# Taken over from cpu.json, gpu.json.\n",
    "root = true\n",
    compiler("cpu-llvm-sync", flags=["--iree-hal-target-backends=llvm-cpu", "--iree-input-demote-f64-to-f32=false"]),
    compiler("gpu-vulkan", flags=["--iree-hal-target-device=vulkan"]),
    runtime("local-sync"),
    runtime("vulkan", "vulkan", device="vulkan://0", flags=["--device_allocator=caching"]),
    target("cpu-llvm-sync", "cpu-llvm-sync", ["local-sync"]),
    target("gpu-vulkan", "gpu-vulkan", ["vulkan"]),
)
SYNC = "compiler(name='cpu-llvm-sync')"
COMPILE, RUN = ["compile", "crash"], ["load", "run", "compare", "crash"]
RULES = [
    ("node/test_det", SYNC, "skip", "skip_compile_tests of cpu_llvm_sync"),
    (
        ["node/test_dft", "node/test_edge_pad"],
        "compile",
        COMPILE,
        "expected_compile_failures of cpu_llvm_sync, gpu_vulkan",
    ),
    ("node/test_loop", "compile and compiler(name='gpu-vulkan')", COMPILE, "expected_compile_failures of gpu_vulkan"),
    ("node/test_loop", f"run and {SYNC}", "skip", "skip_run_tests of cpu_llvm_sync"),
    ("node/test_mod", f"run and {SYNC}", RUN, "expected_run_failures of cpu_llvm_sync"),
    ("node/test_top_k", "run", RUN, "expected_run_failures of cpu_llvm_sync, gpu_vulkan"),
]
SUITE = """\
[[module_test_suite]]
name = "onnx"
srcs = ["**/run_module_io_flags.txt"]
kind = "run-module"
targets = ["cpu-llvm-sync", "gpu-vulkan"]
"""
COUNTS = "10 listed tests of 2 configs became 6 rules\n"


@pytest.fixture
def folder(cwd: Path) -> Path:
    (cwd / "cpu.json").write_text(CPU)
    (cwd / "gpu.json").write_text(GPU)
    return cwd


def read(folder: Path, name: str) -> dict[str, Any]:
    return tomli.loads((folder / "out" / name).read_text())


def rules(folder: Path) -> list[tuple[object, ...]]:
    """What each rule matches, when, what it expects, and where that is taken over from."""
    return [
        (
            one["match"],
            one.get("when"),
            one.get("outcome") or one["stage"],
            one["reason"].removeprefix("taken over from "),
        )
        for one in read(folder, "expectations.toml").get("expectation", [])
    ]


def test_configs_are_written_to_a_folder_with_the_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-xfails", "cpu.json", "gpu.json", "--output", "out", "--suite", "onnx"]) == 0
    assert capsys.readouterr().out == COUNTS
    assert (folder / "out/matrix.toml").read_text() == MATRIX
    assert (folder / "out/expectations.toml").read_text().startswith("# Taken over from cpu.json, gpu.json.\n\n")
    assert rules(folder) == RULES
    assert (folder / "out/suite.toml").read_text() == SUITE


def test_a_rule_of_some_configs_names_each(folder: Path) -> None:
    two = GPU.replace("gpu_vulkan", "gpu_two").replace(
        '"skip_compile_tests": []', '"skip_compile_tests": ["node/test_det"]'
    )
    (folder / "two.json").write_text(two)
    assert main(["import-xfails", "cpu.json", "gpu.json", "two.json", "--output", "out"]) == 0
    found = {(str(match), reason.partition(" of ")[0]): when for match, when, _, reason in rules(folder)}  # type: ignore[attr-defined]
    assert found["node/test_det", "skip_compile_tests"] == f"{SYNC} or compiler(name='gpu-two')"
    assert found["node/test_loop", "expected_compile_failures"] == (
        "compile and (compiler(name='gpu-vulkan') or compiler(name='gpu-two'))"
    )


def test_what_is_there_is_not_overwritten_unless_forced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "matrix.toml").write_text("# mine\n")
    (folder / "suite.toml").write_text(SUITE.replace(', "gpu-vulkan"', ""))
    assert main(["import-xfails", "cpu.json", "--output", ".", "--suite", "onnx"]) == 1
    assert capsys.readouterr().err == (
        "found matrix.toml, expected none or the same; import into another folder, or replace them with --force; "
        "nothing was written\n"
    )
    assert (folder / "matrix.toml").read_text() == "# mine\n"
    assert not (folder / "expectations.toml").exists()
    assert main(["import-xfails", "cpu.json", "--output", ".", "--force"]) == 0
    assert "cpu-llvm-sync" in (folder / "matrix.toml").read_text()


def test_configs_see_none_of_those_above_them(folder: Path) -> None:
    (folder / "matrix.toml").write_text('[[runtime_config]]\nname = "local-sync"\ndriver = "local-sync"\n')
    assert main(["import-xfails", "cpu.json", "--output", "out"]) == 0
    assert DeclarationLoader().read_matrix_file(folder / "out/matrix.toml") == ()


def test_configs_that_run_alike_share_a_runtime_config(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-xfails", "cpu.json", "cpu-O3=cpu.json"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("[[runtime_config]]") == 1
    assert printed.out.count("[[compiler_config]]") == 2
    assert printed.err.splitlines()[-1] == "12 listed tests of 2 configs became 4 rules"


def test_configs_that_run_otherwise_on_one_driver_keep_their_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.json").write_text(GPU.replace("gpu_vulkan", "other").replace("vulkan://0", "vulkan://1"))
    assert main(["import-xfails", "gpu.json", "other.json"]) == 0
    out = capsys.readouterr().out
    assert 'name = "gpu-vulkan"\ndriver = "vulkan"\ndevice = "vulkan://0"' in out
    assert 'name = "other"\ndriver = "vulkan"\ndevice = "vulkan://1"' in out


def test_an_entry_of_two_lists_is_taken_once_and_that_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CPU.replace('["node/test_dft", ', '["node/test_dft", "node/test_det", ')
    (folder / "cpu.json").write_text(text)
    assert main(["import-xfails", "cpu.json"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith(
        "note: cpu.json: node/test_det is in skip_compile_tests too; left out of expected_compile_failures\n"
    )
    assert printed.out.count("node/test_det") == 1


ERRORS = {  # text of the list, what is written for it, the error
    '["node/test_dft"': {'["node/test_dft" 3': 'cpu.json: found no valid JSON: line 13 Unexpected "3" at column 49'},
    '"config_name": "cpu_llvm_sync",': {"": "cpu.json: Object missing required field `config_name`"},
    '"cpu_llvm_sync"': {'""': "cpu.json: config_name: Expected `str` of length >= 1"},
    '"expected_run_failures": ["node/test_mod", "node/test_top_k"]': {
        '"expected_run_failures": ["node/test_mod"], "expected_run_failures": ["node/test_top_k"]': (
            "cpu.json: found no valid JSON: found the key 'expected_run_failures' twice in one object, "
            "expected each once"
        ),
        '"tests_and_expected_outcomes": {"node/test_mod": "fails"}': (
            "cpu.json: tests_and_expected_outcomes.node/test_mod: found 'fails', expected one of pass, "
            "skip, fail-import, fail-compile, fail-run"
        ),
    },
    '["node/test_det"]': {
        '["\\ud800"]': (
            "cpu.json: found no valid JSON: 'utf-8' codec can't encode character '\\ud800' in "
            "position 210: surrogates not allowed"
        ),
        "[null]": "cpu.json: skip_compile_tests[0]: Expected `str`, got `null`",
        '["node/test_*"]': "cpu.json: skip_compile_tests: found 'node/test_*', expected a test's name and no glob",
    },
    (
        '"--iree-hal-target-backends=llvm-cpu",\n    "--iree-input-demote-f64-to-f32=false",\n  ],\n  '
        '"iree_run_module_flags": ["--device=local-sync"],'
    ): {
        '],\n"iree_run_module_flags": ["--trace"],': (
            "cpu.json: iree_run_module_flags: found no --device=…, expected one: it names the driver to run with"
        )
    },
}


@pytest.mark.parametrize(
    ("old", "new", "message"), [(old, *error) for old, errors in ERRORS.items() for error in errors.items()]
)
def test_errors_have_their_place(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    assert old in CPU
    (folder / "cpu.json").write_text(CPU.replace(old, new, 1))
    assert main(["import-xfails", "cpu.json", "gpu.json"]) == 1
    assert capsys.readouterr().err == f"{message}\n"


def test_the_errors_of_all_files_are_reported_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cpu.json").write_text("[]")
    (folder / "gpu.json").write_bytes(b"\xff")
    assert main(["import-xfails", "cpu.json", "gpu.json", "none.json"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "cpu.json: Expected `object`, got `array`",
        "gpu.json: found no valid JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "none.json: cannot be read: No such file or directory; expected a config file",
    ]


@pytest.mark.parametrize(
    ("name", "found"), [("run", "found 'run', which distinguishes compile targets"), ("+", "found ''")]
)
def test_a_name_that_no_config_can_bear_is_an_error_that_says_how_to_give_another(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, found: str
) -> None:
    (folder / "gpu.json").write_text(GPU.replace("gpu_vulkan", "run"))
    assert main(["import-xfails", f"{name}=gpu.json"]) == 1
    reported = capsys.readouterr().err
    assert reported.startswith(f"gpu.json: config_name: {found}")
    assert reported.endswith(": NAME=gpu.json gives it\n")
    assert main(["import-xfails", "walks=gpu.json"]) == 0


def test_two_configs_of_one_name_are_an_error_that_says_how_to_rename_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gpu.json").write_text(GPU.replace("gpu_vulkan", "cpu-llvm-sync"))
    assert main(["import-xfails", "cpu.json", "gpu.json"]) == 1
    assert capsys.readouterr().err == (
        "gpu.json: config_name: found the name 'cpu-llvm-sync', which cpu.json gives its config too; "
        "expected another one: NAME=gpu.json gives it\n"
    )


def test_a_suite_needs_a_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-xfails", "cpu.json", "--suite", "my suite"]) == 2
    assert capsys.readouterr().err.startswith("retarget: argument --suite: found 'my suite', expected a name")


TESTS = ("a", "b", "c", "d")
CONFIGS = {"local_sync": ("--device=local-sync",), "y_two": ("--device=local-sync",), "z_three": ("--device=vulkan",)}


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {
            name: st.fixed_dictionaries({key: st.lists(st.sampled_from(TESTS), unique=True) for key in LISTS})
            for name in CONFIGS
        }
    )
)
def test_each_entry_has_its_rule_and_nothing_else_has_one(lists: dict[str, dict[str, list[str]]]) -> None:
    expect_rules(lists)


def test_a_rule_of_a_config_that_is_named_as_its_driver_is_about_no_other_config_of_that_driver() -> None:
    own = {"skip_compile_tests": ["a"], "skip_run_tests": ["b"], "expected_run_failures": ["c"]}
    expect_rules({name: {key: [] for key in LISTS} | (own if name == "local_sync" else {}) for name in CONFIGS})


def expect_rules(lists: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for config, flags in CONFIGS.items():
            head = {"config_name": config, "iree_compile_flags": [f"--{config}"], "iree_run_module_flags": flags}
            (folder / f"{config}.json").write_text(json.dumps({**head, **lists[config]}))
        files = [str(folder / f"{config}.json") for config in CONFIGS]
        assert main(["import-xfails", *files, "--output", name, "--suite", "all"]) == 0
        (folder / "suite.toml").write_text(
            (folder / "suite.toml").read_text().replace("**/run_module_io_flags.txt", "*.mlir")
        )
        for test in TESTS:
            (folder / f"{test}.mlir").touch()
        (suite,) = DeclarationLoader().load_suite_file(folder / "suite.toml")
    targets = expand_suite(suite, load_extensions())
    assignment = RuleSet(suite.expectations).assign(targets)
    assert not assignment.contradictions
    for one in targets:
        compiled = one if isinstance(one, CompileTarget) else one.compile
        here, test = lists[compiled.compiler.name.replace("-", "_")], compiled.module.name
        rule = assignment.of(one.name).whole
        output_text = ("", "") if rule is None else (rule.outcome, rule.reason.split()[3])
        if test in here["skip_compile_tests"]:
            assert output_text == ("skip", "skip_compile_tests")
        elif one is compiled:
            expected = ("xfail", "expected_compile_failures") if test in here["expected_compile_failures"] else ("", "")
            assert output_text == expected
        elif test in here["skip_run_tests"]:
            assert output_text == ("skip", "skip_run_tests")
        elif test not in here["expected_compile_failures"]:
            expected = ("xfail", "expected_run_failures") if test in here["expected_run_failures"] else ("", "")
            assert output_text == expected


# ------------------------------------------------------------ the formats of the other suites


def test_a_config_that_names_no_device_runs_where_it_compiles_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cpu.json").write_text(CPU.replace('"--device=local-sync"', ""))
    assert main(["import-xfails", "cpu.json", "--output", "out"]) == 0
    flag = "--iree-hal-target-backends=llvm-cpu"
    note = f"note: cpu.json: found no --device=…, took local-task, which runs what {flag} compiles for\n"
    assert capsys.readouterr().out.startswith(note)
    assert read(folder, "matrix.toml")["runtime_config"] == [{"name": "local-task", "driver": "local-task"}]


MODELS = """\
{
  "config_name": "cpu_llvm_task",
  "iree_compile_flags": ["--iree-hal-target-device=local"],
  "iree_run_module_flags": ["--device=local-task"],
  "tests_and_expected_outcomes": {
    "default": "skip",
    "tests/zoo/vision_test.py::test_models[digits/model/digits-12.onnx]": "pass",
    "tests/zoo/vision_test.py::test_models[faces/model/faces-8.onnx]": "fail-import",
    "tests/zoo/vision_test.py::test_models[faces/model/faces-9.onnx]": "fail-compile",
    "tests/zoo/vision_test.py::test_models[cats/cats-1.onnx]": "skip",
    "tests/zoo/text_test.py::test_words": "fail-run",
    "tests/zoo/other_test.py::test_words": "pass",
  }
}
"""


def test_outcomes_of_onnx_models_become_rules_about_their_models(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "models.json").write_text(MODELS)
    assert main(["import-xfails", "models.json", "--output", "out"]) == 0
    reason = "tests_and_expected_outcomes of cpu_llvm_task"
    assert rules(folder) == [
        ("cats/cats-1", None, "skip", reason),
        (["faces/model/faces-8", "faces/model/faces-9"], "compile", COMPILE, reason),
        ("words", "run", RUN, reason),
    ]
    assert capsys.readouterr().out == (
        "note: models.json: tests_and_expected_outcomes: default 'skip' is not taken over; "
        "let the suite's srcs match only the models that the config names\n"
        "note: models.json: tests_and_expected_outcomes.tests/zoo/other_test.py::test_words: found 'pass', "
        "and 'fail-run' of another test of words\n"
        "4 listed tests of 1 config became 3 rules\n"
    )
