// linalg.reduce with arith.maximumf of a 9x34x47 tensor along the last, the middle and the first dimension, along two and along all.
// Numbers: NumPy's max in float64; small integers, so f32 is exact in any order.
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
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<9x34xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x34xf32>) -> tensor<9x34xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x34xf32>) dimensions = [2]
  check.expect_eq_const(%out, dense<
      [[485.0, 503.0, 495.0, 497.0, 502.0, 499.0, 477.0, 485.0, 500.0, 495.0, 480.0, 502.0, 476.0, 504.0, 460.0,
        500.0, 500.0, 480.0, 504.0, 476.0, 504.0, 480.0, 500.0, 500.0, 464.0, 504.0, 476.0, 504.0, 480.0, 495.0,
        500.0, 485.0, 477.0, 499.0],
       [503.0, 495.0, 497.0, 502.0, 499.0, 477.0, 485.0, 500.0, 495.0, 480.0, 502.0, 476.0, 504.0, 464.0, 500.0,
        500.0, 480.0, 504.0, 476.0, 504.0, 480.0, 500.0, 500.0, 464.0, 504.0, 476.0, 502.0, 480.0, 495.0, 500.0,
        485.0, 477.0, 499.0, 502.0],
       [495.0, 497.0, 502.0, 499.0, 477.0, 485.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0,
        480.0, 504.0, 476.0, 504.0, 480.0, 500.0, 500.0, 460.0, 504.0, 476.0, 502.0, 480.0, 495.0, 500.0, 485.0,
        477.0, 499.0, 502.0, 497.0],
       [497.0, 502.0, 487.0, 504.0, 485.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0,
        504.0, 476.0, 504.0, 480.0, 500.0, 500.0, 460.0, 504.0, 476.0, 502.0, 480.0, 495.0, 500.0, 485.0, 477.0,
        499.0, 502.0, 497.0, 495.0],
       [502.0, 487.0, 504.0, 473.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0, 504.0,
        476.0, 504.0, 480.0, 495.0, 500.0, 473.0, 504.0, 476.0, 502.0, 480.0, 495.0, 500.0, 485.0, 498.0, 499.0,
        502.0, 497.0, 495.0, 503.0],
       [487.0, 504.0, 473.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0, 504.0, 476.0,
        504.0, 480.0, 495.0, 500.0, 473.0, 504.0, 476.0, 502.0, 480.0, 495.0, 500.0, 485.0, 498.0, 499.0, 502.0,
        497.0, 495.0, 503.0, 485.0],
       [504.0, 473.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0, 504.0, 476.0, 504.0,
        480.0, 495.0, 500.0, 473.0, 504.0, 487.0, 502.0, 480.0, 495.0, 496.0, 485.0, 498.0, 499.0, 502.0, 497.0,
        495.0, 503.0, 485.0, 498.0],
       [473.0, 500.0, 495.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0, 504.0, 476.0, 504.0, 480.0,
        495.0, 500.0, 473.0, 504.0, 487.0, 502.0, 497.0, 495.0, 496.0, 485.0, 498.0, 499.0, 502.0, 497.0, 489.0,
        503.0, 485.0, 498.0, 499.0],
       [500.0, 500.0, 480.0, 504.0, 476.0, 504.0, 464.0, 500.0, 500.0, 464.0, 504.0, 476.0, 504.0, 480.0, 495.0,
        500.0, 485.0, 504.0, 487.0, 502.0, 497.0, 495.0, 475.0, 485.0, 498.0, 499.0, 502.0, 497.0, 489.0, 503.0,
        485.0, 498.0, 499.0, 503.0]]> : tensor<9x34xf32>) : tensor<9x34xf32>
  return
}

