// stablehlo.gather of rows, dynamic_slice and dynamic_update_slice with starts that are clamped, and a scatter that adds.
// Numbers: NumPy's indexing and np.add.at; starts clamped by hand (7 with size 4 of 8 becomes 4).
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @table() -> tensor<10x6xf32> {
  %seed = util.unfoldable_constant dense<3> : tensor<i32>
  %modulus = stablehlo.constant dense<1009> : tensor<10x6xi32>
  %shift = stablehlo.constant dense<0> : tensor<10x6xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<10x6xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<10x6xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<10x6xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<10x6xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<10x6xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<10x6xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<10x6xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<10x6xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<10x6xi32>
  %square = stablehlo.multiply %t1, %t1 : tensor<10x6xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<10x6xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<10x6xi32>
  %value = stablehlo.convert %number : (tensor<10x6xi32>) -> tensor<10x6xf32>
  %hidden = util.optimization_barrier %value : tensor<10x6xf32>
  return %hidden : tensor<10x6xf32>
}

func.func @rows() {
  %table = call @table() : () -> tensor<10x6xf32>
          %rows = util.unfoldable_constant dense<[9, 0, 4, 4, 7]> : tensor<5xi32>
          %out = "stablehlo.gather"(%table, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, 6>, indices_are_sorted = false} : (tensor<10x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>
  check.expect_eq_const(%out, dense<
      [[822.0, 609.0, 974.0, 908.0, 411.0, 492.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0],
       [977.0, 674.0, 949.0, 793.0, 206.0, 197.0]]> : tensor<5x6xf32>) : tensor<5x6xf32>
  return
}

func.func @dynamic_slice() {
  %line = util.unfoldable_constant dense<[0, 11, 22, 33, 44, 55, 66, 77]> : tensor<8xi32>
          %start = util.unfoldable_constant dense<7> : tensor<i32>
          %out = stablehlo.dynamic_slice %line, %start, sizes = [4] : (tensor<8xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const(%out, dense<[44, 55, 66, 77]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @dynamic_update_slice() {
  %data = util.unfoldable_constant dense<[0, 11, 22, 33, 44, 55, 66, 77]> : tensor<8xi32>
          %zeros = util.unfoldable_constant dense<0> : tensor<8xi32>
          %line = stablehlo.add %data, %zeros : tensor<8xi32>
          %start = util.unfoldable_constant dense<7> : tensor<i32>
          %new = util.unfoldable_constant dense<[-1, -2, -3]> : tensor<3xi32>
          %out = stablehlo.dynamic_update_slice %line, %new, %start : (tensor<8xi32>, tensor<3xi32>, tensor<i32>) -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 11, 22, 33, 44, -1, -2, -3]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @scatter_adds() {
  %line = util.unfoldable_constant dense<[0, 11, 22, 33, 44, 55, 66, 77]> : tensor<8xi32>
          %three = stablehlo.constant dense<3> : tensor<8xi32>
          %base = stablehlo.multiply %line, %three : tensor<8xi32>
          %places = util.unfoldable_constant dense<[[2], [5], [2]]> : tensor<3x1xi32>
          %updates = util.unfoldable_constant dense<[100, 200, 300]> : tensor<3xi32>
          %out = "stablehlo.scatter"(%base, %places, %updates) ({
          ^bb0(%old: tensor<i32>, %update: tensor<i32>):
            %sum = stablehlo.add %old, %update : tensor<i32>
            stablehlo.return %sum : tensor<i32>
          }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}
            : (tensor<8xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 33, 466, 99, 132, 365, 198, 231]> : tensor<8xi32>) : tensor<8xi32>
  return
}
