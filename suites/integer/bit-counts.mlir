// math.cttz and math.ctpop on i32; zero has 32 trailing zeros.
// Numbers: Python's bit_length() and bit_count() of the unsigned values.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @cttz_of_11() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 2, 3, 240, 2147483647, -2147483648, 305419896, -2, 65536]> : tensor<11xi32>
          %empty = tensor.empty() : tensor<11xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<11xi32>) outs(%empty : tensor<11xi32>) {
          ^bb0(%a: i32, %unused: i32):
            %r = math.cttz %a : i32
            linalg.yield %r : i32
          } -> tensor<11xi32>
  check.expect_eq_const(%out, dense<[32, 0, 0, 1, 0, 4, 0, 31, 3, 1, 16]> : tensor<11xi32>) : tensor<11xi32>
  return
}

func.func @ctpop_of_11() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 2, 3, 240, 2147483647, -2147483648, 305419896, -2, 65536]> : tensor<11xi32>
          %empty = tensor.empty() : tensor<11xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<11xi32>) outs(%empty : tensor<11xi32>) {
          ^bb0(%a: i32, %unused: i32):
            %r = math.ctpop %a : i32
            linalg.yield %r : i32
          } -> tensor<11xi32>
  check.expect_eq_const(%out, dense<[0, 1, 32, 1, 2, 4, 31, 1, 13, 31, 1]> : tensor<11xi32>) : tensor<11xi32>
  return
}
