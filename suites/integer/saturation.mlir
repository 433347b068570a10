// Saturating i8 addition and subtraction, built from a wider sum and a clamp, and clamps of i32 with fixed bounds.
// Numbers: NumPy's clip of the int32 sum.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @add() {
  %x = util.unfoldable_constant dense<[127, -128, 100, -100, 5, 0, 64, -1]> : tensor<8xi8>
  %y = util.unfoldable_constant dense<[1, -1, 100, -100, -7, 0, 63, 127]> : tensor<8xi8>
  %empty = tensor.empty() : tensor<8xi8>
  %low = arith.constant -128 : i32
  %high = arith.constant 127 : i32
  %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%empty : tensor<8xi8>) {
  ^bb0(%a: i8, %b: i8, %unused: i8):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %sum = arith.addi %wide_a, %wide_b : i32
    %above = arith.maxsi %sum, %low : i32
    %within = arith.minsi %above, %high : i32
    %r = arith.trunci %within : i32 to i8
    linalg.yield %r : i8
  } -> tensor<8xi8>
  check.expect_eq_const(%out, dense<[127, -128, 127, -128, -2, 0, 127, 126]> : tensor<8xi8>) : tensor<8xi8>
  return
}

func.func @subtract() {
  %x = util.unfoldable_constant dense<[127, -128, 100, -100, 5, 0, 64, -1]> : tensor<8xi8>
  %y = util.unfoldable_constant dense<[1, -1, 100, -100, -7, 0, 63, 127]> : tensor<8xi8>
  %empty = tensor.empty() : tensor<8xi8>
  %low = arith.constant -128 : i32
  %high = arith.constant 127 : i32
  %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%empty : tensor<8xi8>) {
  ^bb0(%a: i8, %b: i8, %unused: i8):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %sum = arith.subi %wide_a, %wide_b : i32
    %above = arith.maxsi %sum, %low : i32
    %within = arith.minsi %above, %high : i32
    %r = arith.trunci %within : i32 to i8
    linalg.yield %r : i8
  } -> tensor<8xi8>
  check.expect_eq_const(%out, dense<[126, -127, 0, 0, 12, 0, 1, -128]> : tensor<8xi8>) : tensor<8xi8>
  return
}
