"""The subcommand `profile`: what it prints, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.cli import main
from retarget.profiles.files import profile_file


def test_the_list_names_each_shipped_profile_with_its_driver_and_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "list"]) == 0
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["opencl-adreno", "opencl", "Qualcomm's Adreno GPUs"] in lines
    assert ["vulkan-h200", "vulkan", "NVIDIA H200 through Vulkan"] in lines


def test_show_prints_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "show", "opencl-cpu"]) == 0
    assert capsys.readouterr().out == profile_file("opencl-cpu").read_text()


def test_show_reports_every_error_of_a_file(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cwd / "bad.toml").write_text('format = 1\ndriver = "opencl"\n[[capabilities]]\nsource = "s"\nmemory = -1\nx = 1\n')
    assert main(["profile", "show", "opencl-cpu", "bad.toml"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        "bad.toml:5: capabilities[0].memory: found memory = -1, expected a whole number above 0\n"
    )
    assert printed.err.count("bad.toml:") == 2


def test_target_prints_what_each_compiler_makes_of_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "target", "cuda-h200", "opencl-h200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["iree, for cuda-h200:", "  --iree-hal-target-device=cuda", "  --iree-cuda-target=sm_89"]
    opencl = lines.index("iree-opencl, for opencl-h200:")
    assert lines[opencl + 1].startswith(
        '  --iree-hal-target-device=opencl=#hal.device.target<"vulkan", [#hal.executable.'
    )
    assert lines[opencl + 2].startswith("    opencl-h200: retarget devices")
    assert "      max_workgroup_memory_bytes = 49152" in lines[opencl + 3 :]


def test_a_profile_that_no_compiler_has_a_target_for_says_why_of_each(
    cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cwd / "npu.toml").write_text('format = 1\ndriver = "npu"\n')
    assert main(["profile", "target", "npu.toml"]) == 1
    assert capsys.readouterr().err.endswith(
        "no compiler makes a target of the profile npu: npu.toml: the compiler iree has no target for the driver "
        "'npu', expected one of local-sync, local-task, vulkan, cuda, hip; npu.toml: found a profile of the "
        "driver 'npu', "
        "expected one of 'opencl' for iree-opencl; iree-opt does not compile for profiles\n"
    )
