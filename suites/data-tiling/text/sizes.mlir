// Each target lays the operands out in its own tiles, and the host program allocates what the layouts take: one buffer
// for both operands, each of which starts at a multiple of 64 bytes. The left operand has 3 x 5 elements of 4 bytes, the
// right one 5 x 7.

// 4 x 1 and 4 x 1: 4 x 5 x 4 = 80 bytes, then 5 x 8 x 4 = 160 from 128 on.
// X86-64-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// X86-64-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [1, 0], innerTileSizes = [4, 1],
// X86-64-TILED-LABEL: util.func public @product
// X86-64-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>{%c320}

// 4 x 1 and 16 x 1: the right operand takes 5 x 16 x 4 = 320.
// X86-64-V4-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// X86-64-V4-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [1, 0], innerTileSizes = [16, 1],
// X86-64-V4-TILED-LABEL: util.func public @product
// X86-64-V4-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>{%c448}

// 4 x 1 and 8 x 1: the right operand takes 5 x 8 x 4 = 160, in other places than on x86-64.
// ARM64-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// ARM64-TILED: cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [1, 0], innerTileSizes = [8, 1],
// ARM64-TILED-LABEL: util.func public @product
// ARM64-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>{%c320}

// 4 x 4 and 8 x 4: 4 x 8 x 4 = 128 and 8 x 8 x 4 = 256.
// VMVX-TILED: vmvx_encoding_resolver<configuration = {{.*}}innerDimsPos = [0, 1], innerTileSizes = [4, 4],
// VMVX-TILED: vmvx_encoding_resolver<configuration = {{.*}}innerDimsPos = [1, 0], innerTileSizes = [8, 4],
// VMVX-TILED-LABEL: util.func public @product
// VMVX-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>{%c384}

// Rows and columns as they are: nothing is copied, and nothing allocated but the result.
// VULKAN-TILED: #iree_encoding.layout<[#iree_encoding.identity]>
// VULKAN-TILED-LABEL: util.func public @product
// VULKAN-TILED: stream.resource.alloca {{.*}}!stream.resource<external>{%c84}
// VULKAN-TILED-NOT: stream.resource.alloca
func.func @product(%lhs: tensor<3x5xf32>, %rhs: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<3x5xf32>, tensor<5x7xf32>)
                           outs(%filled : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %product : tensor<3x7xf32>
}
