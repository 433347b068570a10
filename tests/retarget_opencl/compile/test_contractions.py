"""Products of matrices: their tiles by size and type, and matrix units for bf16 and bytes."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, shipped
from retarget_opencl.artifact.file import OpenClArtifact, joined, read_artifact
from retarget_opencl.compile import contractions, frontend
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.run.device import OpenClDevice

NVIDIA = shipped("nvidia-sm80")


def product(shape: tuple[int, int, int], factor: str, total: str, attribute: str = "") -> str:
    rows, columns, depth = shape
    a, b, out = f"tensor<{rows}x{depth}x{factor}>", f"tensor<{depth}x{columns}x{factor}>", f"{rows}x{columns}x{total}"
    return f"""
func.func @main(%a: {a}, %b: {b}) -> tensor<{out}> {{
  %z = arith.constant {"0" if total.startswith("i") else "0.0"} : {total}
  %e = tensor.empty() : tensor<{out}>
  %f = linalg.fill ins(%z : {total}) outs(%e : tensor<{out}>) -> tensor<{out}>
  %r = linalg.matmul {attribute} ins(%a, %b : {a}, {b}) outs(%f : tensor<{out}>) -> tensor<{out}>
  return %r : tensor<{out}>
}}
"""


def compiled(text: str, profile: DeviceProfile = NVIDIA) -> OpenClArtifact:
    return read_artifact(compile_text(text, profile, "main.mlir"))


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("factor", "total", "instruction"),
    [
        ("f16", "f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"),
        ("f16", "f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("bf16", "f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("i8", "i32", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"),
    ],
)
def test_matrix_units_compute_products(factor: str, total: str, instruction: str) -> None:
    artifact = compiled(product((64, 64, 128), factor, total))
    text = joined(artifact.sources)
    assert instruction in text
    assert "opencl.computeCapabilityNV >= 8.0" in artifact.needs
    without = compiled(product((64, 64, 128), factor, total), replace(NVIDIA, matrices="none"))
    assert "mma.sync" not in joined(without.sources)


@pytest.mark.slow
def test_bf16_stays_bf16_in_a_kernel_that_has_more_than_the_product() -> None:
    """A bias in bf16 is added in f32, and the sum is rounded to bf16."""
    text = product((64, 64, 128), "bf16", "f32").replace("return %r : tensor<64x64xf32>", _BIAS)
    text = text.replace("-> tensor<64x64xf32> {", "-> tensor<64x64xbf16> {").replace(
        "%b: ", "%c: tensor<64xbf16>, %b: "
    )
    shown = joined(compiled(text).sources)
    assert "matrix_multiply_add_single_bfloat(" in shown
    assert "bfloat_from_bits4(" in shown
    assert "bfloat_to_bits4(" in shown
    assert "half" not in shown.partition("__kernel")[2]


_BIAS = """
  %o = tensor.empty() : tensor<64x64xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %c : tensor<64x64xf32>, tensor<64xbf16>) outs(%o : tensor<64x64xbf16>) {
  ^bb0(%x: f32, %y: bf16, %old: bf16):
    %w = arith.extf %y : bf16 to f32
    %t = arith.addf %x, %w : f32
    %q = arith.truncf %t : f32 to bf16
    linalg.yield %q : bf16
  } -> tensor<64x64xbf16>
  return %s : tensor<64x64xbf16>"""


def test_bf16_without_matrix_units_has_its_values(device: OpenClDevice) -> None:
    """Sizes that do not divide by 16, compiled for a GPU with matrix units, on a device without."""
    text = product((7, 5, 11), "bf16", "f32").replace("return %r : tensor<7x5xf32>", _ROUNDED)
    text = text.replace("-> tensor<7x5xf32> {", "-> tensor<7x5xbf16> {")
    artifact = compile_text(text, NVIDIA, "main.mlir")
    shown = joined(read_artifact(artifact).sources)
    assert "bfloat_from_bits" in shown
    assert "mma.sync" not in shown
    random = np.random.default_rng(1)
    a, b = (random.integers(-99, 99, shape).astype(ml_dtypes.bfloat16) for shape in ((7, 11), (11, 5)))
    a[0, 0], a[1, 1] = np.nan, np.inf
    (found,) = call(device.load(artifact), "main", a, b)
    with np.errstate(invalid="ignore"):
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


_ROUNDED = """
  %q = arith.truncf %r : tensor<7x5xf32> to tensor<7x5xbf16>
  return %q : tensor<7x5xbf16>"""


@pytest.mark.parametrize("sum_of", ["bf16", "f32"])
def test_arithmetic_in_bf16_is_left_to_iree(sum_of: str) -> None:
    """f16 stands for bf16 only where it is loaded, converted and stored."""
    text = product((7, 5, 11), "bf16", sum_of)
    assert ("bfloat_from_bits" in joined(compiled(text).sources)) == (sum_of == "f32")


@pytest.mark.sampled(2, slow=4)
@pytest.mark.parametrize(
    ("shape", "types", "items", "groups"),
    [
        ((2048, 2048, 128), ("f16", "f16"), (64, 2, 1), 256),  # 128x128, four subgroups of 64x64
        ((1024, 1024, 128), ("f16", "f32"), (64, 2, 1), 256),  # 64x64, four of 32x32
        ((512, 512, 128), ("bf16", "f32"), (64, 2, 1), 128),  # 32x64, four of 16x32
        ((384, 384, 256), ("i8", "i32"), (32, 2, 1), 144),  # 32x32, two of 16x32
        ((256, 256, 512), ("i8", "i32"), (64, 2, 1), 64),  # 32x32 in larger steps, as there are few
        ((64, 96, 192), ("f16", "f16"), (32, 2, 1), 6),
        ((1024, 1024, 128), ("f32", "f32"), (32, 8, 1), 128),  # 64x128
        ((768, 768, 128), ("f32", "f32"), (16, 16, 1), 144),  # 64x64
        ((512, 512, 128), ("f32", "f32"), (16, 8, 1), 128),  # 32x64
        ((256, 256, 128), ("f32", "f32"), (8, 16, 1), 64),  # 32x32
        ((64, 64, 64), ("f32", "f32"), (4, 16, 1), 16),  # 16x16, one step
        ((1024, 1024, 64), ("f16", "f32"), (64, 2, 1), 256),  # 64x64, one step
    ],
)
def test_tiles_are_as_large_as_leaves_enough_work_groups(
    shape: tuple[int, int, int], types: tuple[str, str], items: tuple[int, int, int], groups: int
) -> None:
    program = compiled(product(shape, *types)).program
    (kernel,) = program.kernels
    assert kernel.workgroup_size == items
    constants = {constant.value for constant in program.functions[kernel.groups].constants}
    assert groups in constants


@pytest.mark.slow
def test_a_product_with_more_in_its_kernel_has_room_for_its_sums() -> None:
    """128x128 sums of `f32` take more local memory than there is: the kernel has tiles of 64x64."""
    wide, narrow = "tensor<2048x2048xf32>", "tensor<2048x2048xf16>"
    text = product((2048, 2048, 128), "f16", "f32").replace(f"-> {wide} {{", f"-> {narrow} {{")
    rounded = f"%q = arith.truncf %r : {wide} to {narrow}\n  return %q : {narrow}"
    text = text.replace(f"return %r : {wide}", rounded)
    program = compiled(text).program
    (kernel,) = program.kernels
    assert kernel.workgroup_size == (64, 2, 1)
    assert 1024 in {constant.value for constant in program.functions[kernel.groups].constants}


@pytest.mark.slow
def test_a_batch_has_the_tiles_of_its_products() -> None:
    text = product((64, 96, 192), "f32", "f32").replace("linalg.matmul", "linalg.batch_matmul")
    (kernel,) = compiled(re.sub(r"tensor<(\d)", r"tensor<6x\1", text)).program.kernels
    assert kernel.workgroup_size == (8, 16, 1)


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("shape", "left"),
    [((80, 96, 192), True), ((64, 64, 32), True), ((80, 72, 64), True), ((50, 70, 90), True), ((64, 64, 64), False)],
)
def test_sizes_that_no_tile_divides_are_left_to_iree(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int, int], *, left: bool
) -> None:
    prepared = joined(compiled(product(shape, "f32", "f32")).sources)
    monkeypatch.setattr(frontend, "prepare_products", lambda module: False)
    assert (joined(compiled(product(shape, "f32", "f32")).sources) == prepared) == left


_TWO_PRODUCTS = """
func.func @main(%a: tensor<2048x1024xf16>, %b: tensor<1024x2048xf16>, %c: tensor<2048x512xf16>)
    -> tensor<2048x512xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2048x2048xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %r = linalg.matmul ins(%a, %b : tensor<2048x1024xf16>, tensor<1024x2048xf16>) outs(%f : tensor<2048x2048xf16>)
    -> tensor<2048x2048xf16>
  %h = tensor.empty() : tensor<2048x512xf16>
  %i = linalg.fill ins(%z : f16) outs(%h : tensor<2048x512xf16>) -> tensor<2048x512xf16>
  %s = linalg.matmul ins(%r, %c : tensor<2048x2048xf16>, tensor<2048x512xf16>) outs(%i : tensor<2048x512xf16>)
    -> tensor<2048x512xf16>
  return %s : tensor<2048x512xf16>
}
"""


@pytest.mark.slow
def test_tiles_that_iree_refuses_are_dropped_from_their_kernel_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """128x128 in one step of 1024 takes more local memory than there is."""

    def kernels() -> list[str]:
        return [source.text for source in compiled(_TWO_PRODUCTS).sources]

    good = kernels()
    monkeypatch.setattr(frontend, "prepare_products", lambda module: False)
    plain = kernels()
    monkeypatch.undo()
    assert [one == other for one, other in zip(good, plain, strict=True)] == [False, False]
    refused = replace(contractions._MATRIX_TILES[1], step=2048, whole=True)
    monkeypatch.setattr(contractions, "_MATRIX_TILES", (refused, *contractions._MATRIX_TILES))
    assert kernels() == [plain[0], good[1]]


OWN = (
    "{compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = "
    "[[64, 64], [32, 64], [0, 0, 32], [16, 16, 16]]>, translation_info = #iree_codegen.translation_info<pipeline = "
    "#iree_gpu.spirv_pipeline<CooperativeMatrixVectorize> workgroup_size = [32, 2, 1] subgroup_size = 32, "
    "{pipeline_depth = 1 : i64, store_stage = 1 : i64}>>}"
)


@pytest.mark.slow
def test_a_modules_own_tiles_stay() -> None:
    (kernel,) = compiled(product((512, 512, 512), "f16", "f16", OWN)).program.kernels
    assert kernel.workgroup_size == (32, 2, 1)
