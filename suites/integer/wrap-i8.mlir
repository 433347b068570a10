// i8 addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.
// Numbers: NumPy's int8 and uint8 arithmetic.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @addi() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.addi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[127, -128, 126, 10, -4, -56, -73, 5, -127, -115, 66, -126]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @subi() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.subi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-127, 126, -128, 4, -10, 0, -127, -5, -127, 107, 62, -120]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @muli() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.muli %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-128, 127, -127, 21, -21, 16, 116, 0, -128, 60, -128, 113]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @minsi() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.minsi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-128, 1, -1, 3, -7, 100, -100, 0, -128, 17, 2, -123]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @maxsi() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.maxsi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-1, 127, 127, 7, 3, 100, 27, 5, 1, 124, 64, -3]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @minui() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.minui %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-128, 1, 127, 3, 3, 100, 27, 0, 1, 17, 2, -123]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @maxui() {
  %x = util.unfoldable_constant dense<[-128, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -123]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[-1, 1, 127, 3, 3, 100, 27, 5, -128, 17, 2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.maxui %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-1, 127, -1, 7, -7, 100, -100, 5, -128, 124, 64, -3]> : tensor<12xi8>) : tensor<12xi8>
  return
}
