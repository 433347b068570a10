// All ten predicates of arith.cmpi on i32, signed and unsigned, with results of i1.
// Numbers: NumPy's comparisons of int32 and uint32.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @cmpi_eq() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi eq, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, false, false, false, true, false, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_ne() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi ne, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, true, true, true, false, true, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_slt() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi slt, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, false, false, true, false, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_sle() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi sle, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, true, false, false, true, true, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_sgt() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi sgt, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, false, true, true, false, false, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_sge() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi sge, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, true, true, false, true, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_ult() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi ult, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, false, true, true, false, false, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_ule() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi ule, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, true, true, false, true, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_ugt() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi ugt, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, false, false, true, false, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpi_uge() {
  %x = util.unfoldable_constant dense<[0, -1, 1, 2147483647, -2147483648, 5, 5, -7]> : tensor<8xi32>
          %y = util.unfoldable_constant dense<[0, 1, -1, -2147483648, 2147483647, 5, 6, -8]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: i32, %b: i32, %unused: i1):
            %r = arith.cmpi uge, %a, %b : i32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, true, false, false, true, true, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}
