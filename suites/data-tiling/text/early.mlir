// The older flag packs in the phase of global optimisation, where one device is known. It knows nothing of several: there
// it leaves products alone.

// LLVM-CPU-TILED-EARLY-LABEL: util.func public @product
// LLVM-CPU-TILED-EARLY: linalg.pack
// LLVM-CPU-TILED-EARLY: linalg.pack
// LLVM-CPU-TILED-EARLY: linalg.mmt4d
// LLVM-CPU-TILED-EARLY: linalg.unpack

// CPU-VMVX-TILED-EARLY-LABEL: util.func public @product
// CPU-VMVX-TILED-EARLY-NOT: linalg.{{pack|mmt4d|unpack}}
// CPU-VMVX-TILED-EARLY: linalg.matmul
// CPU-VMVX-TILED-EARLY-NOT: linalg.{{pack|mmt4d|unpack}}
func.func @product(%lhs: tensor<3x5xf32>, %rhs: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<3x5xf32>, tensor<5x7xf32>)
                           outs(%filled : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %product : tensor<3x7xf32>
}
