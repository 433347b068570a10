"""What is declared with its ids, and the options that pytest is configured with."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.extension.registry import Registry
from retarget.model import Origin
from retarget.support.errors import RetargetError
from retarget.targets import collected
from retarget.targets.collected import DeclaredTarget, PytestConfiguration, SelectionRequest, _relative

SUITE: Any = None


def test_a_target_has_its_id_and_that_of_its_compile_target() -> None:
    compiled = compile_target()
    for target, name in ((compiled, "m_c"), (run_target(compiled), "m_c_r")):
        declared = DeclaredTarget(suite_id="a/suite.toml::s", suite=SUITE, target=target)
        assert declared.id == f"a/suite.toml::s::{name}"
        assert declared.compiled is compiled
        assert declared.compile_id == "a/suite.toml::s::m_c"


def test_options_are_found_with_their_place() -> None:
    words = {
        "addopts of pytest.ini": ("-h", "--flag", "--jobs=2", "--jobs", "3"),
        "PYTEST_ADDOPTS": ("--jobs=4", "--on", "--job=5"),
        "elsewhere": ("--jobs=6", "--jobs"),  # pytest refuses it
    }
    found = PytestConfiguration(root=Path(), options=words)
    assert found.given("--jobs") == [
        ("2", "--jobs in addopts of pytest.ini"),
        ("3", "--jobs in addopts of pytest.ini"),
        ("4", "--jobs in PYTEST_ADDOPTS"),
    ]
    assert found.switched_on("--on") == "--on in PYTEST_ADDOPTS"
    assert found.switched_on("--flag") == "--flag in addopts of pytest.ini"
    assert found.switched_on("--off") == ""


def test_a_suite_has_its_path_below_the_folder_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real/ops").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    for file, folder in (
        ("real/ops/suite.toml", "real"),
        ("link/ops/suite.toml", "real"),
        ("real/ops/suite.toml", "link"),
    ):
        assert _relative(tmp_path / file, tmp_path / folder) == "ops/suite.toml"
    with pytest.raises(RetargetError) as caught:
        _relative(tmp_path / "suite.toml", tmp_path / "real")
    assert str(caught.value) == (
        f"found the suite file {tmp_path}/suite.toml outside {tmp_path}/real; expected all suites below that folder"
    )


def test_what_pytest_selects_is_collected_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SelectionRequest] = []
    targets = [compile_target(name) for name in "ab"]

    def select_targets(request: SelectionRequest) -> Any:
        asked.append(request)
        suites = [
            SimpleNamespace(
                suite=SimpleNamespace(name=name, origin=Origin(file=Path(f"/p/{name}/suite.toml"), key_path="")),
                selected=[target],
            )
            for name, target in zip("yx", targets, strict=True)
        ]
        return SimpleNamespace(suites=suites, registry=Registry(), notes=())

    monkeypatch.setattr(collected, "pytest_plugin", lambda: SimpleNamespace(select_targets=select_targets))
    monkeypatch.setattr(collected, "DeclaredTarget", lambda **known: (known["suite_id"], known["target"]))
    found: Any = collected.Declared.collect(Path("/p"), ("y", "x"), ("e",), mark="run").targets
    assert asked == [SelectionRequest(paths=("/p/y", "/p/x"), extensions=("e",), mark="run")]
    assert found == [("y/suite.toml::y", targets[0]), ("x/suite.toml::x", targets[1])]
