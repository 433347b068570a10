# ruff: noqa: E501, PLR0917 - a table of one case a line reads better than one of ten
"""Each rule by itself: a tiny `spirv.module` in, OpenCL C out, and what the kernel computes on the device."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace
from retarget_iree.toolchain import compiler_api
from retarget_opencl.artifact.file import joined
from retarget_opencl.clc.kernel import KernelWriter
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.ops import RULES
from retarget_opencl.clc.source import kernel_source
from retarget_opencl.clc.types import TypeNames
from retarget_opencl.compile.frontend import _settle_dialects
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.device import OpenClDevice, build_options
from retarget_opencl.translation import TranslationError

if TYPE_CHECKING:
    import pyopencl as cl

Array = npt.NDArray[np.generic]

_TYPES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8}


def _module(arguments: Sequence[str], result: str, body: str, declared: Sequence[str] = ()) -> str:
    """Wrap `body`, which makes `%r`, if any, out of `%a`, `%b`, …, into a kernel with a buffer for each.

    `declared` are further variables of the module.
    """

    def pointer(element: str) -> str:
        stride = _TYPES[element.removeprefix("vector<")[2:-1] if element.startswith("vector") else element]
        lanes = int(element[7]) if element.startswith("vector") else 1
        return f"!spirv.ptr<!spirv.struct<(!spirv.rtarray<{element}, stride={stride * lanes}> [0])>, StorageBuffer>"

    kinds = [*arguments, result]
    variables = [
        *(f"spirv.GlobalVariable @__resource_var_0_{n}_ bind(0, {n}) : {pointer(k)}" for n, k in enumerate(kinds)),
        *declared,
    ]
    lines = ["%zero = spirv.Constant 0 : i32"]
    for number, kind in enumerate(kinds):
        lines.append(f"%p{number} = spirv.mlir.addressof @__resource_var_0_{number}_ : {pointer(kind)}")
        chain = f"spirv.AccessChain %p{number}[%zero, %zero] : {pointer(kind)}, i32, i32"
        lines.append(f"%q{number} = {chain} -> !spirv.ptr<{kind}, StorageBuffer>")
    for number, kind in enumerate(arguments):
        lines.append(f'%{"abcd"[number]} = spirv.Load "StorageBuffer" %q{number} : {kind}')
    stored = [f'spirv.Store "StorageBuffer" %q{len(arguments)}, %r : {result}'] if "%r =" in body else []
    lines += [body, *stored, "spirv.Return"]
    joined = "\n      ".join(lines)
    return f"""
spirv.module Logical GLSL450 {{
  {"  ".join(variable + chr(10) for variable in variables)}
  spirv.func @tested() "None" {{
      {joined}
  }}
}}"""


def _translate(text: str, profile: DeviceProfile, items: int = 1, *, bfloat16: bool = False) -> tuple[KernelText, str]:
    """Return a kernel and the whole program."""
    _settle_dialects()
    with compiler_api().Session() as session:
        context = session.context
        from iree.compiler import ir

        with context:
            module = ir.Module.parse(text)
            spirv = module.body.operations[0].operation
            function = next(
                item for item in spirv.regions[0].blocks[0] if item.operation.name == "spirv.func"
            ).operation
            names = TypeNames(native_half=profile.half == "native", bfloat16=bfloat16)
            writer = KernelWriter(names=names, subgroups=profile.subgroups != "none")
            kernel = writer.write(spirv, function, {}, (items, 1, 1), "test")
            source = joined([kernel_source(kernel, profile)])
            del module, spirv, function
    return kernel, source


def _statements(kernel: KernelText) -> list[str]:
    """Return the kernel's own statements: no bindings, loads or stores."""
    lines = [line.strip() for line in kernel.lines]
    return [line for line in lines if "binding" not in line]


def _built(device: OpenClDevice, source: str) -> cl.Kernel:
    """Build a program's kernel, which `_run` can run several times."""
    import pyopencl as cl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the OpenCL compiler's, and pyopencl 2025.1's of a second kernel of one name
        options = build_options(device.profile, source)
        program = cl.Program(device.queue.context, source).build(options=options, cache_dir=False)
        return cl.Kernel(program, "tested")


