// The program of iree-org/iree#17924: one product on device_a, the same on device_b, and their sum. Until the phase
// `stream` there is one executable. Then it is cloned, and each device gets the clone whose encodings are resolved for it;
// so do the executables that encode the operands.

// CPU-VMVX-TILED-DAG: util.global private @device_a = #hal.device.target<"local", {{.*}}[#hal.executable.target<"llvm-cpu",
// CPU-VMVX-TILED-DAG: util.global private @device_b = #hal.device.target<"local", {{.*}}[#hal.executable.target<"vmvx",

// CPU-VMVX-TILED-LABEL: stream.executable private @sum_dispatch_0 {
// CPU-VMVX-TILED-NOT: vmvx_encoding_resolver
// CPU-VMVX-TILED: #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// CPU-VMVX-TILED: #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [1, 0], innerTileSizes = [4, 1],
// CPU-VMVX-TILED-LABEL: stream.executable private @sum_dispatch_0_dup0 {
// CPU-VMVX-TILED-NOT: #iree_cpu.cpu_encoding_resolver
// CPU-VMVX-TILED: #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {{.*}}innerDimsPos = [0, 1], innerTileSizes = [4, 4],
// CPU-VMVX-TILED: #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {{.*}}innerDimsPos = [1, 0], innerTileSizes = [8, 4],

// CPU-VMVX-TILED-LABEL: stream.executable private @_encoding_0 {
// CPU-VMVX-TILED: iree_encoding.set_encoding {{.*}}cpu_encoding_resolver
// CPU-VMVX-TILED-LABEL: stream.executable private @_encoding_1 {
// CPU-VMVX-TILED: iree_encoding.set_encoding {{.*}}cpu_encoding_resolver
// CPU-VMVX-TILED-LABEL: stream.executable private @_encoding_2 {
// CPU-VMVX-TILED: iree_encoding.set_encoding {{.*}}vmvx_encoding_resolver
// CPU-VMVX-TILED-LABEL: stream.executable private @_encoding_3 {
// CPU-VMVX-TILED: iree_encoding.set_encoding {{.*}}vmvx_encoding_resolver

// What each device allocates follows its own layouts: 128 + 192 bytes for the operands on device_a, 128 + 256 and the
// result, which is copied to device_a, on device_b.

// CPU-VMVX-TILED-LABEL: util.func public @sum
// CPU-VMVX-TILED: stream.resource.alloca uninitialized on(#hal.device.affinity<@device_a>) : !stream.resource<transient>{%c320}
// CPU-VMVX-TILED: stream.cmd.execute on(#hal.device.affinity<@device_a>)
// CPU-VMVX-TILED-DAG: stream.cmd.dispatch @_encoding_0::
// CPU-VMVX-TILED-DAG: stream.cmd.dispatch @_encoding_1::
// CPU-VMVX-TILED: stream.cmd.dispatch @sum_dispatch_0::
// CPU-VMVX-TILED: stream.resource.alloca uninitialized on(#hal.device.affinity<@device_b>) : !stream.resource<transient>{%c512}
// CPU-VMVX-TILED: stream.cmd.execute on(#hal.device.affinity<@device_b>)
// CPU-VMVX-TILED-DAG: stream.cmd.dispatch @_encoding_2::
// CPU-VMVX-TILED-DAG: stream.cmd.dispatch @_encoding_3::
// CPU-VMVX-TILED: stream.cmd.dispatch @sum_dispatch_0_dup0::
// CPU-VMVX-TILED: stream.cmd.copy
// CPU-VMVX-TILED: stream.cmd.flush to(#hal.device.affinity<@device_a>)
// Devices of one kind with other instructions: the right operand has other tiles, the left one the same, and is encoded by
// one executable for both.

// CPU-AVX2-TILED-LABEL: stream.executable private @sum_dispatch_0 {
// CPU-AVX2-TILED: innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// CPU-AVX2-TILED: innerDimsPos = [1, 0], innerTileSizes = [4, 1],
// CPU-AVX2-TILED-LABEL: stream.executable private @sum_dispatch_0_dup0 {
// CPU-AVX2-TILED: innerDimsPos = [0, 1], innerTileSizes = [4, 1],
// CPU-AVX2-TILED: innerDimsPos = [1, 0], innerTileSizes = [8, 1],
// CPU-AVX2-TILED-LABEL: util.func public @sum
// CPU-AVX2-TILED: stream.cmd.execute on(#hal.device.affinity<@device_a>)
// CPU-AVX2-TILED-DAG: stream.cmd.dispatch @_encoding_0::
// CPU-AVX2-TILED-DAG: stream.cmd.dispatch @_encoding_1::
// CPU-AVX2-TILED: stream.cmd.dispatch @sum_dispatch_0::
// CPU-AVX2-TILED: stream.cmd.execute on(#hal.device.affinity<@device_b>)
// CPU-AVX2-TILED-DAG: stream.cmd.dispatch @_encoding_0::
// CPU-AVX2-TILED-DAG: stream.cmd.dispatch @_encoding_2::
// CPU-AVX2-TILED: stream.cmd.dispatch @sum_dispatch_0_dup0::
func.func @sum(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %a0 = flow.tensor.transfer %a : tensor<3x5xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<5x7xf32> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<3x5xf32>, tensor<5x7xf32>)
                     outs(%start : tensor<3x7xf32>) -> tensor<3x7xf32>
  %first = flow.tensor.transfer %p : tensor<3x7xf32> to #hal.device.promise<@device_a>
  %a1 = flow.tensor.transfer %a : tensor<3x5xf32> to #hal.device.promise<@device_b>
  %b1 = flow.tensor.transfer %b : tensor<5x7xf32> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%a1, %b1 : tensor<3x5xf32>, tensor<5x7xf32>)
                     outs(%start : tensor<3x7xf32>) -> tensor<3x7xf32>
  %second = flow.tensor.transfer %q : tensor<3x7xf32> to #hal.device.promise<@device_a>
  %sum = arith.addf %first, %second : tensor<3x7xf32>
  return %sum : tensor<3x7xf32>
}
