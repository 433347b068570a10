// Without the flag nothing is encoded: the configs without data tiling, which the others must agree with, are without it.

// CHECK-NOT: {{iree_encoding\.(encoding|set_encoding|unset_encoding)}}
// CHECK-LABEL: flow.executable private @product_dispatch_0
// CHECK-NOT: {{iree_encoding\.(encoding|set_encoding|unset_encoding)}}
// CHECK: linalg.matmul
// CHECK-NOT: {{iree_encoding\.(encoding|set_encoding|unset_encoding)}}
// CHECK-LABEL: util.func public @product
// CHECK-NOT: flow.tensor.encode
func.func @product(%lhs: tensor<3x5xf32>, %rhs: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<3x5xf32>, tensor<5x7xf32>)
                           outs(%filled : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %product : tensor<3x7xf32>
}