def _run(
    device: OpenClDevice, source: str | cl.Kernel, arguments: Sequence[Array], result: Array, items: int = 1
) -> Array:
    import pyopencl as cl

    context = device.queue.context
    kernel = _built(device, source) if isinstance(source, str) else source
    buffers = []
    for array in [*arguments, result]:
        raw = np.zeros(64 * items, np.uint8)
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        raw[: len(data)] = data
        buffers.append(cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=raw))
    words: list[Any] = []
    for buffer in buffers:
        words += [buffer, np.uint64(0)]
    kernel.set_args(*words)
    cl.enqueue_nd_range_kernel(device.queue, kernel, (items,), (items,))
    out = np.zeros(64 * items, np.uint8)
    cl.enqueue_copy(device.queue, out, buffers[-1])
    return out[: result.nbytes].view(result.dtype)


_DTYPES: dict[str, npt.DTypeLike] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}


def _array(kind: str, values: Sequence[float] | float) -> Array:
    element = kind[9:-1] if kind.startswith("vector") else kind
    return np.atleast_1d(np.asarray(values)).astype(_DTYPES[element])


NAN, INF = float("nan"), float("inf")

# Name, argument types, result type, body, inputs, statements, result.
CASES = [
    ("IMul small", ("i16", "i16"), "i16", "%r = spirv.IMul %a, %b : i16", (-1, -1), ["v3 = (uint)v1 * v2"], 1),
    ("IMul wide", ("i64", "i64"), "i64", "%r = spirv.IMul %a, %b : i64", (1 << 40, 3), ["v3 = v1 * v2"], 3 << 40),
    ("SDiv", ("i32", "i32"), "i32", "%r = spirv.SDiv %a, %b : i32", (-7, 2), None, -3),
    ("UDiv", ("i32", "i32"), "i32", "%r = spirv.UDiv %a, %b : i32", (-2, 2), None, 2147483647),
    ("UMod", ("i32", "i32"), "i32", "%r = spirv.UMod %a, %b : i32", (-1, 10), None, 5),
    ("SNegate", ("i32",), "i32", "%r = spirv.SNegate %a : i32", (5,), ["v2 = (uint)0 - v1"], -5),
    ("FRem", ("f32", "f32"), "f32", "%r = spirv.FRem %a, %b : f32", (-7.0, 2.0), ["v3 = fmod(v1, v2)"], -1.0),
    ("FNegate", ("f32",), "f32", "%r = spirv.FNegate %a : f32", (0.0,), ["v2 = -v1"], -0.0),
    ("FDiv by zero", ("f32", "f32"), "f32", "%r = spirv.FDiv %a, %b : f32", (1.0, 0.0), ["v3 = v1 / v2"], INF),
    ("contraction", ("f32", "f32", "f32"), "f32", "%p = spirv.FMul %a, %b : f32\n%r = spirv.FAdd %p, %c : f32", (2.0, 3.0, 4.0), ["v4 = v1 * v2 + v3"], 10.0),
    ("no contraction of a product used twice", ("f32", "f32"), "f32", "%p = spirv.FMul %a, %b : f32\n%r = spirv.FAdd %p, %p : f32", (2.0, 3.0), ["v3 = v1 * v2", "v4 = v3 + v3"], 12.0),
    ("half product", ("f16", "f16"), "f16", "%r = spirv.FMul %a, %b : f16", (3.0, 0.33325195), None, 1.0),
    ("ShiftRightLogical", ("i32", "i32"), "i32", "%r = spirv.ShiftRightLogical %a, %b : i32, i32", (-1, 28), ["v3 = v1 >> v2"], 15),
    ("ShiftRightArithmetic", ("i32", "i32"), "i32", "%r = spirv.ShiftRightArithmetic %a, %b : i32, i32", (-16, 2), ["v3 = as_int(v1) >> v2"], -4),
    ("ConvertFToS", ("f32",), "i32", "%r = spirv.ConvertFToS %a : f32 to i32", (-2.7,), ["v2 = as_uint((int)v1)"], -2),
    ("ConvertFToU", ("f32",), "i32", "%r = spirv.ConvertFToU %a : f32 to i32", (3e9,), ["v2 = (uint)v1"], 3000000000 - (1 << 32)),
    ("ConvertUToF", ("i32",), "f32", "%r = spirv.ConvertUToF %a : i32 to f32", (-1,), ["v2 = (float)v1"], 4294967296.0),
    ("SConvert", ("i8",), "i32", "%r = spirv.SConvert %a : i8 to i32", (-5,), ["v2 = as_uint((int)as_char(v1))"], -5),
    ("UConvert", ("i8",), "i32", "%r = spirv.UConvert %a : i8 to i32", (-5,), ["v2 = (uint)v1"], 251),
    ("SConvert narrower", ("i32",), "i8", "%r = spirv.SConvert %a : i32 to i8", (300,), None, 44),
    ("FConvert to half rounds to even", ("f32",), "f16", "%r = spirv.FConvert %a : f32 to f16", (2049.0,), None, 2048.0),
    ("FConvert double to half rounds once", ("f64",), "f16", "%r = spirv.FConvert %a : f64 to f16", (1.0004882812500002,), None, 1.0009765625),
    ("Bitcast", ("f32",), "i32", "%r = spirv.Bitcast %a : f32 to i32", (1.0,), ["v2 = as_uint(v1)"], 0x3F800000),
    ("Bitcast of half", ("f16",), "i16", "%r = spirv.Bitcast %a : f16 to i16", (1.0,), None, 0x3C00),
    ("Bitcast to half", ("i16",), "f16", "%r = spirv.Bitcast %a : i16 to f16", (0x3C00,), None, 1.0),
    ("NMax takes what is no NaN", ("f32", "f32"), "f32", "%r = spirv.GL.NMax %a, %b : f32", (NAN, 2.0), ["v3 = fmax(v1, v2)"], 2.0),
    ("RoundEven", ("f32",), "f32", "%r = spirv.GL.RoundEven %a : f32", (2.5,), ["v2 = rint(v1)"], 2.0),
    ("FClamp", ("f32", "f32", "f32"), "f32", "%r = spirv.GL.FClamp %a, %b, %c : f32", (9.0, 0.0, 1.0), None, 1.0),
    ("FindUMsb", ("i32",), "i32", "%r = spirv.GL.FindUMsb %a : i32", (40,), None, 5),
    ("FindUMsb of nothing", ("i32",), "i32", "%r = spirv.GL.FindUMsb %a : i32", (0,), None, -1),
    ("vector of halves", ("vector<4xf16>", "vector<4xf16>"), "vector<4xf16>", "%r = spirv.FAdd %a, %b : vector<4xf16>", ([2048, 2, 3, 4], [1, 20, 30, 40]), None, [2048, 22, 33, 44]),
    ("vector SDiv", ("vector<2xi32>", "vector<2xi32>"), "vector<2xi32>", "%r = spirv.SDiv %a, %b : vector<2xi32>", ([-7, 9], [2, -3]), None, [-3, -3]),
    ("vector compare and select", ("vector<4xf32>", "vector<4xf32>"), "vector<4xf32>", "%k = spirv.FOrdLessThan %a, %b : vector<4xf32>\n%r = spirv.Select %k, %a, %b : vector<4xi1>, vector<4xf32>", ([1, 5, NAN, 4], [2, 3, 7, 9]), ["v3 = v1 < v2", "v4 = select(v2, v1, v3)"], [1, 3, 7, 4]),
    ("vector shuffle", ("vector<4xf32>", "vector<4xf32>"), "vector<4xf32>", "%r = spirv.VectorShuffle [0 : i32, 4 : i32, 1 : i32, 5 : i32] %a, %b : vector<4xf32>, vector<4xf32> -> vector<4xf32>", ([1, 2, 3, 4], [5, 6, 7, 8]), None, [1, 5, 2, 6]),
    ("swizzle", ("vector<4xf32>",), "vector<2xf32>", "%r = spirv.VectorShuffle [2 : i32, 1 : i32] %a, %a : vector<4xf32>, vector<4xf32> -> vector<2xf32>", ([1, 2, 3, 4],), ["v2 = v1.zy"], [3, 2]),
    ("insert", ("f32", "vector<4xf32>"), "vector<4xf32>", "%r = spirv.CompositeInsert %a, %b[1 : i32] : f32 into vector<4xf32>", (9, [1, 2, 3, 4]), None, [1, 9, 3, 4]),
    ("IAddCarry", ("i32", "i32"), "i32", "%s = spirv.IAddCarry %a, %b : !spirv.struct<(i32, i32)>\n%r = spirv.CompositeExtract %s[1 : i32] : !spirv.struct<(i32, i32)>", (-1, 1), None, 1),
    ("UMulExtended", ("i32", "i32"), "i32", "%s = spirv.UMulExtended %a, %b : !spirv.struct<(i32, i32)>\n%r = spirv.CompositeExtract %s[1 : i32] : !spirv.struct<(i32, i32)>", (-1, -1), None, -2),
    ("SMulExtended", ("i32", "i32"), "i32", "%s = spirv.SMulExtended %a, %b : !spirv.struct<(i32, i32)>\n%r = spirv.CompositeExtract %s[1 : i32] : !spirv.struct<(i32, i32)>", (-1, 1), None, -1),
    ("AtomicAnd and AtomicOr of a byte", ("i8", "i8"), "i32", '%m = spirv.Constant 15 : i8\n%o = spirv.Constant 80 : i8\n%k = spirv.Constant -1 : i8\n%x = spirv.AtomicAnd <Device> <None> %q0, %m : !spirv.ptr<i8, StorageBuffer>\n%y = spirv.AtomicOr <Device> <None> %q0, %o : !spirv.ptr<i8, StorageBuffer>\n%z = spirv.AtomicAnd <Device> <None> %q1, %k : !spirv.ptr<i8, StorageBuffer>\n%c = spirv.Load "StorageBuffer" %q0 : i8\n%r = spirv.UConvert %c : i8 to i32', (0x27, 0x11), None, 0x57),
]  # fmt: skip


