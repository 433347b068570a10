// i32 division and remainder of the lowest value, -2^31, whose absolute value does not fit i32.
// Numbers: the sign times the quotient of the absolute values in Python integers.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @divsi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[3, -3, 7, -7, 2, 1000, 2147483647, -2147483648]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.divsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<
      [-715827882, 715827882, -306783378, 306783378, -1073741824, -2147483, -1, 1]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @remsi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648, -2147483648]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[3, -3, 7, -7, 2, 1000, 2147483647, -2147483648]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.remsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[-2, -2, -2, -2, 0, -648, -1, 0]> : tensor<8xi32>) : tensor<8xi32>
  return
}
