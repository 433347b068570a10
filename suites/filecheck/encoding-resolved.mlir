// With data tiling the operands of a product are encoded on their way into it, and the encoding is resolved for each
// target: CPUs get packed tiles and `mmt4d`, for Vulkan it is the identity, which leaves rows and columns.

// LLVM-CPU-LABEL: hal.executable private @product_dispatch_0
// LLVM-CPU: linalg.mmt4d
// LLVM-CPU: linalg.unpack
// LLVM-CPU-LABEL: hal.executable private @_encoding_0
// LLVM-CPU: linalg.pack

// VMVX-LABEL: hal.executable private @product_dispatch_0
// VMVX: linalg.mmt4d {{.*}} ins({{.*}} : tensor<8x8x8x4xf32>, tensor<8x8x8x4xf32>)
// VMVX: linalg.unpack {{.*}} inner_tiles = [8, 8]
// VMVX-LABEL: hal.executable private @_encoding_0
// VMVX: linalg.pack {{.*}} inner_tiles = [8, 4]

// VULKAN-LABEL: hal.executable private @product_dispatch_0
// VULKAN-NOT: linalg.{{mmt4d|pack|unpack}}
// VULKAN: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// VULKAN-NOT: linalg.{{mmt4d|pack|unpack}}

// CHECK-LABEL: util.func public @product
func.func @product(%lhs: tensor<64x32xf32>, %rhs: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<64x32xf32>, tensor<32x64xf32>)
                           outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}
