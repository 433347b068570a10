"""Which build a config uses is determined in the config's environment."""

from __future__ import annotations

from pathlib import Path

import pytest
import worker_doubles
from msgspec.structs import replace
from retarget.extension.registry import Registry, registry_of
from retarget.session.compile.resolution import describe_build
from targets_of_doubles import EXTENSIONS, compile_target, runtime_config, toolchain


@pytest.fixture(scope="module")
def registry() -> Registry:
    return registry_of({"doubles": worker_doubles})


def test_the_build_of_a_config_is_what_its_environment_imports(tmp_path: Path, registry: Registry) -> None:
    plain = compile_target(tmp_path, "a", "").compiler
    (tmp_path / "double_build.py").write_text("# mine")
    own = replace(plain, env=(("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[3]}"),))
    assert describe_build(registry, EXTENSIONS, plain) == "double (double 1)"
    assert describe_build(registry, EXTENSIONS, own) == f"double (# mine, {tmp_path / 'double_build.py'})"


def test_where_there_is_no_build_the_reason_is_given(tmp_path: Path, registry: Registry) -> None:
    plain = compile_target(tmp_path, "a", "").compiler
    lost = replace(plain, toolchain=toolchain(tmp_path))
    assert describe_build(registry, EXTENSIONS, lost) == f"toolchain 'mine' (matrix.toml): {tmp_path} holds no double"
    assert describe_build(registry, EXTENSIONS, replace(plain, compiler="none")).startswith(
        "found the compiler 'none', expected a registered one: double"
    )
    (tmp_path / "build").write_text("# 2")
    assert describe_build(registry, EXTENSIONS, lost) == f"double (# 2, {tmp_path / 'build'})"
    assert describe_build(registry, EXTENSIONS, runtime_config(env=(("A", "1"),))) == ""