@pytest.mark.sampled(20, slow=25)
@pytest.mark.parametrize(
    ("arguments", "result", "body", "inputs", "statements", "expected"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_an_op_is_written_and_computes_what_spirv_says(
    device: OpenClDevice,
    arguments: tuple[str, ...],
    result: str,
    body: str,
    inputs: tuple[Any, ...],
    statements: list[str] | None,
    expected: Any,
) -> None:
    kernel, source = _translate(_module(arguments, result, body), compile_profile(device.profile))
    if statements is not None:
        found = [line.removesuffix(";").split(" ", 2)[2] for line in _statements(kernel)]
        assert found == statements
    arrays = [_array(kind, value) for kind, value in zip(arguments, inputs, strict=True)]
    wanted = _array(result, expected)
    actual = _run(device, source, arrays, wanted)
    np.testing.assert_array_equal(actual, wanted)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(wanted))


@pytest.mark.parametrize("op", ["SDiv", "UDiv", "UMod"])
def test_a_division_that_spirv_leaves_undefined_does_not_end_the_process(device: OpenClDevice, op: str) -> None:
    _, source = _translate(
        _module(("i32", "i32"), "i32", f"%r = spirv.{op} %a, %b : i32"), compile_profile(device.profile)
    )
    built = _built(device, source)
    for inputs in ((7, 0), (-(1 << 31), -1)):
        assert _run(device, built, [_array("i32", value) for value in inputs], _array("i32", 0)).shape == (1,)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("spirv.ControlBarrier <Subgroup>, <Subgroup>, <AcquireRelease>", "no barrier for the execution scope"),
        (
            "spirv.FunctionCall @tested() : () -> ()",
            r"^no OpenCL C rule for spirv\.FunctionCall : \(\) -> \(\) at loc\(",
        ),
        ("%m = spirv.Undef : !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc>", r"^no OpenCL C rule for spirv\.Undef"),
    ],
)
def test_what_no_rule_is_made_for_is_refused(device: OpenClDevice, body: str, message: str) -> None:
    source = _module(("i32",), "i32", f"{body}\n%r = spirv.IAdd %a, %a : i32")
    with pytest.raises(TranslationError, match=message):
        _translate(source, compile_profile(device.profile))


