"""What is declared with its ids, and the options that pytest is configured with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_targets import compile_target, run_target
from retarget.targets.collected import DeclaredTarget, PytestConfiguration

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
        "addopts of pytest.ini": ("-x", "--flag", "--jobs=2", "--jobs", "3"),
        "PYTEST_ADDOPTS": ("--jobs=4", "--on"),
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
