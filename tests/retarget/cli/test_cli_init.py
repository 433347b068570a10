"""`retarget init`: what it writes for which modules, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from declaration_texts import compiler, runtime, target
from retarget.cli import main
from retarget.cli.files import init as cli_init
from retarget.model.outcomes import DeviceInfo
from retarget.session.local_engine import Finding

CHECK = """\
func.func @squares() {
  %x = util.unfoldable_constant dense<[1.5, -2.0]> : tensor<2xf32>
  check.expect_almost_eq(%x, %x) : tensor<2xf32>
  return
}
"""
SCALE = "func.func @scale(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {\n  return %a : tensor<?x3xf32>\n}\n"
PICKY = """\
from retarget.extension import Compiler, SuggestedTarget, hookimpl


class Picky(Compiler):
    name, artifact_suffix = "picky", ".vmfb"

    def resolve(self, config, flags): ...

    def compile(self, request): ...

    def reproduce(self, target, flags, output): ...

    def suggest_targets(self, devices):
        return (SuggestedTarget(name="few", comment="", compiler_config="picky", drivers=("local-sync",)),)

    def takes(self, source):
        return source.name == "taken.mlir"


@hookimpl
def retarget_compilers():
    return (Picky(),)
"""
"""A compiler that takes few modules."""

TEXT = "// CHECK: flow.executable\nfunc.func @f(%a: f32) -> f32 {\n  return %a : f32\n}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project on a machine with a CPU, a Vulkan device, and one for OpenCL on which nothing runs."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def find(names: Sequence[str], *, extensions: Sequence[str], timeout: float) -> Sequence[Finding]:
        present = {"local-sync", "local-task", "vulkan"}
        broken = replace(device("opencl"), unusable="unknown CPU")
        return [
            Finding(driver=name, devices=(broken,), unavailable="a device: unknown CPU")
            if name == "opencl"
            else Finding(driver=name, devices=(device(name),))
            if name in present
            else Finding(driver=name, unavailable="gone")
            for name in names
        ]

    monkeypatch.setattr(cli_init, "find_devices", find)
    return folder


def device(driver: str) -> DeviceInfo:
    return DeviceInfo(driver=driver, uri=f"{driver}://0", ordinal=0, name="a device", physical_id=driver)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_mlir", ".mlir").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_modules_that_check_themselves_run_on_every_device_found(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, a_mlir=CHECK, deep__b_mlir=CHECK)

    assert main(["init"]) == 0

    assert (here / "suite.toml").read_text() == (
        "# Which modules are tested, and on which targets. Written by `retarget init`.\n"
        "\n"
        "# Modules that check themselves: every function without arguments is run,\n"
        "# and all of its check.expect_… operations must hold.\n"
        "[[module_test_suite]]\n"
        'name = "kernels"\n'
        'srcs = ["**/*.mlir"]\n'
        'kind = "check"\n'
        'targets = ["cpu", "vulkan"]\n'
    )
    matrix = (here / "matrix.toml").read_text()
    assert 'name = "vulkan"' in matrix
    assert "vmvx" not in matrix  # nothing is compared with it
    assert "#   cuda: gone" in matrix
    assert "#   opencl: a device: unknown CPU" in matrix
    assert 'name = "opencl"' not in matrix
    printed = capsys.readouterr().out
    assert "wrote suite.toml\nsuite kernels (kind check): 2 files\nno device: " in printed
    assert "4 compile targets and 6 run targets; next:\n  pytest\n" in printed
    assert main(["check"]) == 0


def test_cases_agree_with_the_compiler_that_is_known_as_a_reference_or_the_first(here: Path) -> None:
    for names, chosen in ((("mine", "vmvx"), "vmvx"), (("mine", "own"), "mine")):
        write(here, scale_mlir=SCALE)
        configs = "".join(compiler(name) for name in names)
        (here / "matrix.toml").write_text(configs + runtime("sync") + target("all", [*names], ["sync"]))
        assert main(["init"]) == 0
        lines = (here / "scale.cases.toml").read_text().splitlines()
        assert [line for line in lines if line.startswith("agree_with")] == [f'agree_with = "{chosen}"']
        for path in (*here.glob("*.cases.toml"), here / "suite.toml"):
            path.unlink()


def test_models_with_data_sets_are_tested_against_them(here: Path) -> None:
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "negates", [value], [result])
    for folder in ("negates", "inputs-only"):
        sets = here / folder / "test_data_set_0"
        sets.mkdir(parents=True)
        onnx.save(onnx.helper.make_model(graph), here / folder / "model.onnx")
        (sets / "input_0.pb").touch()
    (here / "negates" / "test_data_set_0" / "output_0.pb").touch()

    assert main(["init"]) == 0

    text = (here / "suite.toml").read_text()
    kinds = [line for line in text.splitlines() if line.startswith(("kind", "srcs", "exclude", "#   "))]
    assert [line.partition(" holds")[0] for line in kinds[:-1]] == [
        'srcs = ["**/*.onnx"]',
        'exclude = ["inputs-only/model.onnx"]',
        'kind = "onnx"',
        'srcs = ["**/*.onnx"]',
        'exclude = ["negates/model.onnx"]',
        'kind = "cases"',
        "#   'inputs-only/test_data_set_0/input_0.pb'",
    ]
    assert "negates/test_data_set_0" not in text
    assert not (here / "negates" / "model.cases.toml").exists()


def test_values_beside_modules_are_used_or_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, a_mlir=SCALE, b_mlir=SCALE, run__model_mlir=SCALE)
    write(here, run__flags_txt="--input=@run.npy\n--expected_output=1x3xf32=1\n")
    for name in ("used.npy", "unused.npz", "run/run.npy", "golden.csv", "weights.irpa"):
        (here / name).touch()
    (here / "a.cases.toml").write_text('[[case]]\ninputs = ["used.npy"]\nexpected = [{ fill = 1, shape = [2, 3] }]\n')
    assert main(["init"]) == 0
    left_out = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out")]
    assert [line.replace(" holds values that no suite uses; ", ": ") for line in left_out] == [
        "left out: golden.csv: cases read .npy, .npz, .pb and .bin (docs/cases.md)",
        "left out: unused.npz: name it as inputs or expected in the cases of a module (docs/cases.md)",
        "left out: weights.irpa: name it as parameters in the cases of a module (docs/cases.md)",
    ]


def test_a_mixture_makes_a_suite_of_each_kind(here: Path) -> None:
    write(here, a_mlir=CHECK, sub__scale_mlir=SCALE, lit__text_mlir=TEXT, run__model_mlir=SCALE)
    write(here, run__flags_txt="--input=1x3xf32=1\n--expected_output=1x3xf32=1\n", notes_txt="--input of nothing")

    assert main(["init"]) == 0

    text = (here / "suite.toml").read_text()
    kinds = [line for line in text.splitlines() if line.startswith(("kind", "name", "srcs", "compiler_flags"))]
    assert kinds == [
        'name = "kernels-run-module"',
        'srcs = ["**/flags.txt"]',
        'kind = "run-module"',
        'name = "kernels-check"',
        'srcs = ["*.mlir"]',
        'kind = "check"',
        'name = "kernels-filecheck"',
        'srcs = ["lit/*.mlir"]',
        'kind = "filecheck"',
        'compiler_flags = ["--compile-to=flow"]',
        'name = "kernels-cases"',
        'srcs = ["sub/*.mlir"]',
        'kind = "cases"',
    ]
    assert not (here / "run" / "model.cases.toml").exists()
    assert main(["check"]) == 0


def test_modules_that_cannot_be_tested_are_named_with_the_reason(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, a_mlir=CHECK, lit_mlir="// RUN: iree-opt %s | FileCheck %s\n" + TEXT.replace("flow", "arith"))
    (here / "a b.mlir").write_text(CHECK)
    (here / "gone.mlir").symlink_to("nowhere")
    (here / "buffer.mlir").write_text("func.func @f(%a: !hal.buffer) -> f32")
    assert main(["init"]) == 0
    printed = capsys.readouterr().out
    assert "left out: lit.mlir has a RUN line of iree-opt without one --compile-to=PHASE" in printed
    assert "left out: a b.mlir has a blank" in printed
    assert "left out: gone.mlir is a link to nothing" in printed
    assert "left out: buffer.mlir takes an argument of type !hal.buffer (f, argument 0)" in printed
    assert "#   'gone.mlir' is a link to nothing" in (here / "suite.toml").read_text()
    assert main(["check"]) == 0


def test_dry_run_prints_and_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, scale_mlir=SCALE)
    assert main(["init", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "# ---------------- matrix.toml\n" in printed
    assert "# ---------------- scale.cases.toml\n" in printed
    assert [path.name for path in here.iterdir()] == ["scale.mlir"]


@pytest.mark.parametrize("own", [True, False])
def test_configs_of_a_matrix_file_are_used(own: bool, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, a_mlir=CHECK)
    (here if own else here.parent).joinpath("matrix.toml").write_text(
        compiler("mine", flags=["--iree-hal-target-device=local"])
        + runtime("sync")
        + runtime("big-gpu", "cuda")
        + target("host", "mine", ["sync"])
        + target("gpu", "mine", ["big-gpu"])
    )
    assert main(["init"]) == 0
    assert 'targets = ["host"]' in (here / "suite.toml").read_text()
    assert "uses the configs of" in capsys.readouterr().out
    assert (here / "matrix.toml").exists() == own


@pytest.mark.parametrize("above", [False, True])
def test_a_suite_is_for_compilers_that_take_one_of_its_modules(above: bool, here: Path) -> None:
    write(here, **{"picky.py": PICKY}, a__taken_mlir=CHECK, a__other_mlir=CHECK, b__other_mlir=CHECK, c__s_mlir=SCALE)
    if above:
        texts = (compiler("picky", "picky"), compiler("mine"), runtime("sync"))
        targets = (target("few", "picky", ["sync"]), target("mixed", ["picky", "mine"], ["sync"]))
        (here / "matrix.toml").write_text("".join((*texts, *targets)))
    for folder, is_taken in (("a", True), ("b", False), ("c", False)):
        assert main(["init", "--retarget-extension", "picky", folder]) == 0
        written = (here / folder / "suite.toml").read_text()
        assert ('"few"' in written) == is_taken
        assert '"mixed"' in written if above else '"cpu"' in written
        assert above or ('"few"' in (here / folder / "matrix.toml").read_text()) == is_taken


def test_suites_that_are_there_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, a_mlir=CHECK)
    (here / "suite.toml").write_text("# mine\n")
    assert main(["init"]) == 1
    assert "found suite.toml, which is not overwritten" in capsys.readouterr().err
    assert (here / "suite.toml").read_text() == "# mine\n"
    assert not (here / "matrix.toml").exists()


def test_a_folder_inside_a_suite_is_not_declared_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, sub__a_mlir=CHECK)
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(["init", "sub"]) == 1
    assert "suite kernels of suite.toml has modules of this folder already, such as sub/a; `pytest sub` runs them" in (
        capsys.readouterr().err
    )


def test_folders_with_suites_of_their_own_are_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, a_mlir=CHECK, b__c_mlir=CHECK, sub__b_mlir=CHECK)
    (here / "sub" / "suite.toml").write_text("")
    assert main(["init"]) == 0
    assert 'exclude = ["sub/**"]' in (here / "suite.toml").read_text()
    assert "left out: sub has a suite.toml of its own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 1, "found no files in the current folder; expected modules to test, such as .mlir files"),
        (["nowhere"], 2, "found no file or folder nowhere; expected one with modules"),
    ],
)
def test_folders_without_modules_are_errors(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *arguments]) == status
    assert message in capsys.readouterr().err


def test_a_file_is_no_folder_and_other_files_are_no_modules(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, notes_txt="hello\n")
    assert main(["init", "notes.txt"]) == 2
    assert "found notes.txt, which is no folder" in capsys.readouterr().err
    assert main(["init"]) == 1
    assert "found no module among 1 file in the current folder" in capsys.readouterr().err


def test_a_cases_file_that_is_in_the_way_leaves_nothing_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, scale_mlir=SCALE)
    (here / "scale.cases.toml").mkdir()
    assert main(["init"]) == 1
    assert "cannot write scale.cases.toml: found a folder; nothing was written" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["scale.cases.toml", "scale.mlir"]


def test_a_suite_has_a_name_of_its_own_in_the_project(here: Path) -> None:
    write(here, a__x_mlir=CHECK, b__x__x_mlir=CHECK)
    assert main(["init", "a"]) == 0
    (here / "a" / "matrix.toml").rename(here / "matrix.toml")
    (here / "a" / "suite.toml").write_text((here / "a" / "suite.toml").read_text().replace('"a"', '"x"'))
    assert main(["init", "b/x"]) == 0
    assert 'name = "b-x"' in (here / "b" / "x" / "suite.toml").read_text()
    assert main(["check"]) == 0
