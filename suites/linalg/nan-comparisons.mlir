// arith.cmpf with NaN and infinities: ordered predicates are false for NaN, unordered ones true.
// Numbers: NumPy's comparisons and isnan, which follow IEEE 754.
//
// Written by suites/generate.py from suites/generator/linalg/pointwise.py; change it there.

func.func @cmpf_ogt_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf ogt, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, false, false, false, true, false, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_olt_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf olt, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, false, false, false, true, false, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_oeq_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf oeq, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, false, false, false, false, false, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_oge_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf oge, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, false, false, false, true, false, true, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_one_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf one, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, false, false, true, true, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_ord_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf ord, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, false, false, false, true, true, true, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_ugt_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf ugt, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, true, true, true, false, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_ult_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf ult, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, true, true, true, false, true, false, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_uno_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf uno, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, true, true, false, false, false, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_une_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf une, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[true, true, true, true, true, true, true, false]> : tensor<8xi1>) : tensor<8xi1>
  return
}

func.func @cmpf_ueq_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xi1>) {
          ^bb0(%a: f32, %b: f32, %unused: i1):
            %r = arith.cmpf ueq, %a, %b : f32
            linalg.yield %r : i1
          } -> tensor<8xi1>
  check.expect_eq_const(%out, dense<[false, true, true, true, false, false, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}
