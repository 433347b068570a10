// i64 addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.
// Numbers: NumPy's int64 and uint64 arithmetic.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @addi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.addi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [9223372036854775807, -9223372036854775808, 9223372036854775806, 10, -4, 200, -73, 5, -9223372036854775807,
       -9223372036854775795, 66, -9223372036854775806]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @subi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.subi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-9223372036854775807, 9223372036854775806, -9223372036854775808, 4, -10, 0, -127, -5, -9223372036854775807,
       9223372036854775787, 62, -9223372036854775800]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @muli() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.muli %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-9223372036854775808, 9223372036854775807, -9223372036854775807, 21, -21, 10000, -2700, 0,
       -9223372036854775808, 9223372036854775740, 128, 9223372036854775793]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @minsi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.minsi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-9223372036854775808, 1, -1, 3, -7, 100, -100, 0, -9223372036854775808, 17, 2, -9223372036854775803]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @maxsi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.maxsi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-1, 9223372036854775807, 9223372036854775807, 7, 3, 100, 27, 5, 1, 9223372036854775804, 64, -3]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @minui() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.minui %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-9223372036854775808, 1, 9223372036854775807, 3, 3, 100, 27, 0, 1, 17, 2, -9223372036854775803]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @maxui() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775808, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775803]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<
      [-1, 1, 9223372036854775807, 3, 3, 100, 27, 5, -9223372036854775808, 17, 2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.maxui %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-1, 9223372036854775807, -1, 7, -7, 100, -100, 5, -9223372036854775808, 9223372036854775804, 64, -3]> : tensor<12xi64>) : tensor<12xi64>
  return
}
