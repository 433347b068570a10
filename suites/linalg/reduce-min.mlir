// linalg.reduce with arith.minimumf of a 9x34x47 tensor along the last, the middle and the first dimension, along two and along all.
// Numbers: NumPy's min in float64; small integers, so f32 is exact in any order.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @x() -> tensor<9x34x47xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<9x34x47xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<9x34x47xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<9x34x47xf32>
  %hidden = util.optimization_barrier %made : tensor<9x34x47xf32>
  return %hidden : tensor<9x34x47xf32>
}

func.func private @weigh_rows_34x47xf32(%x: tensor<34x47xf32>) -> tensor<34xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<47xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<47xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<47xf32>
  %weights = util.optimization_barrier %made : tensor<47xf32>
  %empty = tensor.empty() : tensor<34xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<34xf32>) -> tensor<34xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<34x47xf32>, tensor<47xf32>) outs(%init : tensor<34xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<34xf32>
  return %sums : tensor<34xf32>
}

func.func private @weigh_columns_34x47xf32(%x: tensor<34x47xf32>) -> tensor<47xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<34xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<34xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<34xf32>
  %weights = util.optimization_barrier %made : tensor<34xf32>
  %empty = tensor.empty() : tensor<47xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<47xf32>) -> tensor<47xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<34x47xf32>, tensor<34xf32>) outs(%init : tensor<47xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<47xf32>
  return %sums : tensor<47xf32>
}

func.func @along_last() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<9x34xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x34xf32>) -> tensor<9x34xf32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x34xf32>) dimensions = [2]
  check.expect_eq_const(%out, dense<
      [[-497.0, -499.0, -501.0, -496.0, -494.0, -492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0,
        -486.0, -484.0, -477.0, -477.0, -502.0, -483.0, -450.0, -483.0, -502.0, -477.0, -477.0, -502.0, -486.0,
        -492.0, -483.0, -502.0, -464.0, -499.0, -472.0, -486.0, -492.0],
       [-499.0, -501.0, -496.0, -494.0, -492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0, -486.0,
        -502.0, -477.0, -477.0, -502.0, -483.0, -450.0, -483.0, -502.0, -477.0, -477.0, -502.0, -486.0, -492.0,
        -483.0, -502.0, -464.0, -499.0, -472.0, -486.0, -492.0, -494.0],
       [-501.0, -496.0, -494.0, -492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0, -486.0, -502.0,
        -477.0, -477.0, -502.0, -483.0, -450.0, -483.0, -502.0, -477.0, -477.0, -502.0, -486.0, -492.0, -483.0,
        -502.0, -464.0, -499.0, -472.0, -486.0, -492.0, -494.0, -496.0],
       [-496.0, -494.0, -492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0, -486.0, -502.0, -477.0,
        -477.0, -502.0, -483.0, -450.0, -483.0, -502.0, -477.0, -477.0, -484.0, -486.0, -492.0, -483.0, -502.0,
        -501.0, -499.0, -472.0, -486.0, -492.0, -494.0, -496.0, -501.0],
       [-494.0, -492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0, -486.0, -502.0, -477.0, -477.0,
        -502.0, -467.0, -450.0, -483.0, -502.0, -477.0, -499.0, -484.0, -486.0, -492.0, -483.0, -502.0, -501.0,
        -499.0, -472.0, -486.0, -492.0, -494.0, -496.0, -501.0, -503.0],
       [-492.0, -486.0, -472.0, -499.0, -464.0, -502.0, -483.0, -492.0, -486.0, -502.0, -477.0, -477.0, -502.0,
        -486.0, -492.0, -483.0, -502.0, -477.0, -499.0, -484.0, -486.0, -492.0, -494.0, -502.0, -501.0, -499.0,
        -472.0, -486.0, -492.0, -494.0, -496.0, -501.0, -503.0, -497.0],
       [-486.0, -484.0, -499.0, -477.0, -502.0, -483.0, -492.0, -486.0, -502.0, -477.0, -477.0, -502.0, -486.0,
        -492.0, -483.0, -502.0, -464.0, -499.0, -472.0, -486.0, -492.0, -494.0, -502.0, -501.0, -499.0, -472.0,
        -486.0, -492.0, -494.0, -496.0, -501.0, -503.0, -497.0, -504.0],
       [-484.0, -499.0, -477.0, -502.0, -483.0, -450.0, -467.0, -502.0, -477.0, -477.0, -502.0, -486.0, -492.0,
        -483.0, -502.0, -464.0, -499.0, -472.0, -486.0, -492.0, -494.0, -496.0, -501.0, -499.0, -472.0, -486.0,
        -492.0, -494.0, -500.0, -501.0, -503.0, -497.0, -504.0, -497.0],
       [-477.0, -477.0, -502.0, -483.0, -450.0, -483.0, -502.0, -477.0, -477.0, -502.0, -486.0, -492.0, -483.0,
        -502.0, -464.0, -499.0, -472.0, -486.0, -492.0, -494.0, -496.0, -501.0, -499.0, -497.0, -486.0, -492.0,
        -503.0, -500.0, -501.0, -503.0, -497.0, -504.0, -497.0, -503.0]]> : tensor<9x34xf32>) : tensor<9x34xf32>
  return
}

