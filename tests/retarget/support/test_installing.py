"""How a missing extra is installed: what is shown can be pasted."""

from __future__ import annotations

import importlib.metadata
import shlex
from pathlib import Path

import pytest
from retarget.support import errors
from retarget.support.errors import install_hint

CHECKOUT = Path(__file__).parents[3]

REQUIRED = [
    "numpy>=1.26",
    "onnx>=1.16; extra == 'onnx'",
    'jinja2>=3.1; extra == "opencl"',
    "pocl-binary-distribution>=3.0; (platform_system == 'Linux' and os_name == 'posix') and extra == 'opencl'",
]


@pytest.mark.skipif(not Path(errors.__file__).is_relative_to(CHECKOUT / "matrix"), reason="needs an editable install")
def test_in_a_checkout_the_command_names_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(CHECKOUT)
    assert install_hint("onnx") == "install it with `pip install -e '.[onnx]'`"
    monkeypatch.chdir(tmp_path)
    assert install_hint("onnx", "onnx") == f"install onnx with `pip install -e {shlex.quote(f'{CHECKOUT}[onnx]')}`"


def test_elsewhere_it_names_the_packages_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_checkout", lambda: None)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: REQUIRED)
    assert install_hint("onnx") == "install it with `pip install 'onnx>=1.16'` (the extra [onnx] of retarget)"
    pocl = "pocl-binary-distribution>=3.0; (platform_system == 'Linux' and os_name == 'posix')"
    assert shlex.split(install_hint("opencl").split("`")[1]) == ["pip", "install", "jinja2>=3.1", pocl]


def test_every_extra_of_the_project_has_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_checkout", lambda: None)
    for extra in ("iree", "opencl", "onnx", "filecheck"):
        assert f"retarget[{extra}]" not in install_hint(extra)
