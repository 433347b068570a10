// i16 division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.
// Numbers: the sign times the quotient of the absolute values in Python integers; NumPy's uint16 division.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @divsi() {
  %x = util.unfoldable_constant dense<[-32767, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32762]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.divsi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-10922, -16383, 0, 2, -2, -14, -3, 0, 1, 1927, -32, 10920]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @remsi() {
  %x = util.unfoldable_constant dense<[-32767, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32762]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.remsi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-1, 1, -1, 1, -1, 2, -19, 0, 0, 5, 0, -2]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @divui() {
  %x = util.unfoldable_constant dense<[-32767, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32762]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.divui %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[10923, 0, 9362, 2, 21843, 0, 2423, 0, 1, 1927, 0, 0]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @remui() {
  %x = util.unfoldable_constant dense<[-32767, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32762]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.remui %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[0, 32767, 1, 1, 0, 100, 15, 0, 0, 5, 64, -32762]> : tensor<12xi16>) : tensor<12xi16>
  return
}
