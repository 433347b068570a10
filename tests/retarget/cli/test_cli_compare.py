"""`retarget compare`: which of two configs differs, where, and by how much."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest
from retarget.cli import main

EXTENSION = """\
import retarget.extension
from retarget.extension import *


class Compiler(retarget.extension.Compiler):
    name = "tiny"
    artifact_suffix = ".tiny"

    def fingerprint(self, config):
        return "tiny-1"

    def resolve(self, config, flags):
        return Resolved(build_id="tiny-1", flags=(config.name,))

    def compile(self, request):
        config = request.resolved.flags[0]
        if config == "broken":
            raise CompilerError("error: cannot do this", "error: cannot do this", verdict=True)
        return Compiled(artifact=f"{config} {request.source.decode()}".encode())

    def reproduce(self, target, flags, output):
        return ("tinyc", str(output))


class Program(retarget.extension.Program):
    functions = [FunctionInfo(name="f", arguments=2, argument_types=("tensor<2x3xf32>", "i32"))]

    def __init__(self, artifact):
        self.compiler = artifact.decode().split()[0]

    def call(self, function, inputs, on_check):
        import numpy as np

        result = inputs[0] * np.float32(2)
        result[1, 2] += np.float32(0.5 if self.compiler == "off" else 0)
        return (result, inputs[1])


class Device(retarget.extension.Device):
    infos = [DeviceInfo(driver="toy", uri="toy://0", ordinal=0, name="Toy", physical_id="toy-0")]

    def load(self, artifact):
        return Program(artifact)


class Driver(retarget.extension.Driver):
    name = "toy"

    def probe(self):
        return []

    def open(self, config):
        if "absent" in config.devices:
            raise UnavailableError("no toy is here")
        return Device()

    def functions(self, artifact):
        return Program.functions


class Loader(CaseLoader):
    kind = "toys"

    def load(self, request):
        import numpy as np

        inputs = np.arange(6, dtype=np.float32).reshape(2, 3), np.int32(3)
        return [Case(name="f", function="f", inputs=inputs, must_check=False)]


class Lists(Loader):
    kind = "lists"

    def find_modules(self, folder, srcs):
        from retarget.model import Module

        return [Module(name=name, path=path, entry=name) for path in srcs for name in path.read_text().split()]


