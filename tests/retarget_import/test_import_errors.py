"""BUILD files that cannot be evaluated or whose rules are called wrongly, and wrong usage."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from build_files import FIRST, import_here, write
from retarget.cli import main


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '\nx = glob(["../*.mlir"])\n',
            "BUILD.bazel:10: found the pattern '../*.mlir', expected one that stays in the folder of the BUILD file, "
            "with ** for whole folders",
        ),
        ("\nx = glob('*.mlir')\n", "BUILD.bazel:10: found '*.mlir' in a glob, expected a list of patterns"),
        ("\nx = glob(['**a'])\n", "BUILD.bazel:10: found the pattern '**a', expected one that stays in"),
        ("\nx = select(3)\n", "BUILD.bazel:10: found a select without '//conditions:default', expected one"),
        ("x = )\n", "BUILD.bazel:9:5: unexpected symbol ')' here"),
        ("\nx = unknown\n", "BUILD.bazel:10:5: Variable `unknown` not found"),
        ("\nx = [] + 3\n", "BUILD.bazel:10:5: Operation `+` not supported for types `list` and `int`"),
        (
            "x = " + 300 * "[" + 300 * "]",
            "BUILD.bazel: found brackets or operators nested too deep, expected a BUILD.bazel file",
        ),
        (
            "x = " + 20000 * "not " + "True",
            "BUILD.bazel: found brackets or operators nested too deep, expected a BUILD.bazel file",
        ),
        (
            '\niree_lit_test_suite(name = "lit", srcs = ["a.mlir"], tags = 3)\n',
            "BUILD.bazel:10: iree_lit_test_suite: tags: Expected `array`, got `int`",
        ),
        (
            '\niree_lit_test_suite(name = "lit", srcs = "a.mlir")\n',
            "BUILD.bazel:10: iree_lit_test_suite: srcs: Expected `array`, got `str`",
        ),
        (
            '\niree_check_test(name = "x", src = "a.mlir")\n',
            "BUILD.bazel:10: iree_check_test: Object missing required field `target_backend`",
        ),
        (
            FIRST.replace('["a.mlir", "b.mlir"]', '"a.mlir"'),
            "BUILD.bazel:10: iree_check_single_backend_test_suite: srcs: Expected `array`, got `str`",
        ),
        (
            FIRST.replace("    driver", "    target_cpu_features = [3],\n    driver"),
            "target_cpu_features[0]: Expected `str`, got `int`",
        ),
        (
            FIRST.replace("    driver", "    target_cpu_features_variants = 3,\n    driver"),
            "target_cpu_features_variants: Expected `array`, got `int`",
        ),
        (
            FIRST.replace("    driver", '    target_cpu_features_variants = ["sparc:x:+y"],\n    driver'),
            "target_cpu_features_variants[0]: Expected `str` matching regex '^(default|generic|host|(x86_64|x86_32|"
            "arm_64|arm_32|riscv_64|riscv_32):[^:]*:[^:]*)$'",
        ),
        (
            FIRST.replace("    driver", '    timeout = "soon",\n    driver'),
            "BUILD.bazel:10: iree_check_single_backend_test_suite: timeout: Expected `str` matching regex "
            "'^(short|moderate|long|eternal)$'",
        ),
        (
            FIRST.replace("    driver", '    tags = select({"//a": []}),\n    driver'),
            "BUILD.bazel:13: found a select without '//conditions:default', expected one: its value is what is taken "
            "over",
        ),
    ],
)
def test_errors_of_a_file_have_its_place(
    cwd: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    write(cwd, text, "a.mlir", "b.mlir")
    assert import_here() == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in cwd.iterdir()) == ["BUILD.bazel", "a.mlir", "b.mlir"]


def test_a_file_without_the_rules_that_only_bazel_evaluates_is_left_out(
    cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(cwd, FIRST, "a.mlir", "b.mlir")
    write(cwd / "lib", 'load("//:own.bzl", "own")\ncc_library(deps = ["x"] + own.deps())\n', load="")
    write(cwd / "more", 'cc_library(deps = select({":x": [], "//conditions:default": []}))\n', load="")
    assert import_here() == 0
    note = (
        "left out: lib/BUILD.bazel:2:27: Object of type `function` has no attribute `deps`; the file has none of the "
        "rules that are taken over\n"
    )
    out = capsys.readouterr().out
    assert note in out
    assert out.count("left out: ") == 2
    assert main(["import-bazel", "lib", "-o", "."]) == 1
    assert capsys.readouterr().err.endswith(note)


def test_a_panic_of_the_interpreter_is_an_error_of_the_file(
    cwd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As pyo3's; the real one takes a list of some GiB."""

    def panic(*_: object) -> None:
        msg = "AlignedSize must not exceed u32::MAX"
        raise PanicException(msg)

    write(cwd, "x = [0] * 600000000  # iree_check_test\n", load="")
    monkeypatch.setattr("starlark.eval", panic)
    assert import_here() == 1
    message = "cannot be evaluated: the Starlark interpreter panicked: AlignedSize must not exceed u32::MAX"
    assert capsys.readouterr().err == f"BUILD.bazel: {message}\n"


def test_a_file_without_tests_and_a_path_without_files(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd / "empty", "")
    (cwd / "bare").mkdir()
    assert main(["import-bazel", "empty", "-o", "."]) == 1
    assert capsys.readouterr().err == (
        "found no test to take over, expected calls of iree_check_single_backend_test_suite, "
        "iree_check_test_suite, iree_check_test, iree_lit_test_suite, iree_lit_test\n"
    )
    assert main(["import-bazel", "bare", "-o", "."]) == 2
    assert (
        "found no BUILD.bazel in bare; expected BUILD.bazel files, or folders that hold some" in capsys.readouterr().err
    )
    assert main(["import-bazel", "missing", "-o", "."]) == 2
    assert "cannot read missing: No such file or directory; expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "output", "message"),
    [
        ("", ".", "FILE|FOLDER: found an empty path, expected a file or folder ('.' for the current folder)"),
        ("empty", "file", "-o/--output: found file, which is no folder; expected one to write to"),
    ],
)
def test_paths_of_another_sort_are_wrong_usage(
    cwd: Path, capsys: pytest.CaptureFixture[str], path: str, output: str, message: str
) -> None:
    (cwd / "file").touch()
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["import-bazel", path, "-o", output])
    assert capsys.readouterr().err.splitlines()[-1] == f"retarget import-bazel: error: argument {message}"


def test_the_interpreter_is_not_installed(
    cwd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(cwd, FIRST, "a.mlir", "b.mlir")
    monkeypatch.setitem(sys.modules, "starlark", None)
    assert import_here() == 1
    assert (
        "the package starlark-pyo3, which evaluates BUILD files, is not installed; install it"
        in capsys.readouterr().err
    )
