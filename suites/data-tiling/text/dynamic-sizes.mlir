// Sizes known at run time only: the host program rounds each up to whole tiles and allocates the product.

// 8 rows to a tile on the left: ceil(rows / 8) * 32 bytes * inner. 4 columns on the right: ceil(columns / 4) * 4 * inner
// * 4 bytes.
// X86-64-TILED-LABEL: util.func public @product
// X86-64-TILED: %[[ROWS:.+]] = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index
// X86-64-TILED: %[[INNER:.+]] = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[1] : index
// X86-64-TILED: %[[COLUMNS:.+]] = hal.buffer_view.dim<%arg1 : !hal.buffer_view>[1] : index
// X86-64-TILED: %[[LHS_TILES:.+]] = arith.ceildivsi %[[ROWS]], %c8 : index
// X86-64-TILED: %[[LHS_COLUMN:.+]] = arith.muli %[[LHS_TILES]], %c32 {{.*}}: index
// X86-64-TILED: %[[LHS:.+]] = arith.muli %[[LHS_COLUMN]], %[[INNER]] {{.*}}: index
// X86-64-TILED: %[[RHS_TILES:.+]] = arith.ceildivsi %[[COLUMNS]], %c4 : index
// X86-64-TILED: %[[RHS_ROW:.+]] = arith.muli %[[RHS_TILES]], %c4 {{.*}}: index
// X86-64-TILED: %[[RHS:.+]] = arith.muli %{{.+}}, %[[RHS_ROW]] {{.*}}: index
// X86-64-TILED: %[[LHS_END:.+]] = util.align %[[LHS]], %c64 : index
// X86-64-TILED: %[[RHS_END:.+]] = util.align %[[RHS]], %c64 : index
// X86-64-TILED: %[[BOTH:.+]] = arith.addi %[[LHS_END]], %[[RHS_END]] : index
// X86-64-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>{%[[BOTH]]}

// Tiles of 16 on both sides.
// X86-64-V4-TILED-LABEL: util.func public @product
// X86-64-V4-TILED: arith.ceildivsi %{{.+}}, %c16 : index
// X86-64-V4-TILED: arith.ceildivsi %{{.+}}, %c16 : index
// X86-64-V4-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>

// ARM64-TILED-LABEL: util.func public @product
// ARM64-TILED: arith.ceildivsi %{{.+}}, %c8 : index
// ARM64-TILED: arith.ceildivsi %{{.+}}, %c8 : index
// ARM64-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>

// VMVX tiles the inner size as well, by 4: four sizes are rounded up.
// VMVX-TILED-LABEL: util.func public @product
// VMVX-TILED: arith.ceildivsi %{{.+}}, %c8 : index
// VMVX-TILED: arith.ceildivsi %{{.+}}, %c4 : index
// VMVX-TILED: arith.ceildivsi %{{.+}}, %c8 : index
// VMVX-TILED: arith.ceildivsi %{{.+}}, %c4 : index
// VMVX-TILED: stream.resource.alloca {{.*}}!stream.resource<transient>

// VULKAN-TILED-LABEL: util.func public @product
// VULKAN-TILED-NOT: {{ceildiv|!stream.resource<transient>}}
// VULKAN-TILED: stream.tensor.export
func.func @product(%lhs: tensor<?x?xf32>, %rhs: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %lhs, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %rhs, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<?x?xf32>, tensor<?x?xf32>)
                           outs(%filled : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}
