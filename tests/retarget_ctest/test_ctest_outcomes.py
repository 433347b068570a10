"""ctest gives each target the outcome that pytest gives it: `benchmarks/ctest_equality.py`, on a few targets of each
fate."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_scripts import benchmark_script
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target

TOOL = benchmark_script("ctest_equality")
NOT_RUN = TOOL.NOT_RUN

NOT_BY_VMVX = """\
func.func @angle(%x: tensor<2xf32>) -> tensor<2xf32> {
  %angle = math.acos %x : tensor<2xf32>
  return %angle : tensor<2xf32>
}
"""


@pytest.mark.slow
def test_outcomes_are_those_of_pytest(mixed: Path, tmp_path: Path) -> None:
    assert TOOL.emitted(mixed, tmp_path / "ctest") == f"{tmp_path}/ctest/CTestTestfile.cmake: 25 tests\n"
    expected = TOOL.by_pytest(mixed, tmp_path / "results")
    # What needs a compile target that fails, though it compiled or would be skipped: ctest does not start it.
    names = {
        "compiles_again_vmvx_sync": "passed",
        "compiles_again_vmvx_phone": "skipped",
        "refused_vmvx_phone": "skipped",
    }
    not_started = {f"linalg/suite.toml::linalg::{name}": outcome for name, outcome in names.items()}
    assert expected["linalg/suite.toml::linalg::compiles_again_vmvx"] == "failed"
    assert {name: expected[name] for name in not_started} == not_started
    everywhere = {**expected, **dict.fromkeys(not_started, NOT_RUN)}
    assert TOOL.by_ctest(tmp_path / "ctest", "-j2") == everywhere
    run_alone = [one for one in expected if one.endswith("_vmvx_sync")]
    compiles = [one for one in expected if one.endswith("_vmvx")]
    chosen = TOOL.by_ctest(tmp_path / "ctest", "-j2", "-L", "^sync$")
    assert chosen == {one: everywhere[one] for one in (*run_alone, *compiles)}
    assert TOOL.compare(expected, everywhere) == ([], sorted(not_started))


@pytest.mark.slow
def test_what_is_to_agree_with_a_config_that_fails_is_blocked_by_pytest_and_fails_by_ctest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "matrix.toml": declarations(
            "root = true\n",
            compiler("vmvx", flags=VMVX_FLAGS),
            compiler("llvm-cpu", flags=[flag.replace("vmvx", "llvm-cpu") for flag in VMVX_FLAGS]),
            runtime("sync"),
            target("all", ["vmvx", "llvm-cpu"], ["sync"]),
        ),
        "suite.toml": suite("math", kind="cases"),
        "m.mlir": NOT_BY_VMVX,
        "m.cases.toml": '[[case]]\nname = "agrees"\ninputs = [[0, 0.5]]\nagree_with = "vmvx"\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert TOOL.main(["."]) == 1
    first, difference, _, last = capsys.readouterr().out.splitlines()
    assert first == ".: 4 of 5 equal (2 failed, 1 not run: Fixture dependency failed, 2 passed)"
    assert difference == f"  suite.toml::math::m_llvm-cpu_sync: by pytest {NOT_RUN}, by ctest failed"
    assert last == "5 tests compared, 1 with another outcome"


def test_differences_are_named() -> None:
    expected = {"m_c": "failed", "m_c_r": "passed", "n_c": "passed", "n_c_r": "passed", "gone": "passed"}
    found = {"m_c": "failed", "m_c_r": NOT_RUN, "n_c": "passed", "n_c_r": NOT_RUN, "more": "passed"}
    differences, not_started = TOOL.compare(expected, found)
    assert not_started == ["m_c_r"]
    assert differences == [
        "gone: by pytest passed, by ctest no such test",
        "more: by pytest no such target, by ctest passed",
        f"n_c_r: by pytest passed, by ctest {NOT_RUN}",
    ]
