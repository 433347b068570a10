"""The page that shows what passes, from junit files."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_scripts import benchmark_script
from retarget_cases.onnx.manifest_file import Manifest, manifest_text

main = benchmark_script("onnx_conformance").main

ENTRIES = {
    "test_abs": "op-Abs opset-13 f32",
    "test_add": "op-Add opset-14 f32",
    "test_add_uint8": "op-Add opset-14 u8",
    "test_add_bcast": "op-Add opset-14 f32",
}
PASSED = ""
FAILED = '<failure message="compare: …">compare: …</failure>'
EXPECTED = '<skipped type="pytest.xfail" message="known" />'
BLOCKED = '<skipped type="pytest.skip" message="blocked by suites/onnx/suite.toml::onnx::x">…</skipped>'
CHANCE = '<skipped type="pytest.skip" message="a data race">…</skipped>'
SKIPPED = '<skipped type="pytest.skip" message="no OpenCL device">…</skipped>'


def case(test: str, target: str, end: str, *, stage: str = "compare", device: str = "", intermittent: str = "") -> str:
    compiler, _, runtime = target.partition("/")
    values = {
        "retarget.module": test,
        "retarget.compiler": compiler,
        "retarget.runtime": runtime,
        "retarget.stage": stage,
        "retarget.device": device,
        "retarget.compiler_build": "iree 3.13.0 (build 012345678901)",
        "retarget.intermittent": intermittent,
    }
    properties = "".join(f'<property name="{name}" value="{value}" />' for name, value in values.items() if value)
    return f'<testcase name="{test}"><properties>{properties}</properties>{end}</testcase>'


def bare(name: str, end: str) -> str:
    return f'<testcase name="{name}">{end}</testcase>'


def junit(path: Path, *cases: str) -> Path:
    inside = "".join(cases)
    path.write_text(
        f'<testsuites><testsuite name="pytest" timestamp="2026-11-21T01:02:03+00:00">{inside}</testsuite></testsuites>'
    )
    return path


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.toml"
    tests = {name: tuple(tags.split()) for name, tags in ENTRIES.items()}
    path.write_text(manifest_text(Manifest(package="onnx 1.23.2", tests=tests), path.name))
    return path


def page(manifest: Path, *files: Path) -> list[str]:
    output = manifest.parent / "page.md"
    assert main([*map(str, files), "--manifest", str(manifest), "-o", str(output)]) == 0
    return output.read_text().splitlines()


def test_operators_are_rows_and_targets_are_columns(manifest: Path, tmp_path: Path) -> None:
    file = junit(
        tmp_path / "run.xml",
        case("test_abs", "vmvx/", PASSED),  # a compile target: says nothing
        case("test_abs", "vmvx/local-sync", PASSED, device="CPU"),
        case("test_add", "vmvx/local-sync", PASSED),
        case("test_add_uint8", "vmvx/local-sync", FAILED),
        case("test_add_bcast", "vmvx/local-sync", BLOCKED, stage="compile"),
        case("test_abs", "vulkan/vulkan", EXPECTED, stage="run"),
        bare("test_add_vulkan_vulkan", CHANCE),
        bare("test_add_vulkan", CHANCE),
        case("test_add", "opencl/opencl", SKIPPED, stage=""),
    )
    lines = page(manifest, file)
    at = lines.index("| operator | vmvx, local-sync | vulkan |")
    assert lines[at + 1 :] == ["| --- | ---: | ---: |", "| Abs | 1/1 | 0/1 |", "| Add | 1/3 | 0/1 |"]
    assert "| tests | 2 of 4 (50.0%) | 0 of 2 (0.0%) |" in lines
    assert "| whole operators | 1 | 0 |" in lines
    assert "| compile | 1 | 0 |" in lines
    assert "| run | 0 | 1 |" in lines
    assert "| compare | 1 | 0 |" in lines
    assert "| not tried | 0 | 1 |" in lines
    assert not any("opencl" in line for line in lines)
    assert "- vmvx, local-sync: CPU; iree 3.13.0, run on 2026-11-21" in lines
    assert not any("torch-mlir" in line for line in lines)
    assert any("(onnx 1.23.2: 4" in line for line in lines)


def test_what_is_intermittent_counts_as_failed_whether_it_passed_or_not(manifest: Path, tmp_path: Path) -> None:
    file = junit(
        tmp_path / "run.xml",
        case("test_abs", "vmvx/local-sync", PASSED, intermittent="passed"),
        case("test_add", "vmvx/local-sync", EXPECTED, intermittent="compare: values differ"),
        case("test_add_bcast", "vmvx/local-sync", PASSED),
    )
    lines = page(manifest, file)
    assert "| tests | 1 of 3 (33.3%) |" in lines
    assert "| intermittent | 2 |" in lines
    assert "| compare | 0 |" in lines


def test_other_compilers_have_columns_and_their_own_run(manifest: Path, tmp_path: Path) -> None:
    iree = junit(tmp_path / "run.xml", case("test_abs", "vmvx/local-sync", PASSED, device="CPU"))
    others = junit(
        tmp_path / "oracles.xml",
        case("test_abs", "tvm/tvm", EXPECTED, device="TVM"),
        case("test_abs", "xla/xla", PASSED, device="XLA"),
        case("reduce", "xla/xla", PASSED, device="XLA"),  # a module of suites/stablehlo
    )
    others.write_text(others.read_text().replace("2026-11-21", "2026-11-28"))
    lines = page(manifest, iree, others)
    assert "| Abs | 1/1 | 0/1 | 1/1 |" in lines
    assert "| tests | 1 of 1 (100.0%) | 0 of 1 (0.0%) | 1 of 1 (100.0%) |" in lines
    assert "- tvm: TVM; iree 3.13.0, run on 2026-11-28" in lines
    assert any("torch-mlir" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<testsuites", "not a junit file: unclosed token: line 1, column 0"),
        ("<testsuites />", "holds no run targets; expected the junit file of `pytest suites/onnx -m conformance"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_such_file_is_refused(
    manifest: Path, tmp_path: Path, text: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.xml"
    if text is not None:
        file.write_text(text)
    assert main([str(file), "--manifest", str(manifest), "-o", str(tmp_path / "page.md")]) == 1
    assert capsys.readouterr().err.startswith(f"error: {file}: {message}")