_CANCEL = "%m = spirv.FMul %a, %b : f32\n%n = spirv.FMul %c, %b : f32\n%r = spirv.FSub %m, %n : f32"


@pytest.mark.parametrize("contract", ["off", "on"])
def test_equal_products_cancel_out_unless_contraction_is_allowed(device: OpenClDevice, contract: str) -> None:
    profile = replace(compile_profile(device.profile), contract=contract)
    kernel, source = _translate(_module(("f32", "f32", "f32"), "f32", _CANCEL), profile)
    assert _statements(kernel) == ["const float v4 = v1 * v2 - v3 * v2;"]
    assert f"#pragma OPENCL FP_CONTRACT {contract.upper()}\n" in source
    arrays = [_array("f32", value) for value in (7.25, 316.22775, 7.25)]
    if contract == "off":  # with it, a device may fuse
        assert _run(device, source, arrays, _array("f32", 0.0)) == 0.0


_COMPARISONS = {
    "FOrdEqual": (True, False, False, False),
    "FOrdNotEqual": (False, True, True, False),
    "FOrdLessThan": (False, True, False, False),
    "FOrdLessThanEqual": (True, True, False, False),
    "FOrdGreaterThan": (False, False, True, False),
    "FOrdGreaterThanEqual": (True, False, True, False),
    "FUnordEqual": (True, False, False, True),
    "FUnordNotEqual": (False, True, True, True),
    "FUnordLessThan": (False, True, False, True),
    "FUnordLessThanEqual": (True, True, False, True),
    "FUnordGreaterThan": (False, False, True, True),
    "FUnordGreaterThanEqual": (True, False, True, True),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", _COMPARISONS)
def test_a_float_comparison_treats_nan_as_spirv_says(device: OpenClDevice, name: str) -> None:
    body = f"%k = spirv.{name} %a, %b : f32\n%o = spirv.Constant 1 : i32\n%r = spirv.Select %k, %o, %zero : i1, i32"
    _, source = _translate(_module(("f32", "f32"), "i32", body), compile_profile(device.profile))
    pairs = ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (NAN, 1.0))
    built = _built(device, source)
    actual = [_run(device, built, [_array("f32", a), _array("f32", b)], _array("i32", 0))[0] for a, b in pairs]
    assert tuple(bool(value) for value in actual) == _COMPARISONS[name]


