// i32 addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.
// Numbers: NumPy's int32 and uint32 arithmetic.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @addi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.addi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<
      [2147483647, -2147483648, 2147483646, 10, -4, 200, -73, 5, -2147483647, -2147483635, 66, -2147483646]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @subi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.subi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<
      [-2147483647, 2147483646, -2147483648, 4, -10, 0, -127, -5, -2147483647, 2147483627, 62, -2147483640]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @muli() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.muli %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<
      [-2147483648, 2147483647, -2147483647, 21, -21, 10000, -2700, 0, -2147483648, 2147483580, 128, 2147483633]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @minsi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.minsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-2147483648, 1, -1, 3, -7, 100, -100, 0, -2147483648, 17, 2, -2147483643]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @maxsi() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.maxsi %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-1, 2147483647, 2147483647, 7, 3, 100, 27, 5, 1, 2147483644, 64, -3]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @minui() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.minui %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-2147483648, 1, 2147483647, 3, 3, 100, 27, 0, 1, 17, 2, -2147483643]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @maxui() {
  %x = util.unfoldable_constant dense<
      [-2147483648, 2147483647, -1, 7, -7, 100, -100, 0, 1, 2147483644, 64, -2147483643]> : tensor<12xi32>
          %y = util.unfoldable_constant dense<[-1, 1, 2147483647, 3, 3, 100, 27, 5, -2147483648, 17, 2, -3]> : tensor<12xi32>
          %empty = tensor.empty() : tensor<12xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi32>, tensor<12xi32>) outs(%empty : tensor<12xi32>) {
          ^bb0(%a: i32, %b: i32, %unused: i32):
            %r = arith.maxui %a, %b : i32
            linalg.yield %r : i32
          } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-1, 2147483647, -1, 7, -7, 100, -100, 5, -2147483648, 2147483644, 64, -3]> : tensor<12xi32>) : tensor<12xi32>
  return
}
