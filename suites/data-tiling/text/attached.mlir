// Encodings are attached while dispatches are formed: they say which operand of which operation a tensor is, and nothing
// of a device. Operands are encoded on their way into the dispatch, the result is decoded within it.

// CHECK-LABEL: flow.executable private @product_dispatch_0
// CHECK: iree_encoding.unset_encoding {{.*}}#iree_encoding.encoding<operand_index = 2 : index, op_type = matmul, element_types = [f32, f32, f32]{{.*}} -> tensor<3x7xf32>
// CHECK-LABEL: util.func public @product
// CHECK: %[[LHS:.+]] = flow.tensor.encode {{.*}} : tensor<3x5xf32> -> tensor<3x5xf32, #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32]{{.*}}iteration_sizes = [3, 7, 5]>>
// CHECK: %[[RHS:.+]] = flow.tensor.encode {{.*}} : tensor<5x7xf32> -> tensor<5x7xf32, #iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32]{{.*}}iteration_sizes = [3, 7, 5]>>
// CHECK: flow.dispatch @product_dispatch_0::{{.*}}(%[[LHS]], %[[RHS]])
func.func @product(%lhs: tensor<3x5xf32>, %rhs: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<3x5xf32>, tensor<5x7xf32>)
                           outs(%filled : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %product : tensor<3x7xf32>
}

// Sizes known at run time only: the sizes of the loops are unknown in the encoding, and travel beside it.

// CHECK-LABEL: util.func public @bytes
// CHECK: flow.tensor.encode {{.*}}#iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [i8, i8, i32]{{.*}}iteration_sizes = [?, ?, ?]>>
// CHECK: flow.tensor.encode {{.*}}#iree_encoding.encoding<operand_index = 1 : index, op_type = matmul, element_types = [i8, i8, i32]{{.*}}iteration_sizes = [?, ?, ?]>>
func.func @bytes(%lhs: tensor<?x?xi8>, %rhs: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %lhs, %c0 : tensor<?x?xi8>
  %columns = tensor.dim %rhs, %c1 : tensor<?x?xi8>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xi32>
  %filled = linalg.fill ins(%zero : i32) outs(%empty : tensor<?x?xi32>) -> tensor<?x?xi32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<?x?xi8>, tensor<?x?xi8>)
                           outs(%filled : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %product : tensor<?x?xi32>
}

// CHECK-LABEL: util.func public @batch
// CHECK: flow.tensor.encode {{.*}}#iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, {{.*}}iteration_sizes = [2, 3, 7, 5]>>
func.func @batch(%lhs: tensor<2x3x5xf32>, %rhs: tensor<2x5x7xf32>) -> tensor<2x3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  %product = linalg.batch_matmul ins(%lhs, %rhs : tensor<2x3x5xf32>, tensor<2x5x7xf32>)
                                 outs(%filled : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  return %product : tensor<2x3x7xf32>
}
