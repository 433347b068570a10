// Bit operations on i32: and, or, xor, shifts left, right with zeros and right with the sign, at distances 0 to 31.
// Numbers: NumPy's bit operations on int32 and uint32.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @andi() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[-1, 65535, 16711935, 1431655765, 3, 1, -2147483648, -16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.andi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 65535, 3407992, 1161888000, 1, 0, 0, 252645120]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @ori() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[-1, 65535, 16711935, 1431655765, 3, 1, -2147483648, -16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.ori %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[-1, -1, 318723839, -35652131, 3, -2147483647, -1, -1]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @xori() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[-1, 65535, 16711935, 1431655765, 3, 1, -2147483648, -16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.xori %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[-1, -65536, 315315847, -1197540131, 2, -2147483647, -1, -252645121]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @shli() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 31, 4, 8, 31, 31, 1, 16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.shli %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, -2147483648, 591751040, -878082048, -2147483648, 0, -2, 252641280]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @shrsi() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 31, 4, 8, 31, 31, 1, 16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.shrsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, -1, 19088743, -1193047, 0, -1, 1073741823, 3855]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @shrui() {
  %x = util.unfoldable_constant dense<[0, -1, 305419896, -305419896, 1, -2147483648, 2147483647, 252645135]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 31, 4, 8, 31, 31, 1, 16]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.shrui %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, 19088743, 15584169, 0, 1, 1073741823, 3855]> : tensor<8xi32>) : tensor<8xi32>
  return
}
