// i64 division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.
// Numbers: the sign times the quotient of the absolute values in Python integers; NumPy's uint64 division.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @divsi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775807, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775802]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.divsi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [-3074457345618258602, -4611686018427387903, 0, 2, -2, -14, -3, 0, 1, 542551296285575047, -32,
       3074457345618258600]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @remsi() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775807, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775802]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.remsi %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<[-1, 1, -1, 1, -1, 2, -19, 0, 0, 5, 0, -2]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @divui() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775807, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775802]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.divui %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [3074457345618258603, 0, 2635249153387078802, 2, 6148914691236517203, 0, 683212743470724130, 0, 1,
       542551296285575047, 0, 0]> : tensor<12xi64>) : tensor<12xi64>
  return
}

func.func @remui() {
  %x = util.unfoldable_constant dense<
      [-9223372036854775807, 9223372036854775807, -1, 7, -7, 100, -100, 0, 1, 9223372036854775804, 64,
       -9223372036854775802]> : tensor<12xi64>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi64>
          %empty = tensor.empty() : tensor<12xi64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi64>, tensor<12xi64>) outs(%empty : tensor<12xi64>) {
          ^bb0(%a: i64, %b: i64, %unused: i64):
            %r = arith.remui %a, %b : i64
            linalg.yield %r : i64
          } -> tensor<12xi64>
  check.expect_eq_const(%out, dense<
      [0, 9223372036854775807, 1, 1, 0, 100, 6, 0, 0, 5, 64, -9223372036854775802]> : tensor<12xi64>) : tensor<12xi64>
  return
}
