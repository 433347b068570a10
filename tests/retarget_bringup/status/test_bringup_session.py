"""`retarget bringup NAME`: a real session, with IREE's compiler and drivers."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import DIFFERS, GOOD, REFUSED
from retarget.cli import main


@pytest.fixture
def project(cwd: Path) -> Path:
    """A project in the current folder: three modules on two backends, of which the ladder is about one."""
    cpu = [flag.replace("vmvx", "llvm-cpu") for flag in VMVX_FLAGS]
    compilers = [
        compiler("vmvx", flags=VMVX_FLAGS),
        compiler("llvm-cpu", flags=[*cpu, "--iree-llvmcpu-target-cpu=host"]),
    ]
    both = target("all", ["vmvx", "llvm-cpu"], ["sync"])
    (cwd / "matrix.toml").write_text(declarations("root = true\n", *compilers, runtime("sync"), both))
    (cwd / "suite.toml").write_text(suite("ops"))
    for name, text in (("add", GOOD), ("differs", DIFFERS), ("refused", REFUSED)):
        (cwd / f"{name}.mlir").write_text(text)
    (cwd / "bringup").mkdir()
    (cwd / "bringup" / "vmvx.toml").write_text('select = "vmvx"\nreference = "llvm-cpu/sync"\nstable = 2\n')
    return cwd


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_a_session_shows_how_far_targets_come_and_how_the_reference_is_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bringup", "vmvx", "--runs", "2"]) == 0
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert lines[0] == "vmvx: 1 of 3 targets match, and none is in the ladder yet"
    assert [line.partition(" ")[0] for line in lines[2:10] if line.endswith(" 1")] == ["none", "completes", "stable"]
    assert "smallest suite.toml::ops::refused_vmvx" in " ".join(lines)
    assert "reference pytest 'suite.toml::ops::refused_llvm-cpu_sync'" in lines
    assert lines[-1] == "run pytest 'suite.toml::ops::refused_vmvx'"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of the end of a parent on Linux alone")
def test_a_session_ends_with_the_bringup_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text("import time\ndef test(): open('began', 'w').close(); time.sleep(600)\n")
    call = "run_pytest(Path('.'), Path('results'), [], what='running')"
    code = f"from pathlib import Path\nfrom retarget_bringup.status.gather import run_pytest\n{call}"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE) as bringup:
        while not (tmp_path / "began").exists():
            assert bringup.poll() is None
            time.sleep(0.05)
        bringup.kill()
        assert bringup.stderr is not None
        assert b"KeyboardInterrupt" in bringup.stderr.read()  # ends when the session has closed it, too
