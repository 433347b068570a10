// i32 division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.
// Numbers: the sign times the quotient of the absolute values in Python integers; NumPy's uint32 division.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @divsi() {
  %x = util.unfoldable_constant dense<
      [-2147483647, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483642]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.divsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<
      [-715827882, -1073741823, 0, 2, -2, -14, -3, 0, 1, 126322567, -32, 715827880]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @remsi() {
  %x = util.unfoldable_constant dense<
      [-2147483647, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483642]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.remsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-1, 1, -1, 1, -1, 2, -19, 0, 0, 5, 0, -2]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @divui() {
  %x = util.unfoldable_constant dense<
      [-2147483647, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483642]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.divui %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<
      [715827883, 0, 613566756, 2, 1431655763, 0, 159072859, 0, 1, 126322567, 0, 0]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @remui() {
  %x = util.unfoldable_constant dense<
      [-2147483647, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483642]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.remui %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[0, 2147483647, 3, 1, 0, 100, 3, 0, 0, 5, 64, -2147483642]> : tensor<12xi32>) : tensor<12xi32>
  return
}