@hookimpl
def retarget_compilers(): return [Compiler()]
@hookimpl
def retarget_drivers(): return [Driver()]
@hookimpl
def retarget_case_loaders(): return [Loader(), Lists()]
"""

CONFIGS = "\n".join(
    [
        *(f'[[compiler_config]]\nname = "{name}"\ncompiler = "tiny"' for name in ("good", "off", "broken")),
        '[[runtime_config]]\nname = "flat"\ndriver = "toy"',
        '[[runtime_config]]\nname = "away"\ndriver = "toy"\ndevice = "absent"',
        '[[target_config]]\nname = "all"\ncompiler = ["good", "off", "broken"]\nruntimes = ["flat"]',
        '[[target_config]]\nname = "gone"\ncompiler = "good"\nruntimes = ["away"]',
        '[[module_test_suite]]\nname = "toys"\nsrcs = ["*.toy"]\nkind = "toys"\ntargets = ["all", "gone"]',
        '[[module_test_suite]]\nname = "lists"\nsrcs = ["*.list"]\nkind = "lists"\ntargets = ["all"]',
    ]
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plain.toy").write_text("plain")
    (tmp_path / "some.list").write_text("plainer other")
    (tmp_path / "suite.toml").write_text(CONFIGS)
    (tmp_path / "toys_extension.py").write_text(EXTENSION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def compare(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    status = main(["compare", *arguments, "--retarget-extension", "toys_extension"])
    out, err = capsys.readouterr()
    return status, (out + err).splitlines()


def test_the_first_difference_shows_where_both_values_and_the_errors(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = compare(capsys, "plain.toy", "--configs", "good,off")
    assert status == 1
    assert lines[3] == "first difference: f, result 0:"
    assert lines[4].startswith("  1 of 6 elements differ (2x3xfloat32; atol 0, rtol 0)")
    assert lines[5].split() == ["index", "good/flat", "off/flat", "abs", "error", "rel", "error"]
    assert lines[6].split()[:2] == ["[1,", "2]"]
    assert "max abs error 0.5 at [1, 2], max rel error" in lines[7]
    assert lines[7].endswith(" ulp")
    assert lines[8:] == ["1 of 2 arrays differ; 7 values of 1 case compared"]


def test_a_suite_that_compiles_the_module_otherwise_is_said_not_to_be_compared(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = '[[module_test_suite]]\nname = "{}"\nsrcs = ["*.toy"]\nkind = "toys"\ntargets = ["all"]\n{}\n'
    suites = suite.format("same", ""), suite.format("other", 'compiler_flags = ["-O3"]')
    (project / "suite.toml").write_text("\n".join([CONFIGS, *suites]))
    _, lines = compare(capsys, "plain.toy", "--configs", "good,off")
    assert lines[0].endswith(", suite toys (also in suite same) (not compared, for its other flags: suite other)")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plain", "--configs", "good"), "found --configs good, expected two, such as: --configs llvm-cpu,vmvx"),
        (("plain", "--configs", "good,,off"), "found --configs good,,off, expected two"),
        (("plian", "--configs", "good,off"), "found no file and no module 'plian' in .; did you mean 'plain'?"),
        (
            ("some.list", "--configs", "good,off"),
            "found 2 modules: plainer of some.list (suite lists), other of some.list (suite lists); expected",
        ),
        (("plain", "--configs", "good,good"), "found --configs good,good, which both mean plain_good_flat"),
    ],
)
def test_wrong_usage_is_reported_and_exits_with_2(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    status, lines = compare(capsys, *arguments)
    assert status == 2
    assert message in lines[0]


@pytest.mark.parametrize(
    ("option", "value"), [*product(["--atol", "--rtol"], ["-1", "x", "nan", "inf"]), *product(["--ulp"], ["-3", "1.5"])]
)
def test_numbers_that_mean_nothing_are_refused(capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    number = "a number" if option in ("--atol", "--rtol") else "a whole number"
    with pytest.raises(SystemExit) as ended:
        compare(capsys, "plain", "--configs", "good,off", f"{option}={value}")
    assert ended.value.code == 2
    error = f"retarget compare: error: argument {option}: found '{value}', expected {number} from 0 on"
    assert capsys.readouterr().err.splitlines()[-1] == error


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("other.toy", 1, "alone/other.toy: no suite declares this module; looked in suite.toml"),
        ("other.txt", 2, "retarget: no suite declares alone/other.txt; `retarget init` writes one for the modules"),
        ("../../far/m.toy", 2, "retarget: no suite declares …/far/m.toy; `retarget init` writes one for a folder"),
    ],
)
def test_a_file_that_no_suite_declares_is_an_error(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, status: int, message: str
) -> None:
    (project / "alone").mkdir()
    (project / "alone" / name).parent.mkdir(exist_ok=True)
    (project / "alone" / name).touch()
    found, (line,) = compare(capsys, f"alone/{name}", "--configs", "good,off")
    assert (found, line.replace(str(project.parent), "…")[: len(message)]) == (status, message)


def test_what_cannot_run_here_is_reported_with_the_reason(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = compare(capsys, "plain", "--configs", "good/away,off")
    assert status == 1
    assert lines == ["good/away cannot be compared here: no toy is here"]


@pytest.mark.slow
def test_two_backends_of_a_real_compiler_agree(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backends = "\n".join(
        f'[[compiler_config]]\nname = "{name}"\ncompiler = "iree"\nflags = ["--iree-hal-target-device=local", '
        f'"--iree-hal-local-target-device-backends={name}", "--iree-llvmcpu-target-cpu=host"]'
        for name in ("llvm-cpu", "vmvx")
    )
    rest = (
        '[[runtime_config]]\nname = "sync"\ndriver = "local-sync"\n'
        '[[target_config]]\nname = "cpu"\ncompiler = ["llvm-cpu", "vmvx"]\nruntimes = ["sync"]\n'
        '[[module_test_suite]]\nname = "sums"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["cpu"]\n'
    )
    (project / "real").mkdir()
    (project / "real" / "suite.toml").write_text(f"{backends}\n{rest}")
    (project / "real" / "sum.mlir").write_text(
        "func.func @sum() {\n  %a = util.unfoldable_constant dense<[1.5, -2.0, 3.0, 0.1]> : tensor<4xf32>\n"
        "  %c = arith.addf %a, %a : tensor<4xf32>\n"
        "  check.expect_eq_const(%c, dense<[3.0, -4.0, 6.0, 0.2]> : tensor<4xf32>) : tensor<4xf32>\n  return\n}\n"
    )
    status, lines = compare(capsys, "real/sum.mlir", "--configs", "llvm-cpu,vmvx")
    assert lines[-1] == "equal: 4 values of 1 case compared"
    assert status == 0
