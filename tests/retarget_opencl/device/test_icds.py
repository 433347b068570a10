"""Which OpenCL implementations (ICDs) are found, and what is said of those whose library does not load."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest
from retarget_opencl.device import icds as module
from retarget_opencl.device.implementations import icd_complaints, icd_libraries, icds, icds_registered


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine: `system` has the system's files, `venv` is the environment. Nothing is set by the user."""
    for name in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "_SYSTEM", tmp_path / "system")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(site, "getuserbase", lambda: str(tmp_path / "user"))
    for folder in ("system", "venv/etc/OpenCL/vendors", "venv/lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "system/gpu.icd").write_text("libgpu.so.1\n")
    return tmp_path


def _install(machine: Path, name: str, library: str, *, complete: bool = True) -> Path:
    file = machine / f"venv/etc/OpenCL/vendors/{name}.icd"
    file.write_text(library)
    if complete:
        (machine / "venv/lib" / Path(library).name).touch()
    return file


def test_an_implementation_of_the_environment_is_found_in_its_lib_folder_wherever_its_file_says(machine: Path) -> None:
    file = _install(machine, "intel-cpu", "/opt/built/here/lib/libintelocl.so")
    assert icds() == {machine / "system/gpu.icd": "libgpu.so.1", file: str(machine / "venv/lib/libintelocl.so")}


def test_one_whose_library_another_package_would_bring_is_none(machine: Path) -> None:
    _install(machine, "intel-fpga_emu", "/opt/built/here/lib/libintelocl_emu.so", complete=False)
    assert list(icds()) == [machine / "system/gpu.icd"]


def test_the_loader_is_told_of_both_and_what_it_is_told_does_not_stay(machine: Path) -> None:
    _install(machine, "intel-cpu", "libintelocl.so")
    with icds_registered():
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        assert {file.name: file.read_text() for file in folder.iterdir()} == {
            "0-gpu.icd": "libgpu.so.1\n",
            "1-intel-cpu.icd": f"{machine}/venv/lib/libintelocl.so\n",
        }
    assert "OCL_ICD_VENDORS" not in os.environ
    assert not folder.exists()


def test_where_the_environment_has_none_the_loader_is_told_nothing(machine: Path) -> None:
    with icds_registered():
        assert "OCL_ICD_VENDORS" not in os.environ


@pytest.mark.parametrize("variable", ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"])
@pytest.mark.parametrize("given", ["own", "own/x.icd"])
def test_what_the_user_has_set_decides_alone(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str, given: str
) -> None:
    _install(machine, "intel-cpu", "libintelocl.so")
    (machine / "own").mkdir()
    (machine / "own/x.icd").write_text("libx.so")
    monkeypatch.setenv(variable, str(machine / given))
    assert icds() == {machine / "own/x.icd": "libx.so"}
    with icds_registered():
        assert os.environ[variable] == str(machine / given)


def test_one_whose_library_does_not_load_is_named_with_the_reason_and_what_to_do(machine: Path) -> None:
    reason = "libgpu.so.1: cannot open shared object file: No such file or directory"
    hint = "install what it needs (Intel's runtime: pip install intel-opencl-rt intel-cmplr-lib-rt), or remove the file"
    assert icd_complaints() == (f"{machine / 'system/gpu.icd'}: {reason}; {hint}",)


@pytest.mark.parametrize("variable", ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"])
def test_a_variable_that_points_to_none_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "/nowhere")
    expected = f"{variable} is '/nowhere', where there is no *.icd file; unset it to find what is installed"
    assert icd_complaints() == (expected,)


def test_libraries_are_another_list_once_one_is_replaced_or_its_file_written_again(machine: Path) -> None:
    _install(machine, "intel-cpu", "libintelocl.so")
    before = icd_libraries()
    assert {Path(path).name for path, _, _ in before} >= {"libintelocl.so", "gpu.icd"}  # libgpu.so.1 is the system's
    assert icd_libraries() == before
    (machine / "venv/lib/libintelocl.so").write_bytes(b"newer")
    replaced = icd_libraries()
    assert replaced != before
    os.utime(machine / "system/gpu.icd", (1, 1))
    assert icd_libraries() not in (before, replaced)


@pytest.mark.slow
def test_kernels_are_built_where_the_home_folder_takes_no_files(tmp_path: Path) -> None:
    (tmp_path / ".cache").touch()  # as a read-only home folder, also for root
    given = {name: value for name, value in os.environ.items() if name not in {"XDG_CACHE_HOME", "POCL_CACHE_DIR"}}
    script = """
from retarget_opencl.device.devices import list_devices
print([(one.device.name, one.fault) for one in list_devices()])
"""
    here, there = (
        subprocess.run(
            [sys.executable, "-c", script],
            env={**given, **changed, "RETARGET_CACHE_DIR": str(tmp_path / f"cache{len(changed)}")},
            capture_output=True,
            text=True,
            check=False,
        )
        for changed in ({}, {"HOME": str(tmp_path)})
    )
    assert (there.stdout, there.returncode) == (here.stdout, here.returncode), there.stderr