func.func @along_middle() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<9x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x47xf32>) -> tensor<9x47xf32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x47xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [[-495.0, -474.0, -490.0, -472.0, -502.0, -498.0, -497.0, -483.0, -480.0, -381.0, -477.0, -496.0, -486.0,
        -502.0, -441.0, -499.0, -501.0, -384.0, -414.0, -490.0, -472.0, -502.0, -498.0, -484.0, -483.0, -480.0,
        -480.0, -483.0, -484.0, -486.0, -502.0, -472.0, -499.0, -414.0, -243.0, -414.0, -499.0, -472.0, -502.0,
        -486.0, -484.0, -483.0, -480.0, -480.0, -483.0, -484.0, -498.0],
       [-490.0, -472.0, -502.0, -498.0, -484.0, -483.0, -480.0, -467.0, -483.0, -496.0, -486.0, -502.0, -441.0,
        -499.0, -501.0, -384.0, -414.0, -490.0, -472.0, -502.0, -498.0, -484.0, -483.0, -480.0, -480.0, -483.0,
        -484.0, -486.0, -502.0, -472.0, -499.0, -414.0, -243.0, -414.0, -499.0, -408.0, -502.0, -486.0, -484.0,
        -483.0, -480.0, -480.0, -483.0, -484.0, -498.0, -502.0, -472.0],
       [-502.0, -498.0, -484.0, -483.0, -480.0, -480.0, -483.0, -496.0, -486.0, -502.0, -441.0, -499.0, -501.0,
        -384.0, -414.0, -490.0, -472.0, -502.0, -486.0, -484.0, -483.0, -480.0, -480.0, -483.0, -484.0, -486.0,
        -502.0, -472.0, -490.0, -414.0, -243.0, -414.0, -499.0, -408.0, -502.0, -486.0, -496.0, -483.0, -480.0,
        -480.0, -483.0, -484.0, -498.0, -502.0, -472.0, -490.0, -474.0],
       [-484.0, -483.0, -480.0, -480.0, -483.0, -496.0, -486.0, -502.0, -408.0, -499.0, -414.0, -243.0, -414.0,
        -490.0, -472.0, -502.0, -486.0, -484.0, -483.0, -480.0, -480.0, -483.0, -484.0, -486.0, -502.0, -472.0,
        -490.0, -414.0, -384.0, -501.0, -499.0, -441.0, -502.0, -486.0, -496.0, -483.0, -480.0, -480.0, -483.0,
        -484.0, -498.0, -502.0, -472.0, -490.0, -474.0, -384.0, -501.0],
       [-480.0, -480.0, -483.0, -484.0, -486.0, -502.0, -408.0, -499.0, -414.0, -243.0, -414.0, -499.0, -472.0,
        -502.0, -486.0, -484.0, -483.0, -480.0, -480.0, -483.0, -484.0, -498.0, -502.0, -472.0, -490.0, -414.0,
        -384.0, -501.0, -499.0, -441.0, -502.0, -486.0, -496.0, -483.0, -467.0, -480.0, -483.0, -484.0, -498.0,
        -502.0, -472.0, -490.0, -474.0, -384.0, -501.0, -499.0, -503.0],
       [-483.0, -484.0, -486.0, -502.0, -472.0, -499.0, -414.0, -243.0, -414.0, -499.0, -472.0, -502.0, -486.0,
        -484.0, -483.0, -480.0, -480.0, -483.0, -484.0, -498.0, -502.0, -472.0, -490.0, -414.0, -384.0, -501.0,
        -499.0, -441.0, -502.0, -486.0, -496.0, -477.0, -381.0, -480.0, -483.0, -497.0, -498.0, -502.0, -472.0,
        -490.0, -474.0, -495.0, -501.0, -499.0, -503.0, -494.0, -500.0],
       [-486.0, -502.0, -472.0, -499.0, -414.0, -243.0, -414.0, -499.0, -472.0, -502.0, -486.0, -484.0, -483.0,
        -480.0, -480.0, -483.0, -484.0, -498.0, -502.0, -472.0, -490.0, -414.0, -384.0, -501.0, -499.0, -441.0,
        -502.0, -486.0, -496.0, -477.0, -381.0, -480.0, -483.0, -497.0, -498.0, -502.0, -472.0, -504.0, -474.0,
        -495.0, -501.0, -499.0, -503.0, -494.0, -500.0, -496.0, -479.0],
       [-472.0, -499.0, -414.0, -243.0, -414.0, -499.0, -472.0, -502.0, -486.0, -484.0, -483.0, -480.0, -480.0,
        -483.0, -484.0, -498.0, -502.0, -472.0, -490.0, -414.0, -384.0, -501.0, -499.0, -441.0, -502.0, -486.0,
        -496.0, -477.0, -489.0, -480.0, -483.0, -497.0, -498.0, -502.0, -472.0, -504.0, -474.0, -495.0, -501.0,
        -499.0, -503.0, -494.0, -500.0, -496.0, -479.0, -500.0, -480.0],
       [-414.0, -243.0, -414.0, -499.0, -408.0, -502.0, -486.0, -484.0, -483.0, -480.0, -480.0, -483.0, -484.0,
        -498.0, -502.0, -472.0, -490.0, -474.0, -384.0, -501.0, -499.0, -441.0, -502.0, -486.0, -496.0, -477.0,
        -489.0, -480.0, -503.0, -497.0, -498.0, -502.0, -472.0, -504.0, -474.0, -495.0, -501.0, -499.0, -503.0,
        -494.0, -500.0, -496.0, -479.0, -500.0, -480.0, -503.0, -497.0]]> : tensor<9x47xf32>) : tensor<9x47xf32>
  return
}

