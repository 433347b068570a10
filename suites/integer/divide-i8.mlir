// i8 division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.
// Numbers: the sign times the quotient of the absolute values in Python integers; NumPy's uint8 division.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @divsi() {
  %x = util.unfoldable_constant dense<[-127, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -122]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.divsi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-42, -63, 0, 2, -2, -14, -3, 0, 1, 7, -32, 40]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @remsi() {
  %x = util.unfoldable_constant dense<[-127, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -122]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.remsi %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[-1, 1, -1, 1, -1, 2, -19, 0, 0, 5, 0, -2]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @divui() {
  %x = util.unfoldable_constant dense<[-127, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -122]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.divui %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[43, 0, 36, 2, 83, 0, 5, 0, 1, 7, 0, 0]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @remui() {
  %x = util.unfoldable_constant dense<[-127, 127, -1, 7, -7, 100, -100, 0, 1, 124, 64, -122]> : tensor<12xi8>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi8>
          %empty = tensor.empty() : tensor<12xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi8>, tensor<12xi8>) outs(%empty : tensor<12xi8>) {
          ^bb0(%a: i8, %b: i8, %unused: i8):
            %r = arith.remui %a, %b : i8
            linalg.yield %r : i8
          } -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[0, 127, 3, 1, 0, 100, 21, 0, 0, 5, 64, -122]> : tensor<12xi8>) : tensor<12xi8>
  return
}
