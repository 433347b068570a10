// math.ctlz (zero has 32 leading zeros) and math.absi on i32.
// Numbers: 32 minus Python's bit_length() of the unsigned value; NumPy's abs.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @ctlz_of_11() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 2, 3, 240, 2147483647, -2147483648, 305419896, -2, 65536]> : tensor<11xi32>
          %empty = tensor.empty() : tensor<11xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<11xi32>) outs(%empty : tensor<11xi32>) {
          ^bb0(%a: i32, %unused: i32):
            %r = math.ctlz %a : i32
            linalg.yield %r : i32
          } -> tensor<11xi32>
  check.expect_eq_const(%out, dense<[32, 31, 0, 30, 30, 24, 1, 0, 3, 0, 15]> : tensor<11xi32>) : tensor<11xi32>
  return
}

func.func @absi_of_10() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 2, 3, 240, 2147483647, 305419896, -2, 65536]> : tensor<10xi32>
          %empty = tensor.empty() : tensor<10xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<10xi32>) outs(%empty : tensor<10xi32>) {
          ^bb0(%a: i32, %unused: i32):
            %r = math.absi %a : i32
            linalg.yield %r : i32
          } -> tensor<10xi32>
  check.expect_eq_const(%out, dense<[0, 1, 1, 2, 3, 240, 2147483647, 305419896, 2, 65536]> : tensor<10xi32>) : tensor<10xi32>
  return
}
