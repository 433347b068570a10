"""linalg on tensors: element-wise arithmetic, layouts and gathers."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Array, Module, applied, exactly, module, type_of

F32 = np.float32
INF = np.inf


@module("linalg/transpose")
def _transpose(m: Module) -> None:
    """linalg.transpose: a matrix, and every cyclic and swapped order of three dimensions, and four dimensions NHWC to NCHW.
    Numbers: NumPy's transpose; values are only moved.
    """
    x = m.input("matrix", (37, 31), seed=3, modulus=1009, shift=0)
    y = m.input("cube", (5, 13, 17), seed=4, modulus=1009, shift=0)
    z = m.input("image", (2, 7, 9, 5), seed=4, modulus=1009, shift=0)
    cases = [("matrix", x, (1, 0)), ("image", z, (0, 3, 1, 2)), ("image", z, (0, 2, 3, 1))]
    cases += [("cube", y, order) for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1))]
    for name, values, order in cases:
        out = exactly(values.transpose(order), F32)
        body = """
            %x = @$input
            %empty = tensor.empty() : $ot
            %out = linalg.transpose ins(%x : $it) outs(%empty : $ot) permutation = [$order]
            """
        m.function(f"{name}_" + "".join(map(str, order)), body, {"%out": out},
                   input=name, it=type_of(values.astype(F32)), ot=type_of(out), order=", ".join(map(str, order)))  # fmt: skip


@module("linalg/broadcast")
def _broadcast(m: Module) -> None:
    """linalg.broadcast of a vector along rows and along columns and of a scalar, and implicit broadcasts in a linalg.generic's maps.
    Numbers: NumPy's broadcasting, exact in f32.
    """
    row = m.input("row", (29,), seed=3)
    column = m.input("column", (23,), seed=4)
    for name, values, shape, dims in (("along_rows", row, (7, 29), "[0]"), ("along_columns", column, (23, 11), "[1]")):
        out = exactly(np.broadcast_to(values if dims == "[0]" else values[:, None], shape), F32)
        body = """
            %x = @$input
            %empty = tensor.empty() : $ot
            %out = linalg.broadcast ins(%x : $it) outs(%empty : $ot) dimensions = $dims
            """
        m.function(name, body, {"%out": out},
                   input="row" if values is row else "column", it=type_of(values.astype(F32)), ot=type_of(out), dims=dims)  # fmt: skip
    body = """
        %x = util.unfoldable_constant dense<2.5> : tensor<f32>
        %empty = tensor.empty() : tensor<3x5xf32>
        %out = linalg.broadcast ins(%x : tensor<f32>) outs(%empty : tensor<3x5xf32>) dimensions = [0, 1]
        """
    m.function("scalar", body, {"%out": np.full((3, 5), 2.5, F32)})
    body = """
        %row, %column = @row, @column
        %empty = tensor.empty() : tensor<23x29xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%row, %column : tensor<29xf32>, tensor<23xf32>) outs(%empty : tensor<23x29xf32>) {
        ^bb0(%r: f32, %c: f32, %unused: f32):
          %sum = arith.addf %r, %c : f32
          linalg.yield %sum : f32
        } -> tensor<23x29xf32>
        """
    m.function("sum_of_row_and_column", body, {"%out": exactly(column[:, None] + row, F32)})


@module("linalg/gather")
def _gather(m: Module) -> None:
    """Gathers: tensor.extract in a linalg.generic with indices that are data: rows of a table, single elements, a mirrored read, a second-order read.
    Numbers: NumPy's indexing; values are only moved.
    """
    table = m.input("table", (50, 13), seed=3, modulus=1009, shift=0)
    rows = np.array([49, 0, 7, 7, 31, 16, 32, 1, 25, 48, 3])
    body = """
        %table = @table
        %rows = $rows
        %empty = tensor.empty() : tensor<11x13xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
            ins(%rows : tensor<11xi32>) outs(%empty : tensor<11x13xf32>) {
        ^bb0(%row: i32, %unused: f32):
          %i = arith.index_cast %row : i32 to index
          %j = linalg.index 1 : index
          %element = tensor.extract %table[%i, %j] : tensor<50x13xf32>
          linalg.yield %element : f32
        } -> tensor<11x13xf32>
        """
    m.function("rows_of_a_table", body, {"%out": exactly(table[rows], F32)}, rows=rows.astype(np.int32))
    columns = np.array([12, 0, 5, 6, 1, 11, 3, 3, 9, 2, 8])
    body = """
        %table = @table
        %rows = $rows
        %columns = $columns
        %empty = tensor.empty() : tensor<11xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%rows, %columns : tensor<11xi32>, tensor<11xi32>) outs(%empty : tensor<11xf32>) {
        ^bb0(%row: i32, %column: i32, %unused: f32):
          %i = arith.index_cast %row : i32 to index
          %j = arith.index_cast %column : i32 to index
          %element = tensor.extract %table[%i, %j] : tensor<50x13xf32>
          linalg.yield %element : f32
        } -> tensor<11xf32>
        """
    m.function(
        "single_elements",
        body,
        {"%out": exactly(table[rows, columns], F32)},
        rows=rows.astype(np.int32),
        columns=columns.astype(np.int32),
    )
    body = """
        %table = @table
        %last = arith.constant 49 : index
        %empty = tensor.empty() : tensor<50x13xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<50x13xf32>) {
        ^bb0(%unused: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %mirrored = arith.subi %last, %i : index
          %element = tensor.extract %table[%mirrored, %j] : tensor<50x13xf32>
          linalg.yield %element : f32
        } -> tensor<50x13xf32>
        """
    m.function("mirrored", body, {"%out": exactly(table[::-1], F32)})
    order = (np.arange(64) * 37 + 5) % 64
    body = """
        %order = $order
        %empty = tensor.empty() : tensor<64xi32>
        %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%order : tensor<64xi32>) outs(%empty : tensor<64xi32>) {
        ^bb0(%next: i32, %unused: i32):
          %i = arith.index_cast %next : i32 to index
          %element = tensor.extract %order[%i] : tensor<64xi32>
          linalg.yield %element : i32
        } -> tensor<64xi32>
        """
    m.function("index_of_index", body, {"%out": order[order].astype(np.int32)}, order=order.astype(np.int32))


@module("linalg/math")
def _math(m: Module) -> None:
    """The math dialect in f32 over 61 evenly spaced arguments each: exp, log, sqrt, rsqrt, tanh, sin, cos, erf, and powf.
    Numbers: NumPy in float64 of the f32 arguments (erf: its Taylor series in float64). rtol 1e-5, atol 1e-6: the polynomial approximations
    of a CPU and the relaxed built-ins of a GPU (Vulkan: exp 3+2|x| ulp, sin and cos absolute 2^-11 only inside [-pi, pi], hence atol 5e-4 there).
    """
    step = np.arange(61, dtype=np.float64)
    signed = (step / 8 - 3.75).astype(F32)
    positive = (step / 4 + 0.125).astype(F32)
    angles = (step / 10 - 3.0).astype(F32)

    def erf(x: Array) -> Array:
        total, term = np.zeros_like(x), x.copy()
        for n in range(90):
            total += term / (2 * n + 1)
            term = -term * x * x / (n + 1)
        return total * 2 / np.sqrt(np.pi)

    cases = (
        ("exp", "math.exp %v", signed, np.exp, 1e-6), ("log", "math.log %v", positive, np.log, 1e-6),
        ("sqrt", "math.sqrt %v", positive, np.sqrt, 1e-6), ("rsqrt", "math.rsqrt %v", positive, lambda x: 1 / np.sqrt(x), 1e-6),
        ("tanh", "math.tanh %v", signed, np.tanh, 1e-6), ("sin", "math.sin %v", angles, np.sin, 5e-4),
        ("cos", "math.cos %v", angles, np.cos, 5e-4), ("erf", "math.erf %v", signed, erf, 2e-6),
        ("exp2", "math.exp2 %v", signed, np.exp2, 1e-6), ("log1p", "math.log1p %v", positive, np.log1p, 1e-6),
        ("expm1", "math.expm1 %v", signed, np.expm1, 1e-6),
    )  # fmt: skip
    for name, op, x, function, atol in cases:
        want = function(x.astype(np.float64)).astype(F32)
        m.elementwise(f"{name}_of_61", op, Approximate(value=want, atol=atol, rtol=1e-5), x)
    power = (positive.astype(np.float64) ** 1.75).astype(F32)
    m.function(
        "powf_of_61",
        "%exponent = arith.constant 1.75 : f32"
        + applied("math.powf %v, %exponent", "tensor<61xf32>", "tensor<61xf32>"),
        {"%out": Approximate(value=power, atol=1e-6, rtol=4e-5)},
        x=positive,
    )


@module("linalg/rounding")
def _rounding(m: Module) -> None:
    """Rounding and signs in f32: floor, ceil, round half away from zero, round half to even, absolute value, negation.
    Numbers: NumPy (round half away: sign(x) * floor(|x| + 0.5)); all exact, but for the sign of a zero in roundeven.
    """
    x = np.array(
        [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8388609.0, -8388609.0, 1e30]
    )
    x = x.astype(F32).astype(np.float64)
    cases = (
        ("floor", "math.floor %v", np.floor(x)), ("ceil", "math.ceil %v", np.ceil(x)),
        ("round", "math.round %v", np.where(abs(x) < 2**22, np.sign(x) * np.floor(abs(x) + 0.5), x)),
        ("roundeven", "math.roundeven %v", np.rint(x)), ("absf", "math.absf %v", abs(x)), ("negf", "arith.negf %v", -x),
    )  # fmt: skip
    for name, op, want in cases:
        # An exact check compares bits; backends differ in the sign of the zero that -0.5 is rounded to.
        expected = Approximate(value=exactly(want, F32)) if name == "roundeven" else exactly(want, F32)
        m.elementwise(f"{name}_of_16", op, expected, x.astype(F32))


@module("linalg/trunc-copysign")
def _trunc_copysign(m: Module) -> None:
    """math.trunc and math.copysign in f32.
    Numbers: NumPy's trunc and copysign; all exact.
    """
    x = np.array([-2.75, -2.5, -1.5, -0.25, 0.25, 0.5, 1.25, 1.5, 2.75, 8388609.0, -8388609.0, 1e30]).astype(F32)
    y = np.where(np.arange(12) % 3 == 0, -1.0, 1.0).astype(F32)
    m.elementwise("trunc_of_12", "math.trunc %v", np.trunc(x), x)
    m.elementwise("copysign_of_12", "math.copysign %a, %b", np.copysign(x, y), x, y)


@module("linalg/nan-comparisons")
def _comparisons(m: Module) -> None:
    """arith.cmpf with NaN and infinities: ordered predicates are false for NaN, unordered ones true.
    Numbers: NumPy's comparisons and isnan, which follow IEEE 754.
    """
    x, y = _specials()
    nan = np.isnan(x) | np.isnan(y)
    for name, want in (("ogt", x > y), ("olt", x < y), ("oeq", x == y), ("oge", x >= y), ("one", (x != y) & ~nan), ("ord", ~nan),
                       ("ugt", (x > y) | nan), ("ult", (x < y) | nan), ("uno", nan), ("une", x != y), ("ueq", (x == y) | nan)):  # fmt: skip
        m.elementwise(f"cmpf_{name}_of_8", f"arith.cmpf {name}, %a, %b", want, x.astype(F32), y.astype(F32))


def _specials() -> tuple[Array, Array]:
    x = np.array([1.0, np.nan, 3.0, np.nan, INF, -INF, INF, 5.0])
    y = np.array([2.0, 2.0, np.nan, np.nan, 1.0, 1.0, -INF, 5.0])
    return x, y


@module("linalg/special-values")
def _special(m: Module) -> None:
    """IEEE special values in f32: maximumf and minimumf hand NaN on, maxnumf and minnumf drop it, arithmetic on infinities,
    division by zeros of both signs. NaN equals NaN in almost_eq checks.
    Numbers: NumPy's maximum/fmax/minimum/fmin and arithmetic, which follow the same IEEE 754 rules.
    """
    x, y = _specials()
    with np.errstate(invalid="ignore"):
        total = x + y
    for name, want in (
        ("maximumf", np.maximum(x, y)),
        ("minimumf", np.minimum(x, y)),
        ("maxnumf", np.fmax(x, y)),
        ("minnumf", np.fmin(x, y)),
        ("addf", total),
    ):
        expected = Approximate(value=want.astype(F32))
        m.elementwise(f"{name}_of_8", f"arith.{name} %a, %b", expected, x.astype(F32), y.astype(F32))
    dividends = np.array([1.0, -1.0, 2.0, -4.0], F32)
    divisors = np.array([0.0, 0.0, -0.0, INF], F32)
    with np.errstate(divide="ignore"):
        m.elementwise("divf_by_zero", "arith.divf %a, %b", dividends / divisors, dividends, divisors)


@module("linalg/elementwise")
def _elementwise(m: Module) -> None:
    """Named element-wise ops and chains of them, which fuse into one dispatch: add, sub, mul, div, max, linalg.map, and a
    hard swish x * clamp(x + 3, 0, 6) / 8 over a size that no vector divides.
    Numbers: NumPy in float64; multiples of powers of two, exact in f32.
    """
    x = m.input("x", (13, 67), seed=3, modulus=17, shift=8)
    y = m.input("y", (13, 67), seed=7, modulus=4, shift=-1)
    kind = "tensor<13x67xf32>"
    head = """
        %x, %y = @x, @y
        %empty = tensor.empty() : tensor<13x67xf32>
        """
    exact = {"add": x + y, "sub": x - y, "mul": x * y, "max_signed": np.maximum(x, y), "min_signed": np.minimum(x, y)}
    for op, want in exact.items():
        applied_to = f"<{op}> ins(%x, %y : {kind}, {kind}) outs(%empty : {kind}) -> {kind}"
        named = f"named_{op.removesuffix('_signed')}"
        m.function(named, head + f"%out = linalg.elementwise {applied_to}", {"%out": exactly(want, F32)})
    twos = 2.0 ** (np.arange(13 * 67).reshape(13, 67) % 5 - 2)
    m.function("named_div", head + f"%two = $twos\n        %out = linalg.elementwise <div> ins(%x, %two : {kind}, {kind}) outs(%empty : {kind}) -> {kind}",
               {"%out": exactly(x / twos, F32)}, twos=twos.astype(F32))  # fmt: skip
    m.function(
        "mapped",
        head + f"%out = linalg.map {{ arith.mulf }} ins(%x, %y : {kind}, {kind}) outs(%empty : {kind})",
        {"%out": exactly(x * y, F32)},
    )
    body = """%zero = arith.constant 0.0 : f32
        %three = arith.constant 3.0 : f32
        %six = arith.constant 6.0 : f32
        %eighth = arith.constant 0.125 : f32
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
            ins(%x : tensor<13x67xf32>) outs(%empty : tensor<13x67xf32>) {
        ^bb0(%v: f32, %unused: f32):
          %moved = arith.addf %v, %three : f32
          %low = arith.maximumf %moved, %zero : f32
          %high = arith.minimumf %low, %six : f32
          %scaled = arith.mulf %v, %high : f32
          %r = arith.mulf %scaled, %eighth : f32
          linalg.yield %r : f32
        } -> tensor<13x67xf32>
        """
    m.function("hard_swish", head + body, {"%out": exactly(x * np.clip(x + 3, 0, 6) / 8, F32)})


@module("linalg/index-masks")
def _index_masks(m: Module) -> None:
    """linalg.index in the body: a lower triangle, a checkerboard, and an identity matrix.
    Numbers: NumPy's tril, index parity and eye.
    """
    x = m.input("x", (21, 21), seed=3)
    i, j = np.indices((21, 21))
    cases = (("lower_triangle", "arith.cmpi sge, %i, %j : index", np.tril(x)), ("identity", "arith.cmpi eq, %i, %j : index", np.where(i == j, x, 0)),
             ("checkerboard", "arith.cmpi eq, %parity, %c0 : index", np.where((i + j) % 2 == 0, x, 0)))  # fmt: skip
    for name, condition, want in cases:
        body = """
            %x = @x
            %zero = arith.constant 0.0 : f32
            %c0 = arith.constant 0 : index
            %c2 = arith.constant 2 : index
            %empty = tensor.empty() : tensor<21x21xf32>
            %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
                ins(%x : tensor<21x21xf32>) outs(%empty : tensor<21x21xf32>) {
            ^bb0(%v: f32, %unused: f32):
              %i = linalg.index 0 : index
              %j = linalg.index 1 : index
              %sum = arith.addi %i, %j : index
              %parity = arith.remui %sum, %c2 : index
              %keep = $condition
              %r = arith.select %keep, %v, %zero : f32
              linalg.yield %r : f32
            } -> tensor<21x21xf32>
            """
        m.function(name, body, {"%out": exactly(want, F32)}, condition=condition)
