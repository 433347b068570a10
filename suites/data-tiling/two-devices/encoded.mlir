// An encoded operand crosses: it is encoded on device_a and decoded on device_b, whose layout of it is another.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#operand = #iree_encoding.encoding<
    operand_index = 1 : index, op_type = matmul, element_types = [f32, f32, f32],
    user_indexing_maps = [#lhs, #rhs, #result], iteration_sizes = [3, 7, 5]>

func.func @encoded(%rows: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %at_a = flow.tensor.transfer %rows : tensor<5x7xf32> to #hal.device.promise<@device_a>
  %encoded = flow.tensor.encode %at_a : tensor<5x7xf32> -> tensor<5x7xf32, #operand>
  %at_b = flow.tensor.transfer %encoded : tensor<5x7xf32, #operand> to #hal.device.promise<@device_b>
  %decoded = flow.tensor.encode %at_b : tensor<5x7xf32, #operand> -> tensor<5x7xf32>
  %result = flow.tensor.transfer %decoded : tensor<5x7xf32> to #hal.device.promise<@device_a>
  return %result : tensor<5x7xf32>
}
