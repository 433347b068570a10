"""Check modules rewritten so that their functions return what they would check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from retarget.extension import CompilerError, ModulesRequest
from retarget_iree.checks import CheckCaseLoader, ReturnedCheck, checks_in, checks_text, main, return_checks

CHECKS = """\
func.func @f() -> i32 attributes {iree.reflection = {own = "kept"}} {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = arith.constant 1 : i32
  check.expect_almost_eq(%a, %a, atol 0.5, rtol 0.25) : tensor<2xf32>
  check.expect_eq_const(%a, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_true(%t) : i32
  return %t : i32
}
"""

STATE = """\
util.global private mutable @count = 0 : i32
func.func @one() {
  %a = util.global.load @count : i32
  check.expect_true(%a) : i32
  return
}
func.func @takes(%a: i32) { return }
func.func @two() {
  call @one() : () -> ()
  return
}
"""

IN_A_LOOP = """\
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    check.expect_true(%t) : i32
  }
  return
}
"""

IN_A_BRANCH = """\
func.func @f(%c: i1) {
  %t = arith.constant 1 : i32
  cf.cond_br %c, ^yes, ^end
^yes:
  check.expect_true(%t) : i32
  cf.br ^end
^end:
  return
}
"""


def rewritten(text: str) -> str:
    """The module without its locations."""
    written = return_checks(text.encode(), "m.mlir").decode()
    return re.sub(r" loc\(#loc\d*\)| loc\(\"[^)]*\)", "", written)


def test_the_values_of_checks_follow_the_results_of_a_function() -> None:
    text = rewritten(CHECKS)
    assert "check." not in text
    assert "return %c1_i32, %0, %0, %0, %cst, %c1_i32 : i32, " in text
    assert 'own = "kept"' in text
    found = re.search(r'retarget.checks = "(.*?)"}', text)
    assert found is not None
    assert checks_in({"retarget.checks": found[1].replace(r"\22", '"')}) == (
        ReturnedCheck(kind="almost_eq", atol=0.5, rtol=0.25),
        ReturnedCheck(kind="eq"),
        ReturnedCheck(kind="true"),
    )


def test_the_text_of_checks_reads_back() -> None:
    checks = (ReturnedCheck(kind="almost_eq", atol=1e-4), ReturnedCheck(kind="all_true"))
    assert checks_in({"retarget.checks": checks_text(checks)}) == checks
    assert checks_in({}) == ()
    assert [check.values for check in checks] == [2, 1]


def test_locations_are_those_of_the_source() -> None:
    assert 'loc("m.mlir":5:3)' in return_checks(CHECKS.encode(), "m.mlir").decode()


def test_functions_of_a_module_with_state_call_those_before_them() -> None:
    text = rewritten(STATE.replace("  call @one() : () -> ()\n", ""))
    bodies = dict(re.findall(r"func\.func (?:private )?@(\S+?)\((.*?\n  })", text, re.DOTALL))
    assert list(bodies) == ["one", "one$alone", "takes", "two", "two$alone"]
    assert re.findall(r"call @(\S+)\(", bodies["one"]) == ["one$alone"]
    assert re.findall(r"call @(\S+)\(", bodies["two"]) == ["one$alone", "two$alone"]
    assert "func.func private @one$alone() -> i32" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (IN_A_LOOP, "m.mlir:6:5: error: check.expect_true stands in a region of scf.for; expected it in "),
        (IN_A_BRANCH, "m.mlir:5:3: error: check.expect_true stands in a block that is not always run; expected it in "),
        (STATE, "m.mlir:4:3: error: check.expect_true stands in a function that others call; expected it in "),
    ],
)
def test_a_check_whose_values_cannot_be_returned_is_named(text: str, message: str) -> None:
    with pytest.raises(CompilerError) as caught:
        return_checks(text.encode(), "m.mlir")
    assert str(caught.value).startswith(message)
    assert caught.value.verdict


def test_a_module_that_does_not_parse_is_left_to_the_compiler() -> None:
    assert return_checks(b"func.func @f( {", "m.mlir") == b"func.func @f( {"


def test_by_hand_it_is_written_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(CHECKS)
    (tmp_path / "bad.mlir").write_text(IN_A_LOOP)
    output = tmp_path / "returned.mlir"
    assert main([str(tmp_path / "m.mlir"), "-o", str(output)]) == 0
    assert "retarget.checks" in output.read_text()
    assert main([str(tmp_path / "bad.mlir"), "-o", str(output)]) == 1
    assert capsys.readouterr().err.startswith("bad.mlir:6:5: error: check.expect_true stands in a region of scf.for")


def test_modules_that_check_themselves_are_suggested_and_bytecode_is_named(tmp_path: Path) -> None:
    texts = {"a.mlir": CHECKS, "b.mlir": "// check.expect_true(%a)\n", "c.mlirbc": CHECKS, "d.txt": CHECKS}
    files = {name: tmp_path / name for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    found = CheckCaseLoader().suggest_suites(ModulesRequest(folder=tmp_path, files=tuple(files.values())))
    assert [one.files for one in found.suites] == [(files["a.mlir"],)]
    assert [path for path, _ in found.left_out] == [files["c.mlirbc"]]
    assert CheckCaseLoader().suggest_suites(ModulesRequest(folder=tmp_path, files=(files["b.mlir"],))).suites == ()
