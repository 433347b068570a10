"""The extension as the core sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opencl_support import ADD_ONE, Compile, compile_text, compiler_config, runtime_config, shipped
from retarget.extension import UnavailableError
from retarget.session import DeclarationLoader, load_extensions
from retarget.support import DiagnosticsError, install_hint
from retarget.worker.run_case import main as run_case
from retarget_opencl.__main__ import main
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.driver import OpenClDriver


def test_compiler_and_driver_are_registered() -> None:
    registry = load_extensions()
    assert registry.origins["compiler", "iree-opencl"] == registry.origins["driver", "opencl"] == "opencl"


def test_a_compiler_whose_artifacts_the_driver_does_not_load_is_reported_once_with_the_one_that_fits(
    tmp_path: Path,
) -> None:
    configs = [
        *(f'[[compiler_config]]\nname = "{name}"\ncompiler = "iree"' for name in ("vmvx", "cpu")),
        '[[runtime_config]]\nname = "cl"\ndriver = "opencl"',
        '[[runtime_config]]\nname = "sync"\ndriver = "local-sync"',
        '[[target_config]]\nname = "t"\ncompiler = ["vmvx", "cpu"]\nruntimes = ["sync", "cl"]',
    ]
    suite = '[[module_test_suite]]\nname = "s"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["t"]\n'
    (tmp_path / ".git").touch()
    (tmp_path / "suite.toml").write_text("\n".join([*configs, suite]))
    for number in range(10):
        (tmp_path / f"m{number}.mlir").touch()
    with pytest.raises(DiagnosticsError) as raised:
        DeclarationLoader(load_extensions()).load_suite_file(tmp_path / "suite.toml")
    assert [(diagnostic.line, diagnostic.key_path, diagnostic.message) for diagnostic in raised.value.diagnostics] == [
        (
            15,
            "target_config[0].compiler",
            "found compiler config 'vmvx' of compiler 'iree', whose artifacts (.vmfb) the driver 'opencl' of runtime "
            "config 'cl' does not load; expected one with compiler = 'iree-opencl'",
        )
    ]


def test_the_extension_imports_neither_opencl_nor_iree_nor_jinja() -> None:
    code = "import sys, retarget_opencl.extension as e; list(e.retarget_compilers()); list(e.retarget_drivers());"
    code += " print([m for m in ('pyopencl', 'jinja2', 'iree.compiler', 'iree.runtime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_its_packages_compiler_and_driver_are_unavailable_and_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("jinja2", "pyopencl"):
        monkeypatch.setitem(sys.modules, name, None)
    compiler = OpenClCompiler()
    for flags in ((), ("--opencl-profile=cpu",)):
        with pytest.raises(
            UnavailableError,
            match=r"^iree-opencl needs the package jinja2 of the extra \[opencl\], which is not installed$",
        ) as raised:
            compiler.fingerprint(compiler_config(*flags))
        assert raised.value.hint == install_hint("opencl")
    with pytest.raises(UnavailableError) as raised:
        compile_text("", shipped("cpu"))
    with pytest.raises(
        UnavailableError, match=r"^the driver opencl needs the package pyopencl of the extra \[opencl\], which is not "
    ) as raised:
        OpenClDriver().probe()
    assert raised.value.hint == install_hint("opencl")


def test_without_the_runtime_of_iree_no_device_is_opened(found: FoundDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    del found
    monkeypatch.setattr("retarget_iree.builds.locate", lambda _: None)
    with pytest.raises(
        UnavailableError, match=r"^the IREE runtime is not installed: there is no module iree\.runtime$"
    ):
        OpenClDriver().open(runtime_config())


def test_tags_tell_backend_profile_and_platform() -> None:
    config = compiler_config("--opencl-profile=cpu")
    assert list(OpenClCompiler().tags(config)) == ["opencl", "cpu"]
    assert list(OpenClDriver().tags(runtime_config("opencl://NVIDIA/0"))) == ["opencl", "nvidia"]
    assert list(OpenClDriver().tags(runtime_config())) == ["opencl"]


@pytest.mark.parametrize(("expected", "status"), [("4.0", 0), ("5.0", 1)])
def test_a_module_is_compiled_shown_and_run_by_hand(
    found: FoundDevice, tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: str, status: int
) -> None:
    del found
    module, artifact = tmp_path / "m.mlir", tmp_path / "m.oclx"
    module.write_text(ADD_ONE.replace("EXPECTED", expected))
    assert main(["compile", str(module), "--iree-opt-level=O2", "-o", str(artifact)]) == 0
    assert "__kernel" in OpenClCompiler().show(artifact.read_bytes())
    assert run_case(["--kind=check", "--driver=opencl", f"--artifact={artifact}", "--case=checked"]) == status
    assert ("checked: failed at compare: " if status else "checked: passed") in capsys.readouterr().out


def test_the_command_that_shows_artifacts_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["show", "m.oclx"])
    assert "; `retarget show ARTIFACT` prints an artifact\n" in capsys.readouterr().err


def test_the_driver_says_what_an_artifact_needs_and_nothing_of_other_bytes(compiled: Compile) -> None:
    driver = OpenClDriver()
    artifact = compiled(ADD_ONE.replace("EXPECTED", "4.0"))
    assert tuple(driver.needs(artifact)) == read_artifact(artifact).needs
    assert any(need.startswith("opencl.maxWorkGroupSize >= ") for need in driver.needs(artifact))
    assert driver.needs(b"no artifact") == ()