func.func @along_first() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<34x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<34x47xf32>) -> tensor<34x47xf32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<34x47xf32>) dimensions = [0]
  // 1598 elements: checked through weighted sums (see the comment at the top).
  %out_kept = util.optimization_barrier %out : tensor<34x47xf32>
  %out_rows = call @weigh_rows_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<34xf32>
  check.expect_eq_const(%out_rows, dense<
      [-78116.0, -75719.0, -76063.0, -78130.0, -77012.0, -75861.0, -75807.0, -76752.0, -76378.0, -78481.0,
       -77265.0, -75007.0, -76650.0, -75325.0, -77251.0, -77375.0, -76961.0, -77050.0, -75207.0, -78880.0,
       -75649.0, -76977.0, -76174.0, -78006.0, -79467.0, -77377.0, -76252.0, -78378.0, -76702.0, -78858.0,
       -80317.0, -80637.0, -81309.0, -80589.0]> : tensor<34xf32>) : tensor<34xf32>
  %out_columns = call @weigh_columns_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<47xf32>
  check.expect_eq_const(%out_columns, dense<
      [-54513.0, -56663.0, -55359.0, -56237.0, -53759.0, -57584.0, -51920.0, -59761.0, -54265.0, -58616.0,
       -55275.0, -58909.0, -51714.0, -58282.0, -54016.0, -55313.0, -55278.0, -57283.0, -55428.0, -57157.0,
       -55821.0, -56268.0, -58928.0, -53827.0, -61206.0, -55016.0, -58988.0, -55749.0, -58317.0, -52453.0,
       -56590.0, -53432.0, -54371.0, -55029.0, -57620.0, -56561.0, -57754.0, -57055.0, -57690.0, -59471.0,
       -57379.0, -60067.0, -57769.0, -59014.0, -58317.0, -58173.0, -55234.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_outer_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<47xf32>) -> tensor<47xf32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<47xf32>) dimensions = [0, 1]
  check.expect_eq_const(%out, dense<
      [-502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -497.0, -502.0, -486.0, -502.0, -486.0, -502.0, -501.0,
       -502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -502.0, -501.0, -502.0, -501.0,
       -502.0, -501.0, -503.0, -501.0, -502.0, -502.0, -502.0, -504.0, -502.0, -504.0, -502.0, -504.0, -503.0,
       -502.0, -503.0, -502.0, -503.0, -502.0, -503.0, -503.0, -503.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_inner_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<9xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9xf32>) dimensions = [1, 2]
  check.expect_eq_const(%out, dense<[-502.0, -502.0, -502.0, -502.0, -503.0, -503.0, -504.0, -504.0, -504.0]> : tensor<9xf32>) : tensor<9xf32>
  return
}

func.func @along_all() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0x7F800000 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %out = linalg.reduce { arith.minimumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<f32>) dimensions = [0, 1, 2]
  check.expect_eq_const(%out, dense<-504.0> : tensor<f32>) : tensor<f32>
  return
}