_LOOP = """
%one = spirv.Constant 1 : i32
%r = spirv.mlir.loop -> i32 {
  spirv.Branch ^header(%zero, %one, %zero : i32, i32, i32)
^header(%x: i32, %y: i32, %i: i32):
  %k = spirv.SLessThan %i, %a : i32
  spirv.BranchConditional %k, ^body, ^merge
^body:
  %s = spirv.IAdd %x, %y : i32
  %n = spirv.IAdd %i, %one : i32
  spirv.Branch ^header(%y, %s, %n : i32, i32, i32)
^merge:
  spirv.mlir.merge %x : i32
}
"""


def test_block_arguments_are_copied_as_if_at_once_and_live_after_the_loop(device: OpenClDevice) -> None:
    kernel, source = _translate(_module(("i32",), "i32", _LOOP), compile_profile(device.profile))
    # The tenth Fibonacci number: x takes y's old value in the same step in which y changes.
    assert _run(device, source, [_array("i32", 10)], _array("i32", 0))[0] == 55
    assert any(line.startswith("while (as_int(i3) < as_int(") for line in _statements(kernel))


_SELECTION = """
%two = spirv.Constant 2 : i32
%k = spirv.SLessThan %a, %two : i32
%r = spirv.mlir.selection -> i32 {
  spirv.BranchConditional %k, ^then, ^else
^then:
  %t = spirv.IAdd %a, %two : i32
  spirv.Branch ^merge(%t : i32)
^else:
  %e = spirv.IMul %a, %two : i32
  spirv.Branch ^merge(%e : i32)
^merge(%m: i32):
  spirv.mlir.merge %m : i32
}
"""


@pytest.mark.parametrize(("given", "expected"), [(1, 3), (5, 10)])
def test_a_selection_hands_on_what_is_merged(device: OpenClDevice, given: int, expected: int) -> None:
    _, source = _translate(_module(("i32",), "i32", _SELECTION), compile_profile(device.profile))
    assert _run(device, source, [_array("i32", given)], _array("i32", 0))[0] == expected


def test_every_rule_names_an_op_once_unless_it_is_narrowed() -> None:
    unconditional = [(name, rule.matrices) for rule in RULES.rules if rule.applies is None for name in rule.ops]
    assert sorted(unconditional) == sorted(set(unconditional))
