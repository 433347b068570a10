// A product, the bias added to it and its rectification become one dispatch: what is in between never goes to memory.

// LLVM-CPU: #hal.executable.target<"llvm-cpu",
// VMVX: #hal.executable.target<"vmvx",
// VULKAN: #hal.executable.target<"vulkan-spirv",

// CHECK-LABEL: flow.executable private @layer_dispatch_0
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: flow.executable private

// CHECK-LABEL: util.func public @layer
// CHECK-COUNT-1: flow.dispatch
// CHECK-NOT: flow.dispatch
func.func @layer(%rows: tensor<16x32xf32>, %weights: tensor<32x8xf32>, %bias: tensor<8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>) -> tensor<16x8xf32>
  %product = linalg.matmul ins(%rows, %weights : tensor<16x32xf32>, tensor<32x8xf32>)
                           outs(%filled : tensor<16x8xf32>) -> tensor<16x8xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%product, %bias : tensor<16x8xf32>, tensor<8xf32>) outs(%empty : tensor<16x8xf32>) {
  ^bb0(%value: f32, %offset: f32, %out: f32):
    %sum = arith.addf %value, %offset : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<16x8xf32>
  return %result : tensor<16x8xf32>
}
