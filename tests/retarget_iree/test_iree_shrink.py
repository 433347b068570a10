"""`python3 -m retarget_iree.modules.shrink`: variants of a module, each smaller in one way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.modules.shrink import resized, variants
from retarget_iree.toolchain import compiler_api

MODULE = """\
util.global private @g = dense<1.5> : tensor<16x4xf32>
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @second(%a: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %x = util.global.load @g : tensor<16x4xf32>
  %y = arith.addf %x, %a : tensor<16x4xf32>
  %z = math.trunc %y : tensor<16x4xf32>
  return %z : tensor<16x4xf32>
}
"""


@pytest.mark.parametrize(
    ("how", "text", "expected"),
    [
        ("sizes", "tensor<4x8x?xf32>, vector<8xi4>, memref<8xf32>", "tensor<4x2x?xf32>, vector<2xi4>, memref<2xf32>"),
        ("sizes", "tensor<16x8xf8E4M3FN>", "tensor<16x2xf8E4M3FN>"),
        ("sizes", "!torch.vtensor<[8,3],f32>", "!torch.vtensor<[2,3],f32>"),
        ("sizes", "dense<1.0> : tensor<8xf32>", "dense<1.0> : tensor<2xf32>"),
        ("sizes", "dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi8>", "dense<[1, 2]> : tensor<2xi8>"),
        (
            "sizes",
            "dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 8], [7, 6], [5, 4], [3, 2]]> : tensor<8x2xi8>",
            "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
        ),
        ("sizes", 'dense<"0x0102030405060708"> : tensor<8xi8>', "dense<1> : tensor<2xi8>"),
        ("sizes", 'dense<"0x00"> : tensor<8xf16>', "dense<1.0> : tensor<2xf16>"),
        ("sizes", "tensor.expand_shape %x output_shape [8, 1] : tensor<8xf32>", None),
        ("multiples", "tensor<4x8x16x24xf32>", "tensor<4x2x4x6xf32>"),
        (
            "numbers",
            "output_shape [8, 1] : tensor<8xf32> %8 @f8 #m8 8.0 i8",
            "output_shape [2, 1] : tensor<2xf32> %8 @f8 #m8 8.0 i8",
        ),
    ],
)
def test_a_size_is_changed_in_all_shapes_and_arrays_are_cut(how: str, text: str, expected: str | None) -> None:
    assert resized(text, 8, 2, how) == (expected or text.replace("<8x", "<2x"))


def _shrunk(folder: Path, text: str, *words: str, refused: str = "") -> tuple[list[str], dict[str, str]]:
    (folder / "m.mlir").write_text(text)
    argv = [sys.executable, "-m", "retarget_iree.modules.shrink", str(folder / "m.mlir"), "-o", str(folder), *words]
    done = subprocess.run(argv, input=refused, capture_output=True, text=True, check=False)
    first, *lines = done.stdout.splitlines() or [done.stderr]
    pairs = [line.split("\t") for line in lines]
    return [first, str(done.returncode)], {name: Path(path).read_text() for path, name in pairs}


def test_variants_verify_and_leave_out_what_nothing_uses_any_more(tmp_path: Path) -> None:
    changes = {16: (1, 2, 4, 8), 4: (1, 2)}
    sizes = [
        f"{how} of {size} become {smaller}"
        for size, others in changes.items()
        for smaller in others
        for how in ("sizes", "multiples", "numbers")
    ]
    said, found = _shrunk(tmp_path, MODULE, refused="\n".join(sizes))
    assert said == ["2 functions, 6 ops", "0"]
    assert list(found)[:4] == ["as the compiler prints it", "only first", "only second", "second ends after 2 of 4 ops"]
    assert found["only first"] == (
        "module {\n  func.func @first(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
        "    return %arg0 : tensor<4xf32>\n  }\n}\n"
    )
    assert "arith.addf" not in found["op 1 of second is passed by"]
    assert "op 0 of second is passed by" not in found  # a load has no operand that could take its place
    assert "arith.addf %arg1, %arg0" in found["op 0 of second is an argument"]


@pytest.mark.slow
def test_a_function_that_is_called_keeps_its_types_and_no_refused_variant_comes_again(tmp_path: Path) -> None:
    _, first = _shrunk(tmp_path, MODULE, "--keep-types")
    assert not [name for name in first if "ends after" in name]
    _, others = _shrunk(tmp_path, MODULE, refused="\n".join(first))
    assert not set(first) & set(others)
    argument = others["op 2 of second is an argument"]
    assert "@second(%arg0: tensor<16x4xf32>, %arg1: tensor<16x4xf32>) -> tensor<16x4xf32> {" in argument
    assert "return %arg1" in argument
    assert "math.trunc" not in argument


RICH = """\
util.global private @"g 1" = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
func.func private @helper(%x: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %y = arith.addi %x, %x : tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}
func.func @one(%a: tensor<3x2xi32> {x.a = 1}, %b: i1, %i: index {x.b = 2}) -> (tensor<3x2xi32> {x.c = 3}) {
  %g = util.global.load @"g 1" : tensor<3x2xi32>
  %r = func.call @helper(%g) : (tensor<3x2xi32>) -> tensor<3x2xi32>
  %s = arith.addi %a, %r : tensor<3x2xi32>
  return %s : tensor<3x2xi32>
}
func.func @two(%c: i1, %b: tensor<2xf32>) -> tensor<2xf32> {
  %d = arith.addf %b, %b : tensor<2xf32>
  %e = scf.if %c -> tensor<2xf32> {
    scf.yield %d : tensor<2xf32>
  } else {
    scf.yield %b : tensor<2xf32>
  }
  return %e : tensor<2xf32>
}
func.func @three() { return }
"""


def made(text: str, *refused: str, keep_types: bool = False) -> dict[str, str]:
    compiler_api()
    from iree.compiler import ir

    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        return dict(variants(str(ir.Module.parse(text)), {*refused}, keep_types=keep_types))


def test_a_long_function_ends_and_a_size_becomes_smaller_in_four_ways() -> None:
    ops = "".join(f"%v{at + 1} = arith.addf %v{at}, %v0 : tensor<16xf32>\n" for at in range(17))
    long = f"func.func @f(%v0: tensor<16xf32>) -> tensor<16xf32> {{\n{ops}return %v17 : tensor<16xf32>\n}}\n"
    short = "func.func @g(%a: f32) -> f32 {\n%b = arith.negf %a : f32\nreturn %b : f32\n}\n"
    ends = [f"f ends after {length} of 18 ops" for length in (9, 13, 15, 16)]
    sizes = [f"sizes of 16 become {smaller}" for smaller in (1, 2, 4, 8)]
    assert list(made(long + short))[:11] == ["as the compiler prints it", "only f", "only g", *ends, *sizes]
    assert list(made(long))[:9] == ["as the compiler prints it", *ends, *sizes]
    assert list(made(short)) == ["as the compiler prints it", "op 0 of g is passed by", "op 0 of g is an argument"]


def test_all_variants_of_a_module_the_boldest_first() -> None:
    found = made(RICH)
    whole = found["as the compiler prints it"]
    keeping = made(whole, "only one", "op 0 of two is passed by", keep_types=True)
    parts = [f"only {names}" for names in ("one", "two, three", "one, three", "one, two")]
    sizes = [f"{how} of {size}" for size in ("3 become 1", "3 become 2", "2 become 1") for how in ("sizes", "numbers")]
    passed = {f"op {op} is passed by" for op in ("0 of helper", "2 of one", "1 of one", "0 of two")}
    ops = [
        "0 of helper",
        "2 of one",
        "2 of one",
        "1 of one",
        "1 of one",
        "0 of one",
        "1 of two",
        "0 of two",
        "0 of two",
    ]
    hows = ["passed by", "passed by", "an argument", "passed by", "an argument", *["an argument"] * 2, "passed by"]
    edits = [f"op {op} is {how}" for op, how in zip(ops, [*hows, "an argument"], strict=True)]
    ends = ["one ends after 2 of 4 ops", "two ends after 1 of 3 ops"]
    assert list(found) == ["as the compiler prints it", *parts, *ends, *sizes, *edits, "no unused arguments"]
    names = ["as the compiler prints it", *parts[1:], *sizes, *(edit for edit in edits if edit in passed)]
    assert list(keeping) == names[:-1]

    head = "func.func @one(%arg0: tensor<3x2xi32> {x.a = 1 : i64}, %arg1: i1, %arg2: index {x.b = 2 : i64}"
    returns, new = "-> (tensor<3x2xi32> {x.c = 3 : i64}) {", "%arg3: tensor<3x2xi32>"
    changed = {
        "only one": ([], 13),
        "only two, three": ([], 14),
        "one ends after 2 of 4 ops": ([f"{head}) -> tensor<3x2xi32> {{"], 24),
        "two ends after 1 of 3 ops": (["return %0 : tensor<2xf32>"], 20),
        "op 2 of one is an argument": ([f"{head}, {new}) {returns}", "return %arg3 : tensor<3x2xi32>"], 24),
        "op 1 of one is passed by": (["%0 = arith.addi %arg0, %g_1 : tensor<3x2xi32>"], 20),
        "no unused arguments": ([f"func.func @one(%arg0: tensor<3x2xi32> {{x.a = 1 : i64}}) {returns}"], 25),
    }
    for name, (lines, count) in changed.items():
        variant = found[name].splitlines()
        added = [line.strip() for line in variant if line not in whole.splitlines()]
        assert (name, added, len(variant)) == (name, lines, count)


def test_a_module_that_does_not_parse_has_no_variants(tmp_path: Path) -> None:
    (message, status), found = _shrunk(tmp_path, "func.func @f(")
    assert (status, found) == ("1", {})
    assert message.startswith("Unable to parse module assembly")


@pytest.mark.parametrize("keep_types", [True, False])
def test_the_compiler_names_the_command(tmp_path: Path, keep_types: bool) -> None:
    command = IreeCompiler().shrink_command(tmp_path / "m.mlir", tmp_path, keep_types)
    words = ["-m", "retarget_iree.modules.shrink", str(tmp_path / "m.mlir"), "-o", str(tmp_path)]
    assert list(command[1:]) == words + ["--keep-types"] * keep_types
