// i1 tensors: and, or, xor, not by xor, select by a mask, and reductions to any and all.
// Numbers: NumPy's logical operations.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @andi() {
  %x = util.unfoldable_constant dense<[true, true, false, false, true, false, true, true]> : tensor<8xi1>
          %y = util.unfoldable_constant dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi1>, tensor<8xi1>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i1, %b: i1, %unused: i1):
            %r = arith.andi %a, %b : i1
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, false, false, false, false, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @ori() {
  %x = util.unfoldable_constant dense<[true, true, false, false, true, false, true, true]> : tensor<8xi1>
          %y = util.unfoldable_constant dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi1>, tensor<8xi1>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i1, %b: i1, %unused: i1):
            %r = arith.ori %a, %b : i1
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, true, true, false, true, false, true, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @xori() {
  %x = util.unfoldable_constant dense<[true, true, false, false, true, false, true, true]> : tensor<8xi1>
          %y = util.unfoldable_constant dense<[true, false, true, false, false, false, true, false]> : tensor<8xi1>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi1>, tensor<8xi1>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i1, %b: i1, %unused: i1):
            %r = arith.xori %a, %b : i1
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, true, false, true, false, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @select() {
  %m = util.unfoldable_constant dense<[true, true, false, false, true, false, true, true]> : tensor<8xi1>
          %a = util.unfoldable_constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
          %b = util.unfoldable_constant dense<[0, -10, -20, -30, -40, -50, -60, -70]> : tensor<8xi32>
          %out = arith.select %m, %a, %b : tensor<8xi1>, tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, -20, -30, 4, -50, 6, 7]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @all_along_rows() {
  %x = util.unfoldable_constant dense<
      [[true, true, true, true, true],
       [false, false, false, false, false],
       [true, false, true, true, true],
       [false, false, false, true, false]]> : tensor<4x5xi1>
  %start = arith.constant true
  %empty = tensor.empty() : tensor<4xi1>
  %init = linalg.fill ins(%start : i1) outs(%empty : tensor<4xi1>) -> tensor<4xi1>
  %out = linalg.reduce { arith.andi } ins(%x : tensor<4x5xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  check.expect_eq_const(%out, dense<[true, false, false, false]> : tensor<4xi1>) : tensor<4xi1>
  return
}

func.func @any_along_rows() {
  %x = util.unfoldable_constant dense<
      [[true, true, true, true, true],
       [false, false, false, false, false],
       [true, false, true, true, true],
       [false, false, false, true, false]]> : tensor<4x5xi1>
  %start = arith.constant false
  %empty = tensor.empty() : tensor<4xi1>
  %init = linalg.fill ins(%start : i1) outs(%empty : tensor<4xi1>) -> tensor<4xi1>
  %out = linalg.reduce { arith.ori } ins(%x : tensor<4x5xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  check.expect_eq_const(%out, dense<[true, false, true, true]> : tensor<4xi1>) : tensor<4xi1>
  return
}
