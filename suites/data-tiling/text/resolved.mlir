// With data tiling the operands of a product are encoded on their way into it, and the encoding is resolved for each
// target: CPUs get packed tiles and `mmt4d`, for Vulkan it is the identity, which leaves rows and columns.

// X86-64-TILED-LABEL: hal.executable private @product_dispatch_0
// X86-64-TILED: linalg.mmt4d
// X86-64-TILED: linalg.unpack
// X86-64-TILED-LABEL: hal.executable private @_encoding_0
// X86-64-TILED: linalg.pack

// VMVX-TILED-LABEL: hal.executable private @product_dispatch_0
// VMVX-TILED: linalg.mmt4d {{.*}} ins({{.*}} : tensor<8x8x8x4xf32>, tensor<8x8x8x4xf32>)
// VMVX-TILED: linalg.unpack {{.*}} inner_tiles = [8, 8]
// VMVX-TILED-LABEL: hal.executable private @_encoding_0
// VMVX-TILED: linalg.pack {{.*}} inner_tiles = [8, 4]

// VULKAN-TILED-LABEL: hal.executable private @product_dispatch_0
// VULKAN-TILED-NOT: linalg.{{mmt4d|pack|unpack}}
// VULKAN-TILED: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// VULKAN-TILED-NOT: linalg.{{mmt4d|pack|unpack}}

// CHECK-LABEL: util.func public @product
func.func @product(%lhs: tensor<64x32xf32>, %rhs: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<64x32xf32>, tensor<32x64xf32>)
                           outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}