func.func @along_middle() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<9x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x47xf32>) -> tensor<9x47xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x47xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [[501.0, 504.0, 484.0, 496.0, 495.0, 503.0, 500.0, 485.0, 497.0, 491.0, 502.0, 500.0, 430.0, 469.0, 496.0,
        489.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 485.0, 491.0, 491.0, 502.0, 500.0, 480.0,
        495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 485.0,
        500.0, 499.0],
       [484.0, 496.0, 495.0, 503.0, 500.0, 485.0, 497.0, 491.0, 502.0, 500.0, 430.0, 469.0, 496.0, 489.0, 504.0,
        475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0,
        484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 485.0, 500.0, 499.0,
        495.0, 496.0],
       [495.0, 499.0, 500.0, 485.0, 497.0, 491.0, 502.0, 500.0, 480.0, 469.0, 496.0, 489.0, 504.0, 475.0, 504.0,
        484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0,
        475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 497.0, 485.0, 500.0, 499.0, 495.0, 496.0,
        484.0, 504.0],
       [500.0, 485.0, 497.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0,
        495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0,
        489.0, 496.0, 469.0, 480.0, 500.0, 502.0, 491.0, 497.0, 485.0, 500.0, 499.0, 495.0, 496.0, 484.0, 504.0,
        501.0, 504.0],
       [491.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0,
        500.0, 502.0, 491.0, 491.0, 502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 489.0, 496.0,
        469.0, 430.0, 500.0, 502.0, 491.0, 497.0, 485.0, 500.0, 503.0, 495.0, 496.0, 484.0, 504.0, 501.0, 504.0,
        489.0, 498.0],
       [502.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0,
        491.0, 491.0, 485.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 489.0, 496.0, 469.0, 430.0,
        500.0, 502.0, 491.0, 497.0, 485.0, 500.0, 503.0, 495.0, 496.0, 484.0, 504.0, 501.0, 504.0, 489.0, 498.0,
        469.0, 430.0],
       [480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0,
        485.0, 500.0, 480.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 489.0, 498.0, 469.0, 430.0, 500.0, 502.0,
        491.0, 497.0, 485.0, 500.0, 503.0, 495.0, 496.0, 484.0, 504.0, 501.0, 504.0, 489.0, 498.0, 469.0, 430.0,
        487.0, 502.0],
       [496.0, 484.0, 504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 485.0, 500.0,
        499.0, 495.0, 496.0, 484.0, 504.0, 475.0, 504.0, 489.0, 498.0, 469.0, 430.0, 500.0, 502.0, 491.0, 497.0,
        485.0, 500.0, 503.0, 495.0, 496.0, 484.0, 504.0, 501.0, 493.0, 489.0, 498.0, 469.0, 430.0, 487.0, 502.0,
        491.0, 497.0],
       [504.0, 475.0, 504.0, 484.0, 496.0, 495.0, 480.0, 500.0, 502.0, 491.0, 491.0, 485.0, 500.0, 499.0, 495.0,
        496.0, 484.0, 504.0, 501.0, 504.0, 489.0, 498.0, 469.0, 430.0, 500.0, 502.0, 491.0, 497.0, 485.0, 500.0,
        503.0, 495.0, 496.0, 484.0, 504.0, 501.0, 503.0, 489.0, 498.0, 469.0, 430.0, 487.0, 502.0, 491.0, 497.0,
        498.0, 500.0]]> : tensor<9x47xf32>) : tensor<9x47xf32>
  return
}

func.func @along_first() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<34x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<34x47xf32>) -> tensor<34x47xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<34x47xf32>) dimensions = [0]
  // 1598 elements: checked through weighted sums (see the comment at the top).
  %out_kept = util.optimization_barrier %out : tensor<34x47xf32>
  %out_rows = call @weigh_rows_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<34xf32>
  check.expect_eq_const(%out_rows, dense<
      [78797.0, 79844.0, 79178.0, 81282.0, 81496.0, 79228.0, 79185.0, 79323.0, 79362.0, 78858.0, 78000.0, 78134.0,
       76674.0, 79196.0, 78445.0, 80865.0, 78991.0, 79202.0, 80979.0, 79364.0, 80418.0, 79967.0, 79420.0, 78338.0,
       78041.0, 80307.0, 78631.0, 79475.0, 78137.0, 77229.0, 77417.0, 80015.0, 79185.0, 81346.0]> : tensor<34xf32>) : tensor<34xf32>
  %out_columns = call @weigh_columns_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<47xf32>
  check.expect_eq_const(%out_columns, dense<
      [56986.0, 59522.0, 56082.0, 59900.0, 58705.0, 57486.0, 58920.0, 58801.0, 60033.0, 59736.0, 58081.0, 60101.0,
       59012.0, 56583.0, 56237.0, 58130.0, 57094.0, 57424.0, 57667.0, 55190.0, 56930.0, 56562.0, 56748.0, 57763.0,
       58349.0, 58961.0, 59053.0, 57134.0, 59634.0, 57503.0, 56650.0, 56321.0, 58029.0, 57281.0, 60179.0, 56958.0,
       58535.0, 57638.0, 58397.0, 56872.0, 57838.0, 58401.0, 59114.0, 56003.0, 56726.0, 58193.0, 54519.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_outer_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<47xf32>) -> tensor<47xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<47xf32>) dimensions = [0, 1]
  check.expect_eq_const(%out, dense<
      [504.0, 504.0, 504.0, 503.0, 504.0, 503.0, 504.0, 500.0, 504.0, 500.0, 504.0, 500.0, 504.0, 500.0, 504.0,
       500.0, 504.0, 504.0, 504.0, 504.0, 502.0, 504.0, 502.0, 504.0, 500.0, 504.0, 500.0, 504.0, 500.0, 504.0,
       503.0, 504.0, 503.0, 504.0, 504.0, 504.0, 504.0, 502.0, 504.0, 502.0, 504.0, 502.0, 504.0, 501.0, 504.0,
       501.0, 504.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_inner_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<9xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9xf32>) dimensions = [1, 2]
  check.expect_eq_const(%out, dense<[504.0, 504.0, 504.0, 504.0, 504.0, 504.0, 504.0, 504.0, 504.0]> : tensor<9xf32>) : tensor<9xf32>
  return
}

func.func @along_all() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<f32>) dimensions = [0, 1, 2]
  check.expect_eq_const(%out, dense<504.0> : tensor<f32>) : tensor<f32>
  return
}
