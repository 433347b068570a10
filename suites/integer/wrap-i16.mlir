// i16 addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.
// Numbers: NumPy's int16 and uint16 arithmetic.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @addi() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.addi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[32767, -32768, 32766, 10, -4, 200, -73, 5, -32767, -32755, 66, -32766]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @subi() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.subi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-32767, 32766, -32768, 4, -10, 0, -127, -5, -32767, 32747, 62, -32760]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @muli() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.muli %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<
      [-32768, 32767, -32767, 21, -21, 10000, -2700, 0, -32768, 32700, 128, 32753]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @minsi() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.minsi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-32768, 1, -1, 3, -7, 100, -100, 0, -32768, 17, 2, -32763]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @maxsi() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.maxsi %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-1, 32767, 32767, 7, 3, 100, 27, 5, 1, 32764, 64, -3]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @minui() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.minui %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-32768, 1, 32767, 3, 3, 100, 27, 0, 1, 17, 2, -32763]> : tensor<12xi16>) : tensor<12xi16>
  return
}

func.func @maxui() {
  %x = util.unfoldable_constant dense<[-32768, 32767, -1, 7, -7, 100, -100, 0, 1, 32764, 64, -32763]> : tensor<12xi16>
          %y = util.unfoldable_constant dense<[-1, 1, 32767, 3, 3, 100, 27, 5, -32768, 17, 2, -3]> : tensor<12xi16>
          %empty = tensor.empty() : tensor<12xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xi16>, tensor<12xi16>) outs(%empty : tensor<12xi16>) {
          ^bb0(%a: i16, %b: i16, %unused: i16):
            %r = arith.maxui %a, %b : i16
            linalg.yield %r : i16
          } -> tensor<12xi16>
  check.expect_eq_const(%out, dense<[-1, 32767, -1, 7, -7, 100, -100, 5, -32768, 32764, 64, -3]> : tensor<12xi16>) : tensor<12xi16>
  return
}
